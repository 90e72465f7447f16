//! Handles the end of a reconcile.

use std::time::Instant;

use memod_base::types::WorktreeId;
use memod_git::Tip;
use memod_indexing::{CommitStep, IndexError, MissedFiles, ReconcileScope};
use memod_proto::FreshnessLevel;

use super::MainLoop;
use crate::errors::line_with_hint;
use crate::messages::loop_event::ReconcileEnd;
use crate::messages::writer_job::WriterJob;

/// Number of reconciles with changes between garbage collections; the first runs after the first reconcile.
const COLLECT_EVERY: u64 = 1_000;

impl MainLoop {
    /// Handles the end of a reconcile. Ignores it if the worktree is not served any more.
    pub(super) fn on_reconcile_end(&mut self, indexed: ReconcileEnd, now: Instant) {
        let ReconcileEnd { thread, scope, result, head, unwatched, existence } = indexed;
        let Some(worktree) = self.worktrees.values_mut().find(|known| known.thread == thread) else {
            if result.is_err() {
                self.check_own_files();
            }
            return;
        };
        if let Err(IndexError::Outdated) = result {
            return worktree.end_outdated_reconcile(now);
        }
        worktree.head = head;
        let covers = scope == ReconcileScope::Full && unwatched.is_none() && result.is_ok();
        if unwatched.is_some() {
            worktree.mark_unwatched(unwatched);
        }
        let (mut missed, mut unread) = (MissedFiles::default(), Vec::new());
        let failed = match result {
            Ok(outcome) => {
                for problem in &outcome.problems {
                    tracing::warn!(root = %worktree.layout.root.display(), problem, "some files could not be listed or read");
                }
                worktree.record_problems(&outcome, now);
                worktree.retry_paths(outcome.again, now);
                (missed, unread) = (outcome.missed, outcome.unread);
                if let Some(seq) = outcome.seq {
                    worktree.seq = worktree.seq.max(seq); // commits may have been written since
                    self.collect_in = self.collect_in.saturating_sub(1);
                }
                None
            }
            Err(error) => {
                tracing::error!(root = %worktree.layout.root.display(), %error, "a reconcile failed, so the index is out of date");
                Some(line_with_hint(&error, error.hint()))
            }
        };
        let has_failed = failed.is_some();
        if covers {
            worktree.recover_watch();
        }
        worktree.end_reconcile(&scope, failed, now);
        if unread.is_empty() {
            worktree.requeue_if_files_moved(&missed);
        }
        worktree.record_unread(unread, now);
        worktree.request_head_read(); // the change that git has made may be a commit
        if has_failed {
            // An index that was deleted or truncated does not come back by itself, and if the repository has moved, clients
            // no longer find this daemon.
            self.check_own_files();
        }
        if let Some(existence) = existence {
            self.on_existence_check(thread, existence);
        }
        self.request_embedding_round();
        if self.collect_in == 0 {
            self.collect_in = COLLECT_EVERY;
            let _ = self.jobs.send(WriterJob::CollectGarbage);
        }
    }

    /// Continues reading commits, or answers the requests that waited for them.
    pub(super) fn on_commit_step(
        &mut self,
        worktree: WorktreeId,
        tip: Tip,
        result: Result<CommitStep, IndexError>,
    ) {
        let Some(worktree) = self.worktrees.values_mut().find(|known| known.id == worktree) else { return };
        match result {
            Ok(CommitStep { seq, n_left, notes, may_come_back, unread, has_older }) => {
                worktree.seq = worktree.seq.max(seq.unwrap_or(0));
                if n_left > 0 {
                    let layout = Box::new(worktree.layout.clone());
                    let _ = self.jobs.send(WriterJob::IndexCommits { worktree: worktree.id, layout, tip });
                    return;
                }
                if let Some(why) = &unread {
                    let root = worktree.layout.root.display();
                    tracing::warn!(%root, why, "not every commit could be read; trying again");
                }
                worktree.commits.has_older = has_older;
                worktree.commits.end_round(unread, &notes, may_come_back);
            }
            Err(error) => {
                tracing::error!(root = %worktree.layout.root.display(), %error, "commits are missing from the index");
                worktree.commits.end_round(Some(line_with_hint(&error, error.hint())), &[], false);
            }
        }
        self.request_embedding_round();
    }

    /// Begins another round of embedding for a request, after a round that failed.
    pub(super) fn retry_embedding(&mut self, level: FreshnessLevel, now: Instant) {
        if self.embedding.is_retry_due(level, now) {
            self.request_embedding_round();
        }
    }

    /// Requests a round of embedding.
    pub(super) fn request_embedding_round(&mut self) {
        self.embedding.asked += 1;
        let _ = self.rounds.send(self.embedding.asked); // the embedding thread ends only after the loop
    }
}
