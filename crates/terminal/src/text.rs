//! Escapes and formats text for people.
//!
//! Names and snippets come from a repository that may be hostile, so no escape sequence in them may reach a terminal.

use std::ops::Range;

use anstyle::{AnsiColor, Style};
use indicatif::HumanCount;
use jiff::Timestamp;
pub use memod_base::types::escape_for_display;
use memod_base::types::noun_form;
use memod_proto::CommitInfo;
use memod_proto::memory::Tier;

/// Digits of a commit id that are shown to people; enough for a million commits.
const SHORT_OID_DIGITS: usize = 12;

/// Styles of the parts of a result; all are plain without colour.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextStyles {
    /// A path.
    pub path: Style,
    /// A line number.
    pub line: Style,
    /// A name or a heading path.
    pub title: Style,
    /// A word of the query.
    pub matched: Style,
    /// A good state.
    pub good: Style,
    /// A state between good and bad.
    pub fair: Style,
    /// A bad state.
    pub bad: Style,
    /// Whether there is colour.
    pub is_coloured: bool,
}

impl TextStyles {
    /// Returns the styles for a terminal with colour.
    pub fn coloured() -> Self {
        Self {
            path: AnsiColor::Magenta.on_default(),
            line: AnsiColor::Green.on_default(),
            title: AnsiColor::Cyan.on_default(),
            matched: AnsiColor::Red.on_default().bold(),
            good: AnsiColor::Green.on_default(),
            fair: AnsiColor::Yellow.on_default(),
            bad: AnsiColor::Red.on_default().bold(),
            is_coloured: true,
        }
    }

    /// Returns the styles for a terminal with or without colour.
    pub fn with_colour(is_coloured: bool) -> Self {
        if is_coloured { Self::coloured() } else { Self::default() }
    }

    /// Returns the style of a tier: bad for short, fair for mid and good for long.
    pub fn tier_style(&self, tier: Tier) -> Style {
        match tier {
            Tier::Short => self.bad,
            Tier::Mid => self.fair,
            Tier::Long => self.good,
        }
    }

    /// Returns a priority, 1 to 10, as a painted bar of ten characters.
    pub fn priority_bar(&self, priority: u8) -> String {
        let style = match priority {
            8.. => self.good,
            5..=7 => self.fair,
            _ => self.bad,
        };
        let full = usize::from(priority.min(10));
        paint(style, &format!("{}{}", "█".repeat(full), "░".repeat(10 - full)))
    }
}

/// Returns `text` in a style.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Returns `text` as one word of a POSIX shell.
pub fn shell_word(text: &str) -> String {
    if is_plain_word(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Returns `text` quoted as a person would type it: in double quotes, unless a shell would expand something in them.
pub fn quote_text(text: &str) -> String {
    if text.contains(['"', '$', '`', '\\', '!']) { shell_word(text) } else { format!("\"{text}\"") }
}

/// Returns whether `text` needs no quoting in any shell.
pub fn is_plain_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "/._-+,:@%".contains(c))
}

/// Escapes each line of `text` as [`escape_for_display`] does, and keeps the line breaks.
pub fn escape_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix('\n').unwrap_or(line);
        out.push_str(&escape_for_display(body.strip_suffix('\r').unwrap_or(body)));
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

/// Returns a commit in one line: short id, day, author, subject.
pub fn format_commit_line(commit: &CommitInfo, subject: &str, styles: TextStyles) -> String {
    let oid: String = commit.oid.chars().take(SHORT_OID_DIGITS).collect();
    let day: String = commit.date.chars().take_while(|c| *c != 'T').collect();
    let name = commit.author.split(" <").next().unwrap_or_default();
    let (oid, subject) =
        (paint(styles.path, &escape_for_display(&oid)), paint(styles.title, &escape_for_display(subject)));
    format!("{oid} {} {}  {subject}", paint(styles.line, &escape_for_display(&day)), escape_for_display(name))
}

