//! Is what a page shows a shortened form of what a command printed?

use regex::Regex;

/// Puts `N` for what no two runs share: process ids, durations, sizes of memory, clocks, hashes.
pub(crate) fn steady(text: &str) -> String {
    let rules = [
        (r"pid \d+", "pid N"),
        (r"\d+(\.\d+)? (ms|s|min|MiB|KiB)\b", "N"),
        (r"\bm1:[\d:]+", "m1:N"),
        (r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?", "N"),
        (r"\bmem_[0-9A-Z]{26}\b(  +(just now|\d+[mhdy] ago))?", "mem_N"),
        (r"\b[0-9a-f]{16}\b", "N"),
    ];
    rules.iter().fold(text.to_owned(), |text, (rule, with)| {
        Regex::new(rule).unwrap().replace_all(&text, *with).into_owned()
    })
}

/// Returns whether `shown` is `actual` cut short: `…` stands for any text, alone on a line for any lines.
pub(crate) fn is_cut_from(shown: &[&str], actual: &[&str]) -> bool {
    match (shown.split_first(), actual.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), _) => (0..=actual.len()).any(|n| is_cut_from(rest, &actual[n..])),
        (Some((line, shown)), Some((first, actual))) => {
            is_line_cut_from(line, first) && is_cut_from(shown, actual)
        }
        _ => false,
    }
}

fn is_line_cut_from(shown: &str, actual: &str) -> bool {
    let parts: Vec<_> = shown.split('…').map(regex::escape).collect();
    Regex::new(&format!("^{}$", parts.join(".*"))).unwrap().is_match(actual)
}

#[test]
fn what_is_cut_is_still_compared() {
    let check = |shown: &str, actual: &str, expected: bool| {
        let (shown, actual): (Vec<_>, Vec<_>) = (shown.lines().collect(), actual.lines().collect());
        assert_eq!(is_cut_from(&shown, &actual), expected, "{shown:?} {actual:?}");
    };
    check("a\n…\nd", "a\nb\nc\nd", true);
    check("a\n…\nd", "a\nd", true);
    check("a\n…", "a\nb", true);
    check("a\n…\nd", "a\nb", false);
    check("a…c", "abbc", true);
    check("a…c", "abb", false);
    check("a", "a\nb", false);
    check("a.c", "abc", false);
    assert_eq!(steady("up 2 min 3 s, pid 47, 27.8 MiB"), "up N N, pid N, N");
}
