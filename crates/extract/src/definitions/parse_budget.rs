//! Limits the processor time of parsing one file.
//!
//! The clock is read between steps of the parser, and some garbage makes one step long: 12 KB of `/*` lines as Python take 10
//! s and 5 GB when the parser merges its guesses at the end of the file. The limits of the extracting process cover such
//! steps. Nothing else in `extract` reads a clock.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

/// Time limit for parsing and querying one file. It is processor time where that is available, because the result must not
/// depend on the load of the machine.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Deepest nesting of brackets that is parsed. Code written by people stays below 50; generated tables and stress tests
/// of parsers do not.
pub(super) const MAX_BRACKET_DEPTH: usize = 500;

/// The time left for parsing one file.
pub(super) struct ParseBudget {
    end: Duration,
    ran_out: Cell<bool>,
}

impl ParseBudget {
    /// Starts the clock.
    pub(super) fn start() -> Self {
        Self { end: time_used() + TIME_LIMIT, ran_out: Cell::new(false) }
    }

    /// Starts the clock for a second try, which has a quarter of the time.
    pub(super) fn start_second_try() -> Self {
        Self { end: time_used() + TIME_LIMIT / 4, ran_out: Cell::new(false) }
    }

    /// Returns whether parsing may continue; called by the progress callbacks.
    pub(super) fn check_time(&self) -> ControlFlow<()> {
        if time_used() <= self.end {
            return ControlFlow::Continue(());
        }
        self.ran_out.set(true);
        ControlFlow::Break(())
    }

    /// Returns whether the time limit was reached.
    pub(super) fn ran_out(&self) -> bool {
        self.ran_out.get()
    }
}

/// Returns the processor time of this thread, from an arbitrary start.
#[cfg(target_os = "linux")]
fn time_used() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec.unsigned_abs() as u32)
}

#[cfg(not(target_os = "linux"))]
fn time_used() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    Instant::now().duration_since(*START)
}

/// Returns whether brackets are nested too deep. Counts brackets in strings and comments too, which rarely add up.
pub(super) fn is_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_BRACKET_DEPTH
    })
}