/// Returns the words of a query to highlight, in lower case and longest first, without operators and single characters.
pub fn query_terms(query: &str) -> Vec<String> {
    let words = query.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut terms: Vec<String> = words
        .filter(|word| word.chars().nth(1).is_some() && !matches!(*word, "AND" | "OR" | "NOT"))
        .map(str::to_lowercase)
        .collect();
    // Longer first, so that the longest match at a place wins.
    terms.sort_by_key(|term| std::cmp::Reverse(term.len()));
    terms.dedup();
    terms
}

/// Returns the byte spans of `line` that match a term, ignoring case; ascending and disjoint.
pub fn find_matches(line: &str, terms: &[String]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let found = terms.iter().find_map(|term| prefix_len(&line[at..], term));
        match found {
            Some(len) => {
                spans.push(at..at + len);
                at += len;
            }
            None => at += line[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    spans
}

/// Returns the number of bytes at the start of `text` that match `term`, which is in lower case; `None` if the start does not
/// match.
fn prefix_len(text: &str, term: &str) -> Option<usize> {
    let mut wanted = term.chars();
    let mut len = 0;
    let mut rest = text.chars();
    while !wanted.as_str().is_empty() {
        let c = rest.next()?;
        len += c.len_utf8();
        if !c.to_lowercase().all(|lower| wanted.next() == Some(lower)) {
            return None;
        }
    }
    Some(len)
}

/// Returns a line of a snippet, escaped, with the words of the query highlighted.
pub fn highlight_terms(line: &str, terms: &[String], style: Style) -> String {
    let mut out = String::with_capacity(line.len());
    let mut done = 0;
    for span in find_matches(line, terms) {
        out.push_str(&escape_for_display(&line[done..span.start]));
        out.push_str(&paint(style, &escape_for_display(&line[span.clone()])));
        done = span.end;
    }
    out.push_str(&escape_for_display(&line[done..]));
    out
}

/// Returns the message for a result from an index that lacks recent changes.
pub fn not_up_to_date_message(reason: Option<&str>) -> String {
    format!("not up to date: {}", reason.unwrap_or("the index is behind"))
}

/// Returns a count with its noun: `1 file`, `1,204 files`.
pub fn format_count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", HumanCount(number), noun_form(number, one, many))
}

/// Returns a duration in its two largest units: `850 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`.
pub fn format_duration(ms: u64) -> String {
    let s = ms / 1_000;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{s}.{} s", ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", s / 60, s % 60),
        3_600_000..86_400_000 => format!("{} h {} min", s / 3_600, s % 3_600 / 60),
        _ => format!("{} d {} h", s / 86_400, s % 86_400 / 3_600),
    }
}

/// Returns the age of an RFC 3339 time: `just now`, `5m ago`, `2h ago`, `3d ago`, `2y ago`.
pub fn format_age(time: &str, now_ms: i64) -> String {
    let Ok(then) = time.parse::<Timestamp>() else { return escape_for_display(time) };
    let min = now_ms.saturating_sub(then.as_millisecond()) / 60_000;
    match min {
        ..1 => "just now".to_owned(),
        1..60 => format!("{min}m ago"),
        60..1_440 => format!("{}h ago", min / 60),
        1_440..525_600 => format!("{}d ago", min / 1_440),
        _ => format!("{}y ago", min / 525_600),
    }
}

/// Returns HEAD in short: the name of a branch, or the first twelve digits of a commit id.
pub fn shorten_head(head: &str) -> &str {
    let head = head.trim().trim_start_matches("ref: ");
    match head.strip_prefix("refs/heads/") {
        Some(branch) => branch,
        None if head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit()) => &head[..12],
        None => head,
    }
}

