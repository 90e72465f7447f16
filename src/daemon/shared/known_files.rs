//! Keeps the result of the last examination of the files of shared memories in each worktree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use memod_base::paths::RepoLayout;
use memod_base::threads::lock;
use memod_base::types::Stat;
use memod_engine::file_access::file_access_progress::FileAccessProgress;
use memod_memory::file;
use memod_scan::is_racy;
use tokio::sync::Semaphore;

use crate::daemon::shared::memory_scope::UNKNOWN_WORKTREE;
use crate::daemon::shared::watched_files::WatchedMemoryDirs;

/// Maximum number of requests that search for other worktrees at a time.
const MOST_SEARCHES: usize = 4;

/// Maximum number of files without a memory that an examination reads one by one.
pub(in crate::daemon) const MOST_WITHOUT_MEMORY: usize = 1_000;

/// The files in the directory of memories, as an examination listed them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::daemon) struct FileListing {
    /// Files whose name is an id, and the first few other files, by name.
    pub(in crate::daemon) files: BTreeMap<String, Stat>,
    /// Number of other files that are not in `files`.
    pub(in crate::daemon) n_unlisted: usize,
    /// Whether there is a temporary file of `memo share sync`, which may still be running.
    pub(in crate::daemon) has_temporary: bool,
    /// Whether git was rebasing, which swaps the sides of a conflict.
    pub(in crate::daemon) is_rebasing: bool,
    /// The directory's [`Stat`] before the files were listed; `None` if there is no directory.
    pub(in crate::daemon) dir: Option<Stat>,
    /// Files that exist and could not be examined or read, with the reason.
    pub(in crate::daemon) unread: BTreeMap<String, String>,
    /// Names of examined files that contained no memory.
    pub(in crate::daemon) without_memory: BTreeSet<String>,
    /// Names of further files without a memory, which are skipped while there are too many.
    pub(in crate::daemon) skipped: BTreeSet<String>,
}

impl FileListing {
    /// Returns whether both listings have the same unchanged files, all readable, and no temporary file of `memo share sync`.
    pub(in crate::daemon) fn has_same_files(&self, other: &Self) -> bool {
        let are_read = self.unread.is_empty() && other.unread.is_empty();
        are_read
            && !self.has_temporary
            && !other.has_temporary
            && (self.n_unlisted, self.is_rebasing) == (other.n_unlisted, other.is_rebasing)
            && (&self.files, &self.skipped) == (&other.files, &other.skipped)
    }

    /// Returns all names that are known individually, whether or not the files can be read.
    pub(in crate::daemon) fn all_names(&self) -> impl Iterator<Item = &String> {
        self.files.keys().chain(self.unread.keys()).chain(&self.skipped)
    }

    /// Returns whether one more file without a memory would exceed the limit.
    pub(in crate::daemon) fn is_over_limit_with(&self, name: &str) -> bool {
        self.without_memory.len() >= MOST_WITHOUT_MEMORY && !self.without_memory.contains(name)
    }

