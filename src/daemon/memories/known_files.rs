//! Keeps what was last seen of the files of shared memories in each worktree.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::scan::is_racy;
use crate::threads::lock;
use crate::types::Stat;

/// Names in the directory with their signatures.
pub(super) type Listed = BTreeMap<String, Stat>;

/// One look at the files of a worktree.
pub(super) struct Look {
    pub(super) worktree: i64,
    /// The generation of the rows.
    pub(super) generation: u64,
    pub(super) files: Listed,
    /// The number of writes of files, from [`FileCounters`].
    pub(super) n_written: u64,
    /// Time before the files were read, ns since the epoch.
    read_at_ns: i64,
    has_racy: bool,
}

impl Look {
    pub(super) fn new(
        worktree: i64,
        (generation, n_written): (u64, u64),
        files: Listed,
        read_at_ns: i64,
    ) -> Self {
        let has_racy = files.values().any(|stat| is_racy(stat, read_at_ns));
        Self { worktree, generation, files, n_written, read_at_ns, has_racy }
    }

    /// Returns whether no file has changed since.
    pub(super) fn is_of(&self, listed: &Listed) -> bool {
        !self.has_racy && self.files == *listed
    }

    /// Returns whether one file has not changed since.
    pub(super) fn has_read(&self, name: &str, stat: &Stat) -> bool {
        self.files.get(name) == Some(stat) && !is_racy(stat, self.read_at_ns)
    }
}

/// What the thread that owns the memories tells those who look.
#[derive(Clone, Default)]
pub(super) struct FileCounters {
    /// Number of times that files were about to be written, or have been.
    n_written: Arc<AtomicU64>,
    /// The worktree as whose files say the memories are linked.
    linked: Arc<AtomicI64>,
}

impl FileCounters {
    pub(super) fn n_written(&self) -> u64 {
        self.n_written.load(Ordering::Acquire)
    }

    pub(super) fn note_write(&self) {
        self.n_written.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns whether the memories are linked as the files of a worktree say.
    pub(super) fn is_linked(&self, worktree: i64) -> bool {
        self.linked.load(Ordering::Acquire) == worktree
    }

    /// Records that the memories are linked so; returns whether they were not.
    pub(super) fn set_linked(&self, worktree: i64) -> bool {
        self.linked.swap(worktree, Ordering::AcqRel) != worktree
    }
}

/// The last looks at worktrees, by git dir.
#[derive(Default)]
pub(super) struct KnownFiles {
    looks: Mutex<HashMap<String, Arc<Look>>>,
    /// Why the last look at a worktree failed, by its number.
    failures: Mutex<HashMap<i64, String>>,
    counters: FileCounters,
}

impl KnownFiles {
    pub(super) fn last(&self, key: &str) -> Option<Arc<Look>> {
        lock(&self.looks).get(key).cloned()
    }

    pub(super) fn set_last(&self, key: String, look: Look) {
        lock(&self.failures).remove(&look.worktree);
        lock(&self.looks).insert(key, Arc::new(look));
    }

    /// Returns whether the last look failed in another way, or not at all.
    pub(super) fn set_failure(&self, worktree: i64, why: &str) -> bool {
        lock(&self.failures).insert(worktree, why.to_owned()).as_deref() != Some(why)
    }

    /// Returns why the files of a worktree could not be looked at the last time.
    pub(super) fn failure(&self, worktree: i64) -> Option<String> {
        lock(&self.failures).get(&worktree).cloned()
    }

    pub(super) fn counters(&self) -> FileCounters {
        self.counters.clone()
    }
}
