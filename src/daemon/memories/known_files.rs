//! Keeps what was last seen of the files of shared memories in each worktree.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::threads::lock;
use crate::types::Stat;

/// Names in the directory with their signatures.
pub(super) type Listed = BTreeMap<String, Stat>;

/// One look at the files of a worktree.
#[derive(Clone)]
pub(super) struct Look {
    pub(super) worktree: i64,
    /// Number of times that the database had been opened.
    pub(super) n_opened: u64,
    pub(super) files: Listed,
    /// Whether a file may have changed since without another signature.
    pub(super) is_racy: bool,
}

/// The last looks at worktrees, by git dir.
#[derive(Default)]
pub(super) struct KnownFiles {
    looks: Mutex<HashMap<String, Look>>,
    /// Why the last look failed.
    failures: Mutex<HashMap<String, String>>,
    /// Number of times that memories were written to files, which only the thread that owns them does.
    n_written: Arc<AtomicU64>,
}

impl KnownFiles {
    pub(super) fn last(&self, key: &str) -> Option<Look> {
        lock(&self.looks).get(key).cloned()
    }

    pub(super) fn set_last(&self, key: String, look: Look) {
        lock(&self.failures).remove(&key);
        lock(&self.looks).insert(key, look);
    }

    /// Returns whether the last look failed in another way, or not at all.
    pub(super) fn set_failure(&self, key: &str, why: &str) -> bool {
        lock(&self.failures).insert(key.to_owned(), why.to_owned()).as_deref() != Some(why)
    }

    /// Returns why directories could not be read at the last look.
    pub(super) fn failures(&self) -> Vec<String> {
        lock(&self.failures).values().cloned().collect()
    }

    pub(super) fn n_written(&self) -> u64 {
        self.n_written.load(Ordering::Acquire)
    }

    /// Returns the counter of writes to files, for the thread that owns the memories.
    pub(super) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.n_written)
    }
}
