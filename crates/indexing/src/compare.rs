//! Compares the manifest of a worktree with the disk.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use memod_base::paths::{FOLDS, IoContext as _, PathError, RepoLayout, Spellings, if_readable};
use memod_base::types::{Refusal, SourceKey, Stat, ViewId, is_secret_name};
use memod_extract::EXTRACTOR_VERSION;
use memod_git::UserDirs;
use memod_index_db::{Entry, Reader};
use memod_scan::{Admission, Found, ScanError, Verdict, Visit};

use super::plan::{Action, decide};
use super::progress::Look;
use super::{IndexError, Missed, Progress, Scope, Unread};

/// The actions for the differences.
#[derive(Default)]
pub(super) struct Todo {
    pub(super) reads: Vec<(SourceKey, Stat)>,
    pub(super) refusals: Vec<(SourceKey, Stat, Refusal)>,
    /// Removed entries, with their former signatures.
    pub(super) removals: Vec<(SourceKey, Stat)>,
    /// Ignored files with secret names.
    pub(super) ignored_secrets: Vec<Stat>,
    pub(super) problems: Vec<String>,
    pub(super) unread: Vec<Unread>,
    pub(super) missed: Missed,
}

impl Todo {
    fn take(&mut self, found: Option<Found>, known: Option<&Entry>) {
        let Some(found) = found else { return };
        match decide(known, &found.stat, found.refusal, EXTRACTOR_VERSION) {
            Action::Keep => {}
            Action::Read => self.reads.push((found.key, found.stat)),
            Action::Refuse(refusal) => self.refusals.push((found.key, found.stat, refusal)),
        }
    }
}

/// A comparison with the worktree; `on_dir` is called with each directory before it is listed.
pub(super) struct Comparison<'a> {
    layout: &'a RepoLayout,
    view: ViewId,
    reader: &'a Reader,
    progress: &'a Progress,
    admission: Admission,
    spellings: Spellings,
    on_dir: &'a mut dyn FnMut(&Path),
    /// Reports what is being examined.
    look: &'a Look<'a>,
    todo: Todo,
}

impl<'a> Comparison<'a> {
    /// Reads the present rules. If git's index is damaged, only the ignore files decide.
    ///
    /// # Errors
    /// When the rules cannot be read at the moment; nothing is compared or changed then.
    pub(super) fn new(
        layout: &'a RepoLayout,
        view: ViewId,
        reader: &'a Reader,
        max_file_bytes: u64,
        progress: &'a Progress,
        on_dir: &'a mut dyn FnMut(&Path),
        look: &'a Look<'a>,
    ) -> Result<Self, IndexError> {
        let mut todo = Todo::default();
        let admission = match Admission::open(layout, max_file_bytes) {
            Err(error) if !error.is_transient() => {
                todo.problems.push(format!("{error}; what git tracks is not known, its ignore files decide"));
                Admission::open_untracked(layout, &UserDirs::read(), max_file_bytes)?
            }
            opened => opened?,
        };
        let spellings = Spellings::default();
        Ok(Self { layout, view, reader, progress, admission, spellings, on_dir, look, todo })
    }

    /// Returns a digest of the rules; `None` if some could not be read.
    pub(super) fn rules(&self) -> Option<u64> {
        self.todo.problems.is_empty().then(|| self.admission.digest())
    }

    /// Returns the differences within `scope`.
    ///
    /// # Errors
    /// When the worktree or the manifest cannot be read, or the daemon is stopping.
    pub(super) fn run(mut self, scope: &Scope) -> Result<Todo, IndexError> {
        match scope {
            Scope::Full => {
                let known = self.reader.entries(self.view, None)?;
                self.walk(None, known)?;
            }
            Scope::Paths(keys) => {
                // A nested repository may be recognised only after the event of its first file.
                let mut keys: BTreeSet<_> = keys.iter().map(|key| self.nested(key)).collect();
                keys.extend(keys.clone().iter().map(|key| self.spelled(key)));
                for key in &keys {
                    self.path(key)?;
                }
                self.other_names(keys)?;
            }
        }
        Ok(self.todo)
    }

