//! Counts the panics of the thread that owns the memories.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use memod_base::threads::lock;
use memod_proto::{RpcError, code};

/// Maximum number of panics within [`PANIC_WINDOW`] after which the thread is still restarted.
const MOST_PANICS: usize = 3;
/// Time after which a panic no longer counts.
const PANIC_WINDOW: Duration = Duration::from_secs(300);

/// The latest panics of the thread outside of a job. After each, the thread had to reopen the database.
#[derive(Default)]
pub(in crate::daemon) struct PanicLog(Mutex<VecDeque<(Instant, String)>>);

impl PanicLog {
    /// Records a panic of the thread, and its message.
    pub(in crate::daemon) fn note_panic(&self, why: String, now: Instant) {
        let mut panics = lock(&self.0);
        panics.push_back((now, why));
        if panics.len() > MOST_PANICS + 1 {
            panics.pop_front();
        }
    }

    /// Returns the error for a thread that is not restarted after too many panics; `None` if it may be restarted.
    pub(in crate::daemon) fn restart_refusal(&self, now: Instant) -> Option<RpcError> {
        let (n_panics, why) = self.count_recent(now)?;
        let minutes = PANIC_WINDOW.as_secs() / 60;
        let message = format!(
            "the thread that owns the memories panicked {n_panics} times in {minutes} minutes: {why}"
        );
        let hint =
            "acknowledged memories are on disk; see `memo daemon logs`, then run `memo daemon restart`";
        (n_panics > MOST_PANICS).then(|| RpcError::new(code::INTERNAL, message).with_hint(hint))
    }

    /// Returns a notice about the last panic, as long as it counts.
    pub(in crate::daemon) fn panic_notice(&self, now: Instant) -> Option<String> {
        let (_, why) = self.count_recent(now)?;
        Some(format!(
            "memories: their thread panicked and was restarted: {why}; acknowledged memories are on disk, and \
             `memo daemon logs` says more"
        ))
    }

    fn count_recent(&self, now: Instant) -> Option<(usize, String)> {
        let panics = lock(&self.0);
        let n_panics =
            panics.iter().filter(|(at, _)| now.saturating_duration_since(*at) < PANIC_WINDOW).count();
        let (_, why) = panics.back()?;
        (n_panics > 0).then(|| (n_panics, why.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_panic_within_minutes_is_one_too_many() {
        let (panics, began) = (PanicLog::default(), Instant::now());
        assert_eq!(panics.panic_notice(began), None);
        for number in 1..=4 {
            assert!(panics.restart_refusal(began).is_none(), "before the panic {number}");
            panics.note_panic(format!("reason {number}"), began + Duration::from_secs(number));
        }
        let refusal = panics.restart_refusal(began + Duration::from_secs(5)).unwrap();
        let said = "the thread that owns the memories panicked 4 times in 5 minutes: reason 4";
        assert_eq!(refusal.message, said);
        let later = began + PANIC_WINDOW + Duration::from_secs(1);
        assert!(panics.restart_refusal(later).is_none(), "the first is long ago");
        assert!(panics.panic_notice(later).unwrap().contains("reason 4"));
        assert_eq!(panics.panic_notice(later + Duration::from_secs(3)), None);
    }
}
