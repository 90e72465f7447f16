//! Parses and formats points in time.
//!
//! Typed times have the same forms everywhere: RFC 3339 with its zone (`2026-11-01T12:00:00Z`), a date with or without a
//! time in the zone of this machine, as in git (`2026-11-01`, `2026/11/01`, `2026-11-01 12:00`), a span from now (`3d`,
//! `2h30m`, `2w`, `3 days ago`, `two weeks ago`, `the last 3 days`), or the name of a day or of a period (`yesterday`, `friday`,
//! `last week`, `this month`). The word `since` may come first. Times are shown in UTC.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::{Span, Timestamp, Zoned};

/// Largest length of a span that has only hex digits, such as `1234d`; a longer text is more likely a git object id.
const MAX_HEX_SPAN_LEN: usize = 5;

/// The direction of a span from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeDirection {
    /// Into the past: `3d` is three days ago.
    Back,
    /// Into the future: `3d` is three days ahead.
    Ahead,
}

/// Parses a typed time into Unix milliseconds; `None` for a text that is not a time. `now` has the zone of this machine.
pub fn parse_moment(text: &str, now: &Zoned, way: TimeDirection) -> Option<i64> {
    let text = without_since(text.trim(), way);
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp.as_millisecond());
    }
    let dashed = slashes_to_dashes(text);
    let text = dashed.as_deref().unwrap_or(text);
    let zoned = if text.contains('-') && text.len() >= "2026-11-01".len() {
        let at = text.parse::<DateTime>().ok();
        at.or_else(|| text.parse::<Date>().ok().map(Date::into))?.to_zoned(now.time_zone().clone())
    } else if let Some(day) = parse_day_words(&text.to_ascii_lowercase(), now, way) {
        day.and_then(|day| day.start_of_day())
    } else if let Some(span) = parse_span(text, way) {
        // A day is a calendar day, even when clocks change.
        match way {
            TimeDirection::Back => now.checked_sub(span),
            TimeDirection::Ahead => now.checked_add(span),
        }
    } else {
        return None;
    };
    Some(zoned.ok()?.timestamp().as_millisecond())
}

/// Returns a time without the word before it that says that a period begins there.
fn without_since(text: &str, way: TimeDirection) -> &str {
    let is_since =
        |word: &str| ["since", "after", "from"].iter().any(|since| word.eq_ignore_ascii_case(since));
    match text.split_once(' ') {
        Some((word, rest)) if way == TimeDirection::Back && is_since(word) => rest.trim_start(),
        _ => text,
    }
}

/// Returns a date such as `2026/11/01` with dashes; `None` for other texts.
fn slashes_to_dashes(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('/').collect();
    let is_date = parts.len() == 3 && parts[0].len() == 4 && parts[1].len() == 2 && parts[2].len() >= 2;
    let is_numeric = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    (is_date && parts.iter().all(|part| is_numeric(part))).then(|| text.replace('/', "-"))
}

/// Returns the nearest time in this direction that words such as `yesterday`, `friday` or `last week` name; `None` for other words.
fn parse_day_words(text: &str, now: &Zoned, way: TimeDirection) -> Option<Result<Zoned, jiff::Error>> {
    const WEEK: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let text = text.strip_prefix("the ").unwrap_or(text);
    if let Some(period) = text.strip_prefix("this ").filter(|_| way == TimeDirection::Back) {
        return start_of_period(period, now);
    }
    let (relative, direction) = match way {
        TimeDirection::Back => {
            (["last ", "past "].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text), -1)
        }
        TimeDirection::Ahead => (text.strip_prefix("next ").unwrap_or(text), 1),
    };
    let is_relative = relative.len() < text.len();
    Some(match relative {
        "today" if !is_relative => Ok(now.clone()),
        "yesterday" if way == TimeDirection::Back && !is_relative => now.yesterday(),
        "tomorrow" if way == TimeDirection::Ahead && !is_relative => now.tomorrow(),
        "week" if is_relative => now.checked_add(Span::new().weeks(direction)),
        "month" if is_relative => now.checked_add(Span::new().months(direction)),
        "year" if is_relative => now.checked_add(Span::new().years(direction)),
        name => {
            let nth = WEEK.iter().position(|day| name.len() >= 3 && day.starts_with(name))?;
            let day = Weekday::from_monday_zero_offset(nth as i8).ok()?;
            now.nth_weekday(direction, day)
        }
    })
}

/// Returns the start of the week, month or year of `now`; `None` for other words.
fn start_of_period(period: &str, now: &Zoned) -> Option<Result<Zoned, jiff::Error>> {
    let today = now.date();
    let start = match period {
        "week" => today.checked_sub(Span::new().days(today.weekday().to_monday_zero_offset())),
        "month" => Ok(today.first_of_month()),
        "year" => Ok(today.first_of_year()),
        _ => return None,
    };
    Some(start.and_then(|date| date.to_zoned(now.time_zone().clone())))
}

