//! Opens and closes worktrees, and reports on them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_proto::{RpcError, Sync, code};
use memod_watch::Debouncer;
use tokio::sync::oneshot;

use super::{MainLoop, Opening, PendingSurvey, SURVEY, refuse};
use crate::disk;
use crate::disk::task::{DiskTask, Lane, Opened, Survey};
use crate::event::{Ask, ViewReport};
use crate::threads::spawn;
use crate::worker::Job;
use crate::worktree::{WorktreeState, unanswered};

impl MainLoop {
    /// Passes a request to its worktree, which is opened first if it is not served.
    pub(super) fn on_ask(&mut self, ask: Ask, now: Instant) {
        self.last_ask = now;
        self.retry_embedding(ask.level, now);
        if ask.level != Sync::None {
            self.look_at_mounts(now);
        }
        match self.views.get_mut(&ask.layout.root) {
            Some(view) if view.layout == ask.layout => view.ask(ask),
            _ => self.open(ask.layout.clone(), Some(ask)),
        }
    }

    /// Starts the thread of a worktree, which opens it. The request waits until that is done.
    pub(super) fn open(&mut self, layout: RepoLayout, ask: Option<Ask>) {
        if let Some(opening) = self.opening.get_mut(&layout.root) {
            opening.asks.extend(ask);
            return;
        }
        self.n_lanes += 1;
        let (lane, root) = (self.n_lanes, layout.root.clone());
        let (engine, jobs) = (Arc::clone(&self.engine), self.jobs.clone());
        let (disk, tasks) = channel();
        let mounts = self.mounts_below(&root);
        let serve = move || disk::serve(&engine, &jobs, lane, layout, &mounts, &tasks);
        match spawn("worktree", serve) {
            Ok(_) => drop(self.opening.insert(root, Opening { lane, disk, asks: ask.into_iter().collect() })),
            Err(error) => {
                tracing::error!(root = %root.display(), %error, "a worktree cannot be opened");
                if let Some(ask) = ask {
                    let error = RpcError::new(code::BUSY, format!("{}: {error:#}", root.display()));
                    refuse(ask, error.with_hint("`ulimit -u` or `ulimit -v` may be too low"));
                }
            }
        }
    }

    /// Returns the mount points in a worktree.
    fn mounts_below(&self, root: &Path) -> Vec<PathBuf> {
        self.mounts.mount_points_below(root).map(Path::to_owned).collect()
    }

    /// Looks for mounts and unmounts in worktrees, which no watch reports.
    fn look_at_mounts(&mut self, now: Instant) {
        for place in self.mounts.take_changes() {
            for view in self.views.values_mut().filter(|view| place.starts_with(&view.layout.root)) {
                view.mark_all_dirty(now);
                view.send_task(DiskTask::Mount(place.clone()));
            }
        }
    }

    /// Serves a worktree that has been opened, or answers its requests with the error.
    pub(super) fn on_opened(&mut self, lane: Lane, result: Result<Box<Opened>, RpcError>, now: Instant) {
        let Some((_, Opening { disk, asks, .. })) =
            self.opening.extract_if(|_, opening| opening.lane == lane).next()
        else {
            return;
        };
        let Opened { layout, row, walker, settings, silent } = match result {
            Ok(opened) => *opened,
            Err(error) => return asks.into_iter().for_each(|ask| refuse(ask, error.clone())),
        };
        // Another worktree may have been at this path, and this one at another.
        let is_old = |root: &PathBuf, view: &mut WorktreeState| {
            *root == layout.root || view.layout.git_dir == layout.git_dir
        };
        for (root, old) in self.views.extract_if(is_old) {
            if root != layout.root {
                self.engine.events.tell_gone(&root);
            }
            if old.id != row.id {
                self.engine.watch.remove_view(old.id);
            }
        }
        let watch = &self.engine.config.watch;
        let debouncer = Debouncer::new(
            Duration::from_millis(watch.settle_ms),
            Duration::from_millis(watch.settle_max_ms),
        );
        let mut view = WorktreeState::new(&row, layout, debouncer, (lane, disk, walker));
        if silent.is_some() || watch.poll {
            view.poll(silent);
        }
        view.take_settings(settings, now);
        self.views.insert(view.layout.root.clone(), view);
        for ask in asks {
            self.on_ask(ask, now); // another worktree may be here by now
        }
    }

    /// Handles the check of a worktree, and closes one that is gone: its waiting requests are asked again and fail.
    pub(super) fn on_survey(&mut self, lane: Lane, survey: Survey) {
        for pending in &mut self.surveys {
            pending.waits_for.remove(&lane);
        }
        if survey.exists {
            return;
        }
        for (_, view) in self.views.extract_if(|_, view| view.lane == lane) {
            tracing::info!(root = %view.layout.root.display(), "the worktree is gone");
            self.engine.watch.remove_view(view.id);
            self.engine.events.tell_gone(&view.layout.root);
            // A worktree that git still knows may come back, for example when its disk is mounted again.
            if !survey.is_known {
                let _ = self.jobs.send(Job::Forget(view.id));
            }
        }
    }

    /// Checks which worktrees still exist, because unwatched ones report nothing, and then reports on them.
    pub(super) fn survey(&mut self, reply: oneshot::Sender<Vec<ViewReport>>, now: Instant) {
        self.views.values().for_each(|view| view.send_task(DiskTask::Survey));
        let waits_for = self.views.values().map(|view| view.lane).collect();
        self.surveys.push(PendingSurvey { reply, waits_for, until: now + SURVEY });
    }

    /// Answers each `status` whose worktrees have all been checked, or whose time is over.
    pub(super) fn end_surveys(&mut self, now: Instant) {
        let is_over = |survey: &mut PendingSurvey| survey.waits_for.is_empty() || survey.until <= now;
        let over: Vec<PendingSurvey> = self.surveys.extract_if(.., is_over).collect();
        for PendingSurvey { reply, waits_for, .. } in over {
            let report = |view: &WorktreeState| {
                let mut report = view.report();
                if waits_for.contains(&view.lane) {
                    report.info.fresh = false;
                    report.degraded.push(format!("files: {}", unanswered(&view.layout.root)));
                }
                report
            };
            let mut reports: Vec<_> = self.views.values().map(report).collect();
            reports.sort_by(|a, b| a.info.root.cmp(&b.info.root));
            let embedding = self.embedding.error.iter().map(|why| format!("embeddings: {why}"));
            reports.first_mut().into_iter().for_each(|first| first.degraded.extend(embedding.clone()));
            let _ = reply.send(reports); // the asker may have gone
        }
    }
}
