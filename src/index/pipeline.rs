//! Reconciles the manifest of a worktree with its files.
//!
//! Each worktree is reconciled on a thread of its own, with a few more that read. None of them writes: what is to be written
//! is handed, in batches, to the one that does. A file system that hangs holds up its own worktree.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::batches::{Apply, Batches};
use super::compare::{Comparison, Todo};
use super::extractor::Extractors;
use super::prepare::{Prepared, Preparer};
use super::secret_files::{self, SecretFiles};
use super::{IndexError, Progress, ReconcileOutcome, WalkProgress};
use crate::paths::RepoLayout;
use crate::store::{Change, Reader, StoreError, Writer};
use crate::types::{SourceKey, Stat, ViewId};

/// Runs of changes prepared ahead of the writer; at most one content that was extracted is in each.
const QUEUE: usize = 64;
/// Files of a run: they share a message to the writer.
const RUN: usize = 32;
/// Fewer files than this are not worth a thread.
const INLINE_FILES: usize = 4;

/// What is to be compared with the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    Full,
    /// These paths and what is below them.
    Paths(BTreeSet<SourceKey>),
}

/// What reading files may cost.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Larger files are not read.
    pub max_file_bytes: u64,
    /// Threads that read files of one worktree at once, and processes that parse for all of them.
    pub n_threads: usize,
}

/// What the reconciles of all worktrees share.
pub struct Indexer {
    index_db: PathBuf,
    extractors: Extractors,
    secret_files: Mutex<SecretFiles>,
    reading: Reading,
    progress: Arc<Progress>,
}

impl Indexer {
    /// Makes ready to fill `index_db`; `memod` is the program that is run to extract texts.
    pub fn new(index_db: &Path, memod: &Path, reading: Reading, progress: Arc<Progress>) -> Self {
        let extractors = Extractors::new(memod, &progress, reading.n_threads);
        let (index_db, secret_files) = (index_db.to_owned(), Mutex::default());
        Self { index_db, extractors, secret_files, reading, progress }
    }

    /// Purges contents that nobody refers to and that may be in a file of a secret name. To be called after each reconcile
    /// that has ended well.
    ///
    /// # Errors
    /// When the database cannot be written; nothing is purged then.
    pub fn purge_secrets(&self, writer: &mut Writer) -> Result<(), StoreError> {
        let sizes = self.secret_files.lock().unwrap_or_else(PoisonError::into_inner).recent_sizes();
        if sizes.is_empty() { Ok(()) } else { writer.purge_sizes(&sizes) }
    }
}

/// Reconciles one worktree.
pub struct Reconciler {
    indexer: Arc<Indexer>,
    layout: RepoLayout,
    view: ViewId,
    reader: Reader,
    walk: Arc<WalkProgress>,
    /// The digest of what decided at the last walk, as far as it could be read; the outer none before the first.
    rules: Option<Option<u64>>,
}

impl Reconciler {
    /// Makes that of a view whose row is there.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub fn new(indexer: &Arc<Indexer>, layout: &RepoLayout, view: ViewId) -> Result<Self, StoreError> {
        let (reader, indexer) = (Reader::open(&indexer.index_db)?, Arc::clone(indexer));
        Ok(Self { indexer, layout: layout.clone(), view, reader, walk: Arc::default(), rules: None })
    }

    /// Returns the worktree.
    pub fn layout(&self) -> &RepoLayout {
        &self.layout
    }

    /// Returns how far it is.
    pub fn progress(&self) -> Arc<WalkProgress> {
        Arc::clone(&self.walk)
    }

    /// Makes the manifest equal the worktree within `scope`.
    ///
    /// `on_dir` is called with each directory before it is listed, so that it can be watched first. After
    /// `git_changed` everything is compared if git tracks other paths, or ignores by other rules, than at the
    /// last walk: what counts may have changed without any file changing.
    ///
    /// # Errors
    /// When the worktree cannot be listed or the database refuses; what was written before stays.
    pub fn reconcile(
        &mut self,
        scope: &Scope,
        git_changed: bool,
        on_dir: &mut dyn FnMut(&Path),
        apply: &mut Apply<'_>,
    ) -> Result<ReconcileOutcome, IndexError> {
        let Self { indexer, layout, view, reader, walk, rules: last_rules } = self;
        walk.begin(0); // how many there are is known once they are listed
        let look = walk.look_at(&layout.root);
        let (max_file_bytes, progress) = (indexer.reading.max_file_bytes, &indexer.progress);
        let comparison = Comparison::new(layout, *view, reader, max_file_bytes, progress, on_dir, &look)?;
        let rules = comparison.rules();
        let other = git_changed && (rules.is_none() || *last_rules != Some(rules));
        let whole = other || *scope == Scope::Full;
        let todo = comparison.run(if whole { &Scope::Full } else { scope })?;
        drop(look);
        let outcome = self.carry_out(todo, apply)?;
        if whole {
            self.rules = Some(rules);
        }
        Ok(ReconcileOutcome { whole, ..outcome })
    }

    fn carry_out(&mut self, todo: Todo, apply: &mut Apply<'_>) -> Result<ReconcileOutcome, IndexError> {
        let Self { indexer, layout, view, reader, walk, rules } = &*self;
        let secrets = {
            let mut secret_files = indexer.secret_files.lock().unwrap_or_else(PoisonError::into_inner);
            secret_files.meet(&todo, rules.is_some())
        };
        let Todo { problems, unread, missed, reads, refusals, removals, .. } = todo;
        let outcome = ReconcileOutcome { problems, unread, missed, ..ReconcileOutcome::default() };
        walk.begin((refusals.len() + reads.len() + removals.len()) as u64);
        let mut batches = Batches::new(apply, &indexer.progress, walk, outcome);
        let refusals = refusals.into_iter();
        batches.put_all(refusals.map(|(key, stat, refusal)| Change::Refuse { key, stat, refusal }))?;
        let files = Files { indexer, view: *view, root: &layout.root, walk };
        files.read_all(reads, reader, &mut batches)?;
        // Last: what was renamed is under its old name until it is under the new one, never nowhere. The old one
        // is not shown, for each hit is checked against the disk.
        batches.put_all(removals.into_iter().map(|(key, stat)| {
            let is_secret = secrets.iter().any(|secret| secret_files::may_hold(secret, &stat));
            Change::Remove { key, is_secret }
        }))?;
        Ok(batches.outcome)
    }
}