/// Parses a span such as `3d` or `2h30m`, and in the direction [`TimeDirection::Back`] also `3 days ago`, `an hour ago` and
/// `the last 3 days`.
fn parse_span(text: &str, way: TimeDirection) -> Option<Span> {
    if way == TimeDirection::Ahead || !text.contains(' ') {
        return is_span(text).then(|| text.parse().ok())?;
    }
    let text = text.to_ascii_lowercase();
    let text = text.strip_suffix(" ago").unwrap_or(&text);
    let text = text.strip_prefix("the ").unwrap_or(text);
    let text = ["last ", "past "].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    let text = text.replacen("a couple of ", "2", 1);
    let text = match text.split_once(' ').and_then(|(word, unit)| Some((parse_number_word(word)?, unit))) {
        Some((number, unit)) => format!("{number}{unit}"),
        None => text.replace(' ', ""),
    };
    is_span(&text).then(|| text.parse().ok())?
}

/// Returns the number that a word means, such as `an` or `two`; `None` for other words.
fn parse_number_word(word: &str) -> Option<usize> {
    const NUMBERS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let is_one = ["a", "an"].contains(&word);
    if is_one { Some(1) } else { NUMBERS.iter().position(|number| *number == word).map(|at| at + 1) }
}

/// Returns whether the text is a sequence of numbers with units. ISO 8601 spans (`P3D`), signs and git object ids are not.
fn is_span(text: &str) -> bool {
    let is_like_an_id = text.len() > MAX_HEX_SPAN_LEN && text.chars().all(|c| c.is_ascii_hexdigit());
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase())
        && !is_like_an_id
}

/// Formats Unix milliseconds for display: RFC 3339, UTC, with milliseconds.
pub fn format_rfc3339(unix_ms: i64) -> String {
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
            let both = parse_moment(text, &now, TimeDirection::Back).zip(parse_moment(
                text,
                &now,
                TimeDirection::Ahead,
            ));
            assert_eq!(both.map(|(back, ahead)| [back, ahead]), expected, "{text}");
        };
        let at = |time| Some([time, time]);
        for (text, way) in [
            ("tomorrow", TimeDirection::Back),
            ("yesterday", TimeDirection::Ahead),
            ("3 days ago", TimeDirection::Ahead),
            ("since friday", TimeDirection::Ahead),
            ("this week", TimeDirection::Ahead),
        ] {
            assert_eq!(parse_moment(text, &now, way), None, "{text}");
        }
        for text in [
            "week",
            "last",
            "last today",
            "fr",
            "fridays",
            "ago",
            "since",
            "since main",
            "a",
            "the",
            "1/2/3",
            "src/a/b",
        ] {
            assert_eq!(parse_moment(text, &now, TimeDirection::Back), None, "{text}");
        }
        let ahead = parse_moment("next friday", &now, TimeDirection::Ahead).map(format_rfc3339);
        assert_eq!(ahead.as_deref(), Some("2026-11-26T23:00:00.000Z"));
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

    #[test]
    fn moments_in_words() {
        let now: Zoned = "2026-11-21T12:00:00+01:00[Europe/Berlin]".parse().unwrap(); // a Saturday
        let back = |text: &str, expected: &str| {
            let found = parse_moment(text, &now, TimeDirection::Back).map(format_rfc3339);
            assert_eq!(found.as_deref(), Some(expected), "{text}");
        };
        back("today", "2026-11-20T23:00:00.000Z"); // now is a Saturday
        back("yesterday", "2026-11-19T23:00:00.000Z");
        back("Friday", "2026-11-19T23:00:00.000Z");
        back("sat", "2026-11-13T23:00:00.000Z");
        back("last monday", "2026-11-15T23:00:00.000Z");
        back("last week", "2026-11-13T23:00:00.000Z");
        back("3 days ago", "2026-11-18T11:00:00.000Z");
        back("2 weeks ago", "2026-11-07T11:00:00.000Z");
        back("a week ago", "2026-11-14T11:00:00.000Z");
        back("an hour ago", "2026-11-21T10:00:00.000Z");
        back("two weeks ago", "2026-11-07T11:00:00.000Z");
        back("a couple of days ago", "2026-11-19T11:00:00.000Z");
        back("the past three days", "2026-11-18T11:00:00.000Z");
        back("3 days", "2026-11-18T11:00:00.000Z");
        back("the last 3 days", "2026-11-18T11:00:00.000Z");
        back("past week", "2026-11-13T23:00:00.000Z");
        back("since friday", "2026-11-19T23:00:00.000Z");
        back("Since  3d", "2026-11-18T11:00:00.000Z");
        back("after 2026-11-01", "2026-10-31T23:00:00.000Z");
        back("this week", "2026-11-15T23:00:00.000Z");
        back("this month", "2026-10-31T23:00:00.000Z");
        back("2026/11/01", "2026-10-31T23:00:00.000Z");
    }
}
