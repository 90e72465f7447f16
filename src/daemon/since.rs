//! Which moment is meant by a date or an age?

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

/// Longest number in an age: more digits look like the beginning of an object id.
const MOST_DIGITS: usize = 4;

/// Reads RFC 3339 (`2026-11-01T12:00:00Z`), a date or a date and time of this machine's zone (`2026-11-01`,
/// `2026-11-01 12:00`), or an age (`3d`, `2h30m`, `2w`); returns unix seconds.
pub(super) fn moment(text: &str, now: &Zoned) -> Option<i64> {
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp.as_second());
    }
    let local = |at: DateTime| at.to_zoned(now.time_zone().clone()).ok().map(|at| at.timestamp().as_second());
    if text.contains('-') && text.len() >= "2026-11-01".len() {
        let at = text.parse::<DateTime>().ok();
        return at.or_else(|| text.parse::<Date>().ok().map(Date::into)).and_then(local);
    }
    if !is_age(text) {
        return None;
    }
    let span: Span = text.parse().ok()?;
    // A day is a day of the calendar, whatever the clocks did in it.
    now.checked_sub(span).ok().map(|at| at.timestamp().as_second())
}

/// Returns this moment, in the zone of this machine.
pub(super) fn now() -> Zoned {
    Timestamp::now().to_zoned(TimeZone::try_system().unwrap_or(TimeZone::UTC))
}

/// Returns whether it is numbers with units, one after the other; `P…` and signs, which spans may have too, are not.
fn is_age(text: &str) -> bool {
    let longest = text.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase())
        && longest <= MOST_DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let now: Zoned = "2026-11-21T12:00:00+01:00[Europe/Berlin]".parse().unwrap();
        let check = |text: &str, expected: Option<&str>| {
            let expected = expected.map(|at| at.parse::<Timestamp>().unwrap().as_second());
            assert_eq!(moment(text, &now), expected, "{text}");
        };
        check("2026-11-01T10:00:00Z", Some("2026-11-01T10:00:00Z"));
        check("2026-11-01T10:00:00+02:00", Some("2026-11-01T08:00:00Z"));
        check("2026-11-01", Some("2026-10-31T23:00:00Z"));
        check("2026-11-01 10:00", Some("2026-11-01T09:00:00Z"));
        check("3d", Some("2026-11-18T11:00:00Z"));
        check("2h30m", Some("2026-11-21T08:30:00Z"));
        check("2w", Some("2026-11-07T11:00:00Z"));
        check("40d", Some("2026-10-12T10:00:00Z")); // in summer time
        for text in
            ["", "d", "12345d", "deadbeef", "1e4", "-3d", "main", "v1.0", "2026-13-01", "P3D", "99999999d"]
        {
            check(text, None);
        }
    }
}
