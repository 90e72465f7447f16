//! Distinguishes names of several words from names of one word.

/// Returns whether a name has several words, such as `read_row` or `readRow`.
pub fn is_compound(name: &str) -> bool {
    let inner = name.trim_start_matches('_');
    let mut pairs = inner.chars().zip(inner.chars().skip(1));
    inner.contains('_') || pairs.any(|(left, right)| left.is_lowercase() && right.is_uppercase())
}
