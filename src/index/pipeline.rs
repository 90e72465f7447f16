//! How does a view's manifest come to equal its worktree?
//!
//! Files are read and extracted by a few threads; the caller's thread alone writes, in batches.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::IndexError;
use super::plan::{Action, decide};
use super::prepare::{Shop, now_ns};
use super::strikes::Strikes;
use crate::extract::EXTRACTOR_VERSION;
use crate::git::UserDirs;
use crate::paths::{IoContext, Place};
use crate::scan::{self, Admission, Found, ScanError, Verdict, Visit};
use crate::store::{Change, Entry, Reader, StoreError, Writer};
use crate::types::{Refusal, SourceKey, Stat, ViewId};

/// A transaction is closed after so many changes …
const BATCH_CHANGES: usize = 512;
/// … or so many bytes of new content.
const BATCH_BYTES: u64 = 8 << 20;
/// Changes prepared ahead of the writer.
const QUEUE: usize = 64;
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

/// How far a reconcile is; read by other threads.
#[derive(Debug, Default)]
pub struct Progress {
    /// Files to be read.
    pub total_files: AtomicU64,
    /// Of those, done.
    pub done_files: AtomicU64,
    /// Files extracted since the start.
    pub parses: AtomicU64,
    /// Raised before anything is taken out of a manifest: a snapshot that may lack it is told by this.
    pub removals: AtomicU64,
    /// Set once the daemon ends: what runs stops at the next batch.
    pub cancelled: AtomicBool,
}

impl Progress {
    /// Returns how many files are done, and of how many.
    pub fn files(&self) -> (u64, u64) {
        (self.done_files.load(Ordering::Relaxed), self.total_files.load(Ordering::Relaxed))
    }
}

/// What a reconcile did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The view's new `seq`; `None` when nothing changed.
    pub seq: Option<u64>,
    /// Paths to be compared again.
    pub again: Vec<SourceKey>,
    /// A path that is gone, or changed faster than it can be read. What it held may be under a name by now that
    /// was not looked at.
    pub moving: Option<SourceKey>,
    /// Directories that could not be listed.
    pub problems: Vec<String>,
}

/// Owner of the write connection.
pub struct Indexer {
    writer: Writer,
    reader: Reader,
    index_db: PathBuf,
    strikes: Strikes,
    struck: HashMap<[u8; 32], u32>,
    /// The digest of what decided at the last walk.
    rules: HashMap<ViewId, u64>,
    max_file_bytes: u64,
    progress: Arc<Progress>,
}

impl Indexer {
    /// Takes the writer of `index_db`; `marks` is the file that outlives a crash of extraction.
    ///
    /// # Errors
    /// When a database or the file of marks cannot be opened.
    pub fn new(
        mut writer: Writer,
        index_db: &Path,
        marks: &Path,
        max_file_bytes: u64,
        progress: Arc<Progress>,
    ) -> Result<Self, IndexError> {
        let reader = Reader::open(index_db)?;
        let (strikes, left) = Strikes::open(marks).at("open", marks)?;
        writer.add_strikes(&left)?;
        let struck = reader.strikes()?;
        let (index_db, rules) = (index_db.to_owned(), HashMap::new());
        Ok(Self { writer, reader, index_db, strikes, struck, rules, max_file_bytes, progress })
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
        place: &Place,
        view: ViewId,
        scope: &Scope,
        git_changed: bool,
        on_dir: &mut dyn FnMut(&Path),
    ) -> Result<Outcome, IndexError> {
        let mut todo = Todo::default();
        let mut admission = self.admission(place, &mut todo);
        let rules = admission.digest();
        let other = git_changed && self.rules.get(&view) != Some(&rules);
        match if other { &Scope::Full } else { scope } {
            Scope::Full => {
                let known = self.reader.entries(view, None)?;
                todo.compare(place, &mut admission, None, known, on_dir, &self.progress)?;
            }
            Scope::Paths(keys) => {
                // A repository can be recognized later than its first file is heard of.
                let keys: BTreeSet<_> = keys.iter().map(|key| nested(place, &mut admission, key)).collect();
                for key in &keys {
                    self.compare_path(place, view, &mut admission, key, &mut todo, on_dir)?;
                }
            }
        }
        let outcome = self.carry_out(place, view, todo)?;
        if other || *scope == Scope::Full {
            self.rules.insert(view, rules);
        }
        Ok(outcome)
    }

