//! Keeps the daemon within a limit of its address space (`ulimit -v`), and stops it in an orderly way when the limit is reached.
//!
//! Under such a limit, the daemon uses less address space. If the limit is too low to serve requests, the daemon reports that and
//! does not start. If the limit is reached later, a reserve of memory lets the daemon stop and log the reason, instead of aborting;
//! the next request starts a new daemon. If only SQLite or a system call lacks memory, only the request fails.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread::{self, Thread};

/// Size of the reserve, bytes. The reserve is freed when an allocation fails, for all work that is still done until the daemon
/// ends.
const RESERVE_BYTES: usize = 24 << 20;
/// Bytes that the daemon needs beyond those it has when it starts: for threads, caches of SQLite, the index of a small repository.
#[cfg(target_os = "linux")]
const NEEDED_BYTES: u64 = 128 << 20;
/// Bytes of the limit for each thread that may block: for its stack, and for the data of its request.
const BYTES_PER_THREAD: u64 = 16 << 20;
/// Minimum number of threads that may block, under any limit.
const FEWEST_THREADS: u64 = 16;

/// Reason with which a daemon stops when the limit is reached.
pub(in crate::daemon) const MEMORY_USED_UP: &str = "the memory that it may take is used up";

/// The limit of memory is too low for the daemon to start.
#[derive(Debug, thiserror::Error)]
#[error(
    "the limit of memory (`ulimit -v`, {} KiB) is too low: the daemon needs {} KiB",
    limit >> 10,
    needed >> 10
)]
pub(in crate::daemon) struct MemoryLimitTooLow {
    limit: u64,
    needed: u64,
}

impl MemoryLimitTooLow {
    /// Returns what the user can do about the limit.
    pub(in crate::daemon) fn hint(&self) -> &'static str {
        "raise the limit where the daemon is started, for example with `ulimit -v unlimited`"
    }
}

/// Returns the limit of the address space, bytes; `None` if there is no limit.
#[cfg(target_os = "linux")]
fn read_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(target_os = "linux"))]
fn read_limit() -> Option<u64> {
    None
}

/// Allocates the reserve if there is a limit of memory. Must be called before the daemon starts threads.
///
/// # Errors
/// When the limit is too low to serve requests.
#[expect(unsafe_code, reason = "the reserve must come from below the global allocator")]
pub(in crate::daemon) fn prepare_reserve() -> Result<(), MemoryLimitTooLow> {
    let Some(limit) = read_limit() else { return Ok(()) };
    use_one_arena();
    check_limit(limit)?;
    let layout = reserve_layout();
    // SAFETY: the size of the layout is not zero. Memory that is never written takes only address space.
    let reserve = unsafe { System.alloc(layout) };
    RESERVE.fill(reserve);
    Ok(())
}

#[cfg(target_os = "linux")]
fn check_limit(limit: u64) -> Result<(), MemoryLimitTooLow> {
    // The first number is the size of the address space in pages: proc(5).
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let n_pages: u64 = statm.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or_default();
    let needed = n_pages * rustix::param::page_size() as u64 + NEEDED_BYTES;
    if limit < needed { Err(MemoryLimitTooLow { limit, needed }) } else { Ok(()) }
}

#[cfg(not(target_os = "linux"))]
fn check_limit(_: u64) -> Result<(), MemoryLimitTooLow> {
    Ok(())
}

