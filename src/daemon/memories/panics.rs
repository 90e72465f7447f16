//! Counts the panics of the thread that keeps the memories.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use memod_base::threads::lock;
use memod_proto::{RpcError, code};

/// Number of panics within [`WITHIN`] after which the thread is restarted; after another one it is not.
const MOST: usize = 3;
/// Time after which a panic no longer counts.
const WITHIN: Duration = Duration::from_secs(300);

/// The latest panics outside a job, each of which ends the thread.
#[derive(Default)]
pub(super) struct Panics(Mutex<VecDeque<(Instant, String)>>);

impl Panics {
    pub(super) fn note(&self, why: String, now: Instant) {
        let mut panics = lock(&self.0);
        panics.push_back((now, why));
        if panics.len() > MOST + 1 {
            panics.pop_front();
        }
    }

    /// Returns why the thread is not restarted, after too many panics.
    pub(super) fn refusal(&self, now: Instant) -> Option<RpcError> {
        let (n_panics, why) = self.recent(now)?;
        let minutes = WITHIN.as_secs() / 60;
        let message = format!(
            "the thread that keeps the memories panicked {n_panics} times in {minutes} minutes: {why}"
        );
        let hint =
            "what was acknowledged is on the disk; `memo logs` says more, `memo restart` starts it anew";
        (n_panics > MOST).then(|| RpcError::new(code::INTERNAL, message).with_hint(hint))
    }

    /// Returns a notice for each answer, while a panic counts.
    pub(super) fn notice(&self, now: Instant) -> Option<String> {
        let (_, why) = self.recent(now)?;
        Some(format!(
            "memories: their thread panicked and was started anew: {why}; what was acknowledged is on the disk, and \
             `memo logs` says more"
        ))
    }

    fn recent(&self, now: Instant) -> Option<(usize, String)> {
        let panics = lock(&self.0);
        let n_panics = panics.iter().filter(|(at, _)| now.saturating_duration_since(*at) < WITHIN).count();
        let (_, why) = panics.back()?;
        (n_panics > 0).then(|| (n_panics, why.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_panic_within_minutes_is_one_too_many() {
        let (panics, began) = (Panics::default(), Instant::now());
        assert_eq!(panics.notice(began), None);
        for number in 1..=4 {
            assert!(panics.refusal(began).is_none(), "before the panic {number}");
            panics.note(format!("reason {number}"), began + Duration::from_secs(number));
        }
        let refusal = panics.refusal(began + Duration::from_secs(5)).unwrap();
        let said = "the thread that keeps the memories panicked 4 times in 5 minutes: reason 4";
        assert_eq!(refusal.message, said);
        let later = began + WITHIN + Duration::from_secs(1);
        assert!(panics.refusal(later).is_none(), "the first is long ago");
        assert!(panics.notice(later).unwrap().contains("reason 4"));
        assert_eq!(panics.notice(later + Duration::from_secs(3)), None);
    }
}
