//! Handles the results of a worktree's thread.

use std::time::Instant;

use memod_proto::{RpcError, code};
use memod_watch::Role;

use super::{MainLoop, refuse_request};
use crate::messages::disk_task::{DiskReport, ThreadNumber};
use crate::worktree::WorktreeState;

/// Number of times that a request is handled again after it has failed, before it gets an error.
const MAX_RETRIES: u32 = 3;

impl MainLoop {
    /// Handles a result of a worktree's thread. Ignores the result if the worktree is not served any more.
    pub(super) fn on_disk_report(&mut self, thread: ThreadNumber, report: DiskReport, now: Instant) {
        let Some(worktree) = self.worktrees.values_mut().find(|worktree| worktree.thread == thread) else {
            if let DiskReport::Panicked = report {
                let error = RpcError::new(
                    code::INTERNAL,
                    "the worktree cannot be opened; `memo daemon logs` says why",
                );
                self.on_opened(thread, Err(error), now);
            }
            return;
        };
        match report {
            DiskReport::Probed(mut probed) => {
                if let Some(settings) = probed.settings.take() {
                    // Settings first: a request that waits for the probe waits for the effects of new settings, too.
                    worktree.apply_settings(settings, now);
                }
                worktree.on_probed(probed, now);
            }
            DiskReport::Tip(tip) => worktree.end_head_read(tip),
            DiskReport::Settings(settings) => worktree.apply_settings(settings, now),
            DiskReport::Watched { unwatched: Some(why), .. } => worktree.mark_unwatched(Some(why)),
            // Changes before the watch began were not reported.
            DiskReport::Watched { recovery: None, unwatched: None } => worktree.mark_all_dirty(now),
            DiskReport::Watched { recovery: Some(recovery), unwatched: None } => {
                worktree.mark_all_watched(recovery);
                worktree.mark_git_changed(now);
            }
            DiskReport::WatchedDir { role: Role::Worktree, path } => match worktree.key_for_change(&path) {
                Some(key) => worktree.mark_dirty(key, now),
                None => worktree.mark_all_dirty(now),
            },
            DiskReport::WatchedDir { .. } => {
                self.worktrees.values_mut().for_each(|worktree| worktree.mark_all_dirty(now));
            }
            DiskReport::DoorbellRung => worktree.mark_git_changed(now),
            DiskReport::GitLock(is_held) => worktree.set_git_lock(is_held, now),
            DiskReport::UnreliableEvents(Some(why)) => worktree.poll_always(Some(why)),
            DiskReport::UnreliableEvents(None) => {}
            DiskReport::Existence(existence) => self.on_existence_check(thread, existence),
            DiskReport::Panicked => self.reopen_worktree(thread, now),
        }
    }

    /// Reopens a worktree whose thread has panicked. Its waiting requests are handled again, each a limited number of times.
    fn reopen_worktree(&mut self, thread: ThreadNumber, now: Instant) {
        let gone: Vec<WorktreeState> = self
            .worktrees
            .extract_if(|_, worktree| worktree.thread == thread)
            .map(|(_, worktree)| worktree)
            .collect();
        for worktree in gone {
            let root = worktree.layout.root.display().to_string();
            tracing::error!(root, "the thread of a worktree panicked; opening the worktree again");
            self.engine.watch.remove_worktree(worktree.id);
            for mut request in worktree.into_requests() {
                request.tries += 1;
                if request.tries > MAX_RETRIES {
                    let message =
                        format!("{root}: the worktree cannot be checked; `memo daemon logs` says why");
                    refuse_request(request, RpcError::new(code::INTERNAL, message));
                } else {
                    self.on_request(request, now);
                }
            }
        }
    }
}