    /// Returns a message about the files that could not be read; `None` if all could.
    pub(in crate::daemon) fn explain_failure(&self) -> Option<String> {
        let first = self.unread.values().next().map(|first| match self.unread.len() - 1 {
            0 => first.clone(),
            n_more => format!("{first}, and {n_more} more"),
        });
        let skipped = (!self.skipped.is_empty()).then(|| {
            let (dir, n_left) = (file::DIR, self.skipped.len());
            format!("{dir}: {n_left} more files are not memories or cannot be read, so they were not checked; move them away")
        });
        let all: Vec<String> = first.into_iter().chain(skipped).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// The result of examining the files of memories in a worktree.
pub(in crate::daemon) struct KnownWorktreeFiles {
    pub(in crate::daemon) worktree: i64,
    /// The generation of the rows in memory.db to which the files belong.
    pub(in crate::daemon) generation: u64,
    listing: FileListing,
    /// The counters of writes and updates when the files were listed.
    state: FilesState,
    /// Time before the files were read, ns since the Unix epoch.
    read_at_ns: i64,
    has_racy: bool,
}

impl KnownWorktreeFiles {
    pub(in crate::daemon) fn new(
        worktree: i64,
        generation: u64,
        state: FilesState,
        listing: FileListing,
        read_at_ns: i64,
    ) -> Self {
        let has_racy = listing.files.values().any(|stat| may_change_unseen(stat, read_at_ns));
        Self { worktree, generation, listing, state, read_at_ns, has_racy }
    }

    /// Returns whether the rows still match the worktree, provided that its files are unchanged: according to `state`, no file was
    /// written or applied to the rows since; and, if `links`, the memories are linked as the files of the worktree say.
    pub(in crate::daemon) fn is_current(
        &self,
        state: FilesState,
        links: bool,
        counters: &FileCounters,
    ) -> bool {
        self.state == state
            && (self.worktree == UNKNOWN_WORKTREE || !links || counters.is_linked(self.worktree))
    }

    /// Returns whether no file has changed since the examination.
    pub(in crate::daemon) fn is_unchanged_in(&self, listing: &FileListing) -> bool {
        !self.has_racy && self.listing.has_same_files(listing)
    }

    /// Returns whether the sides of conflicts are the same as in another listing.
    pub(in crate::daemon) fn has_same_sides(&self, listing: &FileListing) -> bool {
        self.listing.is_rebasing == listing.is_rebasing
    }

    /// Returns whether a file has not changed since the examination.
    pub(in crate::daemon) fn is_unchanged_file(&self, name: &str, stat: &Stat) -> bool {
        self.listing.files.get(name) == Some(stat) && !may_change_unseen(stat, self.read_at_ns)
    }

    /// Returns whether a file contained a memory when it was examined.
    pub(in crate::daemon) fn contained_memory(&self, name: &str) -> bool {
        self.listing.files.contains_key(name) && !self.listing.without_memory.contains(name)
    }

    /// Returns the names without a memory: first those that were examined, then those that were skipped.
    pub(in crate::daemon) fn split_without_memory<'a>(
        &self,
        names: &'a [String],
    ) -> [BTreeSet<&'a String>; 2] {
        [&self.listing.without_memory, &self.listing.skipped]
            .map(|known| names.iter().filter(|name| known.contains(*name)).collect())
    }

    /// Returns the names that are known individually and the number of other files, if the directory is unchanged since and has too
    /// many files to list them at each request; otherwise `None`.
    pub(in crate::daemon) fn known_names(&self, dir: &Stat) -> Option<(Vec<String>, usize)> {
        let is_same = self.listing.dir.as_ref() == Some(dir) && !is_racy(dir, self.read_at_ns);
        // Not every file system updates the time of a directory at each change.
        let is_worth_it =
            (self.listing.n_unlisted > 0 || !self.listing.skipped.is_empty()) && !self.listing.has_temporary;
        (is_same && is_worth_it)
            .then(|| (self.listing.all_names().cloned().collect(), self.listing.n_unlisted))
    }
}

/// Returns whether a file may have changed after it was read without a change of its [`Stat`], even if its time was set back.
fn may_change_unseen(stat: &Stat, read_at_ns: i64) -> bool {
    let as_changed = Stat { mtime_ns: stat.ctime_ns, ..*stat };
    is_racy(stat, read_at_ns) || is_racy(&as_changed, read_at_ns)
}

/// Counters that change when files are written, or when files of a worktree are applied to the rows. Files that were read while
/// the counters had other values may be outdated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::daemon) struct FilesState {
    pub(in crate::daemon) n_written: u64,
    pub(in crate::daemon) n_applied: u64,
}

/// Counters that the thread which owns the memories shares with the requests that examine files.
#[derive(Clone, Default)]
pub(in crate::daemon) struct FileCounters {
    /// Incremented before and after files are written.
    n_written: Arc<AtomicU64>,
    /// The counters of each worktree, by git dir.
    worktrees: Arc<Mutex<HashMap<String, WorktreeCounters>>>,
    /// The worktree whose files determine the present links of memories.
    linked_worktree: Arc<AtomicI64>,
}

/// Counters of the files of one worktree.
#[derive(Clone, Copy, Default)]
struct WorktreeCounters {
    /// Number of times that changed files were applied to the rows.
    n_applied: u64,
    /// Number of times that a request has listed the files.
    n_listings: u64,
}

