//! Limits how many requests access one directory, mount or worktree at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use memod_base::threads::lock;
use memod_watch::MountTable;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

/// Most requests that examine one directory at a time, to find the worktree around it.
const PER_DIR: usize = 4;
/// Most requests that examine directories of one mount at a time. The mount is found by name, so a link may lead out of it.
const PER_MOUNT: usize = 32;
/// Number of paths in a gate from which on those without a request are removed.
const CLEAN_UP_ABOVE: usize = 64;

/// Limits the requests that access each path, and the number of working threads.
///
/// Invariant: a hanging thread holds only a pass of these gates. The thread pool has room for as many threads as all gates
/// admit, and a thread gives up its turn after a while.
pub struct Gates {
    dirs: Gate,
    mounts: Gate,
    worktrees: Gate,
    /// A gate that requests of low priority must pass before `worktrees`, so that few of them are ever ahead of other requests.
    low_priority: Gate,
    settings: Gate,
    /// Permits for working threads, twice as many as processors.
    pub thread_permits: Semaphore,
    table: Mutex<MountTable>,
}

impl Default for Gates {
    fn default() -> Self {
        let n_processors = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            dirs: Gate::new(PER_DIR),
            mounts: Gate::new(PER_MOUNT),
            worktrees: Gate::new(n_processors),
            low_priority: Gate::new(n_processors),
            settings: Gate::new(PER_DIR),
            thread_permits: Semaphore::new(n_processors * 2),
            table: Mutex::new(MountTable::read()),
        }
    }
}

/// Why a gate did not admit a request in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateError {
    /// Others come and go, but too many were waiting.
    Busy,
    /// No admitted request has left in all that time.
    Stuck,
}

impl Gates {
    /// Waits for the passes with which a request may search for the worktree around a directory.
    ///
    /// # Errors
    /// When a gate has not admitted the request at the time `until`.
    pub async fn enter_dir(&self, dir: &Path, until: Instant) -> Result<[GatePass; 2], GateError> {
        // Both waits start now: a gate counts as stuck if no request leaves it during the whole wait, including the wait for the
        // other gate.
        let waits = [self.dirs.start_wait(dir), self.mounts.start_wait(&self.find_mount_point(dir))];
        let [at_dir, at_mount] = waits;
        // Order is significant: requests for a hanging directory must not fill the gate of its mount.
        Ok([at_dir.wait_for_pass(until).await?, at_mount.wait_for_pass(until).await?])
    }

    /// Waits for the pass with which a request may read files of a worktree.
    ///
    /// # Errors
    /// When the gate has not admitted the request at the time `until`.
    pub async fn enter_worktree(&self, root: &Path, until: Instant) -> Result<GatePass, GateError> {
        self.worktrees.start_wait(root).wait_for_pass(until).await
    }

    /// Waits for the pass that a request of low priority needs before it calls [`Self::enter_worktree`].
    ///
    /// # Errors
    /// When the gate has not admitted the request at the time `until`.
    pub async fn enter_low_priority(&self, root: &Path, until: Instant) -> Result<GatePass, GateError> {
        self.low_priority.start_wait(root).wait_for_pass(until).await
    }

    /// Waits for the pass with which a request may read git's settings of a worktree.
    ///
    /// # Errors
    /// When the gate has not admitted the request at the time `until`.
    pub async fn enter_settings(&self, root: &Path, until: Instant) -> Result<GatePass, GateError> {
        self.settings.start_wait(root).wait_for_pass(until).await
    }

    /// Returns the mount point of a path, found by its name alone; the path itself if no mount is known.
    pub(crate) fn find_mount_point(&self, dir: &Path) -> PathBuf {
        let mut table = lock(&self.table);
        table.take_changed_mount_points();
        table.mount_point_of(dir).unwrap_or(dir).to_owned()
    }
}

/// Admits a limited number of requests to each path.
struct Gate {
    limit: usize,
    places: Mutex<HashMap<PathBuf, Weak<GatedPath>>>,
}

/// A path of a gate, with its admitted requests.
struct GatedPath {
    room: Arc<Semaphore>,
    /// Number of requests that have left.
    n_departed: AtomicU64,
}

/// A request that waits at a gate.
struct GateWait {
    place: Arc<GatedPath>,
    /// Number of requests that had left when the wait began.
    n_departed: u64,
}

