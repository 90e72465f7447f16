//! Decides what subscribers are told about a worktree.
//!
//! While somebody listens, the loop shows the state of each worktree after every event, and what differs from what was told
//! last becomes an event. What only the databases know is counted by `counting`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memod_base::types::{ViewId, rfc3339};
use memod_proto::{DriftEvent, EventParams, IndexProgress, ProgressEvent, Topic, ViewsEvent};

use super::clock::now_ms;
use super::subscriptions::{Events, Hub};

/// Least time between two events on the progress of one step, and between two on an index that stays behind.
const GAP: Duration = Duration::from_millis(250);

/// The present state of a worktree.
pub(super) struct Snapshot<'a> {
    pub(super) view: ViewId,
    pub(super) root: &'a Path,
    /// Content of HEAD.
    pub(super) head: Option<&'a str>,
    pub(super) seq: u64,
    /// Whether no known change is missing from the index.
    pub(super) fresh: bool,
    /// What is being indexed of files and commits.
    pub(super) indexing: Option<IndexProgress>,
    /// Whether a round of embedding runs.
    pub(super) is_embedding: bool,
}

/// What the subscribers of a worktree were told last.
#[derive(Default)]
pub(super) struct LastTold {
    view: Option<ToldView>,
    progress: Option<IndexProgress>,
    /// When progress was told or looked at last.
    progress_at: Option<Instant>,
    /// Number of times that the loop told progress: a count that began before is out of date.
    turn: u64,
    /// The view whose missing vectors are to be counted.
    wants_vectors: Option<ViewId>,
    /// Numbers of drifted and orphaned memories.
    drift: Option<(u64, u64)>,
    /// Whether these are to be counted.
    pub(super) wants_drift: bool,
}

struct ToldView {
    head: Option<String>,
    seq: u64,
    fresh: bool,
    at: Instant,
}

/// What a look at a worktree leads to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Look {
    /// Whether the state of the index is told.
    tells_view: bool,
    /// Whether the progress of indexing is told.
    tells_progress: bool,
    /// Whether the missing vectors are to be counted.
    counts_vectors: bool,
    /// Whether the memories are to be compared with the code.
    counts_drift: bool,
    /// When to look again, if no event comes before.
    next: Option<Instant>,
}

impl LastTold {
    /// Notes the state of the index. The first one is what later ones are compared with.
    fn look_at_view(&mut self, now: &Snapshot<'_>, at: Instant, look: &mut Look) {
        if let Some(told) = &self.view {
            if told.is(now) {
                return;
            }
            if !told.fresh && !now.fresh && at < told.at + GAP {
                look.next = Some(told.at + GAP);
                return;
            }
            look.tells_view = true;
            look.counts_drift = now.fresh || told.seq != now.seq;
        }
        let head = now.head.map(str::to_owned);
        self.view = Some(ToldView { head, seq: now.seq, fresh: now.fresh, at });
    }

    /// Notes the progress of indexing.
    fn look_at_progress(&mut self, now: &Snapshot<'_>, at: Instant, look: &mut Look) {
        let is_over = now.indexing.is_none() && !now.is_embedding;
        if is_over && self.progress.is_none() {
            return;
        }
        let is_due = self.progress_at.is_none_or(|last| at >= last + GAP);
        let is_tellable = match (now.indexing, self.progress) {
            (None, _) => is_over,
            (Some(now), told) => is_due || told.is_none_or(|told| told.step != now.step),
        };
        if is_tellable && now.indexing != self.progress {
            look.tells_progress = true;
            self.progress = now.indexing;
            self.turn += 1;
        } else if is_due && now.indexing.is_none() {
            look.counts_vectors = true;
            self.wants_vectors = Some(now.view);
        }
        if look.tells_progress || is_due {
            self.progress_at = Some(at);
        }
        if !is_over {
            look.next = look.next.into_iter().chain(self.progress_at.map(|last| last + GAP)).min();
        }
    }

    /// Forgets what was counted for subscribers that have gone.
    pub(super) fn forget_drift(&mut self) {
        (self.drift, self.wants_drift) = (None, false);
    }
}

