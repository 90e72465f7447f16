//! Handles the results of a worktree's thread.

use std::time::Instant;

use memod_proto::{RpcError, code};
use memod_watch::Role;

use super::{MainLoop, refuse};
use crate::disk::task::{DiskReport, Lane};
use crate::worktree::WorktreeState;

/// Number of times that a request survives the end of a worktree's thread.
const MOST_PANICS: u32 = 3;

impl MainLoop {
    /// Handles the result of a worktree's thread. Ignores it if the worktree is not served any more.
    pub(super) fn on_report(&mut self, lane: Lane, report: DiskReport, now: Instant) {
        let Some(view) = self.views.values_mut().find(|view| view.lane == lane) else {
            if let DiskReport::Panicked = report {
                let error = RpcError::new(code::INTERNAL, "the worktree cannot be opened; the log says why");
                self.on_opened(lane, Err(error), now);
            }
            return;
        };
        match report {
            DiskReport::Probed(mut probed) => {
                if let Some(settings) = probed.settings.take() {
                    view.take_settings(settings, now); // first: who waits for the probe waits for what follows
                }
                view.on_probed(probed, now);
            }
            DiskReport::Tip(tip) => view.on_tip(tip),
            DiskReport::Settings(settings) => view.take_settings(settings, now),
            DiskReport::Watched { unwatched: Some(why), .. } => view.mark_unwatched(Some(why)),
            // Changes before the watch began were not reported.
            DiskReport::Watched { recovery: None, unwatched: None } => view.mark_all_dirty(now),
            DiskReport::Watched { recovery: Some(recovery), unwatched: None } => {
                view.cover(recovery);
                view.mark_index_written(now);
            }
            DiskReport::WatchedDir { role: Role::Worktree, path } => match view.key_of(&path) {
                Some(key) => view.mark_dirty(key, now),
                None => view.mark_all_dirty(now),
            },
            DiskReport::WatchedDir { .. } => {
                self.views.values_mut().for_each(|view| view.mark_all_dirty(now));
            }
            DiskReport::Rung => view.mark_index_written(now),
            DiskReport::GitLock(is_held) => view.git_lock(is_held, now),
            DiskReport::Silent(Some(why)) => view.poll(Some(why)),
            DiskReport::Silent(None) => {}
            DiskReport::Survey(survey) => self.on_survey(lane, survey),
            DiskReport::Panicked => self.reopen(lane, now),
        }
    }

    /// Reopens a worktree whose thread has panicked. Waiting requests are asked again, a limited number of times.
    fn reopen(&mut self, lane: Lane, now: Instant) {
        let gone: Vec<WorktreeState> =
            self.views.extract_if(|_, view| view.lane == lane).map(|(_, view)| view).collect();
        for view in gone {
            let root = view.layout.root.display().to_string();
            tracing::error!(root, "the thread of a worktree panicked; it is opened again");
            self.engine.watch.remove_view(view.id);
            for mut ask in view.into_asks() {
                ask.tries += 1;
                if ask.tries > MOST_PANICS {
                    let message = format!("{root}: looking at it fails, as the log says");
                    refuse(ask, RpcError::new(code::INTERNAL, message));
                } else {
                    self.on_ask(ask, now);
                }
            }
        }
    }
}
