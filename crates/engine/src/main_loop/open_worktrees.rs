//! Opens and closes worktrees, and reports on them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_proto::{FreshnessLevel, RpcError, code};
use memod_watch::Debouncer;
use tokio::sync::oneshot;

use super::{MainLoop, OpeningWorktree, PendingStatus, STATUS_WAIT, refuse_request};
use crate::disk;
use crate::file_access::disk_reads::stuck_path_message;
use crate::freshness::WorktreeReport;
use crate::messages::disk_task::{DiskTask, ExistenceCheck, OpenedWorktree, ThreadNumber};
use crate::messages::loop_event::PendingRequest;
use crate::messages::writer_job::WriterJob;
use crate::threads::spawn_thread;
use crate::worktree::WorktreeState;

impl MainLoop {
    /// Passes a request to its worktree, which is opened first if it is not served.
    pub(super) fn on_request(&mut self, request: PendingRequest, now: Instant) {
        self.last_request = now;
        self.retry_embedding(request.level, now);
        if request.level != FreshnessLevel::None {
            self.mark_remounted_dirty(now);
        }
        match self.worktrees.get_mut(&request.layout.root) {
            Some(worktree) if worktree.layout == request.layout => worktree.accept_request(request),
            _ => self.open_worktree(request.layout.clone(), Some(request)),
        }
    }

    /// Starts the thread of a worktree, which opens the worktree. The request waits until it is open.
    pub(super) fn open_worktree(&mut self, layout: RepoLayout, request: Option<PendingRequest>) {
        if let Some(opening) = self.opening.get_mut(&layout.root) {
            opening.requests.extend(request);
            return;
        }
        self.n_threads += 1;
        let (thread, root) = (self.n_threads, layout.root.clone());
        let (engine, jobs) = (Arc::clone(&self.engine), self.jobs.clone());
        let (disk, tasks) = channel();
        let mounts = self.mounts_below(&root);
        let spawned = spawn_thread("worktree", move || {
            disk::run_worktree_thread(&engine, &jobs, thread, layout, &mounts, &tasks);
        });
        match spawned {
            Ok(_) => {
                let requests = request.into_iter().collect();
                self.opening.insert(root, OpeningWorktree { thread, disk, requests });
            }
            Err(error) => {
                tracing::error!(root = %root.display(), %error, "a worktree cannot be opened");
                if let Some(request) = request {
                    let error = RpcError::new(code::BUSY, format!("{}: {error:#}", root.display()));
                    refuse_request(request, error.with_hint("`ulimit -u` or `ulimit -v` may be too low"));
                }
            }
        }
    }

    /// Returns the mount points in a worktree.
    fn mounts_below(&self, root: &Path) -> Vec<PathBuf> {
        self.mounts.mount_points_below(root).map(Path::to_owned).collect()
    }

    /// Marks worktrees dirty in which something was mounted or unmounted, because no watch reports that.
    fn mark_remounted_dirty(&mut self, now: Instant) {
        for place in self.mounts.take_changed_mount_points() {
            for worktree in
                self.worktrees.values_mut().filter(|worktree| place.starts_with(&worktree.layout.root))
            {
                worktree.mark_all_dirty(now);
                worktree.send_task(DiskTask::CheckMount(place.clone()));
            }
        }
    }

