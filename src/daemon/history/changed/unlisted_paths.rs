//! Examines the paths that the manifest does not list: files that may be deleted, and submodules.

use std::cell::RefCell;
use std::collections::HashMap;

use memod_base::paths::{IoContext as _, RepoLayout, none_if_unreadable};
use memod_git::{ObjectId, Refs};

use super::version_texts::VersionTextReader;
use crate::daemon::shared::Shared;
use crate::daemon::shared::change_cache::PathOnDisk;

/// Examines paths of one worktree that its manifest does not list.
pub(super) struct UnlistedPaths<'a> {
    shared: &'a Shared,
    texts: &'a VersionTextReader<'a>,
    /// Whether a directory is a link or is reached through one, by path.
    linked: RefCell<HashMap<String, bool>>,
}

impl<'a> UnlistedPaths<'a> {
    pub(super) fn new(shared: &'a Shared, texts: &'a VersionTextReader<'a>) -> Self {
        Self { shared, texts, linked: RefCell::default() }
    }

    /// Returns what is at a path; `None` after a transient error, which is recorded.
    pub(super) fn examine_path(&self, path: &str) -> Option<PathOnDisk> {
        let at = self.texts.at;
        let full = at.layout.root.join(path);
        let stat = self.texts.record_error(none_if_unreadable(at.disk.lstat(&full)).at("look at", &full))?;
        Some(match stat {
            Some(_) if self.is_beyond_link(path) => PathOnDisk::Nothing,
            Some(stat) if stat.is_dir() => PathOnDisk::Directory(self.find_checked_out(path)),
            Some(_) => PathOnDisk::Other,
            None => PathOnDisk::Nothing,
        })
    }

    /// Returns whether a directory above a path is a link, which git does not follow.
    fn is_beyond_link(&self, path: &str) -> bool {
        let Some((dir, _)) = path.rsplit_once('/') else { return false };
        if let Some(known) = self.linked.borrow().get(dir) {
            return *known;
        }
        let stat = self.texts.at.disk.lstat(&self.texts.at.layout.root.join(dir));
        let is_linked = stat.is_ok_and(|stat| !stat.is_dir()) || self.is_beyond_link(dir);
        self.linked.borrow_mut().insert(dir.to_owned(), is_linked);
        is_linked
    }

    /// Returns the commit that is checked out in a directory; `None` if the directory is no repository of its own.
    fn find_checked_out(&self, path: &str) -> Option<ObjectId> {
        let (at, history) = (self.texts.at, self.texts.history);
        let layout = RepoLayout::locate(&at.layout.root.join(path), &self.shared.engine.env).ok()?;
        // For a directory that is no repository, the repository around it is found.
        let is_own = layout.root != at.layout.root && layout.root.ends_with(path);
        Refs::new(&layout, history.object_hash).filter(|_| is_own)?.resolve_ref("HEAD").ok().flatten()
    }
}
