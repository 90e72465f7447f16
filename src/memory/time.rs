//! How long is something remembered, and when is `3d` or `2026-11-01`?
//!
//! Times are unix milliseconds; what is typed without a zone is UTC, as all that is shown.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

use super::{Refused, quoted};
use crate::proto::memory::Tier;

const HOUR_MS: i64 = 3_600_000;
/// The latest a memory may end, from now: what is to stay longer has no end.
const MOST_MS: i64 = 366 * 24 * HOUR_MS;

const FORMS: &str = "write a duration (3d, 2h30m), a date (2026-11-01) or a time (2026-11-01T12:00:00Z)";

/// Returns how long a tier lasts, ms; none: for good.
pub fn lasts_ms(tier: Tier) -> Option<i64> {
    match tier {
        Tier::Short => Some(6 * HOUR_MS),
        Tier::Mid => Some(7 * 24 * HOUR_MS),
        Tier::Long => None,
    }
}

/// Returns when a memory ends that is told to by a duration, a date or a time.
///
/// # Errors
/// When it is none of these, over by now, or over a year ahead.
pub fn expiry(typed: &str, now_ms: i64) -> Result<i64, Refused> {
    let at = parse("ttl", typed, now_ms, 1)?;
    if at <= now_ms {
        return Err(Refused::new("ttl", format!("{} is over already", quoted(typed))));
    }
    if at - now_ms > MOST_MS {
        let why = format!("{} is more than a year ahead", quoted(typed));
        return Err(Refused::new("ttl", why).hint("leave it out: a memory of tier long stays"));
    }
    Ok(at)
}

/// Returns the moment that a date, a time or a duration back from now means.
///
/// # Errors
/// When it is none of these.
pub fn before(typed: &str, now_ms: i64) -> Result<i64, Refused> {
    parse("before", typed, now_ms, -1)
}

fn parse(field: &'static str, typed: &str, now_ms: i64, direction: i64) -> Result<i64, Refused> {
    let text = typed.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_millisecond());
    }
    if let Ok(date) = text.parse::<Date>()
        && text.len() == "2026-11-01".len()
        && let Ok(day) = date.to_zoned(TimeZone::UTC)
    {
        return Ok(day.timestamp().as_millisecond());
    }
    let duration = text.parse::<Span>().ok().and_then(|span| millis(&span));
    let duration = duration.filter(|ms| *ms > 0);
    let Some(duration) = duration else {
        return Err(Refused::new(field, format!("{} is no time", quoted(typed))).hint(FORMS));
    };
    let at = duration.checked_mul(direction).and_then(|ms| now_ms.checked_add(ms));
    at.ok_or_else(|| Refused::new(field, format!("{} is too long", quoted(typed))).hint(FORMS))
}

/// A day has 24 hours here; months and years have no length.
fn millis(span: &Span) -> Option<i64> {
    let duration: SignedDuration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    i64::try_from(duration.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21T11:00:00Z.
    const NOW: i64 = 1_795_258_800_000;

    #[test]
    fn ends_are_read() {
        let cases = [
            ("3d", NOW + 72 * HOUR_MS),
            ("2h30m", NOW + HOUR_MS * 5 / 2),
            (" 1w ", NOW + 168 * HOUR_MS),
            ("90s", NOW + 90_000),
            ("2026-11-22", NOW + 13 * HOUR_MS),
            ("2026-11-21T12:00:00Z", NOW + HOUR_MS),
            ("2026-11-21T14:00:00+02:00", NOW + HOUR_MS),
        ];
        for (typed, expected) in cases {
            assert_eq!(expiry(typed, NOW), Ok(expected), "{typed}");
        }
        let refused = [
            ("", "ttl: \"\" is no time"),
            ("3", "ttl: \"3\" is no time"),
            ("soon", "ttl: \"soon\" is no time"),
            ("-3d", "ttl: \"-3d\" is no time"),
            ("0s", "ttl: \"0s\" is no time"),
            ("1mo", "ttl: \"1mo\" is no time"),
            ("2026-13-01", "ttl: \"2026-13-01\" is no time"),
            ("2026-11-20", "ttl: \"2026-11-20\" is over already"),
            ("400d", "ttl: \"400d\" is more than a year ahead"),
            ("99999999999999999999d", "ttl: \"99999999999999999999d\" is no time"),
        ];
        for (typed, expected) in refused {
            assert_eq!(expiry(typed, NOW).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_duration_looks_back_too() {
        assert_eq!(before("3d", NOW), Ok(NOW - 72 * HOUR_MS));
        assert_eq!(before("2026-11-21", NOW), Ok(NOW - 11 * HOUR_MS));
        assert_eq!(before("x", NOW).unwrap_err().to_string(), "before: \"x\" is no time");
    }
}
