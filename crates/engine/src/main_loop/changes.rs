//! Routes a change on disk to the worktrees it belongs to.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use memod_base::paths::DOORBELL;
use memod_base::types::MEMORY_FILES_DIR;
use memod_scan::Admission;
use memod_watch::{FsChange, Role, WatchEvent};

use super::MainLoop;
use crate::disk::AT_WORK;
use crate::disk::task::DiskTask;
use crate::worktree::{DOT_GIT, WorktreeState};

impl MainLoop {
    /// Handles an event of the watcher.
    pub(super) fn on_watch(&mut self, event: WatchEvent, now: Instant) {
        match event {
            WatchEvent::Changed(changes) => {
                self.engine.fs_events.fetch_add(changes.len() as u64, Ordering::Relaxed);
                for change in &changes {
                    self.on_change(change, now);
                }
            }
            WatchEvent::Lost => {
                self.check_own_files();
                self.engine.notify_observer(|observer| observer.events_lost());
                self.views.values_mut().for_each(|view| view.mark_all_dirty(now));
            }
        }
    }

    fn on_change(&mut self, change: &FsChange, now: Instant) {
        if change.role == Role::Git {
            return self.on_git_change(change, now);
        }
        if change.role == Role::Memories {
            return self
                .engine
                .notify_observer(|observer| observer.watched_memories_changed(change.view, &change.path));
        }
        let Some(view) = self.views.values_mut().find(|view| view.id == change.view) else { return };
        if change.role == Role::Cookies {
            if change.path == view.layout.cookie_dir() {
                view.send_task(DiskTask::Survey);
                // The git dir was moved, and it or another one is back: watch the directories that have the names now.
                view.send_task(DiskTask::Watch { recovery: None });
                view.mark_all_dirty(now);
                self.check_own_files();
            } else if change.path.ends_with(DOORBELL) {
                view.send_task(DiskTask::Doorbell(change.path.clone()));
            } else {
                view.cookie_back(&change.path);
            }
            return;
        }
        if view.layout.git_dir.as_deref().is_some_and(|dir| change.path.starts_with(dir)) {
            return;
        }
        // Outside git what we write is in the worktree, and a watch on all of that tells of it: it would never end.
        if change.path.parent().is_some_and(|dir| dir.starts_with(&view.layout.state_dir)) {
            return;
        }
        match view.key_of(&change.path) {
            Some(key) if !Admission::is_ignore_file(&key) => {
                if Path::new(key.as_str()).starts_with(MEMORY_FILES_DIR) {
                    self.engine.notify_observer(|observer| observer.memory_files_saved(&view.layout));
                }
                if change.path.file_name() == Some(OsStr::new(DOT_GIT)) {
                    // A new `.git` becomes a repository only once it has more files.
                    let path = change.path.clone();
                    view.send_task(DiskTask::WatchDir { role: Role::Worktree, path });
                }
                view.mark_dirty(key, now);
            }
            _ if change.path == view.layout.root => {
                // The directory was moved or removed, possibly with the daemon's own files.
                view.send_task(DiskTask::Survey);
                view.mark_all_dirty(now);
                self.check_own_files();
            }
            _ => view.mark_all_dirty(now),
        }
    }

    /// Handles a change in a git dir. Settings and excludes of the common dir apply to every worktree.
    fn on_git_change(&mut self, change: &FsChange, now: Instant) {
        if change.path == self.engine.socket {
            self.check_own_files();
        }
        let name = change.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if self.views.values().any(|view| view.is_exclude(&change.path)) {
            return self.views.values_mut().for_each(|view| view.mark_all_dirty(now));
        }
        let own = self.views.values_mut().find(|view| view.id == change.view);
        match (name, own) {
            ("info", own) => {
                // `info` was created just now, and excludes may follow.
                if let Some(view) = own {
                    let path = change.path.clone();
                    view.send_task(DiskTask::WatchDir { role: Role::Git, path });
                }
                self.views.values_mut().for_each(|view| view.mark_all_dirty(now));
            }
            ("config", _) => self.views.values_mut().for_each(|view: &mut WorktreeState| {
                view.mark_index_written(now);
                view.send_task(DiskTask::Settings);
            }),
            (name, Some(view)) if AT_WORK.contains(&name) => {
                let git_dir = change.path.parent().unwrap_or(&change.path);
                view.send_task(DiskTask::GitLock(git_dir.to_owned()));
            }
            ("HEAD" | "index" | "config.worktree", Some(view)) => view.mark_index_written(now),
            _ => {}
        }
    }
}
