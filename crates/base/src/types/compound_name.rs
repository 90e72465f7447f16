//! Distinguishes names of several words from those of one.

/// Returns whether a name has several words, as `read_row` and `readRow` have.
pub fn is_compound(name: &str) -> bool {
    let inner = name.trim_start_matches('_');
    let changes = |pair: (char, char)| pair.0.is_lowercase() && pair.1.is_uppercase();
    inner.contains('_') || inner.chars().zip(inner.chars().skip(1)).any(changes)
}
