//! Routes a change on disk to the worktrees that it belongs to.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use memod_base::paths::DOORBELL_FILE_NAME;
use memod_base::types::MEMORY_FILES_DIR;
use memod_scan::AdmissionRules;
use memod_watch::{FsChange, Role, WatchEvent};

use super::MainLoop;
use crate::disk::GIT_BUSY_FILES;
use crate::messages::disk_task::DiskTask;
use crate::worktree::{DOT_GIT, WorktreeState};

impl MainLoop {
    /// Handles an event of the watcher.
    pub(super) fn on_watch_event(&mut self, event: WatchEvent, now: Instant) {
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
                self.worktrees.values_mut().for_each(|worktree| worktree.mark_all_dirty(now));
            }
        }
    }

    fn on_change(&mut self, change: &FsChange, now: Instant) {
        if change.role == Role::Git {
            return self.on_git_change(change, now);
        }
        if change.role == Role::Memories {
            return self.engine.notify_observer(|observer| {
                observer.watched_memories_changed(change.worktree, &change.path);
            });
        }
        let Some(worktree) = self.worktrees.values_mut().find(|worktree| worktree.id == change.worktree)
        else {
            return;
        };
        if change.role == Role::Cookies {
            if change.path == worktree.layout.cookie_dir() {
                worktree.send_task(DiskTask::CheckExistence);
                // The git dir may have been moved or replaced, and the watches follow the moved one. Watch the directories that have
                // these paths now.
                worktree.send_task(DiskTask::WatchGitDirs { recovery: None });
                worktree.mark_all_dirty(now);
                self.check_own_files();
            } else if change.path.ends_with(DOORBELL_FILE_NAME) {
                worktree.send_task(DiskTask::CheckDoorbell(change.path.clone()));
            } else {
                worktree.on_cookie_event(&change.path);
            }
            return;
        }
        if worktree.layout.git_dir.as_deref().is_some_and(|dir| change.path.starts_with(dir)) {
            return;
        }
        // Outside git the daemon's own files are in the worktree, and each write to them is reported: indexing would never end.
        if change.path.parent().is_some_and(|dir| dir.starts_with(&worktree.layout.state_dir)) {
            return;
        }
        match worktree.key_for_change(&change.path) {
            Some(key) if !AdmissionRules::is_ignore_file(&key) => {
                if Path::new(key.as_str()).starts_with(MEMORY_FILES_DIR) {
                    self.engine.notify_observer(|observer| observer.memory_files_saved(&worktree.layout));
                }
                if change.path.file_name() == Some(OsStr::new(DOT_GIT)) {
                    // A new `.git` becomes a repository only once it has more files.
                    let path = change.path.clone();
                    worktree.send_task(DiskTask::WatchDir { role: Role::Worktree, path });
                }
                worktree.mark_dirty(key, now);
            }
            _ if change.path == worktree.layout.root => {
                // The directory was moved or removed, possibly with the daemon's own files.
                worktree.send_task(DiskTask::CheckExistence);
                worktree.mark_all_dirty(now);
                self.check_own_files();
            }
            _ => worktree.mark_all_dirty(now),
        }
    }

    /// Handles a change in a git dir. Settings and excludes of the common dir apply to every worktree.
    fn on_git_change(&mut self, change: &FsChange, now: Instant) {
        if change.path == self.engine.socket {
            self.check_own_files();
        }
        let name = change.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if self.worktrees.values().any(|worktree| worktree.is_exclude(&change.path)) {
            return self.worktrees.values_mut().for_each(|worktree| worktree.mark_all_dirty(now));
        }
        let own = self.worktrees.values_mut().find(|worktree| worktree.id == change.worktree);
        match (name, own) {
            ("info", own) => {
                // `info` was created just now, and excludes may follow.
                if let Some(worktree) = own {
                    let path = change.path.clone();
                    worktree.send_task(DiskTask::WatchDir { role: Role::Git, path });
                }
                self.worktrees.values_mut().for_each(|worktree| worktree.mark_all_dirty(now));
            }
            ("config", _) => self.worktrees.values_mut().for_each(|worktree: &mut WorktreeState| {
                worktree.mark_git_changed(now);
                worktree.send_task(DiskTask::ReadSettings);
            }),
            (name, Some(worktree)) if GIT_BUSY_FILES.contains(&name) => {
                let git_dir = change.path.parent().unwrap_or(&change.path);
                worktree.send_task(DiskTask::CheckGitLock(git_dir.to_owned()));
            }
            ("HEAD" | "index" | "config.worktree", Some(worktree)) => worktree.mark_git_changed(now),
            _ => {}
        }
    }
}
