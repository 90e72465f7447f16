//! Keeps what was last seen of the files of shared memories in each worktree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use memod_base::paths::RepoLayout;
use memod_base::threads::lock;
use memod_base::types::Stat;
use memod_engine::look_progress::LookProgress;
use memod_memory::file;
use memod_scan::is_racy;
use tokio::sync::Semaphore;

use super::watched_files::WatchedFiles;
use crate::daemon::request::memory_scope::UNKNOWN;

/// Most requests that look for other worktrees at a time.
const LOOKING: usize = 4;

/// Most files that show no memory which are looked at one by one each time.
pub(super) const MOST_BARREN: usize = 1_000;

/// What the directory of memories holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Files named by an id, and the first others, by name.
    pub(super) files: BTreeMap<String, Stat>,
    /// Number of other files that are not among these.
    pub(super) n_unlisted: usize,
    /// Whether `memo sync-notes` runs, or has left a file under another name.
    pub(super) has_left: bool,
    /// Whether git was putting commits on top of others, which turns the sides of a conflict.
    pub(super) is_rebasing: bool,
    /// The directory, before it was listed; `None` where there is none.
    pub(super) dir: Option<Stat>,
    /// Why files that are there, and not among these, could not be looked at or read.
    pub(super) unread: BTreeMap<String, String>,
    /// Those of all these that showed no memory.
    pub(super) barren: BTreeSet<String>,
    /// More files named by an id that showed no memory, and are not looked at while there are so many.
    pub(super) left: BTreeSet<String>,
}

impl Listing {
    /// Returns whether the same files are there, unchanged, all of them can be read, and none is left under another name.
    pub(super) fn has_same_files(&self, other: &Self) -> bool {
        let are_read = self.unread.is_empty() && other.unread.is_empty();
        are_read
            && !self.has_left
            && !other.has_left
            && (self.n_unlisted, self.is_rebasing) == (other.n_unlisted, other.is_rebasing)
            && (&self.files, &self.left) == (&other.files, &other.left)
    }

    /// Returns the names that are known one by one, whether or not the files can be read.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.files.keys().chain(self.unread.keys()).chain(&self.left)
    }

    /// Returns whether another file that shows no memory is one too many.
    pub(super) fn is_full_for(&self, name: &str) -> bool {
        self.barren.len() >= MOST_BARREN && !self.barren.contains(name)
    }

    /// Returns why not all files could be read, if so.
    pub(super) fn failure(&self) -> Option<String> {
        let first = self.unread.values().next().map(|first| match self.unread.len() - 1 {
            0 => first.clone(),
            n_more => format!("{first}, and {n_more} more"),
        });
        let left = (!self.left.is_empty()).then(|| {
            let (dir, n_left) = (file::DIR, self.left.len());
            format!("{dir}: {n_left} more files are no memories or cannot be read, and are not looked at; move them away")
        });
        let all: Vec<String> = first.into_iter().chain(left).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// One look at the files of a worktree.
pub(super) struct Look {
    pub(super) worktree: i64,
    /// The generation of the rows.
    pub(super) generation: u64,
    listing: Listing,
    /// The counters of writes and takes when the files were listed.
    state: FilesState,
    /// Time before the files were read, ns since the epoch.
    read_at_ns: i64,
    has_racy: bool,
}

impl Look {
    pub(super) fn new(
        worktree: i64,
        (generation, state): (u64, FilesState),
        listing: Listing,
        read_at_ns: i64,
    ) -> Self {
        let has_racy = listing.files.values().any(|stat| may_change_unseen(stat, read_at_ns));
        Self { worktree, generation, listing, state, read_at_ns, has_racy }
    }

    /// Returns whether the rows are as the worktree needs them, if its files have not changed since: in this `state` of them, nobody
    /// has written files since, or taken one that may be gone again.
    pub(super) fn is_current(&self, state: FilesState, links: bool, counters: &FileCounters) -> bool {
        let is_linked = || self.worktree == UNKNOWN || !links || counters.is_linked(self.worktree);
        self.state == state && is_linked()
    }

    /// Returns whether no file has changed since.
    pub(super) fn is_of(&self, listing: &Listing) -> bool {
        !self.has_racy && self.listing.has_same_files(listing)
    }

    /// Returns whether the sides of conflicts are the same as in another listing.
    pub(super) fn has_same_sides(&self, listing: &Listing) -> bool {
        self.listing.is_rebasing == listing.is_rebasing
    }

    /// Returns whether one file has not changed since.
    pub(super) fn has_read(&self, name: &str, stat: &Stat) -> bool {
        self.listing.files.get(name) == Some(stat) && !may_change_unseen(stat, self.read_at_ns)
    }

    /// Returns whether a file showed a memory.
    pub(super) fn showed_memory(&self, name: &str) -> bool {
        self.listing.files.contains_key(name) && !self.listing.barren.contains(name)
    }

    /// Returns those of these names that showed no memory and were looked at, and those that were not.
    pub(super) fn barren_of<'a>(&self, names: &'a [String]) -> [BTreeSet<&'a String>; 2] {
        let of = |known: &BTreeSet<String>| names.iter().filter(|name| known.contains(*name)).collect();
        [of(&self.listing.barren), of(&self.listing.left)]
    }

    /// Returns the names that were listed one by one, and how many were not, if all of these were not and the directory has not
    /// changed since.
    pub(super) fn known_names(&self, dir: &Stat) -> Option<(Vec<String>, usize)> {
        let is_same = self.listing.dir.as_ref() == Some(dir) && !is_racy(dir, self.read_at_ns);
        // Not every file system notes all changes of a directory.
        let is_worth_it =
            (self.listing.n_unlisted > 0 || !self.listing.left.is_empty()) && !self.listing.has_left;
        (is_same && is_worth_it).then(|| (self.listing.names().cloned().collect(), self.listing.n_unlisted))
    }
}

