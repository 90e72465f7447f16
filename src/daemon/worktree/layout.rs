//! Maps absolute paths to the keys of a worktree.

use std::path::{Path, PathBuf};

use super::{DOT_GIT, WorktreeState};
use crate::types::SourceKey;

impl WorktreeState {
    /// Returns the key of what a change of an absolute path may have changed in this worktree: the path itself; its
    /// directory when the name is not UTF-8; the directory with a `.git`, which may be another repository now.
    pub(in super::super) fn key_of(&self, path: &Path) -> Option<SourceKey> {
        let below = path.strip_prefix(&self.layout.root).ok()?;
        let is_git = |path: &&Path| path.file_name().is_some_and(|name| name == DOT_GIT);
        let below = below.ancestors().find(is_git).and_then(Path::parent).unwrap_or(below);
        let named = below.ancestors().find_map(Path::to_str)?;
        let unix = if std::path::MAIN_SEPARATOR == '/' { named.to_owned() } else { named.replace('\\', "/") };
        (!unix.is_empty()).then(|| SourceKey::new(unix))
    }

    /// Returns whether git, or outside git anybody, knows of it.
    pub(in super::super) fn is_known(&self) -> bool {
        self.layout.git_dir.as_ref().unwrap_or(&self.layout.root).is_dir()
    }

    /// Returns whether there is something to serve.
    pub(in super::super) fn exists(&self) -> bool {
        self.layout.root.is_dir() && self.is_known()
    }

    /// Returns the directories of git's that are watched: HEAD and index, settings and excludes of the repository.
    pub(in super::super) fn git_dirs(&self) -> Vec<PathBuf> {
        let common = self.layout.common_dir.clone();
        let excludes = self.excludes.iter().filter_map(|file| file.parent()).map(Path::to_owned);
        let dirs = self.layout.git_dir.clone().into_iter().chain(common).chain(excludes);
        dirs.filter(|dir| dir.is_dir()).collect()
    }
}
