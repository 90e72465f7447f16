//! Routes a change on disk to the worktrees it belongs to.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::time::Instant;

use super::MainLoop;
use super::views::watch_git;
use crate::daemon::doorbell;
use crate::daemon::worktree::DOT_GIT;
use crate::git::{self, UserDirs};
use crate::paths::DOORBELL;
use crate::scan::Admission;
use crate::types::ViewId;
use crate::watch::{FsChange, Role};

/// What git has in its git dir while it is at work: between the commits of a rebase there is no lock.
const AT_WORK: [&str; 4] = ["index.lock", "rebase-merge", "rebase-apply", "sequencer"];

impl MainLoop {
    pub(super) fn on_change(&mut self, change: &FsChange, now: Instant) {
        if change.role == Role::Git {
            return self.on_git_change(change, now);
        }
        let Some(view) = self.views.values_mut().find(|view| view.id == change.view) else { return };
        if change.role == Role::Cookies {
            if change.path == view.layout.cookie_dir() {
                self.check_held = true;
                self.drop_removed();
                self.watch_anew(change.view, now);
            } else if change.path.ends_with(DOORBELL) {
                if doorbell::has_rung(&change.path) {
                    view.mark_index_written(now);
                }
            } else {
                view.cookie_back(&change.path, now);
            }
            return;
        }
        if view.layout.git_dir.as_deref().is_some_and(|dir| change.path.starts_with(dir)) {
            return;
        }
        match view.key_of(&change.path) {
            Some(key) if !Admission::is_rule(&key) => {
                if change.path.file_name() == Some(OsStr::new(DOT_GIT)) {
                    // It is a repository only once more is in it. A file fails here, and needs no watch.
                    let _ = self.shared.watch.add_dir(change.view, Role::Worktree, &change.path);
                }
                view.mark_dirty(key, now);
            }
            _ => view.mark_all_dirty(now),
        }
    }

    /// Watches what now has the names of git's directories: the git dir was moved and came back, or another did.
    fn watch_anew(&mut self, view: ViewId, now: Instant) {
        if let Some(view) = self.views.values_mut().find(|known| known.id == view) {
            watch_git(&self.shared, view);
            view.mark_all_dirty(now);
        }
    }

    /// Takes a change in a git dir; settings and excludes of the common dir are those of every worktree.
    pub(super) fn on_git_change(&mut self, change: &FsChange, now: Instant) {
        if change.path == self.shared.socket {
            self.check_held = true;
        }
        let name = change.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if self.views.values().any(|view| view.is_exclude(&change.path)) {
            return self.views.values_mut().for_each(|view| view.mark_all_dirty(now));
        }
        let own = self.views.values_mut().find(|view| view.id == change.view);
        match (name, own) {
            ("info", _) => {
                // Made only now, for the excludes that will be in it. Whatever else has the name fails here.
                let _ = self.shared.watch.add_dir(change.view, Role::Git, &change.path);
                self.views.values_mut().for_each(|view| view.mark_all_dirty(now));
            }
            ("config", _) => self.on_settings(now),
            (name, Some(view)) if AT_WORK.contains(&name) => {
                let git_dir = change.path.parent().unwrap_or(&change.path);
                view.git_lock(AT_WORK.iter().any(|name| git_dir.join(name).exists()), now);
            }
            ("HEAD" | "index" | "config.worktree", Some(view)) => view.mark_index_written(now),
            _ => {}
        }
    }

    /// Notes that git's settings may have changed: other ignore files may count now.
    pub(super) fn on_settings(&mut self, now: Instant) {
        let dirs = UserDirs::read();
        let mut files = BTreeSet::new();
        for view in self.views.values_mut() {
            let settings = git::Settings::read_or_default(&view.layout, &dirs);
            view.excludes = git::excludes_files(&view.layout, &settings);
            files.extend(view.excludes.iter().cloned().chain(settings.files));
            view.mark_index_written(now);
            watch_git(&self.shared, view);
        }
        self.user_rules.look(&dirs, files);
    }
}