    /// Serves a worktree that has been opened, or answers its requests with the error.
    pub(super) fn on_opened(
        &mut self,
        thread: ThreadNumber,
        result: Result<Box<OpenedWorktree>, RpcError>,
        now: Instant,
    ) {
        let Some((_, OpeningWorktree { disk, requests, .. })) =
            self.opening.extract_if(|_, opening| opening.thread == thread).next()
        else {
            return;
        };
        let OpenedWorktree { layout, row, reconciler: walker, settings, unreliable_events: silent } =
            match result {
                Ok(opened) => *opened,
                Err(error) => {
                    return requests.into_iter().for_each(|request| refuse_request(request, error.clone()));
                }
            };
        // Another worktree may have been at this path, and this one at another.
        let old_worktrees = self
            .worktrees
            .extract_if(|root, worktree| *root == layout.root || worktree.layout.git_dir == layout.git_dir);
        for (root, old) in old_worktrees {
            if root != layout.root {
                self.engine.events.publish_removal(&root);
            }
            if old.id != row.id {
                self.engine.watch.remove_worktree(old.id);
            }
        }
        let watch = &self.engine.config.watch;
        let debouncer = Debouncer::new(
            Duration::from_millis(watch.settle_ms),
            Duration::from_millis(watch.settle_max_ms),
        );
        let mut worktree = WorktreeState::new(&row, layout, debouncer, (thread, disk, walker));
        if silent.is_some() || watch.poll {
            worktree.poll_always(silent);
        }
        worktree.apply_settings(settings, now);
        self.worktrees.insert(worktree.layout.root.clone(), worktree);
        for request in requests {
            self.on_request(request, now); // another worktree may be at this path by now
        }
    }

    /// Handles the check whether a worktree exists, and closes a worktree that is gone. Its waiting requests get the error that
    /// makes clients send them again, and then fail.
    pub(super) fn on_existence_check(&mut self, thread: ThreadNumber, existence: ExistenceCheck) {
        for pending in &mut self.pending_statuses {
            pending.waits_for.remove(&thread);
        }
        if existence.exists {
            return;
        }
        for (_, worktree) in self.worktrees.extract_if(|_, worktree| worktree.thread == thread) {
            tracing::info!(root = %worktree.layout.root.display(), "the worktree is gone");
            self.engine.watch.remove_worktree(worktree.id);
            self.engine.events.publish_removal(&worktree.layout.root);
            // A worktree that git still knows may come back, for example when its disk is mounted again.
            if !existence.is_known {
                let _ = self.jobs.send(WriterJob::ForgetWorktree(worktree.id));
            }
        }
    }

    /// Begins to check which worktrees still exist, because an unwatched one reports nothing; the reply follows the checks.
    pub(super) fn begin_status_wait(&mut self, reply: oneshot::Sender<Vec<WorktreeReport>>, now: Instant) {
        self.worktrees.values().for_each(|worktree| worktree.send_task(DiskTask::CheckExistence));
        let waits_for = self.worktrees.values().map(|worktree| worktree.thread).collect();
        self.pending_statuses.push(PendingStatus { reply, waits_for, until: now + STATUS_WAIT });
    }

    /// Answers each `status` whose worktrees have all been checked, or whose time is over.
    pub(super) fn end_status_waits(&mut self, now: Instant) {
        let ended: Vec<PendingStatus> = self
            .pending_statuses
            .extract_if(.., |status| status.waits_for.is_empty() || status.until <= now)
            .collect();
        for PendingStatus { reply, waits_for, .. } in ended {
            let worktrees = self.worktrees.values();
            let mut reports: Vec<_> =
                worktrees.map(|worktree| report_worktree(worktree, &waits_for)).collect();
            reports.sort_by(|a, b| a.info.root.cmp(&b.info.root));
            let embedding = self.embedding.error.iter().map(|why| format!("embeddings: {why}"));
            reports.first_mut().into_iter().for_each(|first| first.degraded.extend(embedding.clone()));
            let _ = reply.send(reports); // the receiver may have gone
        }
    }
}

/// Returns the report on a worktree, which is not fresh if its file system has not answered.
fn report_worktree(worktree: &WorktreeState, unanswered: &HashSet<ThreadNumber>) -> WorktreeReport {
    let mut report = worktree.build_report();
    if unanswered.contains(&worktree.thread) {
        report.info.fresh = false;
        report.degraded.push(format!("files: {}", stuck_path_message(&worktree.layout.root)));
    }
    report
}
