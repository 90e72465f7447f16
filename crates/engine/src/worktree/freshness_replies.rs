//! Answers the requests whose wait is over.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use memod_base::types::noun_form;
use memod_indexing::{Progress, ReconcilePhase};
use memod_proto::{FreshnessLevel, IndexProgress, IndexStep, Pending};

use super::probe::SLOW_ACCESS;
use super::waiting_requests::Waiter;
use super::{EmbeddingRounds, WorktreeState};
use crate::events::worktree_news::WorktreeSnapshot;
use crate::file_access::disk_reads::stuck_path_message;
use crate::freshness::Freshness;
use crate::messages::loop_event::PendingRequest;

impl WorktreeState {
    /// Answers every request whose wait is over.
    pub(crate) fn answer_requests(&mut self, now: Instant, rounds: &EmbeddingRounds, progress: &Progress) {
        let ended = if self.error.is_none() { self.reconciles.last_ended() } else { 0 };
        let mut waiting = Vec::new();
        for mut waiter in std::mem::take(&mut self.waiters) {
            let level = waiter.request.level;
            let commits = self.commits.has_indexed_round(waiter.request.commits_round);
            let lexical = self.complete && waiter.reconcile <= ended && commits;
            if lexical && level == FreshnessLevel::Full {
                waiter.round.get_or_insert(rounds.asked);
            }
            let done = lexical && waiter.round.is_none_or(|round| round <= rounds.done);
            let at_once = level == FreshnessLevel::None && waiter.request.dirty.is_empty();
            let no_commits = self.commits.round_failure(waiter.request.commits_round);
            let failed = self.has_reconcile_failed(waiter.reconcile) || no_commits.is_some();
            let restless = waiter.give_up_reason.is_some();
            if done || at_once || failed || restless || waiter.request.deadline <= now {
                let fresh = done
                    && !restless
                    && match level {
                        FreshnessLevel::None => self.is_current(),
                        FreshnessLevel::Fs | FreshnessLevel::Strict => true,
                        FreshnessLevel::Full => rounds.error.is_none(),
                    };
                let reason = (!fresh).then(|| self.not_fresh_reason(&waiter, rounds, progress));
                let no_vectors = rounds.error.as_ref().filter(|_| level == FreshnessLevel::Full);
                // An earlier failure is left out while its retry runs.
                let failed = if failed || done {
                    self.error.as_ref().or(no_commits).or(no_vectors).cloned()
                } else {
                    None
                };
                self.send_reply(waiter.request, fresh, reason, failed, (rounds, progress));
            } else {
                waiting.push(waiter);
            }
        }
        self.waiters = waiting;
        let late = self.probes.take_late(now);
        for request in late {
            let reason = if self.probes.is_overdue(now) {
                stuck_path_message(&self.layout.root)
            } else if let Some(place) = self.find_stuck_path() {
                stuck_path_message(&place)
            } else if self.is_dirty() || self.reconciles.is_running() {
                "changed files are being indexed".to_owned()
            } else {
                "the watcher has not answered yet".to_owned()
            };
            self.send_reply(request, false, Some(reason), None, (rounds, progress));
        }
    }

    /// Returns whether the reconcile with this number has ended and failed.
    fn has_reconcile_failed(&self, reconcile: u64) -> bool {
        let Self { error, reconciles, .. } = self;
        error.is_some() && !reconciles.is_running() && reconcile <= reconciles.last_ended()
    }

    /// Returns how far the running comparison of the worktree is, as the end of a sentence.
    fn progress_suffix(&self) -> String {
        if !self.reconciles.is_running() {
            return String::new(); // the figures are those of the last reconcile
        }
        match self.reconciler.progress.current_step() {
            ReconcilePhase::Listing { n_found: 0 } => String::new(),
            ReconcilePhase::Listing { n_found } => {
                format!(": {n_found} {} found so far", noun_form(n_found, "file", "files"))
            }
            ReconcilePhase::Reading { .. } => {
                let (done, total) = self.reconciler.progress.file_counts(); // counted once they are written, so that an answer can have them
                format!(": {done} of {total} {}", noun_form(total, "file", "files"))
            }
        }
    }

