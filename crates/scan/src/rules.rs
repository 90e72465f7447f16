//! Applies all ignore files to a path.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;
use gix::glob::pattern::Case;
use memod_base::paths::{
    IoContext as _, PLAIN_STATE_DIR, PathError, RepoLayout, is_transient, none_if_unreadable, open_regular,
};
use memod_base::types::MEMORY_FILES_DIR;
use memod_git::{GitIndex, IgnorePatterns, ObjectHash, Settings, TrackedAs};

use super::{FileKind, MEMO_IGNORE, RelPath, lstat, path_on_disk};

/// Largest ignore file; the same as git's limit (`PATTERN_MAX_FILE_SIZE` in its dir.c).
const MAX_IGNORE_FILE_BYTES: u64 = 100 * 1024 * 1024;

/// The ignore rules of one worktree at one moment. Everything that was read is cached, so an instance must be short-lived.
pub(super) struct IgnoreRules {
    root: PathBuf,
    case: Case,
    tracked: GitIndex,
    /// Patterns for the whole worktree, most important first: `info/exclude`, then the user's global file.
    global: Vec<IgnorePatterns>,
    /// Patterns of `.memoignore`.
    memo: IgnorePatterns,
    /// Git dirs and state dirs inside the worktree, relative to its root.
    own: Vec<Vec<u8>>,
    /// Directory of git's objects and their hash function, to read ignore files that a sparse checkout leaves out.
    objects: Option<(PathBuf, ObjectHash)>,
    /// Invariant: the first level is the root, and a parent comes before its children.
    levels: Vec<DirLevel>,
    /// Index in `levels` by directory.
    by_dir: HashMap<Vec<u8>, usize>,
}

/// The cached state of one directory.
struct DirLevel {
    /// Index of the directory above; the root refers to itself.
    parent: usize,
    /// Path of the directory with a trailing slash; empty for the root.
    prefix: Vec<u8>,
    /// Whether git ignores the directory or one above it.
    ignored: bool,
    /// Whether `.memoignore` ignores the directory or one above it.
    memo_ignored: bool,
    barrier: Option<Barrier>,
    /// Patterns of the directory's `.gitignore`, read on demand.
    patterns: Option<IgnorePatterns>,
    /// Why the rules for the directory could not be read this time.
    undecided: Option<String>,
}

/// Why a directory is not entered although no pattern ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Barrier {
    /// The path is not a directory, or belongs to git or to memo.
    NotOurs,
    /// The directory is the top of another worktree.
    Repository,
}

impl IgnoreRules {
    /// Reads the rules for the whole worktree. This is cheap, because the caller has read git's index.
    ///
    /// # Errors
    /// When an ignore file cannot be read at the moment.
    pub(super) fn new(
        layout: &RepoLayout,
        settings: &Settings,
        tracked: GitIndex,
    ) -> Result<Self, PathError> {
        let in_git = layout.common_dir.as_ref();
        let excludes = in_git.map(|dir| dir.join("info/exclude")).into_iter();
        let excludes = excludes.chain(in_git.and(settings.excludes_file.clone()));
        let root = DirLevel {
            parent: 0,
            prefix: Vec::new(),
            ignored: false,
            memo_ignored: false,
            barrier: None,
            patterns: None,
            undecided: None,
        };
        let global = excludes.map(|path| read_patterns(&path, true)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            case: if settings.ignore_case { Case::Fold } else { Case::Sensitive },
            tracked,
            global: global.into_iter().flatten().collect(),
            memo: read_memo_ignore(&layout.root)?,
            own: own_dirs(layout),
            objects: in_git.map(|dir| (dir.join("objects"), settings.object_hash)),
            root: layout.root.clone(),
            levels: vec![root],
            by_dir: HashMap::from([(Vec::new(), 0)]),
        })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn tracked(&self) -> &GitIndex {
        &self.tracked
    }

    /// Returns a fingerprint of the tracked paths and of the patterns for the whole worktree. It is made from the contents that
    /// were read, because the times of the files may belong to later contents.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let folds = self.case == Case::Fold;
        (self.tracked.digest(), folds, &self.global, &self.memo).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns whether git ignores `path` if it is untracked.
    pub(super) fn is_ignored(&mut self, path: &RelPath, is_dir: bool) -> bool {
        let level = self.ensure_level(parent_dir(path));
        self.load_patterns(level);
        self.is_ignored_at_level(level, path, is_dir)
    }