    /// Returns the rule of this moment. With a damaged index of git's the ignore files decide alone.
    fn admission(&self, place: &Place, todo: &mut Todo) -> Admission {
        Admission::open(place, self.max_file_bytes).unwrap_or_else(|error| {
            todo.problems.push(format!("{error}; what git tracks is not known, its ignore files decide"));
            Admission::open_untracked(place, &UserDirs::read(), self.max_file_bytes)
        })
    }

    fn compare_path(
        &self,
        place: &Place,
        view: ViewId,
        admission: &mut Admission,
        key: &SourceKey,
        todo: &mut Todo,
        on_dir: &mut dyn FnMut(&Path),
    ) -> Result<(), IndexError> {
        let below = self.reader.entries(view, Some(key))?;
        let own = self.reader.entry(view, key)?;
        let stat = scan::lstat(&place.root.join(key.as_str())).ok();
        if stat.is_some_and(|stat| stat.is_dir()) {
            todo.removals.extend(own.map(|_| key.clone()));
            if admission.enters(key) {
                return todo.compare(place, admission, Some(key), below, on_dir, &self.progress);
            }
            todo.removals.extend(below.into_keys());
            // A directory that is not entered may be one git lists as a whole: another repository.
            let found = stat.and_then(|stat| found(admission, key, stat));
            if found.is_some() {
                on_dir(&place.root.join(key.as_str())); // it may become one of ours
            }
            todo.take(found, None);
            return Ok(());
        }
        todo.removals.extend(below.into_keys());
        if stat.is_none() {
            todo.moving = Some(key.clone());
        }
        match stat.and_then(|stat| found(admission, key, stat)) {
            Some(found) => todo.take(Some(found), own.as_ref()),
            None => todo.removals.extend(own.map(|_| key.clone())),
        }
        Ok(())
    }

    fn carry_out(&mut self, place: &Place, view: ViewId, todo: Todo) -> Result<Outcome, IndexError> {
        let mut outcome = Outcome { problems: todo.problems, moving: todo.moving, ..Outcome::default() };
        self.progress.done_files.store(0, Ordering::Relaxed);
        self.progress.total_files.store(todo.reads.len() as u64, Ordering::Relaxed);
        let refusals = todo.refusals.into_iter().map(|found| Change::Refuse {
            key: found.key,
            stat: found.stat,
            refusal: found.refusal.expect("only refused files are collected here"),
        });
        self.apply_all(view, &refusals.collect::<Vec<_>>(), &mut outcome)?;
        self.read_all(place, view, &todo.reads, &mut outcome)?;
        // Last: what was renamed is under its old name until it is under the new one, never nowhere. The old one
        // is not shown, for each hit is checked against the disk.
        let removals: Vec<Change> = todo.removals.into_iter().map(|key| Change::Remove { key }).collect();
        self.apply_all(view, &removals, &mut outcome)?;
        Ok(outcome)
    }

    fn apply_all(
        &mut self,
        view: ViewId,
        changes: &[Change],
        outcome: &mut Outcome,
    ) -> Result<(), IndexError> {
        for changes in changes.chunks(BATCH_CHANGES) {
            outcome.note(changes, &self.progress);
            outcome.seq = Some(self.writer.apply(view, changes, now_ns() / 1_000_000_000)?.0);
        }
        Ok(())
    }