/// The pass of an admitted request. The request leaves when the pass is dropped.
pub struct GatePass {
    place: Arc<GatedPath>,
    _room: OwnedSemaphorePermit,
}

impl Drop for GatePass {
    fn drop(&mut self) {
        self.place.n_departed.fetch_add(1, Ordering::Relaxed);
    }
}

impl GateWait {
    async fn wait_for_pass(self, until: Instant) -> Result<GatePass, GateError> {
        let Self { place, n_departed: n_left } = self;
        match timeout_at(until.into(), Arc::clone(&place.room).acquire_owned()).await {
            Ok(room) => Ok(GatePass { place, _room: room.expect("nobody closes these semaphores") }),
            Err(_) if place.n_departed.load(Ordering::Relaxed) == n_left => Err(GateError::Stuck),
            Err(_) => Err(GateError::Busy),
        }
    }
}

impl Gate {
    fn new(limit: usize) -> Self {
        Self { limit, places: Mutex::default() }
    }

    /// Returns a wait for a pass to `place`, which counts the requests that leave from now on.
    fn start_wait(&self, place: &Path) -> GateWait {
        let place = self.find_or_add_gated_path(place);
        let n_left = place.n_departed.load(Ordering::Relaxed);
        GateWait { place, n_departed: n_left }
    }

    fn find_or_add_gated_path(&self, place: &Path) -> Arc<GatedPath> {
        let mut places = lock(&self.places);
        if let Some(known) = places.get(place).and_then(Weak::upgrade) {
            return known;
        }
        if places.len() >= CLEAN_UP_ABOVE {
            places.retain(|_, known| known.strong_count() > 0);
        }
        let new =
            Arc::new(GatedPath { room: Arc::new(Semaphore::new(self.limit)), n_departed: AtomicU64::new(0) });
        places.insert(place.to_owned(), Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Waits for a limited time, ms.
    async fn enter(gate: &Gate, place: &str, ms: u64) -> Result<GatePass, GateError> {
        gate.start_wait(Path::new(place)).wait_for_pass(Instant::now() + Duration::from_millis(ms)).await
    }

    #[tokio::test]
    async fn a_place_that_is_full_leaves_room_elsewhere() {
        let gate = Gate::new(2);
        let held = [enter(&gate, "/dead", 0).await, enter(&gate, "/dead", 0).await];
        assert_eq!(enter(&gate, "/dead", 0).await.err(), Some(GateError::Stuck), "a third would wait");
        assert!(enter(&gate, "/live", 0).await.is_ok());
        drop(held);
        assert!(enter(&gate, "/dead", 0).await.is_ok());
    }

    #[tokio::test]
    async fn who_waits_in_vain_where_others_come_and_go_is_told_that_it_is_busy() {
        let gate = Gate::new(1);
        let first = enter(&gate, "/a", 0).await;
        let second = async {
            let entered = enter(&gate, "/a", 60_000).await;
            std::future::pending::<()>().await;
            drop(entered);
        };
        let leave = async {
            tokio::task::yield_now().await; // the others wait by now
            drop(first);
        };
        tokio::select! {
            biased; // the second waits first
            () = second => unreachable!("it stays"),
            (late, ()) = async { tokio::join!(enter(&gate, "/a", 50), leave) } => {
                assert_eq!(late.err(), Some(GateError::Busy));
            }
        }
    }

    #[tokio::test]
    async fn few_who_give_way_are_in_front_of_others() {
        let gates = Gates::default();
        let root = Path::new("/a");
        let mut held = Vec::new();
        while let Ok(behind) = gates.enter_low_priority(root, Instant::now()).await {
            held.push(behind);
        }
        assert_eq!(held.len(), std::thread::available_parallelism().map_or(2, usize::from));
        assert!(gates.enter_worktree(root, Instant::now()).await.is_ok(), "the others wait elsewhere");
    }

    #[tokio::test]
    async fn places_where_nobody_is_are_swept() {
        let gate = Gate::new(1);
        let held = enter(&gate, "/held", 0).await;
        for number in 0..CLEAN_UP_ABOVE * 3 {
            drop(enter(&gate, &format!("/{number}"), 0).await);
        }
        assert!(gate.places.lock().unwrap().len() <= CLEAN_UP_ABOVE + 1);
        assert!(enter(&gate, "/held", 0).await.is_err(), "who is in counts");
        drop(held);
    }
}