/// Whose files are read, and with what.
#[derive(Clone, Copy)]
struct Files<'a> {
    indexer: &'a Indexer,
    view: ViewId,
    root: &'a Path,
    walk: &'a WalkProgress,
}

impl<'a> Files<'a> {
    /// Reads what differs. A few files are read by this thread, more of them by several; the processes that extracted are
    /// ended then but for one, and give back what parsing took.
    fn read_all(
        self,
        mut reads: Vec<(SourceKey, Stat)>,
        reader: &Reader,
        batches: &mut Batches<'_>,
    ) -> Result<(), IndexError> {
        if reads.len() > INLINE_FILES {
            // Who does not wait for all of them is likelier to ask for what was written last.
            reads.sort_by_key(|(_, stat)| Reverse(stat.mtime_ns));
            let read = Reads { reads: &reads, next: AtomicUsize::new(0), files: self }.by_threads(batches);
            self.indexer.extractors.rest();
            return read;
        }
        let preparer = self.preparer(reader);
        reads.iter().try_for_each(|(key, stat)| batches.push(preparer.prepare_or_refuse(key, stat)?))?;
        batches.flush()
    }

    fn preparer(self, reader: &'a Reader) -> Preparer<'a> {
        let Self { indexer: Indexer { extractors, reading, .. }, view, root, walk } = self;
        Preparer { view, root, max_file_bytes: reading.max_file_bytes, reader, extractors, walk }
    }
}

/// Files that threads share out among themselves.
struct Reads<'a> {
    reads: &'a [(SourceKey, Stat)],
    next: AtomicUsize,
    files: Files<'a>,
}

type Run = Result<Vec<Prepared>, IndexError>;

impl Reads<'_> {
    /// Reads them with so many threads; this one writes.
    fn by_threads(&self, batches: &mut Batches<'_>) -> Result<(), IndexError> {
        let (sender, receiver) = sync_channel(QUEUE);
        thread::scope(|scope| {
            for n in 0..self.files.indexer.reading.n_threads {
                let sender = sender.clone();
                let work = move || {
                    if let Err(error) = self.work(&sender) {
                        let _ = sender.send(Err(error)); // nobody hears it when another has failed before
                    }
                };
                match thread::Builder::new().name(format!("read-{n}")).spawn_scoped(scope, work) {
                    Ok(_) => {}
                    Err(error) if n == 0 => return Err(IndexError::Thread(error)),
                    Err(_) => break, // those that run do its share
                }
            }
            drop(sender);
            for prepared in receiver {
                prepared?.into_iter().try_for_each(|prepared| batches.push(prepared))?;
            }
            batches.flush()
        })
    }

    /// Takes files from the list until it is empty or the writer has given up.
    fn work(&self, sender: &SyncSender<Run>) -> Result<(), IndexError> {
        let reader = Reader::open(&self.files.indexer.index_db)?;
        let preparer = self.files.preparer(&reader);
        let mut heard = true;
        while heard {
            let changes = self.run(&preparer)?;
            if changes.is_empty() {
                break;
            }
            heard = sender.send(Ok(changes)).is_ok();
        }
        Ok(())
    }

    /// Prepares the next files, up to the first whose content is new; none when none is left.
    fn run(&self, preparer: &Preparer<'_>) -> Run {
        let mut run = Vec::new();
        while run.len() < RUN
            && let Some((key, stat)) = self.reads.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            let prepared = preparer.prepare_or_refuse(key, stat)?;
            let is_new = matches!(prepared, Prepared::Change(Change::Put { blob: Some(_), .. }));
            run.push(prepared);
            if is_new {
                break;
            }
        }
        Ok(run)
    }
}
