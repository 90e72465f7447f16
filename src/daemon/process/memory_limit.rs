//! Keeps the daemon within a limit of its address space (`ulimit -v`), and ends it in order when that is reached.
//!
//! Under such a limit the daemon takes less address space. It does not start where the limit is too low to serve, and says so. Where
//! the limit is reached all the same, a reserve lets it end in order and say why, instead of aborting; the next request starts
//! a new daemon. A refusal by SQLite or the system for lack of memory is an error of the request alone.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread::{self, Thread};

/// Bytes that are given back when an allocation fails, for all that is still done then.
const RESERVE_BYTES: usize = 24 << 20;
/// Bytes that the daemon needs beyond what it has when it starts: threads, caches of SQLite, the index of a small repository.
#[cfg(target_os = "linux")]
const NEEDED_BYTES: u64 = 128 << 20;
/// Bytes of the limit for each thread that may block: its stack, and what it works on.
const BYTES_PER_THREAD: u64 = 16 << 20;
/// Threads that may block under any limit.
const FEWEST_THREADS: u64 = 16;

/// Why a daemon ends when the limit is reached.
pub(in crate::daemon) const USED_UP: &str = "the memory that it may take is used up";

/// The limit is too low to start.
#[derive(Debug, thiserror::Error)]
#[error(
    "the limit of memory (`ulimit -v`, {} KiB) is too low: the daemon needs {} KiB",
    limit >> 10,
    needed >> 10
)]
pub(in crate::daemon) struct TooLow {
    limit: u64,
    needed: u64,
}

impl TooLow {
    /// Returns the remedy.
    pub(in crate::daemon) fn hint(&self) -> &'static str {
        "raise it where the daemon is started, for example with `ulimit -v unlimited`"
    }
}

/// Returns the limit in bytes; `None` if there is none.
#[cfg(target_os = "linux")]
fn read_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(target_os = "linux"))]
fn read_limit() -> Option<u64> {
    None
}

/// Prepares for a limit, before the daemon starts threads.
///
/// # Errors
/// When it is too low to serve.
#[expect(unsafe_code, reason = "the reserve must come from below the global allocator")]
pub(in crate::daemon) fn prepare_reserve() -> Result<(), TooLow> {
    let Some(limit) = read_limit() else { return Ok(()) };
    use_one_arena();
    check_limit(limit)?;
    let layout = reserve_layout();
    // SAFETY: the layout has a size. What is written nowhere takes no memory, only room below the limit.
    let reserve = unsafe { System.alloc(layout) };
    RESERVE.fill(reserve);
    Ok(())
}

#[cfg(target_os = "linux")]
fn check_limit(limit: u64) -> Result<(), TooLow> {
    // The first number is the size of the address space in pages: proc(5).
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let n_pages: u64 = statm.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or_default();
    let needed = n_pages * rustix::param::page_size() as u64 + NEEDED_BYTES;
    if limit < needed { Err(TooLow { limit, needed }) } else { Ok(()) }
}

#[cfg(not(target_os = "linux"))]
fn check_limit(_: u64) -> Result<(), TooLow> {
    Ok(())
}

/// Makes all threads allocate from one arena: otherwise glibc reserves 64 MiB of address space for most of them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no safe way to set up the allocator of libc")]
fn use_one_arena() {
    // SAFETY: it may be called at any time, and there is one thread yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn use_one_arena() {}

/// Returns how many of at most `most` threads for blocking calls fit below the limit.
pub(in crate::daemon) fn max_threads(most: usize) -> usize {
    let fitting = read_limit().map(|limit| (limit / BYTES_PER_THREAD).max(FEWEST_THREADS));
    fitting.and_then(|fitting| usize::try_from(fitting).ok()).map_or(most, |fitting| fitting.min(most))
}

/// Waits until the limit is reached, then calls `stop`; returns at once where there is no limit.
pub(in crate::daemon) fn stop_at_limit(stop: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let Some(limit) = read_limit() else { return Ok(()) };
    memod_engine::threads::spawn_thread("memory-limit", move || {
        let _ = WAITING.set(thread::current()); // one daemon a process
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
/// The thread that ends the daemon.
static WAITING: OnceLock<Thread> = OnceLock::new();

/// A block that is given back once.
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

    /// Gives the block back, unless another thread does or has: then waits until it is. Returns whether there was one, so that what
    /// failed before may succeed now. Allocates nothing.
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
            thread::yield_now(); // the other thread is about to say so
        }
        true
    }
}

fn reserve_layout() -> Layout {
    Layout::new::<[u8; RESERVE_BYTES]>()
}

/// Gives back the reserve; returns whether to try again. Allocates nothing.
#[expect(unsafe_code, reason = "the reserve must come from below the global allocator")]
fn give_back() -> bool {
    // SAFETY: `prepare_reserve` has allocated it with this layout, and it is given to one thread alone.
    let has_room = RESERVE.give_back(|reserve| unsafe { System.dealloc(reserve, reserve_layout()) });
    if let Some(waiting) = WAITING.get().filter(|_| has_room) {
        waiting.unpark();
    }
    has_room
}

/// The allocator of the system, which takes from the reserve when that has nothing left.
pub struct WithReserve;

/// Allocates, once more when the reserve was given back.
fn allocate_or_give_back(allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let block = allocate();
    let is_fatal = || !MAY_FAIL.try_with(Cell::get).unwrap_or_default();
    if block.is_null() && is_fatal() && give_back() { allocate() } else { block }
}

thread_local! {
    /// Whether this thread can do without what it allocates.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Makes room in a buffer whose size a peer decides.
///
/// # Errors
/// When there is no memory for it, with the limit; nothing else is the matter then.
pub(in crate::daemon) fn reserve_buffer(buffer: &mut Vec<u8>, n_bytes: usize) -> Result<(), String> {
    MAY_FAIL.set(true);
    let reserved = buffer.try_reserve(n_bytes);
    MAY_FAIL.set(false);
    reserved.map_err(|_| {
        read_limit()
            .map_or(String::new(), |limit| format!(": the limit (`ulimit -v`) is {} KiB", limit >> 10))
    })
}

// SAFETY: all blocks come from the allocator of the system, which gets them back; a call that has failed has changed nothing,
// so it may be repeated. None of this allocates or unwinds.
#[expect(unsafe_code, reason = "an allocator is unsafe to write")]
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        allocate_or_give_back(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        allocate_or_give_back(|| unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises; one that fails leaves the block as it is.
        allocate_or_give_back(|| unsafe { System.realloc(block, layout, size) })
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