impl ToldView {
    fn is(&self, now: &Snapshot<'_>) -> bool {
        (self.head.as_deref(), self.seq, self.fresh) == (now.head, now.seq, now.fresh)
    }
}

impl Events {
    /// Tells what is new about a worktree; `reason` says why its index is not up to date. Returns when to look again, if no
    /// event of the loop comes before.
    pub(super) fn tell_worktree(
        &self,
        now: &Snapshot<'_>,
        reason: impl FnOnce() -> String,
        at: Instant,
    ) -> Option<Instant> {
        let look = self.with(|hub| hub.tell_worktree(now, reason, at));
        if look.counts_vectors {
            self.count_vectors.notify_one();
        }
        if look.counts_drift {
            self.count_drift.notify_one();
        }
        look.next
    }

    /// Tells that a worktree was removed: the silence that follows would look like an index that stays up to date.
    pub(super) fn tell_gone(&self, root: &Path) {
        self.with(|hub| {
            let Some(told) = hub.worktrees.get_mut(root) else { return };
            told.view = Some(ToldView { head: None, seq: 0, fresh: false, at: Instant::now() });
            // A count that has begun is out of date.
            (told.wants_vectors, told.wants_drift) = (None, false);
            told.turn += 1;
            if told.progress.take().is_some() {
                hub.tell_progress(root, None);
            }
            hub.tell_view(root, None, Some("the worktree is gone".to_owned()));
        });
    }

    /// Tells how many vectors are missing, unless the loop has told something since the count began.
    pub fn tell_vectors(&self, root: &Path, turn: u64, progress: IndexProgress) {
        self.with(|hub| {
            let Some(told) = hub.worktrees.get_mut(root) else { return };
            if told.turn == turn && told.progress != Some(progress) {
                told.progress = Some(progress);
                hub.tell_progress(root, Some(progress));
            }
        });
    }

    /// Takes the worktrees whose missing vectors are to be counted, with the number of what was told.
    pub fn take_vectors(&self) -> Vec<(PathBuf, ViewId, u64)> {
        self.with(|hub| {
            let wanted = hub
                .worktrees
                .iter_mut()
                .filter_map(|(root, told)| Some((root.clone(), told.wants_vectors.take()?, told.turn)));
            wanted.collect()
        })
    }

    /// Tells how many memories have drifted and are orphaned, if that has changed.
    pub fn tell_drift(&self, root: &Path, drifted: u64, orphaned: u64) {
        self.with(|hub| {
            let Some(told) = hub.worktrees.get_mut(root) else { return };
            let before = told.drift.replace((drifted, orphaned));
            if before.is_some_and(|before| before != (drifted, orphaned)) {
                let (time, worktree) = (rfc3339(now_ms()), root.display().to_string());
                let event = DriftEvent { time, worktree, drifted, orphaned };
                hub.tell(Topic::Drift, Some(root), &EventParams::Drift(event));
            }
        });
    }

    /// Takes the worktrees whose memories are to be compared with their code.
    pub fn take_drift(&self) -> Vec<PathBuf> {
        self.with(|hub| {
            let wanted = hub.worktrees.iter_mut();
            wanted
                .filter_map(|(root, told)| std::mem::take(&mut told.wants_drift).then(|| root.clone()))
                .collect()
        })
    }
}

impl Hub {
    fn tell_worktree(&mut self, now: &Snapshot<'_>, reason: impl FnOnce() -> String, at: Instant) -> Look {
        let hears = [Topic::Progress, Topic::Drift].map(|topic| self.hears(topic, now.root));
        let mut look = Look::default();
        let Some(told) = self.worktrees.get_mut(now.root) else { return look };
        told.look_at_view(now, at, &mut look);
        if hears[0] {
            told.look_at_progress(now, at, &mut look);
        }
        look.counts_drift &= hears[1];
        told.wants_drift |= look.counts_drift;
        if look.tells_view {
            self.tell_view(now.root, now.head, (!now.fresh).then(reason));
        }
        if look.tells_progress {
            self.tell_progress(now.root, now.indexing);
        }
        look
    }

