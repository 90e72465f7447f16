//! Compares the manifest of a worktree with the disk.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use memod_base::paths::{
    FS_FOLDS_NAMES, IoContext as _, PathError, RepoLayout, SpellingCache, none_if_unreadable,
};
use memod_base::types::{ReadRefusal, SourceKey, Stat, WorktreeId, is_secret_name};
use memod_git::UserDirs;
use memod_index_db::{IndexReader, ManifestEntry};
use memod_scan::{AdmissionRules, ListedFile, ScanError, Verdict, Visit};

use super::progress::PathAccess;
use super::todo_list::{ReconcileScope, TodoList};
use super::{IndexError, Progress, UnreadPath};

/// A comparison of the manifest of a worktree with its files. `on_dir` is called with each directory before it is listed.
pub(super) struct Comparison<'a> {
    layout: &'a RepoLayout,
    worktree: WorktreeId,
    reader: &'a IndexReader,
    progress: &'a Progress,
    admission: AdmissionRules,
    spellings: SpellingCache,
    on_dir: &'a mut dyn FnMut(&Path),
    /// Reports which path is being examined.
    access: &'a PathAccess<'a>,
    todo: TodoList,
}

impl<'a> Comparison<'a> {
    /// Begins a comparison, and reads the present rules. If git's index is damaged, only the ignore files decide what is indexed.
    ///
    /// # Errors
    /// When the rules cannot be read at the moment; nothing is compared or changed then.
    pub(super) fn new(
        layout: &'a RepoLayout,
        view: WorktreeId,
        reader: &'a IndexReader,
        max_file_bytes: u64,
        progress: &'a Progress,
        on_dir: &'a mut dyn FnMut(&Path),
        access: &'a PathAccess<'a>,
    ) -> Result<Self, IndexError> {
        let mut todo = TodoList::default();
        let admission = match AdmissionRules::open(layout, max_file_bytes) {
            Err(error) if !error.is_transient() => {
                todo.problems.push(format!("{error}; tracked files are unknown, so the ignore files decide"));
                AdmissionRules::open_untracked(layout, &UserDirs::read(), max_file_bytes)?
            }
            opened => opened?,
        };
        let spellings = SpellingCache::default();
        Ok(Self { layout, worktree: view, reader, progress, admission, spellings, on_dir, access, todo })
    }

    /// Returns a digest of the rules for the whole worktree; `None` if some could not be read.
    pub(super) fn rules_digest(&self) -> Option<u64> {
        self.todo.problems.is_empty().then(|| self.admission.digest())
    }

    /// Compares everything in `scope`; returns the differences.
    ///
    /// # Errors
    /// When the worktree or the manifest cannot be read, or the daemon is stopping.
    pub(super) fn find_differences(mut self, scope: &ReconcileScope) -> Result<TodoList, IndexError> {
        match scope {
            ReconcileScope::Full => {
                let known = self.reader.list_entries(self.worktree, None)?;
                self.compare_dir(None, known)?;
            }
            ReconcileScope::Paths(keys) => {
                // A nested repository may be recognised only after the event of its first file.
                let mut keys: BTreeSet<_> =
                    keys.iter().map(|key| self.nested_repository_or_path(key)).collect();
                keys.extend(keys.clone().iter().map(|key| self.spelling_on_disk(key)));
                for key in &keys {
                    self.compare_path(key)?;
                }
                self.compare_other_names(keys)?;
            }
        }
        Ok(self.todo)
    }

