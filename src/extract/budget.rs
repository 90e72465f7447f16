//! How much may parsing one file cost?
//!
//! The clock is asked between steps of the parser, and some garbage makes one step long: 12 KB of `/*`
//! lines as Python take 10 s and 5 GB when the parser unites its guesses at the end of the file. The process that
//! extracts has limits for that. Nothing else in `extract` reads a clock.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Longest time for parsing and querying one file.
pub(super) const TIME: Duration = Duration::from_secs(2);

/// Deepest nesting of brackets that is parsed. People's code stays below 50; tables made by machines
/// and parser stress tests do not.
pub(super) const MAX_BRACKET_DEPTH: usize = 500;

/// What is left for one file.
pub(super) struct Budget {
    deadline: Instant,
    ran_out: Cell<bool>,
}

impl Budget {
    /// Starts the clock.
    pub(super) fn start() -> Self {
        Self { deadline: Instant::now() + TIME, ran_out: Cell::new(false) }
    }

    /// Says whether to go on; the answer of the progress callbacks.
    pub(super) fn check(&self) -> ControlFlow<()> {
        if Instant::now() <= self.deadline {
            return ControlFlow::Continue(());
        }
        self.ran_out.set(true);
        ControlFlow::Break(())
    }

    /// Whether any check said no.
    pub(super) fn ran_out(&self) -> bool {
        self.ran_out.get()
    }
}

/// Counts brackets without regard to strings and comments, where they rarely pile up.
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