    /// Returns whether `.memoignore` ignores `path` or a directory above it.
    pub(super) fn is_memo_ignored(&mut self, path: &RelPath, is_dir: bool) -> bool {
        let level = self.ensure_level(parent_dir(path));
        self.levels[level].memo_ignored || self.memo.ignores_path(path, is_dir, self.case) == Some(true)
    }

    /// Returns whether `path` is excluded because of its name, which belongs to git or to memo, or is invalid.
    pub(super) fn is_reserved(&self, path: &RelPath) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_git = match self.case {
            Case::Sensitive => name == b".git",
            Case::Fold => name.eq_ignore_ascii_case(b".git"),
        };
        is_git
            || path.strip_prefix(MEMORY_FILES_DIR.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
            || name == PLAIN_STATE_DIR.as_bytes()
            || matches!(name, b"" | b"." | b"..")
            || self.own.iter().any(|own| *own == path[..])
    }

    /// Returns why `dir` must not be entered whatever the patterns are; `None` if it may be.
    pub(super) fn barrier_at(&mut self, dir: &RelPath) -> Option<Barrier> {
        let level = self.ensure_level(dir);
        self.levels[level].barrier
    }

    /// Returns whether to enter `dir`: it has no barrier, and is not ignored or has tracked files.
    pub(super) fn should_enter(&mut self, dir: &RelPath) -> bool {
        let level = self.ensure_level(dir);
        let level = &self.levels[level];
        level.barrier.is_none()
            && !level.memo_ignored
            && (!level.ignored || self.tracked.has_entry_below(dir))
    }

    /// Returns why the rules for the directory `dir` are uncertain, if they are.
    pub(super) fn undecided_reason(&mut self, dir: &RelPath) -> Option<&str> {
        let mut at = self.ensure_level(dir);
        self.load_patterns(at);
        while self.levels[at].undecided.is_none() && at != self.levels[at].parent {
            at = self.levels[at].parent;
        }
        self.levels[at].undecided.as_deref()
    }

    /// Returns the index of a directory in `levels`; adds the directory and those above it if necessary.
    fn ensure_level(&mut self, dir: &RelPath) -> usize {
        if let Some(known) = self.by_dir.get(dir.as_bytes()) {
            return *known;
        }
        let mut at = 0;
        let slashes: Vec<usize> = dir.find_iter("/").chain([dir.len()]).collect();
        for end in slashes {
            at = match self.by_dir.get(&dir[..end]) {
                Some(known) => *known,
                None => self.add_level(at, dir[..end].as_bstr()),
            };
        }
        at
    }

    fn add_level(&mut self, parent: usize, dir: &RelPath) -> usize {
        self.load_patterns(parent);
        let above = &self.levels[parent];
        let found = match above.barrier {
            Some(_) => Ok(Some(Barrier::NotOurs)),
            None => self.find_barrier(dir),
        };
        let level = DirLevel {
            parent,
            prefix: [dir.as_bytes(), b"/"].concat(),
            ignored: self.is_ignored_at_level(parent, dir, true),
            memo_ignored: above.memo_ignored || self.memo.ignores_path(dir, true, self.case) == Some(true),
            undecided: found.as_ref().err().map(PathError::to_string),
            barrier: found.ok().flatten(),
            patterns: None,
        };
        self.levels.push(level);
        let at = self.levels.len() - 1;
        self.by_dir.insert(dir.to_vec(), at);
        at
    }

    fn find_barrier(&self, dir: &RelPath) -> Result<Option<Barrier>, PathError> {
        let path = path_on_disk(&self.root, dir);
        let is_other = match lstat(&path) {
            Ok(stat) => FileKind::from_stat(&stat) != FileKind::Directory,
            Err(error) if is_transient(&error) => return Err(error).at("look at", &path),
            // Listing an unreadable directory reports the error.
            Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        };
        if is_other || self.is_reserved(dir) {
            return Ok(Some(Barrier::NotOurs));
        }
        // Like git: a directory with tracked files belongs to this worktree, even if it has become a repository.
        let is_foreign = self.tracked.tracked_as(dir) == TrackedAs::Repository
            || (!self.tracked.has_entry_below(dir)
                && memod_git::is_repository(&path).at("look into", &path)?);
        Ok(is_foreign.then_some(Barrier::Repository))
    }

