//! Decides which events about a worktree subscribers get.
//!
//! While there are subscribers, the main loop passes the state of each worktree after every event, and a difference from the
//! state that was published last becomes an event. `event_counts` of the daemon counts missing vectors and drifted memories,
//! which only the databases know.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memod_base::clock::now_ms;
use memod_base::types::{WorktreeId, format_rfc3339};
use memod_proto::{DriftCountsEvent, EventParams, IndexProgress, ProgressEvent, Topic, ViewsEvent};

use super::subscriptions::{EventBroker, SubscriberRegistry};

/// Shortest time between two events on the progress of one step, and between two on an index that stays out of date.
const MIN_EVENT_INTERVAL: Duration = Duration::from_millis(250);

/// The present state of a worktree.
pub(crate) struct WorktreeSnapshot<'a> {
    pub(crate) worktree: WorktreeId,
    pub(crate) root: &'a Path,
    /// Content of HEAD.
    pub(crate) head: Option<&'a str>,
    pub(crate) seq: u64,
    /// Whether no known change is missing from the index.
    pub(crate) fresh: bool,
    /// Progress of indexing files and commits.
    pub(crate) indexing: Option<IndexProgress>,
    /// Whether a round of embedding runs.
    pub(crate) is_embedding: bool,
}

/// The state that was published last to the subscribers of a worktree.
#[derive(Default)]
pub(crate) struct PublishedWorktree {
    worktree: Option<PublishedIndexState>,
    progress: Option<IndexProgress>,
    /// When progress was published or examined last.
    progress_at: Option<Instant>,
    /// Number of times that the main loop published progress. A count of vectors that began before the last time is out of date.
    turn: u64,
    /// The worktree whose missing vectors are to be counted.
    wants_vectors: Option<WorktreeId>,
    /// Numbers of drifted and orphaned memories.
    drift: Option<(u64, u64)>,
    /// Whether drifted and orphaned memories are to be counted.
    pub(crate) wants_drift: bool,
}

struct PublishedIndexState {
    head: Option<String>,
    seq: u64,
    fresh: bool,
    at: Instant,
}

/// The consequences of comparing a worktree with its published state.
#[derive(Debug, Default, PartialEq, Eq)]
struct PublishDecision {
    /// Whether the state of the index is published.
    publishes_state: bool,
    /// Whether the progress of indexing is published.
    publishes_progress: bool,
    /// Whether the missing vectors are to be counted.
    counts_vectors: bool,
    /// Whether the memories are to be compared with the code.
    counts_drift: bool,
    /// When to compare the worktree with its published state again, if no event comes before.
    next: Option<Instant>,
}

impl PublishedWorktree {
    /// Records the state of the index, and adds to `news` what to publish. The first state is not published: later ones are
    /// compared with it.
    fn update_index_state(&mut self, now: &WorktreeSnapshot<'_>, at: Instant, news: &mut PublishDecision) {
        if let Some(delivered) = &self.worktree {
            if delivered.is_same_state(now) {
                return;
            }
            if !delivered.fresh && !now.fresh && at < delivered.at + MIN_EVENT_INTERVAL {
                news.next = Some(delivered.at + MIN_EVENT_INTERVAL);
                return;
            }
            news.publishes_state = true;
            news.counts_drift = now.fresh || delivered.seq != now.seq;
        }
        let head = now.head.map(str::to_owned);
        self.worktree = Some(PublishedIndexState { head, seq: now.seq, fresh: now.fresh, at });
    }

    /// Records the progress of indexing, and adds to `news` what to publish or to count.
    fn update_progress(&mut self, now: &WorktreeSnapshot<'_>, at: Instant, news: &mut PublishDecision) {
        let is_over = now.indexing.is_none() && !now.is_embedding;
        if is_over && self.progress.is_none() {
            return;
        }
        let is_due = self.progress_at.is_none_or(|last| at >= last + MIN_EVENT_INTERVAL);
        let is_tellable = match (now.indexing, self.progress) {
            (None, _) => is_over,
            (Some(now), delivered) => is_due || delivered.is_none_or(|delivered| delivered.step != now.step),
        };
        if is_tellable && now.indexing != self.progress {
            news.publishes_progress = true;
            self.progress = now.indexing;
            self.turn += 1;
        } else if is_due && now.indexing.is_none() {
            news.counts_vectors = true;
            self.wants_vectors = Some(now.worktree);
        }
        if news.publishes_progress || is_due {
            self.progress_at = Some(at);
        }
        if !is_over {
            news.next =
                news.next.into_iter().chain(self.progress_at.map(|last| last + MIN_EVENT_INTERVAL)).min();
        }
    }

    /// Forgets the counted drift, after the last subscriber to it has gone.
    pub(crate) fn forget_drift(&mut self) {
        (self.drift, self.wants_drift) = (None, false);
    }
}