    /// Compares one path and everything below it. The rows of paths that cannot be examined at the moment stay.
    fn path(&mut self, key: &SourceKey) -> Result<(), IndexError> {
        self.look.move_to(&self.layout.root.join(key.as_str()));
        let stat = match self.lstat(key) {
            Ok(stat) => stat,
            Err(error) => {
                self.todo.unread.push(Unread { key: Some(key.clone()), why: error.to_string() });
                return Ok(());
            }
        };
        if let Some(why) = self.admission.undecided(key, stat.is_some_and(|stat| stat.is_dir())) {
            self.todo.unread.push(Unread { key: Some(key.clone()), why });
            return Ok(());
        }
        let mut below = self.reader.entries(self.view, Some(key))?;
        let own = self.reader.entry(self.view, key)?;
        if stat.is_some_and(|stat| stat.is_dir()) && self.admission.enters(key) {
            below.extend(own.map(|own| (key.clone(), own))); // a directory that cannot be listed keeps its row
            return self.walk(Some(key), below);
        }
        self.todo.removals.extend(below.into_iter().map(|(key, entry)| (key, entry.stat)));
        // A directory that is renamed during the check looks like one that is not entered; its new name is not visited here.
        self.todo.missed.listed |= stat.is_some_and(|stat| stat.is_dir());
        if stat.is_none() {
            self.todo.missed.moving = Some(key.clone());
        }
        let found = stat.and_then(|stat| self.judge(key, stat));
        // A directory that is not entered may be another repository, which git lists as a whole, and may become ours.
        if found.is_some() && stat.is_some_and(|stat| stat.is_dir()) {
            (self.on_dir)(&self.layout.root.join(key.as_str()));
        }
        match found {
            Some(found) => self.todo.take(Some(found), own.as_ref()),
            None => self.todo.removals.extend(own.map(|own| (key.clone(), own.stat))),
        }
        Ok(())
    }

    /// Compares the other names of files with several, because an event names only the one that was written through.
    fn other_names(&mut self, mut done: BTreeSet<SourceKey>) -> Result<(), IndexError> {
        done.extend(self.todo.reads.iter().map(|(key, _)| key.clone()));
        done.extend(self.todo.refusals.iter().map(|(key, ..)| key.clone()));
        let inode = |key: &SourceKey| memod_scan::shared_inode(&self.layout.root.join(key.as_str()));
        let inodes: Vec<u64> = done.iter().filter_map(inode).collect();
        if inodes.is_empty() {
            return Ok(());
        }
        let names = self.reader.paths_of_inodes(self.view, &inodes)?;
        names.iter().filter(|name| !done.contains(name)).try_for_each(|name| self.path(name))
    }

    /// Compares everything below a directory with `known`.
    fn walk(
        &mut self,
        below: Option<&SourceKey>,
        known: HashMap<SourceKey, Entry>,
    ) -> Result<(), IndexError> {
        let Self { layout, progress, admission, on_dir, look, todo, .. } = self;
        let root = &layout.root;
        todo.missed.listed = true;
        let mut walk = Walk { todo, root, known, on_dir, look, progress, unlisted: Unlisted::default() };
        let is_steady = memod_scan::walk(layout, admission, below, &mut walk)?;
        if walk.stopped() {
            return Err(IndexError::Cancelled); // what was not met is not gone
        }
        let Walk { known, unlisted, .. } = walk;
        let gone = |key: &SourceKey| !unlisted.holds(key) || is_gone(&root.join(key.as_str()));
        let gone = known.into_iter().filter(|(key, _)| gone(key));
        self.todo.removals.extend(gone.map(|(key, entry)| (key, entry.stat)));
        self.todo.missed.shifted |= !is_steady;
        Ok(())
    }

