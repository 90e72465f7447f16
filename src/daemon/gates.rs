//! Limits how many requests touch one place at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[cfg(target_os = "linux")]
use crate::watch::Mounts;

/// Requests that look at one directory at a time, to find the worktree around it.
const PER_DIR: usize = 4;
/// Requests that look at directories of one mount. Names alone say what is mounted where: a link may lead out of it.
const PER_MOUNT: usize = 32;
/// Empty gates are swept when there are so many.
const MOST_IDLE: usize = 64;

/// Who may touch which place, and how many work at a time.
///
/// Invariant: a thread that hangs holds a place here and nothing else: what it is a thread of has room for as many as
/// all gates let in, and gives up its turn after a while.
pub(super) struct Gates {
    dirs: Gate,
    mounts: Gate,
    worktrees: Gate,
    /// Turns of those that work: twice as many as there are processors.
    pub(super) turns: Semaphore,
    #[cfg(target_os = "linux")]
    table: Mutex<Mounts>,
}

impl Default for Gates {
    fn default() -> Self {
        let n_processors = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            dirs: Gate::new(PER_DIR),
            mounts: Gate::new(PER_MOUNT),
            worktrees: Gate::new(n_processors),
            turns: Semaphore::new(n_processors * 2),
            #[cfg(target_os = "linux")]
            table: Mutex::new(Mounts::read()),
        }
    }
}

impl Gates {
    /// Waits until one more may look for the worktree around a directory.
    pub(super) async fn enter_dir(&self, dir: &Path) -> [OwnedSemaphorePermit; 2] {
        let place = self.dirs.enter(dir).await; // first: those of a directory that hangs are no burden to its mount
        [place, self.mounts.enter(&self.mount_of(dir)).await]
    }

    /// Waits until one more may read files of a worktree.
    pub(super) async fn enter_worktree(&self, root: &Path) -> OwnedSemaphorePermit {
        self.worktrees.enter(root).await
    }

    #[cfg(target_os = "linux")]
    fn mount_of(&self, dir: &Path) -> PathBuf {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.changed();
        table.around(dir).unwrap_or(dir).to_owned()
    }

    #[cfg(not(target_os = "linux"))]
    fn mount_of(&self, dir: &Path) -> PathBuf {
        dir.to_owned()
    }
}

/// Lets so many into each place at a time.
struct Gate {
    limit: usize,
    places: Mutex<HashMap<PathBuf, Weak<Semaphore>>>,
}

impl Gate {
    fn new(limit: usize) -> Self {
        Self { limit, places: Mutex::default() }
    }

    async fn enter(&self, place: &Path) -> OwnedSemaphorePermit {
        let permit = self.place(place).acquire_owned().await;
        permit.expect("nobody closes these semaphores")
    }

    fn place(&self, place: &Path) -> Arc<Semaphore> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = places.get(place).and_then(Weak::upgrade) {
            return known;
        }
        if places.len() >= MOST_IDLE {
            places.retain(|_, known| known.strong_count() > 0);
        }
        let new = Arc::new(Semaphore::new(self.limit));
        places.insert(place.to_owned(), Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_place_that_is_full_leaves_room_elsewhere() {
        let gate = Gate::new(2);
        let held = [gate.enter(Path::new("/dead")).await, gate.enter(Path::new("/dead")).await];
        assert!(gate.place(Path::new("/dead")).try_acquire().is_err(), "a third would wait");
        drop(gate.enter(Path::new("/live")).await);
        drop(held);
        drop(gate.enter(Path::new("/dead")).await);
    }

    #[tokio::test]
    async fn places_where_nobody_is_are_swept() {
        let gate = Gate::new(1);
        let held = gate.enter(Path::new("/held")).await;
        for number in 0..MOST_IDLE * 3 {
            drop(gate.enter(Path::new(&format!("/{number}"))).await);
        }
        assert!(gate.places.lock().unwrap().len() <= MOST_IDLE + 1);
        assert!(Gate::place(&gate, Path::new("/held")).try_acquire().is_err(), "who is in counts");
        drop(held);
    }
}