impl PublishedIndexState {
    fn is_same_state(&self, now: &WorktreeSnapshot<'_>) -> bool {
        (self.head.as_deref(), self.seq, self.fresh) == (now.head, now.seq, now.fresh)
    }
}

impl EventBroker {
    /// Publishes the changes of a worktree; `reason` returns why its index is not up to date. Returns when to call this again if
    /// the main loop gets no event before.
    pub(crate) fn publish_worktree(
        &self,
        now: &WorktreeSnapshot<'_>,
        reason: impl FnOnce() -> String,
        at: Instant,
    ) -> Option<Instant> {
        let news = self.with_registry(|registry| registry.publish_worktree(now, reason, at));
        if news.counts_vectors {
            self.vector_count_requested.notify_one();
        }
        if news.counts_drift {
            self.drift_count_requested.notify_one();
        }
        news.next
    }

    /// Publishes that a worktree was removed. Without this event, subscribers would take the silence for an index that stays up to
    /// date.
    pub(crate) fn publish_removal(&self, root: &Path) {
        self.with_registry(|registry| {
            let Some(delivered) = registry.worktrees.get_mut(root) else { return };
            delivered.worktree =
                Some(PublishedIndexState { head: None, seq: 0, fresh: false, at: Instant::now() });
            // Counts that are wanted or running are of the removed worktree, so their results are dropped.
            (delivered.wants_vectors, delivered.wants_drift) = (None, false);
            delivered.turn += 1;
            if delivered.progress.take().is_some() {
                registry.publish_progress(root, None);
            }
            registry.publish_state(root, None, Some("the worktree is gone".to_owned()));
        });
    }

    /// Publishes the number of missing vectors, unless the loop has published something since the count began.
    pub fn publish_missing_vectors(&self, root: &Path, turn: u64, progress: IndexProgress) {
        self.with_registry(|registry| {
            let Some(delivered) = registry.worktrees.get_mut(root) else { return };
            if delivered.turn == turn && delivered.progress != Some(progress) {
                delivered.progress = Some(progress);
                registry.publish_progress(root, Some(progress));
            }
        });
    }

    /// Returns the worktrees whose missing vectors are to be counted, and clears these requests. With each comes the `turn` that
    /// [`Self::publish_missing_vectors`] expects.
    pub fn take_vector_count_requests(&self) -> Vec<(PathBuf, WorktreeId, u64)> {
        self.with_registry(|registry| {
            let wanted = registry.worktrees.iter_mut().filter_map(|(root, delivered)| {
                Some((root.clone(), delivered.wants_vectors.take()?, delivered.turn))
            });
            wanted.collect()
        })
    }

    /// Publishes the numbers of drifted and orphaned memories, if they have changed.
    pub fn publish_drift(&self, root: &Path, drifted: u64, orphaned: u64) {
        self.with_registry(|registry| {
            let Some(delivered) = registry.worktrees.get_mut(root) else { return };
            let before = delivered.drift.replace((drifted, orphaned));
            if before.is_some_and(|before| before != (drifted, orphaned)) {
                let (time, worktree) = (format_rfc3339(now_ms()), root.display().to_string());
                let event = DriftCountsEvent { time, worktree, drifted, orphaned };
                registry.queue_event(Topic::Drift, Some(root), &EventParams::Drift(event));
            }
        });
    }

    /// Returns the roots of the worktrees whose memories are to be compared with their code, and clears these requests.
    pub fn take_drift_count_requests(&self) -> Vec<PathBuf> {
        self.with_registry(|registry| {
            let wanted = registry.worktrees.iter_mut();
            wanted
                .filter_map(|(root, delivered)| {
                    std::mem::take(&mut delivered.wants_drift).then(|| root.clone())
                })
                .collect()
        })
    }
}

impl SubscriberRegistry {
    fn publish_worktree(
        &mut self,
        now: &WorktreeSnapshot<'_>,
        reason: impl FnOnce() -> String,
        at: Instant,
    ) -> PublishDecision {
        let hears = [Topic::Progress, Topic::Drift].map(|topic| self.has_subscriber(topic, now.root));
        let mut news = PublishDecision::default();
        let Some(delivered) = self.worktrees.get_mut(now.root) else { return news };
        delivered.update_index_state(now, at, &mut news);
        if hears[0] {
            delivered.update_progress(now, at, &mut news);
        }
        news.counts_drift &= hears[1];
        delivered.wants_drift |= news.counts_drift;
        if news.publishes_state {
            self.publish_state(now.root, now.head, (!now.fresh).then(reason));
        }
        if news.publishes_progress {
            self.publish_progress(now.root, now.indexing);
        }
        news
    }

    /// Publishes the state of the index; `why_not_fresh` says why it is not up to date, and is `None` if it is.
    fn publish_state(&self, root: &Path, head: Option<&str>, why_not_fresh: Option<String>) {
        let (time, worktree) = (format_rfc3339(now_ms()), root.display().to_string());
        let (head, fresh) = (head.map(str::to_owned), why_not_fresh.is_none());
        let event = ViewsEvent { time, worktree, head, fresh, reason: why_not_fresh };
        self.queue_event(Topic::Views, Some(root), &EventParams::Views(event));
    }

