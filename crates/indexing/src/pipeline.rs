//! Reconciles the manifest of a worktree with its files.
//!
//! Each worktree is reconciled on its own thread, with a few more threads that read. None of them writes: changes go to the
//! writer in batches. So a hanging file system blocks only its own worktree.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use memod_base::paths::RepoLayout;
use memod_base::threads::lock;
use memod_base::types::{SourceKey, Stat, WorktreeId};
use memod_database::DatabaseError;
use memod_index_db::{IndexReader, IndexWriter, ManifestChange};

use super::batches::{ApplyChanges, Batches};
use super::compare::Comparison;
use super::extractor::ExtractorPool;
use super::prepare::{PreparedFile, Preparer};
use super::secret_files::{self, SecretFiles};
use super::todo_list::{ReconcileScope, TodoList};
use super::{IndexError, Progress, ReconcileOutcome, WalkProgress};

/// Most runs of files that are prepared ahead of the writer; each run has at most one extracted content.
const MAX_QUEUED_RUNS: usize = 64;
/// Most files of a run; they share one message.
const MAX_RUN_FILES: usize = 32;
/// Most files that are read without further threads.
const INLINE_FILES: usize = 4;

/// Limits for reading files.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimits {
    /// Maximum size of a file, bytes.
    pub max_file_bytes: u64,
    /// Number of threads that read files of one worktree, and number of processes that parse for all worktrees.
    pub n_threads: usize,
}

/// The data that the reconciles of all worktrees share.
pub struct Indexer {
    index_db: PathBuf,
    extractors: ExtractorPool,
    secret_files: Mutex<SecretFiles>,
    reading: ReadLimits,
    progress: Arc<Progress>,
}

impl Indexer {
    /// Prepares to fill `index_db`; `memod` is the program that extracts texts.
    pub fn new(index_db: &Path, memod: &Path, reading: ReadLimits, progress: Arc<Progress>) -> Self {
        let extractors = ExtractorPool::new(memod, &progress, reading.n_threads);
        let (index_db, secret_files) = (index_db.to_owned(), Mutex::default());
        Self { index_db, extractors, secret_files, reading, progress }
    }

    /// Purges unreferenced contents that may be in a file with a secret name. Call it after each successful reconcile.
    ///
    /// # Errors
    /// When the database cannot be written; nothing is purged then.
    pub fn purge_secrets(&self, writer: &mut IndexWriter) -> Result<(), DatabaseError> {
        let sizes = lock(&self.secret_files).recent_sizes();
        if sizes.is_empty() { Ok(()) } else { writer.purge_contents_of_sizes(&sizes) }
    }
}

/// Reconciles one worktree.
pub struct Reconciler {
    indexer: Arc<Indexer>,
    layout: RepoLayout,
    worktree: WorktreeId,
    reader: IndexReader,
    walk: Arc<WalkProgress>,
    /// Digest of the rules at the last walk, if they could be read; the outer option is `None` before the first walk.
    rules: Option<Option<u64>>,
}

impl Reconciler {
    /// Returns the reconciler of a worktree whose row exists.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub fn new(indexer: &Arc<Indexer>, layout: &RepoLayout, view: WorktreeId) -> Result<Self, DatabaseError> {
        let (reader, indexer) = (IndexReader::open(&indexer.index_db)?, Arc::clone(indexer));
        Ok(Self {
            indexer,
            layout: layout.clone(),
            worktree: view,
            reader,
            walk: Arc::default(),
            rules: None,
        })
    }

    /// Returns the paths of the worktree.
    pub fn layout(&self) -> &RepoLayout {
        &self.layout
    }

    /// Returns the progress of the running reconcile.
    pub fn progress(&self) -> Arc<WalkProgress> {
        Arc::clone(&self.walk)
    }

    /// Makes the manifest equal the worktree within `scope`.
    ///
    /// `on_dir` is called with each directory before it is listed, so that it can be watched first. After `git_changed`
    /// everything is compared if git's tracked paths or ignore rules have changed since the last walk, because the set of
    /// files may have changed without a change of any file.
    ///
    /// # Errors
    /// When the worktree cannot be listed or the database fails; earlier batches stay written.
    pub fn reconcile(
        &mut self,
        scope: &ReconcileScope,
        git_changed: bool,
        on_dir: &mut dyn FnMut(&Path),
        apply: &mut ApplyChanges<'_>,
    ) -> Result<ReconcileOutcome, IndexError> {
        let Self { indexer, layout, worktree: view, reader, walk, rules: last_rules } = self;
        walk.begin_listing();
        let access = walk.begin_access(&layout.root);
        let (max_file_bytes, progress) = (indexer.reading.max_file_bytes, &indexer.progress);
        let comparison = Comparison::new(layout, *view, reader, max_file_bytes, progress, on_dir, &access)?;
        let rules = comparison.rules_digest();
        let other = git_changed && (rules.is_none() || *last_rules != Some(rules));
        let whole = other || *scope == ReconcileScope::Full;
        let todo = comparison.find_differences(if whole { &ReconcileScope::Full } else { scope })?;
        drop(access);
        let outcome = self.apply_todo_list(todo, apply)?;
        if whole {
            self.rules = Some(rules);
        }
        Ok(ReconcileOutcome { whole, ..outcome })
    }

    /// Reads the files that differ, and writes all differences.
    fn apply_todo_list(
        &mut self,
        todo: TodoList,
        apply: &mut ApplyChanges<'_>,
    ) -> Result<ReconcileOutcome, IndexError> {
        let Self { indexer, layout, worktree: view, reader, walk, rules } = &*self;
        let secrets = {
            let mut secret_files = lock(&indexer.secret_files);
            secret_files.record_new(&todo, rules.is_some())
        };
        let TodoList { problems, unread, missed, reads, refusals, removals, .. } = todo;
        let outcome = ReconcileOutcome { problems, unread, missed, ..ReconcileOutcome::default() };
        let n_bytes = reads.iter().map(|(_, stat)| stat.size).sum();
        walk.begin_reading((refusals.len() + reads.len() + removals.len()) as u64, n_bytes);
        let mut batches = Batches::new(apply, &indexer.progress, walk, outcome);
        let refusals = refusals.into_iter();
        batches.add_and_flush(refusals.map(|(key, stat, refusal)| ManifestChange::Refuse {
            key,
            stat,
            refusal,
        }))?;
        let files = ReadContext { indexer, worktree: *view, root: &layout.root, walk };
        files.read_files(reads, reader, &mut batches)?;
        // Removals come last: a renamed file keeps its old name until it has the new one, so it is never missing. The old
        // name is not shown, because each hit is checked against the disk.
        batches.add_and_flush(removals.into_iter().map(|(key, stat)| {
            let is_secret = secrets.iter().any(|secret| secret_files::may_have_content_of(secret, &stat));
            ManifestChange::Remove { key, is_secret }
        }))?;
        Ok(batches.outcome)
    }
}

