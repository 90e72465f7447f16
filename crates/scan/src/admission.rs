//! Decides whether a path is indexed, refused or ignored.

use gix::bstr::ByteSlice;
use memod_base::paths::RepoLayout;
use memod_base::types::{ReadRefusal, SourceKey, Stat, file_name, is_secret_name};
use memod_git::{GitIndex, Settings, TrackedAs, UserDirs};

use super::rules::{Barrier, IgnoreRules};
use super::{FileKind, RelPath, ScanError};

/// The decision on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A regular file to read.
    Admitted,
    /// Git lists it, but it is not read; it is counted with the reason.
    Refused(ReadRefusal),
    /// Git does not list it, or `.memoignore` excludes it: it is treated as absent.
    Ignored,
}

/// The admission rules of one worktree at one moment.
///
/// Limits: an `AdmissionRules` caches every ignore file and directory that it has read. Create a new one for each walk and each batch
/// of events; otherwise changes of ignore files and of git's index go unnoticed.
pub struct AdmissionRules {
    rules: IgnoreRules,
    max_file_bytes: u64,
}

impl AdmissionRules {
    /// Reads the present index and settings of git, and the ignore files for the whole worktree.
    ///
    /// # Errors
    /// When one of git's files, which the error names, is damaged or cannot be read. [`AdmissionRules::open_untracked`] still works
    /// then, unless the error is transient.
    pub fn open(layout: &RepoLayout, max_file_bytes: u64) -> Result<Self, ScanError> {
        Self::open_with_user_dirs(layout, &UserDirs::read(), max_file_bytes)
    }

    /// Like [`AdmissionRules::open`], with the user's configuration from `dirs`.
    ///
    /// # Errors
    /// See [`AdmissionRules::open`].
    pub fn open_with_user_dirs(
        layout: &RepoLayout,
        dirs: &UserDirs,
        max_file_bytes: u64,
    ) -> Result<Self, ScanError> {
        let settings = Settings::read(layout, dirs)?;
        let tracked = match &layout.git_dir {
            Some(dir) => GitIndex::read(&dir.join("index"), settings.object_hash, settings.ignore_case)?,
            None => GitIndex::empty(),
        };
        Self::new(layout, &settings, tracked, max_file_bytes)
    }

    /// Like [`AdmissionRules::open_with_user_dirs`], but uses only the ignore files, as if no file were tracked; for a damaged index of
    /// git.
    ///
    /// # Errors
    /// When an ignore file for the whole worktree cannot be read at the moment.
    pub fn open_untracked(
        layout: &RepoLayout,
        dirs: &UserDirs,
        max_file_bytes: u64,
    ) -> Result<Self, ScanError> {
        let settings = Settings::read_or_default(layout, dirs)?;
        Self::new(layout, &settings, GitIndex::empty(), max_file_bytes)
    }

    fn new(
        layout: &RepoLayout,
        settings: &Settings,
        tracked: GitIndex,
        max_file_bytes: u64,
    ) -> Result<Self, ScanError> {
        let rules = IgnoreRules::new(layout, settings, tracked).map_err(ScanError::Rules)?;
        Ok(Self { rules, max_file_bytes })
    }

    /// Decides about a path, given its [`super::lstat`], by the same rules as [`super::walk`].
    ///
    /// A directory is refused if it is another repository, and otherwise [`Verdict::Ignored`]: [`AdmissionRules::should_enter`] decides
    /// about its files.
    pub fn judge_path(&mut self, key: &SourceKey, stat: &Stat) -> Verdict {
        match self.judge_kind(RelPath::new(key.as_str()), FileKind::from_stat(stat)) {
            Verdict::Admitted => self.judge_size(stat),
            other => other,
        }
    }

    /// Returns whether to list and watch a directory: it must not be ignored, or must have tracked files, and be neither
    /// `.git` nor another repository.
    pub fn should_enter(&mut self, dir: &SourceKey) -> bool {
        self.should_enter_path(RelPath::new(dir.as_str()))
    }

    /// Returns why the decision about `path`, and about everything below it, is uncertain: an ignore file or a `.git` could
    /// not be read. The decision must not be used then.
    pub fn undecided_reason(&mut self, path: &SourceKey, is_dir: bool) -> Option<String> {
        let path = RelPath::new(path.as_str());
        self.undecided_dir_reason(if is_dir { path } else { super::rules::parent_dir(path) })
    }

    /// Returns a fingerprint of the tracked paths and of the patterns for the whole worktree.
    pub fn digest(&self) -> u64 {
        self.rules.digest()
    }

    /// Returns whether `key` is a `.gitignore` or the `.memoignore`, whose change affects other files.
    pub fn is_ignore_file(key: &SourceKey) -> bool {
        key.as_str() == super::MEMO_IGNORE || file_name(key.as_str()) == ".gitignore"
    }

    pub(super) fn rules(&self) -> &IgnoreRules {
        &self.rules
    }

    pub(super) fn undecided_dir_reason(&mut self, dir: &RelPath) -> Option<String> {
        self.rules.undecided_reason(dir).map(str::to_owned)
    }

    pub(super) fn should_enter_path(&mut self, dir: &RelPath) -> bool {
        self.rules.should_enter(dir)
    }

    /// Decides about a path of this kind as far as possible without its size.
    pub(super) fn judge_kind(&mut self, path: &RelPath, kind: FileKind) -> Verdict {
        if self.rules.is_reserved(path) || self.rules.barrier_at(super::rules::parent_dir(path)).is_some() {
            return Verdict::Ignored;
        }
        let is_dir = kind == FileKind::Directory;
        let tracked = self.rules.tracked().tracked_as(path);
        let is_listed = tracked != TrackedAs::Untracked || !self.rules.is_ignored(path, is_dir);
        if !is_listed || self.rules.is_memo_ignored(path, is_dir) {
            return Verdict::Ignored;
        }
        match kind {
            FileKind::Directory if self.rules.barrier_at(path) == Some(Barrier::Repository) => {
                Verdict::Refused(ReadRefusal::NestedRepository)
            }
            FileKind::Directory => Verdict::Ignored,
            FileKind::Symlink => Verdict::Refused(ReadRefusal::Symlink),
            FileKind::Special if tracked == TrackedAs::Untracked => Verdict::Ignored,
            FileKind::Special => Verdict::Refused(ReadRefusal::Special),
            FileKind::Regular => judge_name(path),
        }
    }

    pub(super) fn judge_size(&self, stat: &Stat) -> Verdict {
        if stat.size > self.max_file_bytes {
            Verdict::Refused(ReadRefusal::TooBig)
        } else {
            Verdict::Admitted
        }
    }
}

fn judge_name(path: &RelPath) -> Verdict {
    match path.to_str() {
        Err(_) => Verdict::Refused(ReadRefusal::NameNotUtf8),
        Ok(path) if is_secret_name(path) => Verdict::Refused(ReadRefusal::SecretName),
        Ok(_) => Verdict::Admitted,
    }
}
