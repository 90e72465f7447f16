//! Merges a burst of changes into one.

use std::time::{Duration, Instant};

/// Computes when a burst of changes is over: after a quiet time, or at a limit. Pure: the clock is passed in.
#[derive(Clone, Copy, Debug)]
pub struct Debouncer {
    quiet: Duration,
    at_most: Duration,
    burst: Option<(Instant, Instant)>,
}

impl Debouncer {
    /// Returns a debouncer for which a burst is over after the time `quiet` without a change, or `at_most` after its first change.
    pub fn new(quiet: Duration, at_most: Duration) -> Self {
        Self { quiet, at_most, burst: None }
    }

    /// Records a change.
    pub fn record_change(&mut self, now: Instant) {
        let first = self.burst.map_or(now, |(first, _)| first);
        self.burst = Some((first, now));
    }

    /// Forgets the burst, after it was handled.
    pub fn end_burst(&mut self) {
        self.burst = None;
    }

    /// Returns the time when the burst counts as over; `None` if there is none.
    pub fn due(&self) -> Option<Instant> {
        self.burst.map(|(first, last)| (last + self.quiet).min(first + self.at_most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_ends_a_burst_and_so_does_the_bound() {
        let ms = Duration::from_millis;
        let start = Instant::now();
        let mut settle = Debouncer::new(ms(50), ms(500));
        assert_eq!(settle.due(), None);
        settle.record_change(start);
        assert_eq!(settle.due(), Some(start + ms(50)));
        for step in 1..=20 {
            settle.record_change(start + ms(40) * step);
        }
        assert_eq!(settle.due(), Some(start + ms(500)));
        settle.end_burst();
        assert_eq!(settle.due(), None);
    }
}
