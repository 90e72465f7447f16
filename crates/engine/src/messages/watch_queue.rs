//! Limits the changes that wait for the loop.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use memod_watch::WatchEvent;

/// Most changed paths that wait for the loop; they take about 10 MB.
const MOST_QUEUED: usize = 64 << 10;

/// Counts the changes that the loop has not taken yet. Further changes above the limit become a loss, which causes a rescan.
#[derive(Debug, Default)]
pub(crate) struct WatchQueue {
    n_queued: AtomicUsize,
    /// Whether a loss is queued, which covers all further changes until the loop takes it.
    is_lost: AtomicBool,
}

impl WatchQueue {
    /// Returns what to send to the loop for an event of the watcher: the event, a loss if too many changes wait, or `None` if a
    /// loss is queued already.
    pub(crate) fn admit_event(&self, event: WatchEvent) -> Option<WatchEvent> {
        let WatchEvent::Changed(changes) = &event else { return self.admit_first_loss() };
        if self.n_queued.load(Ordering::SeqCst) + changes.len() > MOST_QUEUED {
            return self.admit_first_loss();
        }
        self.n_queued.fetch_add(changes.len(), Ordering::SeqCst);
        Some(event)
    }

    fn admit_first_loss(&self) -> Option<WatchEvent> {
        (!self.is_lost.swap(true, Ordering::SeqCst)).then_some(WatchEvent::Lost)
    }

    /// Records that the loop has taken an event. Call this before the rescan for a loss begins, because a later loss needs another
    /// rescan.
    pub(crate) fn record_taken_event(&self, event: &WatchEvent) {
        match event {
            WatchEvent::Lost => self.is_lost.store(false, Ordering::SeqCst),
            WatchEvent::Changed(changes) => {
                self.n_queued.fetch_sub(changes.len(), Ordering::SeqCst);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use memod_base::types::WorktreeId;
    use memod_watch::{FsChange, Role};

    use super::*;

    fn changed(n: usize) -> WatchEvent {
        let change = FsChange { worktree: WorktreeId(1), role: Role::Worktree, path: "/r/a".into() };
        WatchEvent::Changed(vec![change; n])
    }

    #[test]
    fn what_has_no_room_is_one_loss_until_that_is_taken() {
        let queue = WatchQueue::default();
        let first = queue.admit_event(changed(MOST_QUEUED)).unwrap();
        assert_eq!(queue.admit_event(changed(1)), Some(WatchEvent::Lost));
        assert_eq!(
            (queue.admit_event(changed(1)), queue.admit_event(WatchEvent::Lost)),
            (None, None),
            "covered by that"
        );
        queue.record_taken_event(&first);
        assert_eq!(queue.admit_event(changed(1)), Some(changed(1)), "there is room again");
        queue.record_taken_event(&WatchEvent::Lost);
        assert_eq!(
            queue.admit_event(WatchEvent::Lost),
            Some(WatchEvent::Lost),
            "what is lost later is another loss"
        );
    }
}