    /// Compares one path and everything below it. The rows of paths that cannot be examined at the moment stay.
    fn compare_path(&mut self, key: &SourceKey) -> Result<(), IndexError> {
        self.access.set_path(&key.path_in(&self.layout.root));
        let stat = match self.lstat_as_spelled(key) {
            Ok(stat) => stat,
            Err(error) => {
                self.todo.unread.push(UnreadPath { key: Some(key.clone()), why: error.to_string() });
                return Ok(());
            }
        };
        if let Some(why) = self.admission.undecided_reason(key, stat.is_some_and(|stat| stat.is_dir())) {
            self.todo.unread.push(UnreadPath { key: Some(key.clone()), why });
            return Ok(());
        }
        let mut below = self.reader.list_entries(self.worktree, Some(key))?;
        let own = self.reader.find_entry(self.worktree, key)?;
        if stat.is_some_and(|stat| stat.is_dir()) && self.admission.should_enter(key) {
            below.extend(own.map(|own| (key.clone(), own))); // a directory that cannot be listed keeps its row
            return self.compare_dir(Some(key), below);
        }
        self.todo.removals.extend(below.into_iter().map(|(key, entry)| (key, entry.stat)));
        // A directory that is renamed during the check looks like one that is not entered; its new name is not visited here.
        self.todo.missed.listed |= stat.is_some_and(|stat| stat.is_dir());
        if stat.is_none() {
            self.todo.missed.moving = Some(key.clone());
        }
        let found = stat.and_then(|stat| self.judge_path(key, stat));
        // A directory that is not entered may be another repository, which git lists as a whole, and may become ours.
        if found.is_some() && stat.is_some_and(|stat| stat.is_dir()) {
            (self.on_dir)(&key.path_in(&self.layout.root));
        }
        match found {
            Some(found) => self.todo.add_found(Some(found), own.as_ref()),
            None => self.todo.removals.extend(own.map(|own| (key.clone(), own.stat))),
        }
        Ok(())
    }

    /// Compares the other names of files that have several, because an event has only the name through which the file was written.
    fn compare_other_names(&mut self, mut done: BTreeSet<SourceKey>) -> Result<(), IndexError> {
        done.extend(self.todo.reads.iter().map(|(key, _)| key.clone()));
        done.extend(self.todo.refusals.iter().map(|(key, ..)| key.clone()));
        let paths = done.iter().map(|key| key.path_in(&self.layout.root));
        let inodes: Vec<u64> = paths.filter_map(|path| memod_scan::shared_inode(&path)).collect();
        if inodes.is_empty() {
            return Ok(());
        }
        let names = self.reader.find_paths_by_inode(self.worktree, &inodes)?;
        names.iter().filter(|name| !done.contains(name)).try_for_each(|name| self.compare_path(name))
    }

    /// Compares everything below a directory with `known`.
    fn compare_dir(
        &mut self,
        below: Option<&SourceKey>,
        known: HashMap<SourceKey, ManifestEntry>,
    ) -> Result<(), IndexError> {
        let Self { layout, progress, admission, on_dir, access, todo, .. } = self;
        let root = &layout.root;
        todo.missed.listed = true;
        let mut walk =
            WalkVisitor { todo, root, known, on_dir, access, progress, unlisted: UnexaminedPaths::default() };
        let is_steady = memod_scan::walk(layout, admission, below, &mut walk)?;
        if walk.should_stop() {
            return Err(IndexError::Cancelled); // entries that the stopped walk did not visit are not gone
        }
        let WalkVisitor { known, unlisted, .. } = walk;
        let gone =
            known.into_iter().filter(|(key, _)| !unlisted.covers_path(key) || is_gone(&key.path_in(root)));
        self.todo.removals.extend(gone.map(|(key, entry)| (key, entry.stat)));
        self.todo.missed.shifted |= !is_steady;
        Ok(())
    }

    /// Returns the nested repository around a path, or the path itself.
    fn nested_repository_or_path(&mut self, key: &SourceKey) -> SourceKey {
        let mut dirs = key.as_str().match_indices('/').map(|(at, _)| SourceKey::new(&key.as_str()[..at]));
        let barred = dirs.find(|dir| !self.admission.should_enter(dir));
        barred.filter(|dir| self.is_nested_repository(dir)).unwrap_or_else(|| key.clone())
    }

    /// Returns whether a directory is a nested repository, or cannot be examined.
    fn is_nested_repository(&mut self, dir: &SourceKey) -> bool {
        match self.lstat_as_spelled(dir) {
            Ok(stat) => stat.is_some_and(|stat| {
                self.admission.judge_path(dir, &stat) == Verdict::Refused(ReadRefusal::NestedRepository)
            }),
            Err(_) => true, // the comparison of the path reports the error
        }
    }

