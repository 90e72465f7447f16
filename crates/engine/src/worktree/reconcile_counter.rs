//! Numbers the reconciles of one worktree.

/// Numbers the reconciles of one worktree, from 1. One runs at a time.
#[derive(Debug, Default)]
pub(super) struct ReconcileCounter {
    started: u64,
    ended: u64,
    /// Number of the last reconcile that listed directories or met a missing file, so that it may have missed a renamed file.
    unsteady: u64,
    /// [`WalkProgress::removals`](memod_indexing::WalkProgress::removals) when the last reconcile started.
    removals_at_start: u64,
}

impl ReconcileCounter {
    /// Records the start of a reconcile; `removals` is the present count of removals.
    pub(super) fn record_start(&mut self, removals: u64) {
        self.started += 1;
        self.removals_at_start = removals;
    }

    /// Records the end of the running reconcile.
    pub(super) fn record_end(&mut self) {
        self.ended = self.started;
    }

    /// Returns whether a reconcile runs.
    pub(super) fn is_running(&self) -> bool {
        self.started > self.ended
    }

    /// Returns whether no reconcile has started yet.
    pub(super) fn has_never_started(&self) -> bool {
        self.started == 0
    }

    /// Returns the number of the last reconcile that has ended; 0 if none has.
    pub(super) fn last_ended(&self) -> u64 {
        self.ended
    }

    /// Returns the number of the reconcile that must end before the index holds all changes that are known now.
    pub(super) fn covering_reconcile_number(&self, is_dirty: bool) -> u64 {
        if is_dirty { self.next_number() } else { self.started }
    }

    /// Returns the number of the next reconcile.
    pub(super) fn next_number(&self) -> u64 {
        self.started + 1
    }

    /// Records that the last reconcile may have missed files that were renamed during it.
    pub(super) fn mark_unsteady(&mut self) {
        self.unsteady = self.ended;
    }

    /// Returns whether a probe covers everything that reconciles may have missed. `ended` is the number of the last reconcile that
    /// had ended when the probe was sent.
    pub(super) fn is_covered_by_probe(&self, ended: u64) -> bool {
        ended >= self.unsteady
    }

    /// Returns the count of removals that a snapshot taken now certainly includes: the present count, `now`, if no reconcile runs.
    pub(super) fn included_removals(&self, now: u64) -> u64 {
        // The running reconcile may have removed something that the previous one had left in.
        if self.is_running() { self.removals_at_start } else { now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_waits_for_the_next_one_where_something_is_dirty() {
        let mut reconciles = ReconcileCounter::default();
        assert!(reconciles.has_never_started());
        assert_eq!(
            (reconciles.covering_reconcile_number(false), reconciles.covering_reconcile_number(true)),
            (0, 1)
        );
        reconciles.record_start(7);
        assert_eq!(
            (reconciles.covering_reconcile_number(false), reconciles.covering_reconcile_number(true)),
            (1, 2)
        );
        assert!(reconciles.is_running() && reconciles.included_removals(9) == 7);
        reconciles.record_end();
        assert!(!reconciles.is_running() && reconciles.included_removals(9) == 9);
        assert_eq!(reconciles.last_ended(), 1);
    }

    #[test]
    fn what_was_sent_before_an_unsteady_one_ended_tells_nothing_of_it() {
        let mut reconciles = ReconcileCounter::default();
        reconciles.record_start(0);
        let before = reconciles.last_ended();
        assert!(reconciles.is_covered_by_probe(before));
        reconciles.record_end();
        reconciles.mark_unsteady();
        assert!(
            !reconciles.is_covered_by_probe(before)
                && reconciles.is_covered_by_probe(reconciles.last_ended())
        );
    }
}
