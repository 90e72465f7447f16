//! Reconciles the manifest of a worktree with its files.
//!
//! Files are read and extracted by a few threads; the caller's thread alone writes, in batches.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::batches::{self, Batches};
use super::compare::{Comparison, Todo};
use super::extractor::Extractor;
use super::prepare::{Prepared, Preparer, now_s};
use super::secret_files::{self, SecretFiles};
use super::{IndexError, Progress, ReconcileOutcome};
use crate::paths::RepoLayout;
use crate::store::{Change, Reader, Writer};
use crate::types::{SourceKey, Stat, ViewId};

/// Runs of changes prepared ahead of the writer; at most one content that was extracted is in each.
const QUEUE: usize = 64;
/// Files of a run: they share a snapshot of the index, and a message to the writer.
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
    /// Threads that read at once; each has a snapshot, a file and a process that parses.
    pub n_threads: usize,
}

/// Owner of the write connection.
pub struct Indexer {
    writer: Writer,
    reader: Reader,
    index_db: PathBuf,
    extractor: Extractor,
    /// The digest of what decided at the last walk, as far as it could be read.
    rules: HashMap<ViewId, Option<u64>>,
    secret_files: SecretFiles,
    reading: Reading,
    progress: Arc<Progress>,
}

impl Indexer {
    /// Takes the writer of `index_db`; `memod` is the program that is run to extract texts.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub fn new(
        writer: Writer,
        index_db: &Path,
        memod: &Path,
        reading: Reading,
        progress: Arc<Progress>,
    ) -> Result<Self, IndexError> {
        let reader = Reader::open(index_db)?;
        let (extractor, index_db) = (Extractor::new(memod, &progress), index_db.to_owned());
        let (rules, secret_files) = (HashMap::new(), SecretFiles::default());
        Ok(Self { writer, reader, index_db, extractor, rules, secret_files, reading, progress })
    }

    /// Returns the write connection, for what is not a reconcile.
    pub fn writer(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// Makes the manifest of `view` equal the worktree within `scope`.
    ///
    /// `on_dir` is called with each directory before it is listed, so that it can be watched first. After
    /// `git_changed` everything is compared if git tracks other paths, or ignores by other rules, than at the
    /// last walk: what counts may have changed without any file changing.
    ///
    /// # Errors
    /// When the worktree cannot be listed or the database refuses; what was written before stays.
    pub fn reconcile(
        &mut self,
        layout: &RepoLayout,
        view: ViewId,
        scope: &Scope,
        git_changed: bool,
        on_dir: &mut dyn FnMut(&Path),
    ) -> Result<ReconcileOutcome, IndexError> {
        let Self { reader, reading, progress, .. } = &*self;
        progress.begin(0); // how many there are is known once they are listed
        let comparison = Comparison::new(layout, view, reader, reading.max_file_bytes, progress, on_dir)?;
        let rules = comparison.rules();
        let other = git_changed && (rules.is_none() || self.rules.get(&view) != Some(&rules));
        let whole = other || *scope == Scope::Full;
        let todo = comparison.run(if whole { &Scope::Full } else { scope })?;
        let outcome = self.carry_out(layout, view, todo)?;
        if whole {
            self.rules.insert(view, rules);
        }
        Ok(ReconcileOutcome { whole, ..outcome })
    }

    fn carry_out(
        &mut self,
        layout: &RepoLayout,
        view: ViewId,
        todo: Todo,
    ) -> Result<ReconcileOutcome, IndexError> {
        let secrets = self.secret_files.meet(&todo, self.rules.contains_key(&view));
        let Todo { problems, unread, missed, .. } = todo;
        let mut outcome = ReconcileOutcome { problems, unread, missed, ..ReconcileOutcome::default() };
        self.progress.begin(todo.reads.len() as u64);
        let refusals = todo.refusals.into_iter();
        let refusals = refusals.map(|(key, stat, refusal)| Change::Refuse { key, stat, refusal });
        self.apply_all(view, &refusals.collect::<Vec<_>>(), &mut outcome)?;
        self.read_all(layout, view, todo.reads, &mut outcome)?;
        // Last: what was renamed is under its old name until it is under the new one, never nowhere. The old one
        // is not shown, for each hit is checked against the disk.
        let removal = |(key, stat): (SourceKey, Stat)| {
            let is_secret = secrets.iter().any(|secret| secret_files::may_hold(secret, &stat));
            Change::Remove { key, is_secret }
        };
        let removals: Vec<Change> = todo.removals.into_iter().map(removal).collect();
        self.apply_all(view, &removals, &mut outcome)?;
        let sizes = self.secret_files.recent_sizes();
        if !sizes.is_empty() {
            self.writer.purge_sizes(&sizes)?;
        }
        Ok(outcome)
    }

    fn apply_all(
        &mut self,
        view: ViewId,
        changes: &[Change],
        outcome: &mut ReconcileOutcome,
    ) -> Result<(), IndexError> {
        for changes in changes.chunks(batches::CHANGES) {
            outcome.note(changes, &self.progress);
            outcome.seq = Some(self.writer.apply(view, changes, now_s())?.0);
        }
        Ok(())
    }

    /// Reads what differs. A few files are read here, by a process that stays; more of them by threads with a
    /// process each, which end with them and give back what parsing took.
    fn read_all(
        &mut self,
        layout: &RepoLayout,
        view: ViewId,
        mut reads: Vec<(SourceKey, Stat)>,
        outcome: &mut ReconcileOutcome,
    ) -> Result<(), IndexError> {
        let Self { writer, reader, index_db, extractor, reading, progress, .. } = self;
        let (root, Reading { max_file_bytes, n_threads }) = (layout.root.as_path(), *reading);
        let mut batches = Batches::new(writer, view, progress, outcome);
        if reads.len() > INLINE_FILES {
            // Who does not wait for all of them is likelier to ask for what was written last.
            reads.sort_by_key(|(_, stat)| Reverse(stat.mtime_ns));
            let (memod, next) = (extractor.program(), AtomicUsize::new(0));
            let reads = Reads { reads: &reads, next, view, root, max_file_bytes, index_db, memod, progress };
            return reads.by_threads(n_threads, &mut batches);
        }
        let mut preparer = Preparer { view, root, max_file_bytes, reader, extractor };
        for (key, stat) in &reads {
            batches.push(preparer.prepare(key, stat)?)?;
        }
        batches.flush()
    }
}