    /// Applies the rules to a path; `None` if it is ignored.
    fn judge_path(&mut self, key: &SourceKey, stat: Stat) -> Option<ListedFile> {
        let refusal = match self.admission.judge_path(key, &stat) {
            Verdict::Admitted => None,
            Verdict::Refused(refusal) => Some(refusal),
            Verdict::Ignored => {
                self.todo.ignored_secrets.extend(Some(stat).filter(|_| is_secret_name(key.as_str())));
                return None;
            }
        };
        Some(ListedFile { key: key.clone(), stat, refusal })
    }

    /// Returns a path in the spelling of its directories, on systems that find a file under other spellings, too: there, a rename
    /// that changes only the case causes events with both spellings.
    fn spelling_on_disk(&mut self, key: &SourceKey) -> SourceKey {
        match FS_FOLDS_NAMES {
            true => SourceKey::new(self.spellings.spell_path(&self.layout.root, key.as_str())),
            false => key.clone(),
        }
    }

    /// Returns the signature of a path; `None` if the path is gone, not accessible or spelled otherwise on disk.
    fn lstat_as_spelled(&mut self, key: &SourceKey) -> Result<Option<Stat>, PathError> {
        if self.spelling_on_disk(key) != *key {
            return Ok(None);
        }
        let path = key.path_in(&self.layout.root);
        none_if_unreadable(memod_scan::lstat(&path)).at("look at", &path)
    }
}

/// Visits the files of one walk. The entries of files that the walk does not visit stay in `known`.
struct WalkVisitor<'a> {
    todo: &'a mut TodoList,
    root: &'a Path,
    known: HashMap<SourceKey, ManifestEntry>,
    on_dir: &'a mut dyn FnMut(&Path),
    access: &'a PathAccess<'a>,
    progress: &'a Progress,
    unlisted: UnexaminedPaths,
}

/// The paths that a walk could not examine. Files at or below them may still exist; other files that the walk did not visit are
/// gone or ignored.
#[derive(Default)]
struct UnexaminedPaths {
    is_all: bool,
    keys: HashSet<SourceKey>,
}

impl UnexaminedPaths {
    fn add_path(&mut self, key: Option<SourceKey>) {
        self.is_all |= key.is_none();
        self.keys.extend(key);
    }

    /// Returns whether a path is one of these paths, or below one.
    fn covers_path(&self, key: &SourceKey) -> bool {
        let mut around = Path::new(key.as_str()).ancestors().filter_map(Path::to_str);
        self.is_all || !self.keys.is_empty() && around.any(|dir| self.keys.contains(&SourceKey::new(dir)))
    }
}

impl Visit for WalkVisitor<'_> {
    fn before_listing(&mut self, path: &Path, _key: Option<&SourceKey>) {
        self.access.set_path(path);
        (self.on_dir)(path);
    }

    fn before_examining(&mut self, path: &Path) {
        self.access.set_path(path);
    }

    fn visit_file(&mut self, found: ListedFile) {
        self.access.count_found_file();
        if found.refusal == Some(ReadRefusal::NestedRepository) {
            // If its `.git` is removed, it becomes an ordinary directory.
            (self.on_dir)(&found.key.path_in(self.root));
        }
        let known = self.known.remove(&found.key);
        self.todo.add_found(Some(found), known.as_ref());
    }

    fn visit_ignored_secret(&mut self, stat: Stat) {
        self.todo.ignored_secrets.push(stat);
    }

    fn report_problem(&mut self, key: Option<SourceKey>, error: ScanError) {
        self.unlisted.add_path(key);
        self.todo.problems.push(error.to_string());
    }

    fn report_unread(&mut self, key: Option<SourceKey>, why: String) {
        self.unlisted.add_path(key.clone());
        self.todo.unread.push(UnreadPath { key, why });
    }

    fn should_stop(&self) -> bool {
        self.progress.is_cancelled()
    }
}

/// Returns whether nothing is at a path any more.
fn is_gone(path: &Path) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    memod_scan::lstat(path).is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}