/// Makes all threads allocate from one arena: otherwise glibc reserves 64 MiB of address space for most of them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no safe way to set up the allocator of libc")]
fn use_one_arena() {
    // SAFETY: `mallopt` may be called at any time, and there is only one thread yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn use_one_arena() {}

/// Returns how many threads for blocking calls fit below the limit, at most `most`.
pub(in crate::daemon) fn max_threads(most: usize) -> usize {
    let fitting = read_limit().map(|limit| (limit / BYTES_PER_THREAD).max(FEWEST_THREADS));
    fitting.and_then(|fitting| usize::try_from(fitting).ok()).map_or(most, |fitting| fitting.min(most))
}

/// Starts a thread that waits until the limit is reached, then calls `stop`. Does nothing if there is no limit.
pub(in crate::daemon) fn stop_at_limit(stop: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let Some(limit) = read_limit() else { return Ok(()) };
    memod_engine::threads::spawn_thread("memory-limit", move || {
        let _ = STOPPING_THREAD.set(thread::current()); // a process runs only one daemon
        while !RESERVE.is_given_back() {
            thread::park();
        }
        let limit_kib = limit >> 10;
        tracing::error!(
            limit_kib,
            "an allocation failed: the limit of memory (`ulimit -v`) is reached; raise it"
        );
        stop();
    })?;
    Ok(())
}

static RESERVE: MemoryReserve = MemoryReserve::new();
/// The thread that stops the daemon, which waits until the reserve is freed.
static STOPPING_THREAD: OnceLock<Thread> = OnceLock::new();

/// A block of memory that is freed once.
struct MemoryReserve {
    block: AtomicPtr<u8>,
    was_filled: AtomicBool,
    is_given_back: AtomicBool,
}

impl MemoryReserve {
    const fn new() -> Self {
        Self {
            block: AtomicPtr::new(ptr::null_mut()),
            was_filled: AtomicBool::new(false),
            is_given_back: AtomicBool::new(false),
        }
    }

    fn fill(&self, block: *mut u8) {
        self.block.store(block, Ordering::Release);
        self.was_filled.store(!block.is_null(), Ordering::Release);
    }

    fn is_given_back(&self) -> bool {
        self.is_given_back.load(Ordering::Acquire)
    }

    /// Frees the block with `free`, or waits until another thread has freed it. Returns whether there was a block, so that the
    /// allocation that failed may succeed now. Allocates nothing.
    fn give_back(&self, free: impl FnOnce(*mut u8)) -> bool {
        if !self.was_filled.load(Ordering::Acquire) {
            return false;
        }
        let block = self.block.swap(ptr::null_mut(), Ordering::AcqRel);
        if !block.is_null() {
            free(block);
            self.is_given_back.store(true, Ordering::Release);
        }
        while !self.is_given_back() {
            thread::yield_now(); // the other thread is about to set the flag
        }
        true
    }
}

fn reserve_layout() -> Layout {
    Layout::new::<[u8; RESERVE_BYTES]>()
}

/// Frees the reserve, and wakes the thread that stops the daemon. Returns whether the allocation should be tried again. Allocates
/// nothing.
#[expect(unsafe_code, reason = "the reserve must come from below the global allocator")]
fn give_back() -> bool {
    // SAFETY: `prepare_reserve` has allocated the block with this layout, and only one thread gets the block.
    let has_room = RESERVE.give_back(|reserve| unsafe { System.dealloc(reserve, reserve_layout()) });
    if let Some(waiting) = STOPPING_THREAD.get().filter(|_| has_room) {
        waiting.unpark();
    }
    has_room
}

/// The allocator of the system; if an allocation fails, it frees the reserve and tries again.
pub struct ReserveAllocator;

/// Calls `allocate`; if that fails, frees the reserve and calls it once more.
fn allocate_with_reserve(allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let block = allocate();
    let is_fatal = || !MAY_FAIL.try_with(Cell::get).unwrap_or_default();
    if block.is_null() && is_fatal() && give_back() { allocate() } else { block }
}

thread_local! {
    /// Whether an allocation of this thread may fail without stopping the daemon.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Reserves room in a buffer whose size a peer decides.
///
/// # Errors
/// When there is not enough memory: the end of a message, which names the limit if there is one. The daemon continues.
pub(in crate::daemon) fn reserve_buffer(buffer: &mut Vec<u8>, n_bytes: usize) -> Result<(), String> {
    MAY_FAIL.set(true);
    let reserved = buffer.try_reserve(n_bytes);
    MAY_FAIL.set(false);
    reserved.map_err(|_| {
        read_limit()
            .map_or(String::new(), |limit| format!(": the limit (`ulimit -v`) is {} KiB", limit >> 10))
    })
}

// SAFETY: all blocks come from the allocator of the system and are returned to it. A call that has failed has changed nothing, so
// the call may be repeated. Nothing here allocates or unwinds.
#[expect(unsafe_code, reason = "an allocator is unsafe to write")]
unsafe impl GlobalAlloc for ReserveAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        allocate_with_reserve(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        allocate_with_reserve(|| unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises; a call that fails leaves the block unchanged.
        allocate_with_reserve(|| unsafe { System.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn who_fails_while_the_reserve_is_given_back_tries_again() {
        let (reserve, mut block) = (MemoryReserve::new(), 0_u8);
        assert!(!reserve.give_back(|_| unreachable!("there is none")));
        reserve.fill(&raw mut block);
        let ((is_freeing, freeing), (go_on, goes_on)) = (channel(), channel());
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                let free = move |_| {
                    is_freeing.send(()).unwrap();
                    goes_on.recv().unwrap();
                };
                reserve.give_back(free)
            });
            freeing.recv().unwrap();
            let second = scope.spawn(|| reserve.give_back(|_| unreachable!("another thread has it")));
            go_on.send(()).unwrap();
            assert!(first.join().unwrap() && second.join().unwrap());
        });
        assert!(reserve.give_back(|_| unreachable!("it is gone")), "it may have failed before that");
    }
}