impl FileCounters {
    /// Returns the counter of writes, which changes before and after files are written.
    pub(in crate::daemon) fn n_written(&self) -> u64 {
        self.n_written.load(Ordering::Acquire)
    }

    /// Records that files are about to be written, or were written.
    pub(in crate::daemon) fn note_write(&self) {
        self.n_written.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the counters of writes and updates for the worktree with a git dir.
    pub(in crate::daemon) fn state_of(&self, key: &str) -> FilesState {
        FilesState { n_written: self.n_written(), n_applied: self.counters_of(key).n_applied }
    }

    /// Returns how often requests have listed the files of the worktree with a git dir.
    pub(in crate::daemon) fn n_listings(&self, key: &str) -> u64 {
        self.counters_of(key).n_listings
    }

    fn counters_of(&self, key: &str) -> WorktreeCounters {
        lock(&self.worktrees).get(key).copied().unwrap_or_default()
    }

    /// Records that changed files of the worktree with a git dir were applied to the rows.
    pub(in crate::daemon) fn note_files_applied(&self, key: &str) {
        lock(&self.worktrees).entry(key.to_owned()).or_default().n_applied += 1;
    }

    /// Records that a request has listed the files of a worktree, and returns their state.
    pub(in crate::daemon) fn note_listing(&self, key: &str) -> FilesState {
        lock(&self.worktrees).entry(key.to_owned()).or_default().n_listings += 1;
        self.state_of(key)
    }

    /// Records that changed files are being applied to the rows, unless a request has listed the files since their number of
    /// listings was `n_listings`: a file that the request did not find must not appear in its answer. Returns whether the files may
    /// be applied.
    pub(in crate::daemon) fn try_begin_applying_files(&self, key: &str, n_listings: u64) -> bool {
        let mut worktrees = lock(&self.worktrees);
        let counters = worktrees.entry(key.to_owned()).or_default();
        let may_apply = counters.n_listings == n_listings;
        counters.n_applied += u64::from(may_apply);
        may_apply
    }

    /// Returns whether the memories are linked as the files of a worktree say.
    pub(in crate::daemon) fn is_linked(&self, worktree: i64) -> bool {
        self.linked_worktree.load(Ordering::Acquire) == worktree
    }

    /// Records that the memories are linked as the files of a worktree say. Returns whether they were linked differently before.
    pub(in crate::daemon) fn set_linked(&self, worktree: i64) -> bool {
        self.linked_worktree.swap(worktree, Ordering::AcqRel) != worktree
    }
}

/// The results of the last examinations of worktrees, by git dir.
pub(in crate::daemon) struct KnownFiles {
    files_by_git_dir: Mutex<HashMap<String, Arc<KnownWorktreeFiles>>>,
    /// Why the last examination of a worktree was incomplete, by git dir.
    failures: Mutex<HashMap<String, String>>,
    counters: FileCounters,
    /// Running examinations, by git dir.
    running: Mutex<HashMap<String, Vec<Weak<FileAccessProgress>>>>,
    /// Limits concurrent searches for other worktrees.
    search_slots: Arc<Semaphore>,
    /// The directories that are watched for edits.
    watched: Mutex<WatchedMemoryDirs>,
    /// Worktrees whose edited files are being stored, by root, each with whether more edits were made since that began.
    storing_edits: Mutex<HashMap<PathBuf, bool>>,
    /// Whether a request has searched for other worktrees.
    has_searched: AtomicBool,
}

impl Default for KnownFiles {
    fn default() -> Self {
        Self {
            files_by_git_dir: Mutex::default(),
            failures: Mutex::default(),
            counters: FileCounters::default(),
            running: Mutex::default(),
            search_slots: Arc::new(Semaphore::new(MOST_SEARCHES)),
            watched: Mutex::default(),
            storing_edits: Mutex::default(),
            has_searched: AtomicBool::default(),
        }
    }
}

impl KnownFiles {
    /// Returns the result of the last examination of the worktree with a git dir, if there was one.
    pub(in crate::daemon) fn find_worktree_files(&self, key: &str) -> Option<Arc<KnownWorktreeFiles>> {
        lock(&self.files_by_git_dir).get(key).cloned()
    }

