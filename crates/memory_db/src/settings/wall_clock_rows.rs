//! Determines how much time has certainly passed, although the wall clock may be wrong.
//!
//! A clock that is set forward, or wrong when the machine starts, must not delete memories. Memories that have expired by the
//! clock are hidden, but archived or deleted only once the time has certainly passed. The uptime since the last reading has
//! certainly passed; the time of the clock counts once the clock has not gone back for a day of uptime.

use memod_base::types::MachineUptime;
use memod_database::DatabaseError;
use serde::{Deserialize, Serialize};

use crate::access::row_access::row_handle;
use crate::settings::meta_rows::MetaRows;

/// Difference between clock and uptime that is tolerated, ms, because clocks are adjusted in small steps all the time.
const SLACK_MS: i64 = 60_000;

/// Uptime after which a clock that was not set back counts as correct, ms.
const TRUST_MS: i64 = 86_400_000;

/// The key in `meta` of the state of the wall clock.
const CLOCK_KEY: &str = "time";

row_handle! {
    /// The stored readings of the wall clock, and the time that has certainly passed.
    pub(crate) struct WallClockRows { meta: MetaRows }
}

/// The state of the wall clock at the last reading; times are unix ms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WallClockState {
    /// The time that has certainly come.
    passed: i64,
    /// The time of the clock.
    clock: i64,
    /// Identity of the machine's start.
    boot: String,
    /// Uptime of the machine, ms.
    uptime: i64,
    /// The time of the clock since when the clock has not gone back.
    claimed: i64,
    /// Uptime since `claimed`, ms.
    claimed_for: i64,
}

impl WallClockState {
    /// Returns the state at the first reading; `passed` is a time that has certainly come.
    fn new(passed: i64, clock: i64, uptime: &MachineUptime) -> Self {
        let (boot, uptime) = (uptime.boot.clone(), uptime.ms);
        Self { passed: passed.min(clock), clock, boot, uptime, claimed: clock, claimed_for: 0 }
    }

    /// Returns the state after another reading of the clock.
    fn advance_to(mut self, clock: i64, uptime: &MachineUptime) -> Self {
        let running_ms = if self.boot == uptime.boot { (uptime.ms - self.uptime).max(0) } else { 0 };
        let was_ahead = self.clock - self.passed > SLACK_MS;
        self.passed += running_ms;
        self.claimed_for += running_ms;
        let is_back = clock < self.clock + running_ms - SLACK_MS;
        let is_trusted = !is_back && was_ahead && self.claimed_for >= TRUST_MS;
        if is_trusted {
            self.passed = self.passed.max(self.claimed + self.claimed_for);
        }
        let is_ahead = clock - self.passed > SLACK_MS;
        if !is_ahead {
            self.passed = clock;
        }
        if is_back || is_trusted || !was_ahead {
            (self.claimed, self.claimed_for) = (clock, 0);
        }
        (self.clock, self.boot, self.uptime) = (clock, uptime.boot.clone(), uptime.ms);
        self
    }
}

impl WallClockRows<'_> {
    /// Reads the clock, stores its state, and returns the time that has certainly come, unix ms.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn advance_clock_state(&self, uptime: &MachineUptime) -> Result<i64, DatabaseError> {
        let now = self.compute_clock_state(uptime)?;
        let json = serde_json::to_string(&now).expect("plain strings and numbers serialize");
        self.meta().set_meta(CLOCK_KEY, &json)?;
        Ok(now.passed)
    }

    /// Returns whether a memory that is not archived has certainly expired.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn has_expired_memory(&self, uptime: &MachineUptime) -> Result<bool, DatabaseError> {
        let passed = self.compute_clock_state(uptime)?.passed;
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM memory WHERE archived_at IS NULL AND expires_at <= ?1)",
            )?
            .query_row([passed], |row| row.get(0))
        })
    }

    /// Copies the state of the clock from another database.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn copy_clock_state(&self, other: &Self) -> Result<(), DatabaseError> {
        match other.meta().read_meta(CLOCK_KEY)? {
            Some(time) => self.meta().set_meta(CLOCK_KEY, &time),
            None => {
                self.access.run(|conn| conn.execute("DELETE FROM meta WHERE key = ?1", [CLOCK_KEY]).map(drop))
            }
        }
    }

    /// Returns the state of the clock now, which is not stored.
    fn compute_clock_state(&self, uptime: &MachineUptime) -> Result<WallClockState, DatabaseError> {
        let known = self
            .meta()
            .read_meta(CLOCK_KEY)?
            .and_then(|json| serde_json::from_str::<WallClockState>(&json).ok());
        Ok(match known {
            Some(known) => known.advance_to(self.access.now_ms(), uptime),
            // An older schema has no state; only its latest write is known.
            None => WallClockState::new(
                self.last_written()?.unwrap_or(self.access.now_ms()),
                self.access.now_ms(),
                uptime,
            ),
        })
    }

    /// Returns the time of the last change of any memory, unix ms.
    fn last_written(&self) -> Result<Option<i64>, DatabaseError> {
        self.access.run(|conn| conn.query_row("SELECT max(updated) FROM memory", [], |row| row.get(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    const YEAR: i64 = 8_760 * HOUR;

    /// Processes readings `(boot, hours of uptime, hours on the clock)`; returns the hours that have passed.
    fn check(looks: &[(&str, i64, i64)], expected: &[i64]) {
        let uptime = |boot: &str, hours| MachineUptime { boot: boot.to_owned(), ms: hours * HOUR };
        let mut time: Option<WallClockState> = None;
        let passed: Vec<i64> = looks
            .iter()
            .map(|&(boot, up, clock)| {
                let next = match time.take() {
                    Some(time) => time.advance_to(clock * HOUR, &uptime(boot, up)),
                    None => WallClockState::new(clock * HOUR, clock * HOUR, &uptime(boot, up)),
                };
                time.insert(next).passed / HOUR
            })
            .collect();
        assert_eq!(passed, expected, "{looks:?}");
    }

    #[test]
    fn only_time_that_passed_counts() {
        let year = YEAR / HOUR;
        // A clock that is right.
        check(&[("a", 0, 100), ("a", 1, 101), ("a", 50, 150)], &[100, 101, 150]);
        // One that is a year ahead for two hours.
        check(
            &[("a", 0, 100), ("a", 1, 101 + year), ("a", 3, 103 + year), ("a", 4, 104)],
            &[100, 101, 103, 104],
        );
        // One that is ahead after a start, and for longer than a day.
        check(
            &[("a", 0, 100), ("b", 0, 100 + year), ("b", 23, 123 + year), ("b", 25, 125 + year)],
            &[100, 100, 123, 125 + year],
        );
        // A clock that is set back counts from there.
        check(&[("a", 0, 100), ("a", 1, 51), ("a", 2, 52)], &[100, 51, 52]);
        // A machine that is off at night is believed after a day of running.
        check(
            &[
                ("a", 0, 0),
                ("a", 8, 8),
                ("b", 0, 24),
                ("b", 8, 32),
                ("c", 0, 48),
                ("c", 8, 56),
                ("d", 0, 72),
                ("d", 8, 80),
            ],
            &[0, 8, 8, 16, 16, 24, 24, 48],
        );
    }
}