    /// Returns why a request gets an answer that is not fresh.
    fn not_fresh_reason(&self, waiter: &Waiter, rounds: &EmbeddingRounds, progress: &Progress) -> String {
        let progress_suffix = self.progress_suffix();
        if let Some(error) = self.error.as_ref().or(waiter.give_up_reason.as_ref()) {
            error.clone()
        } else if let Some(place) = self.find_stuck_path() {
            stuck_path_message(&place)
        } else if !self.complete {
            let what = if self.built { "compared with the worktree" } else { "built" };
            format!("the index is being {what}{progress_suffix}")
        } else if let Some(round) = waiter.round {
            let failed = rounds.error.as_ref().filter(|_| round <= rounds.done);
            failed.map_or_else(
                || "embeddings are being computed".to_owned(),
                |why| format!("embeddings: {why}"),
            )
        } else if waiter.request.level == FreshnessLevel::None && !self.watch.is_reliable() {
            "some directories are not watched, and the level `none` does not compare the worktree".to_owned()
        } else if let Some(error) = self.commits.round_failure(waiter.request.commits_round) {
            format!("commits: {error}")
        } else if !self.commits.has_indexed_round(waiter.request.commits_round)
            && !self.is_dirty()
            && !self.reconciles.is_running()
        {
            let (done, total) = progress.commit_counts();
            format!("commits are being read: {done} of {total}")
        } else {
            format!("changed files are being indexed{progress_suffix}")
        }
    }

    /// Returns the present state, from which events for subscribers are made.
    pub(crate) fn snapshot(&self, rounds: &EmbeddingRounds, progress: &Progress) -> WorktreeSnapshot<'_> {
        WorktreeSnapshot {
            worktree: self.id,
            root: &self.layout.root,
            head: self.head.as_deref(),
            seq: self.seq,
            fresh: self.is_current(),
            indexing: self.index_progress(progress),
            is_embedding: rounds.done < rounds.asked,
        }
    }

    /// Returns why a known change is missing from the index.
    pub(crate) fn not_current_reason(&self, progress: &Progress) -> String {
        if let Some(error) = &self.error {
            error.clone()
        } else if let Some(place) = self.find_stuck_path() {
            stuck_path_message(&place)
        } else if !self.complete {
            let what = if self.built { "compared with the worktree" } else { "built" };
            format!("the index is being {what}{}", self.progress_suffix())
        } else if self.is_dirty() || self.reconciles.is_running() {
            format!("changed files are being indexed{}", self.progress_suffix())
        } else if self.commits.is_reading() {
            let (done, total) = progress.commit_counts();
            format!("commits are being read: {done} of {total}")
        } else if !self.commits.is_current() {
            let why = self.commits.missing_note().map(|why| format!("commits: {why}"));
            why.unwrap_or_else(|| "new commits are being looked for".to_owned())
        } else {
            "some directories are not watched, so each query compares the worktree with the index".to_owned()
        }
    }

    fn send_reply(
        &self,
        request: PendingRequest,
        fresh: bool,
        reason: Option<String>,
        failed: Option<String>,
        (rounds, progress): (&EmbeddingRounds, &Progress),
    ) {
        // A fresh answer has everything that was written before the request; what is dirty now was written later.
        let files = if fresh { 0 } else { self.pending_files() };
        let removals = self.reconciles.included_removals(self.reconciler.progress.n_removals());
        let freshness = Freshness {
            worktree: self.id,
            layout: self.layout.clone(),
            fresh,
            reason,
            is_first_index: !self.complete && !self.built,
            failed,
            files_note: self.files_note.clone(),
            commits_note: self.commits.missing_note().cloned(),
            lacks_commits: self.commits.has_gaps(),
            has_older_commits: self.commits.has_older,
            embed_note: rounds.error.clone(),
            pending: Pending { files, embeddings: 0 },
            progress: Arc::clone(&self.reconciler.progress),
            indexing: self.index_progress(progress),
            removals,
            disk: Arc::default(),
        };
        // The request may have been dropped.
        let _ = request.reply.send(Ok(freshness));
    }

    /// Returns the path whose file system has not answered the running reconcile for too long, if any.
    pub(super) fn find_stuck_path(&self) -> Option<PathBuf> {
        self.reconciler.progress.find_stuck_path(SLOW_ACCESS)
    }

    /// Returns the progress of indexing files, or else commits; `None` if neither is being indexed.
    fn index_progress(&self, progress: &Progress) -> Option<IndexProgress> {
        if self.reconciles.is_running() {
            return Some(match self.reconciler.progress.current_step() {
                ReconcilePhase::Listing { n_found } => IndexProgress::listing(n_found),
                ReconcilePhase::Reading { files, bytes } => IndexProgress::reading(files, bytes),
            });
        }
        let is_first_to_come = !self.complete && self.error.is_none();
        let commits = || {
            self.commits
                .is_reading()
                .then(|| IndexProgress::from_step(IndexStep::Commits, progress.commit_counts()))
        };
        if is_first_to_come { Some(IndexProgress::listing(0)) } else { commits() }
    }

    fn pending_files(&self) -> u64 {
        let (done, total) = self.reconciler.progress.file_counts();
        let running = if self.reconciles.is_running() { total.saturating_sub(done) } else { 0 };
        self.dirty.n_paths() as u64 + running
    }
}