    /// Tells the state of the index; without a reason it is up to date.
    fn tell_view(&self, root: &Path, head: Option<&str>, why_not: Option<String>) {
        let (time, worktree) = (rfc3339(now_ms()), root.display().to_string());
        let (head, fresh) = (head.map(str::to_owned), why_not.is_none());
        let event = ViewsEvent { time, worktree, head, fresh, reason: why_not };
        self.tell(Topic::Views, Some(root), &EventParams::Views(event));
    }

    fn tell_progress(&self, root: &Path, progress: Option<IndexProgress>) {
        let (time, worktree) = (rfc3339(now_ms()), root.display().to_string());
        let event = ProgressEvent { time, worktree, progress };
        self.tell(Topic::Progress, Some(root), &EventParams::Progress(event));
    }
}

#[cfg(test)]
mod tests {
    use memod_proto::IndexStep;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn state(seq: u64, fresh: bool, indexing: Option<IndexProgress>) -> Snapshot<'static> {
        let (view, root) = (ViewId(1), Path::new("/r"));
        Snapshot { view, root, head: Some("ref: refs/heads/main"), seq, fresh, indexing, is_embedding: false }
    }

    fn view(told: &mut LastTold, now: &Snapshot<'_>, at: Instant) -> Look {
        let mut look = Look::default();
        told.look_at_view(now, at, &mut look);
        look
    }

    fn progress(told: &mut LastTold, now: &Snapshot<'_>, at: Instant) -> Look {
        let mut look = Look::default();
        told.look_at_progress(now, at, &mut look);
        look
    }

    #[test]
    fn an_index_that_stays_behind_is_told_now_and_then() {
        let (mut told, start) = (LastTold::default(), Instant::now());
        assert_eq!(view(&mut told, &state(1, true, None), start), Look::default(), "nothing has changed yet");
        let look = view(&mut told, &state(1, false, None), start);
        assert!(look.tells_view && !look.counts_drift, "nothing was taken up");
        let look = view(&mut told, &state(2, false, None), start + MS);
        assert_eq!(look, Look { next: Some(start + GAP), ..Look::default() });
        assert!(view(&mut told, &state(3, false, None), start + GAP).tells_view);
        let look = view(&mut told, &state(3, true, None), start + GAP + MS);
        assert!(look.tells_view && look.counts_drift, "the end is told at once");
        assert!(view(&mut told, &state(4, true, None), start + GAP + MS).tells_view);
        let moved = Snapshot { head: None, ..state(4, true, None) };
        assert!(view(&mut told, &moved, start + GAP + MS).tells_view);
    }

    #[test]
    fn each_step_is_told_at_once_and_then_now_and_then() {
        let (mut told, start) = (LastTold::default(), Instant::now());
        let reading = |n| Some(IndexProgress::of(IndexStep::Reading, (n, 9)));
        assert_eq!(progress(&mut told, &state(1, true, None), start), Look::default(), "nothing runs");
        let look = progress(&mut told, &state(1, false, Some(IndexProgress::listing(0))), start);
        assert!(look.tells_progress && look.next == Some(start + GAP));
        assert!(progress(&mut told, &state(1, false, reading(1)), start + MS).tells_progress);
        let look = progress(&mut told, &state(1, false, reading(2)), start + 2 * MS);
        assert_eq!(look, Look { next: Some(start + MS + GAP), ..Look::default() });
        assert!(progress(&mut told, &state(1, false, reading(3)), start + MS + GAP).tells_progress);
        let same = progress(&mut told, &state(1, false, reading(3)), start + MS + 2 * GAP);
        assert_eq!(same, Look { next: Some(start + MS + 3 * GAP), ..Look::default() });
        let later = start + 9 * GAP;
        let embedding = Snapshot { is_embedding: true, ..state(2, true, None) };
        let look = progress(&mut told, &embedding, later);
        assert!(!look.tells_progress && look.counts_vectors, "the database knows how many are left");
        assert!(!progress(&mut told, &embedding, later + MS).counts_vectors);
        let look = progress(&mut told, &state(2, true, None), later + 2 * MS);
        assert!(look.tells_progress && look.next.is_none() && told.progress.is_none(), "it is over");
    }
}
