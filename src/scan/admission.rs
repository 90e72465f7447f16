//! Decides whether a path is indexed, refused or ignored.

use gix::bstr::ByteSlice;

use super::rules::{Barrier, Rules};
use super::{FileKind, RelPath, ScanError, is_secret_name};
use crate::git::{Settings, Tracked, TrackedAs, UserDirs};
use crate::paths::RepoLayout;
use crate::types::{Refusal, SourceKey, Stat};

/// What becomes of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A regular file that is to be read.
    Admitted,
    /// Git lists it, but it is not to be read; counted with the reason.
    Refused(Refusal),
    /// Git does not list it, or `.memoignore` leaves it out: as if it were not there.
    Ignored,
}

/// The rule of one worktree at one moment.
///
/// Limits: remembers every ignore file and directory it has seen. Build it afresh for each walk and each batch of
/// events, else changes of ignore files and of the index go unnoticed.
pub struct Admission {
    rules: Rules,
    settings_digest: u64,
    max_file_bytes: u64,
}

impl Admission {
    /// Reads the index and the settings of git as they are now.
    ///
    /// # Errors
    /// When a file of git's is damaged or cannot be read; names it. [`Admission::open_untracked`] still works then,
    /// unless that is transient.
    pub fn open(layout: &RepoLayout, max_file_bytes: u64) -> Result<Self, ScanError> {
        Self::open_for(layout, &UserDirs::read(), max_file_bytes)
    }

    /// As [`Admission::open`], with the user's configuration from `dirs`.
    ///
    /// # Errors
    /// As [`Admission::open`].
    pub fn open_for(layout: &RepoLayout, dirs: &UserDirs, max_file_bytes: u64) -> Result<Self, ScanError> {
        let settings = Settings::read(layout, dirs)?;
        let tracked = match &layout.git_dir {
            Some(dir) => Tracked::read(&dir.join("index"), settings.object_hash, settings.ignore_case)?,
            None => Tracked::nothing(),
        };
        Self::new(layout, &settings, tracked, max_file_bytes)
    }

    /// Goes by the ignore files alone, as if nothing were tracked: for when the index is damaged.
    ///
    /// # Errors
    /// When an ignore file that holds for the whole worktree cannot be read now.
    pub fn open_untracked(
        layout: &RepoLayout,
        dirs: &UserDirs,
        max_file_bytes: u64,
    ) -> Result<Self, ScanError> {
        let settings = Settings::read_or_default(layout, dirs)?;
        Self::new(layout, &settings, Tracked::nothing(), max_file_bytes)
    }

    fn new(
        layout: &RepoLayout,
        settings: &Settings,
        tracked: Tracked,
        max_file_bytes: u64,
    ) -> Result<Self, ScanError> {
        let rules = Rules::new(layout, settings, tracked).map_err(ScanError::Rules)?;
        Ok(Self { rules, settings_digest: settings.digest(), max_file_bytes })
    }

    /// Decides about one path, given its [`super::lstat`]. The same rule as [`super::walk`].
    ///
    /// Of a directory only another repository is refused; all others are [`Verdict::Ignored`], see
    /// [`Admission::enters`].
    pub fn judge(&mut self, key: &SourceKey, stat: &Stat) -> Verdict {
        match self.judge_kind(RelPath::new(key.as_str()), FileKind::of(stat)) {
            Verdict::Admitted => self.judge_size(stat),
            other => other,
        }
    }

    /// Returns whether a directory is to be listed and watched: a real directory that is not ignored or holds tracked
    /// files, neither `.git` nor another repository.
    pub fn enters(&mut self, dir: &SourceKey) -> bool {
        self.enters_path(RelPath::new(dir.as_str()))
    }

    /// Returns why it is not known now whether `path` counts, and what below it if it is a directory: an ignore file, or
    /// what tells a repository, could not be read. What was decided about it must not be acted upon then.
    pub fn undecided(&mut self, path: &SourceKey, is_dir: bool) -> Option<String> {
        let path = RelPath::new(path.as_str());
        self.undecided_dir(if is_dir { path } else { super::rules::parent(path) })
    }

    /// Returns a number that differs when other paths are tracked, or git's settings ignore by other rules.
    pub fn digest(&self) -> u64 {
        self.rules.tracked().digest() ^ self.settings_digest
    }

    /// Returns whether a change of `key` can change which other files count: an ignore file of git's or ours.
    pub fn is_rule(key: &SourceKey) -> bool {
        key.as_str() == super::MEMO_IGNORE || key.as_str().rsplit('/').next() == Some(".gitignore")
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(super) fn undecided_dir(&mut self, dir: &RelPath) -> Option<String> {
        self.rules.undecided(dir).map(str::to_owned)
    }

    pub(super) fn enters_path(&mut self, dir: &RelPath) -> bool {
        self.rules.enters(dir)
    }

    /// Decides all that can be decided without knowing the size.
    pub(super) fn judge_kind(&mut self, path: &RelPath, kind: FileKind) -> Verdict {
        if self.rules.is_reserved(path) || self.rules.barrier(super::rules::parent(path)).is_some() {
            return Verdict::Ignored;
        }
        let is_dir = kind == FileKind::Directory;
        let tracked = self.rules.tracked().entry(path);
        let is_listed = tracked != TrackedAs::Untracked || !self.rules.is_ignored(path, is_dir);
        if !is_listed || self.rules.is_memo_ignored(path, is_dir) {
            return Verdict::Ignored;
        }
        match kind {
            FileKind::Directory if self.rules.barrier(path) == Some(Barrier::Repository) => {
                Verdict::Refused(Refusal::NestedRepository)
            }
            FileKind::Directory => Verdict::Ignored,
            FileKind::Symlink => Verdict::Refused(Refusal::Symlink),
            FileKind::Special if tracked == TrackedAs::Untracked => Verdict::Ignored,
            FileKind::Special => Verdict::Refused(Refusal::Special),
            FileKind::Regular => judge_name(path),
        }
    }

    pub(super) fn judge_size(&self, stat: &Stat) -> Verdict {
        if stat.size > self.max_file_bytes { Verdict::Refused(Refusal::TooBig) } else { Verdict::Admitted }
    }
}

fn judge_name(path: &RelPath) -> Verdict {
    match path.to_str() {
        Err(_) => Verdict::Refused(Refusal::NameNotUtf8),
        Ok(path) if is_secret_name(path) => Verdict::Refused(Refusal::SecretName),
        Ok(_) => Verdict::Admitted,
    }
}