/// The values that each thread needs to read the files of one reconcile.
#[derive(Clone, Copy)]
struct ReadContext<'a> {
    indexer: &'a Indexer,
    worktree: WorktreeId,
    root: &'a Path,
    walk: &'a WalkProgress,
}

impl<'a> ReadContext<'a> {
    /// Reads files that differ, a few on this thread and more on several. Afterwards all extracting processes but one end,
    /// to release their memory.
    fn read_files(
        self,
        mut reads: Vec<(SourceKey, Stat)>,
        reader: &IndexReader,
        batches: &mut Batches<'_>,
    ) -> Result<(), IndexError> {
        if reads.len() > INLINE_FILES {
            // Read the latest changes first: a request that does not wait for all files most likely wants those.
            reads.sort_by_key(|(_, stat)| Reverse(stat.mtime_ns));
            let read =
                ReadQueue { reads: &reads, next: AtomicUsize::new(0), files: self }.read_on_threads(batches);
            self.indexer.extractors.stop_all_but_one();
            return read;
        }
        let preparer = self.new_preparer(reader);
        reads
            .iter()
            .try_for_each(|(key, stat)| batches.add_prepared(preparer.prepare_or_refuse(key, stat)?))?;
        batches.flush()
    }

    fn new_preparer(self, reader: &'a IndexReader) -> Preparer<'a> {
        let Self { indexer: Indexer { extractors, reading, .. }, worktree: view, root, walk } = self;
        Preparer { worktree: view, root, max_file_bytes: reading.max_file_bytes, reader, extractors, walk }
    }
}

/// A list of files that threads share.
struct ReadQueue<'a> {
    reads: &'a [(SourceKey, Stat)],
    next: AtomicUsize,
    files: ReadContext<'a>,
}

type PreparedRun = Result<Vec<PreparedFile>, IndexError>;

impl ReadQueue<'_> {
    /// Reads the files on several threads; this thread passes on the changes.
    fn read_on_threads(&self, batches: &mut Batches<'_>) -> Result<(), IndexError> {
        let (sender, receiver) = sync_channel(MAX_QUEUED_RUNS);
        thread::scope(|scope| {
            for n in 0..self.files.indexer.reading.n_threads {
                let sender = sender.clone();
                let spawned =
                    thread::Builder::new().name(format!("read-{n}")).spawn_scoped(scope, move || {
                        if let Err(error) = self.send_runs(&sender) {
                            let _ = sender.send(Err(error)); // nobody receives it if another thread has failed before
                        }
                    });
                match spawned {
                    Ok(_) => {}
                    Err(error) if n == 0 => return Err(IndexError::Thread(error)),
                    Err(_) => break, // the threads that run do the work
                }
            }
            drop(sender);
            for prepared in receiver {
                prepared?.into_iter().try_for_each(|prepared| batches.add_prepared(prepared))?;
            }
            batches.flush()
        })
    }

    /// Prepares files of the list and sends them, until the list is empty or the receiver is gone.
    fn send_runs(&self, sender: &SyncSender<PreparedRun>) -> Result<(), IndexError> {
        let reader = IndexReader::open(&self.files.indexer.index_db)?;
        let preparer = self.files.new_preparer(&reader);
        let mut heard = true;
        while heard {
            let changes = self.prepare_run(&preparer)?;
            if changes.is_empty() {
                break;
            }
            heard = sender.send(Ok(changes)).is_ok();
        }
        Ok(())
    }

    /// Prepares the next files, up to the first with new content; returns an empty list when no file is left.
    fn prepare_run(&self, preparer: &Preparer<'_>) -> PreparedRun {
        let mut run = Vec::new();
        while run.len() < MAX_RUN_FILES
            && let Some((key, stat)) = self.reads.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            let prepared = preparer.prepare_or_refuse(key, stat)?;
            let is_new = matches!(prepared, PreparedFile::Change(ManifestChange::Put { blob: Some(_), .. }));
            run.push(prepared);
            if is_new {
                break;
            }
        }
        Ok(run)
    }
}