/// Returns whether a file may have changed after it was read without another signature: also where its time was set back.
fn may_change_unseen(stat: &Stat, read_at_ns: i64) -> bool {
    let as_changed = Stat { mtime_ns: stat.ctime_ns, ..*stat };
    is_racy(stat, read_at_ns) || is_racy(&as_changed, read_at_ns)
}

/// Numbers that change when files are written, or when the rows of a worktree take what its files say: what was read before may be
/// older then.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FilesState {
    pub(super) n_written: u64,
    pub(super) n_taken: u64,
}

/// What the thread that owns the memories tells those who look.
#[derive(Clone, Default)]
pub(super) struct FileCounters {
    /// Number of times that files were about to be written, or have been.
    n_written: Arc<AtomicU64>,
    /// What was done with the files of each worktree, by git dir.
    worktrees: Arc<Mutex<HashMap<String, WorktreeCounters>>>,
    /// The worktree as whose files say the memories are linked.
    linked: Arc<AtomicI64>,
}

/// What was done with the files of a worktree.
#[derive(Clone, Copy, Default)]
struct WorktreeCounters {
    /// Number of times that the rows took what files say.
    n_taken: u64,
    /// Number of times that a request has listed the files.
    n_looks: u64,
}

impl FileCounters {
    pub(super) fn n_written(&self) -> u64 {
        self.n_written.load(Ordering::Acquire)
    }