/// Returns a number of bytes in binary units: `512 B`, `1.5 MiB`.
pub fn format_bytes(number: u64) -> String {
    let (mut whole, mut tenths, mut unit) = (number, 0, 0);
    while whole >= 1_024 && unit < 4 {
        (whole, tenths, unit) = (whole / 1_024, whole % 1_024 * 10 / 1_024, unit + 1);
    }
    match unit {
        0 => format!("{whole} B"),
        unit => format!("{whole}.{tenths} {}", ["B", "KiB", "MiB", "GiB", "TiB"][unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_short() {
        let cases = [
            ("ref: refs/heads/topic/a\n", "topic/a"),
            ("refs/heads/main", "main"),
            ("main", "main"),
            ("25b2d2209c25b2d2209c25b2d2209c25b2d2209c", "25b2d2209c25"),
        ];
        for (head, expected) in cases {
            assert_eq!(shorten_head(head), expected);
        }
    }

    #[test]
    fn a_terminal_obeys_nothing() {
        let cases = [
            ("plain é 漢 👩‍👩‍👧", "plain é 漢 👩‍👩‍👧"),
            ("a\tb", "a\tb"),
            ("a\nb\r", "a\\nb\\r"),
            ("\x1b[2Jgone", "\\u{1b}[2Jgone"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("x\u{202e}y\u{2066}z", "x\\u{202e}y\\u{2066}z"),
            ("\u{e0041}", "\\u{e0041}"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape_for_display(text), expected);
        }
        assert_eq!(escape_lines("a\r\n\x07b\nc"), "a\n\\u{7}b\nc");
    }

    #[test]
    fn query_words_are_marked() {
        let cases = [
            ("login", "fn Login(relogin)", "fn [Login](re[login])"),
            ("user OR name", "username or", "[user][name] or"),
            ("log login", "login log", "[login] [log]"),
            ("\"parse config\"*", "Parse, CONFIG", "[Parse], [CONFIG]"),
            ("a b", "a b", "a b"),
            ("straße", "STRASSE Straße", "STRASSE [Straße]"),
            ("İx", "İx ix", "[İx] ix"),
            ("esc", "\x1besc", "\\u{1b}[esc]"),
            ("", "text", "text"),
        ];
        for (query, line, expected) in cases {
            let terms = query_terms(query);
            let mut shown = String::new();
            let mut done = 0;
            for span in find_matches(line, &terms) {
                shown += &format!("{}[{}]", escape_for_display(&line[done..span.start]), &line[span.clone()]);
                done = span.end;
            }
            shown += &escape_for_display(&line[done..]);
            assert_eq!(shown, expected, "{query}");
            assert_eq!(
                highlight_terms(line, &terms, Style::new()),
                escape_for_display(line),
                "plain style changes nothing"
            );
        }
    }

    #[test]
    fn ages() {
        let now_ms = 1_795_269_170_000;
        let cases = [
            ("2026-11-21T13:52:51.000Z", "just now"),
            ("2026-11-21T13:51:00.000Z", "1m ago"),
            ("2026-11-21T11:52:50.000Z", "2h ago"),
            ("2026-11-18T13:52:50.000Z", "3d ago"),
            ("2024-01-01T00:00:00.000Z", "2y ago"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
        ];
        for (time, expected) in cases {
            assert_eq!(format_age(time, now_ms), expected);
        }
    }

    #[test]
    fn a_priority_is_a_bar() {
        let bars = [1, 5, 10].map(|priority| TextStyles::default().priority_bar(priority));
        assert_eq!(bars, ["█░░░░░░░░░", "█████░░░░░", "██████████"]);
        assert_eq!(TextStyles::coloured().priority_bar(8), "\u{1b}[32m████████░░\u{1b}[0m");
    }

    #[test]
    fn numbers_are_readable() {
        let counts = [(0, "0 files"), (1, "1 file"), (999, "999 files"), (1_204_005, "1,204,005 files")];
        for (number, expected) in counts {
            assert_eq!(format_count(number, "file", "files"), expected);
        }
        let durations = [
            (0, "0 ms"),
            (999, "999 ms"),
            (3_290, "3.2 s"),
            (250_000, "4 min 10 s"),
            (7_500_000, "2 h 5 min"),
            (273_600_000, "3 d 4 h"),
        ];
        for (ms, expected) in durations {
            assert_eq!(format_duration(ms), expected);
        }
        let sizes = [(0, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (43_000_000, "41.0 MiB")];
        for (number, expected) in sizes {
            assert_eq!(format_bytes(number), expected);
        }
    }
}