/// Files that threads share out among themselves.
struct Reads<'a> {
    reads: &'a [(SourceKey, Stat)],
    next: AtomicUsize,
    view: ViewId,
    root: &'a Path,
    max_file_bytes: u64,
    index_db: &'a Path,
    memod: &'a Path,
    progress: &'a Arc<Progress>,
}

type Run = Result<Vec<Prepared>, IndexError>;

impl Reads<'_> {
    /// Reads them with so many threads; this one writes.
    fn by_threads(&self, n_threads: usize, batches: &mut Batches<'_>) -> Result<(), IndexError> {
        let (sender, receiver) = sync_channel(QUEUE);
        thread::scope(|scope| {
            for n in 0..n_threads {
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
        let (reader, mut extractor) =
            (Reader::open(self.index_db)?, Extractor::new(self.memod, self.progress));
        let (reader, extractor) = (&reader, &mut extractor);
        let Self { view, root, max_file_bytes, .. } = *self;
        let mut preparer = Preparer { view, root, max_file_bytes, reader, extractor };
        let mut heard = true;
        while heard {
            let changes = reader.snapshot(|_| self.run(&mut preparer))?;
            if changes.is_empty() {
                break;
            }
            heard = sender.send(Ok(changes)).is_ok();
        }
        Ok(())
    }

    /// Prepares the next files, up to the first whose content is new; none when none is left.
    fn run(&self, preparer: &mut Preparer<'_>) -> Run {
        let mut run = Vec::new();
        while run.len() < RUN
            && let Some((key, stat)) = self.reads.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            let prepared = preparer.prepare(key, stat)?;
            let is_new = matches!(prepared, Prepared::Change(Change::Put { blob: Some(_), .. }));
            run.push(prepared);
            if is_new {
                break;
            }
        }
        Ok(run)
    }
}