    fn read_all(
        &mut self,
        place: &Place,
        view: ViewId,
        reads: &[(SourceKey, Stat)],
        outcome: &mut Outcome,
    ) -> Result<(), IndexError> {
        let Self { writer, reader, index_db, strikes, struck, max_file_bytes, progress, .. } = self;
        let shop = Shop { root: &place.root, max_file_bytes: *max_file_bytes, strikes, struck };
        let mut batches = Batches { writer, view, progress, changes: Vec::new(), bytes: 0, outcome };
        if reads.len() <= INLINE_FILES {
            for (key, stat) in reads {
                let change = shop.prepare(0, key, stat, reader)?;
                batches.push(change)?;
            }
            return batches.flush();
        }
        let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 8);
        let next = AtomicUsize::new(0);
        let (sender, receiver) = sync_channel(QUEUE);
        std::thread::scope(|scope| {
            for slot in 0..threads {
                let (sender, shop, next, index_db) = (sender.clone(), &shop, &next, index_db.as_path());
                let thread = std::thread::Builder::new().name(format!("extract-{slot}"));
                match thread.spawn_scoped(scope, move || work(slot, shop, reads, next, index_db, &sender)) {
                    Ok(_) => {}
                    Err(error) if slot == 0 => return Err(IndexError::Thread(error)),
                    Err(_) => break, // those that run do its share
                }
            }
            drop(sender);
            batches.drain(receiver)
        })
    }
}

impl Outcome {
    /// Notes what is about to be taken out of the manifest.
    fn note(&mut self, changes: &[Change], progress: &Progress) {
        let taken = changes.iter().find_map(|change| match change {
            Change::Remove { key } | Change::Refuse { key, refusal: Refusal::Unreadable, .. } => Some(key),
            _ => None,
        });
        if let Some(key) = taken {
            progress.removals.fetch_add(1, Ordering::SeqCst);
            self.moving = Some(key.clone());
        }
    }
}

/// Returns the repository inside the worktree that a path lies in, else the path itself.
fn nested(place: &Place, admission: &mut Admission, key: &SourceKey) -> SourceKey {
    let mut dirs = key.as_str().match_indices('/').map(|(at, _)| SourceKey::new(&key.as_str()[..at]));
    let barred = dirs.find(|dir| !admission.enters(dir));
    let is_nested = |dir: &SourceKey| {
        let stat = scan::lstat(&place.root.join(dir.as_str())).ok();
        stat.is_some_and(|stat| admission.judge(dir, &stat) == Verdict::Refused(Refusal::NestedRepository))
    };
    barred.filter(is_nested).unwrap_or_else(|| key.clone())
}

fn found(admission: &mut Admission, key: &SourceKey, stat: Stat) -> Option<Found> {
    let refusal = match admission.judge(key, &stat) {
        Verdict::Admitted => None,
        Verdict::Refused(refusal) => Some(refusal),
        Verdict::Ignored => return None,
    };
    Some(Found { key: key.clone(), stat, refusal })
}

type Prepared = Result<Change, StoreError>;

/// Takes files from the list until it is empty or the writer has given up.
fn work(
    slot: usize,
    shop: &Shop<'_>,
    reads: &[(SourceKey, Stat)],
    next: &AtomicUsize,
    index_db: &Path,
    sender: &SyncSender<Prepared>,
) {
    let reader = match Reader::open(index_db) {
        Ok(reader) => reader,
        Err(error) => {
            let _ = sender.send(Err(error)); // the receiver is gone when another worker failed first
            return;
        }
    };
    while let Some((key, stat)) = reads.get(next.fetch_add(1, Ordering::Relaxed)) {
        if sender.send(shop.prepare(slot, key, stat, &reader)).is_err() {
            return;
        }
    }
}

/// Collects changes into transactions.
struct Batches<'a> {
    writer: &'a mut Writer,
    view: ViewId,
    progress: &'a Progress,
    changes: Vec<Change>,
    bytes: u64,
    outcome: &'a mut Outcome,
}

