//! Compares the words of paths and names with the words of a query.

/// Returns the likeness of a word to the most similar of `others`, 0 to 1.
pub(crate) fn best_likeness<'a>(word: &str, others: impl Iterator<Item = &'a str>) -> f64 {
    others.map(|other| word_likeness(word, other)).fold(0.0, f64::max)
}

/// Returns the likeness of two words: 1 for equal words, 0.6 for likely forms of one word (`retry`, `retries`), and 0 otherwise.
fn word_likeness(left: &str, right: &str) -> f64 {
    if left == right {
        return 1.0;
    }
    let n_common = left.bytes().zip(right.bytes()).take_while(|(l, r)| l == r).count();
    let shorter = left.len().min(right.len());
    // At three quarters, `parse` and `parsing` match, and `content` and `context` do not.
    if n_common >= 4 && 4 * n_common >= 3 * shorter { 0.6 } else { 0.0 }
}
