//! Parses points in time, ages and lifetimes.
//!
//! Times are unix milliseconds. [`parse_moment`] parses typed times.

use jiff::{Timestamp, Zoned};
use memod_base::types::{TimeDirection, parse_moment};

use super::{RefusedValue, quote_value};

const HOUR_MS: i64 = 3_600_000;
/// Maximum lifetime, ms; a memory that should last longer has no expiry.
pub(super) const MAX_LIFETIME_MS: i64 = 366 * 24 * HOUR_MS;

/// The expiry of a memory that does not expire.
const NEVER: &str = "never";

const FORMS: &str =
    "write a duration (3d, 2h30m), a day (friday, 2026-11-01) or a time (2026-11-01T12:00:00Z)";

/// Parses an expiry: a duration from now, a date, a time, or `never`. Returns unix ms; `None` for `never`.
///
/// # Errors
/// When the expiry is invalid, in the past, or more than a year ahead.
pub fn parse_expiry(typed: &str, now: &Zoned) -> Result<Option<i64>, RefusedValue> {
    if typed == NEVER {
        return Ok(None);
    }
    let at = parse_typed_time("ttl", typed, now, TimeDirection::Ahead)?;
    let now_ms = now.timestamp().as_millisecond();
    if at <= now_ms {
        return Err(RefusedValue::new("ttl", format!("{} is in the past", quote_value(typed)))
            .with_hint("give a time in the future, such as 7d, or never"));
    }
    if at - now_ms > MAX_LIFETIME_MS {
        let why = format!("{} is more than a year ahead", quote_value(typed));
        return Err(
            RefusedValue::new("ttl", why).with_hint("leave it out: a memory of tier long never expires")
        );
    }
    Ok(Some(at))
}

/// Parses a date, a time, or a duration back from now; `field` is the name of the param for errors. Returns unix ms.
///
/// # Errors
/// When it is invalid.
pub fn parse_past(field: &'static str, typed: &str, now: &Zoned) -> Result<i64, RefusedValue> {
    parse_typed_time(field, typed, now, TimeDirection::Back)
}

/// Parses the start and the end of a period, the params `since` and `until` of a request. Returns both in unix ms.
///
/// # Errors
/// When one of them is invalid.
pub fn parse_period(
    since: Option<&str>,
    until: Option<&str>,
    now: &Zoned,
) -> Result<(Option<i64>, Option<i64>), RefusedValue> {
    Ok((parse_end("since", since, now)?, parse_end("until", until, now)?))
}

/// Parses one end of a period, if it is given.
fn parse_end(field: &'static str, typed: Option<&str>, now: &Zoned) -> Result<Option<i64>, RefusedValue> {
    typed.map(|typed| parse_past(field, typed, now)).transpose()
}

/// Parses a time in RFC 3339, as memory files have it. Returns unix ms.
///
/// # Errors
/// When it is invalid.
pub fn parse_rfc3339(field: &'static str, written: &str) -> Result<i64, RefusedValue> {
    let time: Option<Timestamp> = written.trim().parse().ok();
    time.map(Timestamp::as_millisecond)
        .ok_or_else(|| not_a_time_error(field, written, "write RFC 3339: 2026-11-01T12:00:00Z"))
}

/// Parses a typed time; `way` decides whether a duration or a day is before or after now.
fn parse_typed_time(
    field: &'static str,
    typed: &str,
    now: &Zoned,
    way: TimeDirection,
) -> Result<i64, RefusedValue> {
    parse_moment(typed, now, way).ok_or_else(|| not_a_time_error(field, typed, FORMS))
}

/// Returns the error for a param whose value is not a time.
fn not_a_time_error(field: &'static str, value: &str, hint: &'static str) -> RefusedValue {
    RefusedValue::new(field, format!("{} is not a time", quote_value(value))).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21T11:00:00Z.
    const NOW_MS: i64 = 1_795_258_800_000;

    fn now() -> Zoned {
        "2026-11-21T12:00:00+01:00[Europe/Berlin]".parse().unwrap()
    }

    #[test]
    fn ends_are_read() {
        let cases = [
            ("3d", NOW_MS + 72 * HOUR_MS),
            (" 1w ", NOW_MS + 168 * HOUR_MS),
            ("2026-11-22", NOW_MS + 12 * HOUR_MS),
            ("2026-11-21T14:00:00+02:00", NOW_MS + HOUR_MS),
        ];
        for (typed, expected) in cases {
            assert_eq!(parse_expiry(typed, &now()), Ok(Some(expected)), "{typed}");
        }
        assert_eq!(parse_expiry("never", &now()), Ok(None));
        let refused = [
            ("", "ttl: \"\" is not a time"),
            ("soon", "ttl: \"soon\" is not a time"),
            ("2026-13-01", "ttl: \"2026-13-01\" is not a time"),
            ("\u{202e}3d", "ttl: \"\\u{202e}3d\" is not a time"),
            ("0s", "ttl: \"0s\" is in the past"),
            ("2026-11-21", "ttl: \"2026-11-21\" is in the past"),
            ("400d", "ttl: \"400d\" is more than a year ahead"),
        ];
        for (typed, expected) in refused {
            assert_eq!(parse_expiry(typed, &now()).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_duration_looks_back_too() {
        assert_eq!(parse_past("before", "3d", &now()), Ok(NOW_MS - 72 * HOUR_MS));
        assert_eq!(parse_past("before", "2026-11-21", &now()), Ok(NOW_MS - 12 * HOUR_MS));
        assert_eq!(parse_past("since", "x", &now()).unwrap_err().to_string(), "since: \"x\" is not a time");
    }

    #[test]
    fn a_period_may_be_open_at_both_ends() {
        let day_ms = 24 * HOUR_MS;
        assert_eq!(parse_period(None, None, &now()), Ok((None, None)));
        assert_eq!(parse_period(Some("2d"), None, &now()), Ok((Some(NOW_MS - 2 * day_ms), None)));
        let both = parse_period(Some("2d"), Some("1d"), &now());
        assert_eq!(both, Ok((Some(NOW_MS - 2 * day_ms), Some(NOW_MS - day_ms))));
        let refused = parse_period(Some("2d"), Some("soon"), &now()).unwrap_err();
        assert_eq!(refused.to_string(), "until: \"soon\" is not a time");
    }
}