impl Batches<'_> {
    fn drain(&mut self, receiver: Receiver<Prepared>) -> Result<(), IndexError> {
        for prepared in receiver {
            self.push(prepared?)?;
        }
        self.flush()
    }

    fn push(&mut self, change: Change) -> Result<(), IndexError> {
        if let Change::Put { blob: Some(blob), .. } = &change {
            self.bytes += blob.size;
            self.progress.parses.fetch_add(1, Ordering::Relaxed);
        }
        self.changes.push(change);
        if self.changes.len() >= BATCH_CHANGES || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        if self.progress.cancelled.load(Ordering::Relaxed) {
            return Err(IndexError::Cancelled);
        }
        self.outcome.note(&self.changes, self.progress);
        let (seq, again) = self.writer.apply(self.view, &self.changes, now_ns() / 1_000_000_000)?;
        self.progress.done_files.fetch_add(self.changes.len() as u64, Ordering::Relaxed);
        self.outcome.seq = Some(seq);
        self.outcome.again.extend(again);
        self.changes.clear();
        self.bytes = 0;
        Ok(())
    }
}

fn is_gone(path: &Path) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    scan::lstat(path).is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// What differs between manifest and disk.
#[derive(Default)]
struct Todo {
    reads: Vec<(SourceKey, Stat)>,
    refusals: Vec<Found>,
    removals: Vec<SourceKey>,
    problems: Vec<String>,
    /// A path that was to be compared and is not there.
    moving: Option<SourceKey>,
}

impl Todo {
    /// Walks the worktree, or a directory of it, and compares all of it with `known`.
    fn compare(
        &mut self,
        place: &Place,
        admission: &mut Admission,
        below: Option<&SourceKey>,
        known: HashMap<SourceKey, Entry>,
        on_dir: &mut dyn FnMut(&Path),
        progress: &Progress,
    ) -> Result<(), IndexError> {
        let root = &place.root;
        let mut comparison = Comparison { todo: self, root, known, on_dir, progress, n_problems: 0 };
        scan::walk(place, admission, below, &mut comparison)?;
        if comparison.stopped() {
            return Err(IndexError::Cancelled); // what was not met is not gone
        }
        let Comparison { known, n_problems, .. } = comparison;
        // What a failed listing did not show may still be there.
        let gone = |key: &SourceKey| n_problems == 0 || is_gone(&place.root.join(key.as_str()));
        self.removals.extend(known.into_keys().filter(gone));
        Ok(())
    }

    fn take(&mut self, found: Option<Found>, known: Option<&Entry>) {
        let Some(found) = found else { return };
        match decide(known, &found.stat, found.refusal, EXTRACTOR_VERSION) {
            Action::Keep => {}
            Action::Read => self.reads.push((found.key, found.stat)),
            Action::Refuse(_) => self.refusals.push(found),
        }
    }
}

struct Comparison<'a> {
    todo: &'a mut Todo,
    root: &'a Path,
    known: HashMap<SourceKey, Entry>,
    on_dir: &'a mut dyn FnMut(&Path),
    progress: &'a Progress,
    n_problems: usize,
}

impl Visit for Comparison<'_> {
    fn dir(&mut self, path: &Path, _key: Option<&SourceKey>) {
        (self.on_dir)(path);
    }

    fn file(&mut self, found: Found) {
        if found.refusal == Some(Refusal::NestedRepository) {
            // Its `.git` may go, and then it is a directory like others.
            (self.on_dir)(&self.root.join(found.key.as_str()));
        }
        let known = self.known.remove(&found.key);
        self.todo.take(Some(found), known.as_ref());
    }

    fn problem(&mut self, error: ScanError) {
        self.n_problems += 1;
        self.todo.problems.push(error.to_string());
    }

    fn stopped(&self) -> bool {
        self.progress.cancelled.load(Ordering::Relaxed)
    }
}
