//! Takes a text that was pasted as words.
//!
//! Quotes and brackets of an error message or of code mean nothing as operators: a phrase of it would have to be in one chunk,
//! word for word.

use super::tree::Item;

/// What lines of a traceback have; a query of one line is rarely that long.
const OF_TRACES: [&str; 4] =
    ["Traceback (most recent call last)", "panicked at ", "Exception in thread \"", "goroutine 1 [running]"];

/// Returns whether a text was pasted rather than typed as a query: it has several lines, or one of a traceback.
pub(super) fn is_pasted(input: &str) -> bool {
    let mut lines = input.lines().filter(|line| !line.trim().is_empty());
    lines.nth(1).is_some() || OF_TRACES.iter().any(|sign| input.contains(sign))
}

/// Returns the words of a pasted text. Only so many words of a query count, and the first and the last line say what
/// happened, so these come first, and then the lines from the end.
pub(super) fn words(input: &str) -> Vec<Item> {
    let mut lines: Vec<&str> = input.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() > 1 {
        lines[1..].reverse();
    }
    let is_between = |c: char| c.is_whitespace() || "\"'`“”„()[]{}<>,;*".contains(c);
    let words = lines.iter().flat_map(|line| line.split(is_between)).filter(|word| !word.is_empty());
    words.map(|word| Item::Word(typed(word))).collect()
}

/// Returns a word as one that is no operator.
fn typed(word: &str) -> String {
    if matches!(word, "AND" | "OR" | "NOT") { word.to_lowercase() } else { word.to_owned() }
}
