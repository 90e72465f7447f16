//! Recognises pasted text, and splits it into words.
//!
//! Quotes and brackets in an error message or in code are not meant as operators. If they were read as phrases, each phrase would
//! have to be in a hit word for word.

use super::query_tree::QueryItem;

/// Texts of tracebacks, which a typed query rarely contains.
const TRACEBACK_TEXTS: [&str; 4] =
    ["Traceback (most recent call last)", "panicked at ", "Exception in thread \"", "goroutine 1 [running]"];

/// Returns whether a text was pasted rather than typed as a query: it has several lines, or contains a text of a traceback.
pub(super) fn is_pasted(input: &str) -> bool {
    let mut lines = input.lines().filter(|line| !line.trim().is_empty());
    lines.nth(1).is_some() || TRACEBACK_TEXTS.iter().any(|sign| input.contains(sign))
}

/// Returns the words of a pasted text: of the first line, then of the other lines from the last to the second. Later words may be
/// cut off, and the first and the last line usually name the error.
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

/// Returns the word, in lower case if it is an operator.
fn lower_operator(word: &str) -> String {
    if matches!(word, "AND" | "OR" | "NOT") { word.to_lowercase() } else { word.to_owned() }
}