    /// Checks the ignore files from the nearest to the farthest; the first with a matching pattern decides.
    ///
    /// Everything in an ignored directory is ignored, even if nearer patterns say otherwise (gitignore(5)).
    fn is_ignored_at_level(&self, level: usize, path: &RelPath, is_dir: bool) -> bool {
        if self.levels[level].ignored {
            return true;
        }
        let mut at = level;
        loop {
            let level = &self.levels[at];
            let patterns = level.patterns.as_ref();
            let below = path[level.prefix.len()..].as_bstr();
            if let Some(decided) =
                patterns.and_then(|patterns| patterns.ignores_path(below, is_dir, self.case))
            {
                return decided;
            }
            if at == level.parent {
                break;
            }
            at = level.parent;
        }
        self.global
            .iter()
            .find_map(|patterns| patterns.ignores_path(path, is_dir, self.case))
            .unwrap_or(false)
    }

    /// Reads the ignore file of a directory, unless the file is cached or irrelevant.
    fn load_patterns(&mut self, level: usize) {
        let known = &self.levels[level];
        if known.patterns.is_some() {
            return;
        }
        let read = if known.ignored || known.barrier.is_some() {
            Ok(IgnorePatterns::default())
        } else {
            self.read_ignore_file(&known.prefix)
        };
        let level = &mut self.levels[level];
        if let Err(why) = &read {
            level.undecided.get_or_insert_with(|| why.clone());
        }
        level.patterns = Some(read.unwrap_or_default());
    }

    fn read_ignore_file(&self, prefix: &[u8]) -> Result<IgnorePatterns, String> {
        let path = [prefix, b".gitignore"].concat();
        let path = path.as_bstr();
        let read =
            read_patterns(&path_on_disk(&self.root, path), false).map_err(|error| error.to_string())?;
        read.map_or_else(|| self.read_sparse_ignore_file(path), Ok)
    }

    /// Reads an ignore file from git's objects that a sparse checkout leaves out of the worktree, but that applies nevertheless.
    fn read_sparse_ignore_file(&self, path: &RelPath) -> Result<IgnorePatterns, String> {
        let (Some(id), Some((objects, hash))) =
            (self.tracked.blob_outside_sparse_checkout(path), &self.objects)
        else {
            return Ok(IgnorePatterns::default());
        };
        let bytes = memod_git::read_blob(objects, *hash, &id).map_err(|error| error.to_string())?;
        Ok(bytes.map(|bytes| IgnorePatterns::parse(&bytes)).unwrap_or_default())
    }
}

/// Returns the directory of `path`; empty for the root.
pub(super) fn parent_dir(path: &RelPath) -> &RelPath {
    path.rfind_byte(b'/').map_or(b"".as_bstr(), |slash| path[..slash].as_bstr())
}

/// Reads an ignore file; returns `None` if it is missing, unreadable or too big. Links are followed only with `follow`.
///
/// # Errors
/// When the file cannot be read at the moment.
fn read_patterns(path: &Path, follow: bool) -> Result<Option<IgnorePatterns>, PathError> {
    let read = open_regular(path, follow).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(MAX_IGNORE_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    let bytes = none_if_unreadable(read).at("read", path)?;
    let bytes = bytes.filter(|bytes| bytes.len() as u64 <= MAX_IGNORE_FILE_BYTES);
    Ok(bytes.map(|bytes| IgnorePatterns::parse(&bytes)))
}

/// Reads `.memoignore`. Fails without permission to read the file, because it is then unknown which files it hides; git's own
/// ignore files count as absent in that case, as git specifies.
///
/// # Errors
/// When the file exists and cannot be read.
fn read_memo_ignore(root: &Path) -> Result<IgnorePatterns, PathError> {
    let path = root.join(MEMO_IGNORE);
    if let Some(patterns) = read_patterns(&path, false)? {
        return Ok(patterns);
    }
    match open_regular(&path, false) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(error).at("read", &path),
        _ => Ok(IgnorePatterns::default()),
    }
}

/// Returns the git dirs and state dirs inside the worktree, relative to its root.
fn own_dirs(layout: &RepoLayout) -> Vec<Vec<u8>> {
    let dirs = [layout.git_dir.as_ref(), layout.common_dir.as_ref(), Some(&layout.state_dir)];
    let below_root = dirs.into_iter().flatten().filter_map(|dir| dir.strip_prefix(&layout.root).ok());
    below_root.map(|dir| super::name_bytes(dir.as_os_str())).filter(|dir| !dir.is_empty()).collect()
}
