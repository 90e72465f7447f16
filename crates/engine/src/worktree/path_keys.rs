//! Maps absolute paths to the keys of a worktree.

use std::path::Path;
use std::time::Instant;

use memod_base::paths::composed_name;
use memod_base::types::SourceKey;

use super::{DOT_GIT, WorktreeState};
use crate::messages::disk_task::GitSettings;

impl WorktreeState {
    /// Returns the key that a change of an absolute path affects in this worktree: that of the path itself; that of its directory
    /// if the name is not UTF-8; for a `.git`, that of the directory around it, which may have become or ceased to be a repository.
    /// `None` means the root, or for a path outside the worktree.
    pub(crate) fn key_for_change(&self, path: &Path) -> Option<SourceKey> {
        let below = path.strip_prefix(&self.layout.root).ok()?;
        let below = below
            .ancestors()
            .find(|path| path.file_name().is_some_and(|name| name == DOT_GIT))
            .and_then(Path::parent)
            .unwrap_or(below);
        let named = below.ancestors().find_map(Path::to_str)?;
        let named = composed_name(named);
        let unix = if std::path::MAIN_SEPARATOR == '/' { named } else { named.replace('\\', "/").into() };
        (!unix.is_empty()).then(|| SourceKey::new(unix.into_owned()))
    }

    /// Returns whether a path is an ignore file outside the worktree.
    pub(crate) fn is_exclude(&self, path: &Path) -> bool {
        self.exclude_files.iter().any(|exclude| exclude == path)
    }

    /// Applies new settings of git: the set of files and the watched directories may change.
    pub(crate) fn apply_settings(&mut self, settings: GitSettings, now: Instant) {
        if settings.changed || self.exclude_files != settings.exclude_files {
            self.exclude_files = settings.exclude_files;
            self.mark_git_changed(now);
        }
        if settings.unwatched.is_some() {
            self.mark_unwatched(settings.unwatched);
        }
    }
}