    /// Keeps the result of the last examination of the worktree with a git dir.
    pub(in crate::daemon) fn set_worktree_files(&self, key: String, files: KnownWorktreeFiles) {
        lock(&self.files_by_git_dir).insert(key, Arc::new(files));
    }

    /// Records that an examination begins; it counts as running until the returned progress is dropped.
    pub(in crate::daemon) fn begin_read(&self, key: &str) -> Arc<FileAccessProgress> {
        let progress = Arc::new(FileAccessProgress::default());
        let mut running = lock(&self.running);
        let reads = running.entry(key.to_owned()).or_default();
        reads.retain(|read| read.strong_count() > 0);
        reads.push(Arc::downgrade(&progress));
        progress
    }

    /// Returns a path for which the file system of a worktree has not answered for at least `limit`, if there is one.
    pub(in crate::daemon) fn unanswered_for(&self, key: &str, limit: Duration) -> Option<PathBuf> {
        let running = lock(&self.running);
        let reads = running.get(key)?.iter().filter_map(Weak::upgrade);
        reads.into_iter().find_map(|read| read.find_stuck_path(limit))
    }

    /// Logs why an examination was incomplete, unless the last one has logged the same reason: every request examines the files.
    pub(in crate::daemon) fn log_failure(&self, key: &str, failure: Option<&String>) {
        let mut failures = lock(&self.failures);
        let former = match failure {
            Some(why) => failures.insert(key.to_owned(), why.clone()),
            None => failures.remove(key),
        };
        if let Some(why) = failure.filter(|why| former.as_ref() != Some(*why)) {
            tracing::warn!(why, "files of memories cannot be read");
        }
    }

    /// Returns the number of files without a memory that the last examination of a worktree did not read one by one.
    pub(in crate::daemon) fn count_unlisted_files(&self, worktree: i64) -> usize {
        let known = lock(&self.files_by_git_dir);
        let files = known.values().find(|files| files.worktree == worktree);
        files.map_or(0, |files| files.listing.n_unlisted + files.listing.skipped.len())
    }

    /// Returns the semaphore that limits concurrent searches for other worktrees.
    pub(in crate::daemon) fn search_slots(&self) -> Arc<Semaphore> {
        Arc::clone(&self.search_slots)
    }

    /// Returns a handle to the shared counters.
    pub(in crate::daemon) fn counters(&self) -> FileCounters {
        self.counters.clone()
    }

    /// Locks and returns the directories of memories that are watched.
    pub(in crate::daemon) fn watched_files(&self) -> MutexGuard<'_, WatchedMemoryDirs> {
        lock(&self.watched)
    }

    /// Returns whether the last examination found a directory of memories that is not watched.
    pub(in crate::daemon) fn is_unwatched(&self, key: &str, layout: &RepoLayout) -> bool {
        let dir = self.find_worktree_files(key).and_then(|files| files.listing.dir);
        dir.is_some_and(|dir| !self.watched_files().is_watched(key, layout, &dir))
    }

    /// Returns true at the first call only.
    pub(in crate::daemon) fn mark_searched(&self) -> bool {
        !self.has_searched.swap(true, Ordering::AcqRel)
    }

    /// Records that the edited files of a worktree must be stored. Returns whether the caller has to do that; otherwise another
    /// thread will store them.
    pub(in crate::daemon) fn begin_storing_edits(&self, root: &Path) -> bool {
        let mut taking = lock(&self.storing_edits);
        match taking.get_mut(root) {
            Some(more) => {
                *more = true;
                false
            }
            None => taking.insert(root.to_owned(), false).is_none(),
        }
    }

    /// Records that the edited files of a worktree were stored. Returns whether the thread is done; otherwise more edits were
    /// made meanwhile, and it must store them too.
    pub(in crate::daemon) fn end_storing_edits(&self, root: &Path) -> bool {
        let mut taking = lock(&self.storing_edits);
        let goes_on = taking.get_mut(root).is_some_and(std::mem::take);
        if !goes_on {
            taking.remove(root);
        }
        !goes_on
    }

    /// Records that no thread stores the edited files of a worktree.
    pub(in crate::daemon) fn forget_storing_edits(&self, root: &Path) {
        lock(&self.storing_edits).remove(root);
    }
}
