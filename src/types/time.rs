//! Parses and formats points in time.
//!
//! Typed times have the same forms everywhere: RFC 3339 with its zone (`2026-11-01T12:00:00Z`), a date with or without a
//! time in the zone of this machine, as in git (`2026-11-01`, `2026-11-01 12:00`), or a span from now (`3d`, `2h30m`,
//! `2w`). Times are shown in UTC.

use jiff::civil::{Date, DateTime};
use jiff::{Span, Timestamp, Zoned};

/// Longest span that could be a prefix of an object id: `1234d`.
const MOST_LIKE_AN_ID: usize = 5;

/// The direction of a span from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `3d` is three days ago.
    Back,
    /// `3d` is three days ahead.
    Ahead,
}

/// Parses a typed time to unix ms. `now` has the zone of this machine.
pub fn moment(text: &str, now: &Zoned, way: Way) -> Option<i64> {
    let text = text.trim();
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp.as_millisecond());
    }
    let zoned = if text.contains('-') && text.len() >= "2026-11-01".len() {
        let at = text.parse::<DateTime>().ok();
        at.or_else(|| text.parse::<Date>().ok().map(Date::into))?.to_zoned(now.time_zone().clone())
    } else if is_span(text) {
        let span: Span = text.parse().ok()?;
        // A day is a calendar day, even when clocks change.
        match way {
            Way::Back => now.checked_sub(span),
            Way::Ahead => now.checked_add(span),
        }
    } else {
        return None;
    };
    Some(zoned.ok()?.timestamp().as_millisecond())
}

/// Returns whether the text is a sequence of numbers with units, without `P…`, signs, and anything like an object id.
fn is_span(text: &str) -> bool {
    let is_like_an_id = text.len() > MOST_LIKE_AN_ID && text.chars().all(|c| c.is_ascii_hexdigit());
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase())
        && !is_like_an_id
}

/// Formats a time for display: RFC 3339, UTC, with milliseconds.
pub fn rfc3339(unix_ms: i64) -> String {
    let time = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let now: Zoned = "2026-11-21T12:00:00+01:00[Europe/Berlin]".parse().unwrap();
        let check = |text: &str, expected: Option<[&str; 2]>| {
            let unix_ms = |at: &str| at.parse::<Timestamp>().unwrap().as_millisecond();
            let expected = expected.map(|both| both.map(unix_ms));
            let both = moment(text, &now, Way::Back).zip(moment(text, &now, Way::Ahead));
            assert_eq!(both.map(|(back, ahead)| [back, ahead]), expected, "{text}");
        };
        let at = |time| Some([time, time]);
        check("2026-11-01T10:00:00Z", at("2026-11-01T10:00:00Z"));
        check("2026-11-01T10:00:00+02:00", at("2026-11-01T08:00:00Z"));
        check(" 2026-11-01 ", at("2026-10-31T23:00:00Z"));
        check("2026-11-01 10:00", at("2026-11-01T09:00:00Z"));
        check("3d", Some(["2026-11-18T11:00:00Z", "2026-11-24T11:00:00Z"]));
        check("2h30m", Some(["2026-11-21T08:30:00Z", "2026-11-21T13:30:00Z"]));
        check("2w", Some(["2026-11-07T11:00:00Z", "2026-12-05T11:00:00Z"]));
        check("86400s", Some(["2026-11-20T11:00:00Z", "2026-11-22T11:00:00Z"]));
        check("10ms", Some(["2026-11-21T10:59:59.990Z", "2026-11-21T11:00:00.010Z"]));
        check("1mo", Some(["2026-10-21T10:00:00Z", "2026-12-21T11:00:00Z"])); // in summer time
        check("0s", at("2026-11-21T11:00:00Z"));
        for text in [
            "",
            "3",
            "d",
            "12345d",
            "deadbeef",
            "1e4",
            "-3d",
            "main",
            "v1.0",
            "2026-13-01",
            "P3D",
            "99999999d",
            "99999999999999999999s",
            "9999y",
            "soon",
        ] {
            check(text, None);
        }
    }
}