    /// Returns the nested repository around a path, or the path itself.
    fn nested(&mut self, key: &SourceKey) -> SourceKey {
        let mut dirs = key.as_str().match_indices('/').map(|(at, _)| SourceKey::new(&key.as_str()[..at]));
        let barred = dirs.find(|dir| !self.admission.enters(dir));
        let is_nested = |dir: &SourceKey| match self.lstat(dir) {
            Ok(stat) => stat.is_some_and(|stat| {
                self.admission.judge(dir, &stat) == Verdict::Refused(Refusal::NestedRepository)
            }),
            Err(_) => true, // who compares it is told why
        };
        barred.filter(is_nested).unwrap_or_else(|| key.clone())
    }

    fn judge(&mut self, key: &SourceKey, stat: Stat) -> Option<Found> {
        let refusal = match self.admission.judge(key, &stat) {
            Verdict::Admitted => None,
            Verdict::Refused(refusal) => Some(refusal),
            Verdict::Ignored => {
                self.todo.ignored_secrets.extend(Some(stat).filter(|_| is_secret_name(key.as_str())));
                return None;
            }
        };
        Some(Found { key: key.clone(), stat, refusal })
    }

    /// Returns a path as the directories spell it, where a file is found under other spellings, too: an event of a rename that
    /// changes only the case names both.
    fn spelled(&mut self, key: &SourceKey) -> SourceKey {
        match FOLDS {
            true => SourceKey::new(self.spellings.of(&self.layout.root, key.as_str())),
            false => key.clone(),
        }
    }

    /// Returns the signature of a path; `None` if it is gone, not accessible or spelled otherwise.
    fn lstat(&mut self, key: &SourceKey) -> Result<Option<Stat>, PathError> {
        if self.spelled(key) != *key {
            return Ok(None);
        }
        let path = self.layout.root.join(key.as_str());
        if_readable(memod_scan::lstat(&path)).at("look at", &path)
    }
}

/// One walk; the entries that it does not visit stay in `known`.
struct Walk<'a> {
    todo: &'a mut Todo,
    root: &'a Path,
    known: HashMap<SourceKey, Entry>,
    on_dir: &'a mut dyn FnMut(&Path),
    look: &'a Look<'a>,
    progress: &'a Progress,
    unlisted: Unlisted,
}

/// The paths that a walk could not examine. Files there may still exist, while others that it did not visit are gone or
/// ignored.
#[derive(Default)]
struct Unlisted {
    is_all: bool,
    keys: HashSet<SourceKey>,
}

impl Unlisted {
    fn add(&mut self, key: Option<SourceKey>) {
        self.is_all |= key.is_none();
        self.keys.extend(key);
    }

    /// Returns whether a path is one of them or below one.
    fn holds(&self, key: &SourceKey) -> bool {
        let mut around = Path::new(key.as_str()).ancestors().filter_map(Path::to_str);
        self.is_all || !self.keys.is_empty() && around.any(|dir| self.keys.contains(&SourceKey::new(dir)))
    }
}

impl Visit for Walk<'_> {
    fn dir(&mut self, path: &Path, _key: Option<&SourceKey>) {
        self.look.move_to(path);
        (self.on_dir)(path);
    }

    fn approach(&mut self, path: &Path) {
        self.look.move_to(path);
    }

    fn file(&mut self, found: Found) {
        self.look.note_file();
        if found.refusal == Some(Refusal::NestedRepository) {
            // If its `.git` is removed, it becomes an ordinary directory.
            (self.on_dir)(&self.root.join(found.key.as_str()));
        }
        let known = self.known.remove(&found.key);
        self.todo.take(Some(found), known.as_ref());
    }

    fn ignored_secret(&mut self, stat: Stat) {
        self.todo.ignored_secrets.push(stat);
    }

    fn problem(&mut self, key: Option<SourceKey>, error: ScanError) {
        self.unlisted.add(key);
        self.todo.problems.push(error.to_string());
    }

    fn unread(&mut self, key: Option<SourceKey>, why: String) {
        self.unlisted.add(key.clone());
        self.todo.unread.push(Unread { key, why });
    }

    fn stopped(&self) -> bool {
        self.progress.is_cancelled()
    }
}

fn is_gone(path: &Path) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    memod_scan::lstat(path).is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}
