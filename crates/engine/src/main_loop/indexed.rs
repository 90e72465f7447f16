//! Handles the end of a reconcile.

use std::time::Instant;

use memod_base::types::ViewId;
use memod_git::Tip;
use memod_indexing::{CommitStep, IndexError, MissedFiles, Scope};
use memod_proto::Sync;

use super::MainLoop;
use crate::errors::hinted;
use crate::event::Indexed;
use crate::worker::Job;

/// Number of reconciles with changes between garbage collections; the first runs after the first reconcile.
const COLLECT_EVERY: u64 = 1_000;

impl MainLoop {
    pub(super) fn on_indexed(&mut self, indexed: Indexed, now: Instant) {
        let Indexed { lane, scope, result, head, unwatched, survey } = indexed;
        let Some(view) = self.views.values_mut().find(|known| known.lane == lane) else {
            if result.is_err() {
                self.check_own_files();
            }
            return;
        };
        if let Err(IndexError::Outdated) = result {
            return view.end_in_vain(now);
        }
        view.head = head;
        let covers = scope == Scope::Full && unwatched.is_none() && result.is_ok();
        if unwatched.is_some() {
            view.mark_unwatched(unwatched);
        }
        let (mut missed, mut unread) = (MissedFiles::default(), Vec::new());
        let failed = match result {
            Ok(outcome) => {
                for problem in &outcome.problems {
                    tracing::warn!(root = %view.layout.root.display(), problem, "not everything could be listed");
                }
                view.note_problems(&outcome, now);
                view.retry(outcome.again, now);
                (missed, unread) = (outcome.missed, outcome.unread);
                if let Some(seq) = outcome.seq {
                    view.seq = view.seq.max(seq); // commits may have been written since
                    self.collect_in = self.collect_in.saturating_sub(1);
                }
                None
            }
            Err(error) => {
                tracing::error!(root = %view.layout.root.display(), %error, "the index is behind");
                Some(hinted(&error, error.hint()))
            }
        };
        let has_failed = failed.is_some();
        if covers {
            view.recover_watch();
        }
        view.end(&scope, failed, now);
        if unread.is_empty() {
            view.look_again(&missed);
        }
        view.note_unread(unread, now);
        view.look_for_commits(); // what git wrote may have been a commit
        if has_failed {
            // An index that was deleted or truncated does not come back by itself, and if the repository has moved, clients
            // no longer find this daemon.
            self.check_own_files();
        }
        if let Some(survey) = survey {
            self.on_survey(lane, survey);
        }
        self.wake_embedder();
        if self.collect_in == 0 {
            self.collect_in = COLLECT_EVERY;
            let _ = self.jobs.send(Job::Collect);
        }
    }

    /// Continues reading commits, or answers the requests that waited for them.
    pub(super) fn on_commits(&mut self, view: ViewId, tip: Tip, result: Result<CommitStep, IndexError>) {
        let Some(view) = self.views.values_mut().find(|known| known.id == view) else { return };
        match result {
            Ok(CommitStep { seq, n_left, notes, may_come_back, unread, has_older }) => {
                view.seq = view.seq.max(seq.unwrap_or(0));
                if n_left > 0 {
                    let layout = Box::new(view.layout.clone());
                    let _ = self.jobs.send(Job::Commits { view: view.id, layout, tip });
                    return;
                }
                if let Some(why) = &unread {
                    let root = view.layout.root.display();
                    tracing::warn!(%root, why, "not every commit could be read; trying again");
                }
                view.commits.has_older = has_older;
                view.commits.end(unread, &notes, may_come_back);
            }
            Err(error) => {
                tracing::error!(root = %view.layout.root.display(), %error, "commits are missing from the index");
                view.commits.end(Some(hinted(&error, error.hint())), &[], false);
            }
        }
        self.wake_embedder();
    }

    /// Begins another round of embedding for who asks, after one that failed.
    pub(super) fn retry_embedding(&mut self, level: Sync, now: Instant) {
        if self.embedding.is_to_retry(level, now) {
            self.wake_embedder();
        }
    }

    pub(super) fn wake_embedder(&mut self) {
        self.embedding.asked += 1;
        let _ = self.rounds.send(self.embedding.asked); // it ends only after the loop
    }
}