    pub(super) fn note_write(&self) {
        self.n_written.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn state_of(&self, key: &str) -> FilesState {
        FilesState { n_written: self.n_written(), n_taken: self.of(key).n_taken }
    }

    pub(super) fn n_looks(&self, key: &str) -> u64 {
        self.of(key).n_looks
    }

    fn of(&self, key: &str) -> WorktreeCounters {
        lock(&self.worktrees).get(key).copied().unwrap_or_default()
    }

    pub(super) fn note_taken(&self, key: &str) {
        lock(&self.worktrees).entry(key.to_owned()).or_default().n_taken += 1;
    }

    /// Records that a request has listed the files of a worktree; returns the state of them.
    pub(super) fn note_look(&self, key: &str) -> FilesState {
        lock(&self.worktrees).entry(key.to_owned()).or_default().n_looks += 1;
        self.state_of(key)
    }

    /// Records that what was read is being taken, unless a request has listed the files since: one that it did not find must not
    /// come into its answer. Returns whether it is.
    pub(super) fn begin_take(&self, key: &str, n_looks: u64) -> bool {
        let mut worktrees = lock(&self.worktrees);
        let counters = worktrees.entry(key.to_owned()).or_default();
        let is_newest = counters.n_looks == n_looks;
        counters.n_taken += u64::from(is_newest);
        is_newest
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
pub(super) struct KnownFiles {
    looks: Mutex<HashMap<String, Arc<Look>>>,
    /// Why the last look at a worktree could not read all, by git dir.
    failures: Mutex<HashMap<String, String>>,
    counters: FileCounters,
    /// Looks that have begun, by git dir.
    running: Mutex<HashMap<String, Vec<Weak<LookProgress>>>>,
    looking: Arc<Semaphore>,
    /// The directories whose edits are taken as they happen.
    watched: Mutex<WatchedFiles>,
    /// Worktrees whose edits are being taken, by top; whether more were made since that began.
    taking: Mutex<HashMap<PathBuf, bool>>,
    /// Whether a request has looked for other worktrees.
    has_begun: AtomicBool,
}

impl Default for KnownFiles {
    fn default() -> Self {
        Self {
            looks: Mutex::default(),
            failures: Mutex::default(),
            counters: FileCounters::default(),
            running: Mutex::default(),
            looking: Arc::new(Semaphore::new(LOOKING)),
            watched: Mutex::default(),
            taking: Mutex::default(),
            has_begun: AtomicBool::default(),
        }
    }
}

impl KnownFiles {
    pub(super) fn last(&self, key: &str) -> Option<Arc<Look>> {
        lock(&self.looks).get(key).cloned()
    }

    pub(super) fn set_last(&self, key: String, look: Look) {
        lock(&self.looks).insert(key, Arc::new(look));
    }

    /// Begins a look; its progress counts as long as somebody holds it.
    pub(super) fn begin_look(&self, key: &str) -> Arc<LookProgress> {
        let progress = Arc::new(LookProgress::default());
        let mut running = lock(&self.running);
        let looks = running.entry(key.to_owned()).or_default();
        looks.retain(|look| look.strong_count() > 0);
        looks.push(Arc::downgrade(&progress));
        progress
    }

    /// Returns the path for which a look at a worktree has waited so long, if there is one.
    pub(super) fn unanswered_for(&self, key: &str, limit: Duration) -> Option<PathBuf> {
        let running = lock(&self.running);
        let looks = running.get(key)?.iter().filter_map(Weak::upgrade);
        looks.into_iter().find_map(|look| look.unanswered_for(limit))
    }

    /// Logs why a look could not read all, unless the last one could not for the same reason: each request looks.
    pub(super) fn log_failure(&self, key: &str, failure: Option<&String>) {
        let mut failures = lock(&self.failures);
        let former = match failure {
            Some(why) => failures.insert(key.to_owned(), why.clone()),
            None => failures.remove(key),
        };
        if let Some(why) = failure.filter(|why| former.as_ref() != Some(*why)) {
            tracing::warn!(why, "files of memories");
        }
    }

    /// Returns how many files the last look at a worktree found that are no memories, besides those that are known one by one.
    pub(super) fn n_unlisted(&self, worktree: i64) -> usize {
        let looks = lock(&self.looks);
        let look = looks.values().find(|look| look.worktree == worktree);
        look.map_or(0, |look| look.listing.n_unlisted + look.listing.left.len())
    }

    /// Returns the places of those who look for other worktrees.
    pub(super) fn looking(&self) -> Arc<Semaphore> {
        Arc::clone(&self.looking)
    }

    pub(super) fn counters(&self) -> FileCounters {
        self.counters.clone()
    }

    pub(super) fn watched(&self) -> MutexGuard<'_, WatchedFiles> {
        lock(&self.watched)
    }

    /// Returns whether a worktree has a directory of memories, as it was last looked at, that is not watched.
    pub(super) fn is_unwatched(&self, key: &str, layout: &RepoLayout) -> bool {
        let dir = self.last(key).and_then(|look| look.listing.dir);
        dir.is_some_and(|dir| !self.watched().has(key, layout, &dir))
    }

    /// Returns whether nobody has asked this before.
    pub(super) fn begins(&self) -> bool {
        !self.has_begun.swap(true, Ordering::AcqRel)
    }

    /// Records that edits in a worktree are to be taken. Returns whether nobody takes some there yet.
    pub(super) fn begin_taking(&self, root: &Path) -> bool {
        let mut taking = lock(&self.taking);
        match taking.get_mut(root) {
            Some(more) => {
                *more = true;
                false
            }
            None => taking.insert(root.to_owned(), false).is_none(),
        }
    }

    /// Records that the edits in a worktree were taken. Returns whether no more were made meanwhile; otherwise it begins again.
    pub(super) fn end_taking(&self, root: &Path) -> bool {
        let mut taking = lock(&self.taking);
        let goes_on = taking.get_mut(root).is_some_and(std::mem::take);
        if !goes_on {
            taking.remove(root);
        }
        !goes_on
    }

    /// Records that nobody takes edits in a worktree.
    pub(super) fn forget_taking(&self, root: &Path) {
        lock(&self.taking).remove(root);
    }
}