    fn publish_progress(&self, root: &Path, progress: Option<IndexProgress>) {
        let (time, worktree) = (format_rfc3339(now_ms()), root.display().to_string());
        let event = ProgressEvent { time, worktree, progress };
        self.queue_event(Topic::Progress, Some(root), &EventParams::Progress(event));
    }
}

#[cfg(test)]
mod tests {
    use memod_proto::IndexStep;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn state(seq: u64, fresh: bool, indexing: Option<IndexProgress>) -> WorktreeSnapshot<'static> {
        let (worktree, root) = (WorktreeId(1), Path::new("/r"));
        WorktreeSnapshot {
            worktree,
            root,
            head: Some("ref: refs/heads/main"),
            seq,
            fresh,
            indexing,
            is_embedding: false,
        }
    }

    fn view(delivered: &mut PublishedWorktree, now: &WorktreeSnapshot<'_>, at: Instant) -> PublishDecision {
        let mut news = PublishDecision::default();
        delivered.update_index_state(now, at, &mut news);
        news
    }

    fn progress(
        delivered: &mut PublishedWorktree,
        now: &WorktreeSnapshot<'_>,
        at: Instant,
    ) -> PublishDecision {
        let mut news = PublishDecision::default();
        delivered.update_progress(now, at, &mut news);
        news
    }

    #[test]
    fn an_index_that_stays_behind_is_told_now_and_then() {
        let (mut delivered, start) = (PublishedWorktree::default(), Instant::now());
        assert_eq!(
            view(&mut delivered, &state(1, true, None), start),
            PublishDecision::default(),
            "nothing has changed yet"
        );
        let news = view(&mut delivered, &state(1, false, None), start);
        assert!(news.publishes_state && !news.counts_drift, "nothing was taken up");
        let news = view(&mut delivered, &state(2, false, None), start + MS);
        assert_eq!(
            news,
            PublishDecision { next: Some(start + MIN_EVENT_INTERVAL), ..PublishDecision::default() }
        );
        assert!(view(&mut delivered, &state(3, false, None), start + MIN_EVENT_INTERVAL).publishes_state);
        let news = view(&mut delivered, &state(3, true, None), start + MIN_EVENT_INTERVAL + MS);
        assert!(news.publishes_state && news.counts_drift, "the end is told at once");
        assert!(view(&mut delivered, &state(4, true, None), start + MIN_EVENT_INTERVAL + MS).publishes_state);
        let moved = WorktreeSnapshot { head: None, ..state(4, true, None) };
        assert!(view(&mut delivered, &moved, start + MIN_EVENT_INTERVAL + MS).publishes_state);
    }

    #[test]
    fn each_step_is_told_at_once_and_then_now_and_then() {
        let (mut delivered, start) = (PublishedWorktree::default(), Instant::now());
        let reading = |n| Some(IndexProgress::from_step(IndexStep::Reading, (n, 9)));
        assert_eq!(
            progress(&mut delivered, &state(1, true, None), start),
            PublishDecision::default(),
            "nothing runs"
        );
        let news = progress(&mut delivered, &state(1, false, Some(IndexProgress::listing(0))), start);
        assert!(news.publishes_progress && news.next == Some(start + MIN_EVENT_INTERVAL));
        assert!(progress(&mut delivered, &state(1, false, reading(1)), start + MS).publishes_progress);
        let news = progress(&mut delivered, &state(1, false, reading(2)), start + 2 * MS);
        assert_eq!(
            news,
            PublishDecision { next: Some(start + MS + MIN_EVENT_INTERVAL), ..PublishDecision::default() }
        );
        assert!(
            progress(&mut delivered, &state(1, false, reading(3)), start + MS + MIN_EVENT_INTERVAL)
                .publishes_progress
        );
        let same =
            progress(&mut delivered, &state(1, false, reading(3)), start + MS + 2 * MIN_EVENT_INTERVAL);
        assert_eq!(
            same,
            PublishDecision { next: Some(start + MS + 3 * MIN_EVENT_INTERVAL), ..PublishDecision::default() }
        );
        let later = start + 9 * MIN_EVENT_INTERVAL;
        let embedding = WorktreeSnapshot { is_embedding: true, ..state(2, true, None) };
        let news = progress(&mut delivered, &embedding, later);
        assert!(!news.publishes_progress && news.counts_vectors, "the database knows how many are left");
        assert!(!progress(&mut delivered, &embedding, later + MS).counts_vectors);
        let news = progress(&mut delivered, &state(2, true, None), later + 2 * MS);
        assert!(news.publishes_progress && news.next.is_none() && delivered.progress.is_none(), "it is over");
    }
}
