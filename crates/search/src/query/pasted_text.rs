//! Reads a pasted text as words.
//!
//! Quotes and brackets of an error message or of code are no operators: a phrase would have to be in one chunk, word for
//! word.

use super::query_tree::QueryItem;

/// Parts of the first lines of tracebacks, which a typed query rarely has.
const OF_TRACES: [&str; 4] =
    ["Traceback (most recent call last)", "panicked at ", "Exception in thread \"", "goroutine 1 [running]"];

/// Returns whether a text was pasted rather than typed as a query: it has several lines, or one of a traceback.
pub(super) fn is_pasted(input: &str) -> bool {
    let mut lines = input.lines().filter(|line| !line.trim().is_empty());
    lines.nth(1).is_some() || OF_TRACES.iter().any(|sign| input.contains(sign))
}

/// Returns the words of a pasted text. The number of words of a query is limited, and the first and the last line usually
/// name the error, so these come first, followed by the other lines from the end.
pub(super) fn pasted_words(input: &str) -> Vec<QueryItem> {
    let mut lines: Vec<&str> = input.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() > 1 {
        lines[1..].reverse();
    }
    let words = lines
        .iter()
        .flat_map(|line| line.split(|c: char| c.is_whitespace() || "\"'`“”„()[]{}<>,;*".contains(c)))
        .filter(|word| !word.is_empty());
    words.map(|word| QueryItem::Word(lower_operator(word))).collect()
}

/// Returns a word in lower case if it would be an operator.
fn lower_operator(word: &str) -> String {
    if matches!(word, "AND" | "OR" | "NOT") { word.to_lowercase() } else { word.to_owned() }
}
