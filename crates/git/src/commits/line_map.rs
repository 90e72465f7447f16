//! Maps the lines of a text to those of an older version.

use std::collections::HashMap;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// Minimum similarity of a renamed file, percent, as with `git diff -M`.
pub const MIN_SIMILARITY_PERCENT: usize = 50;

/// Returns the hunks, which are spans of lines in which `old` and `new` differ, in order.
///
/// Line ends are ignored, because the worktree may have other line ends than the repository. The algorithm and the placement
/// of hunks are git's defaults, so that the result agrees with `git blame`.
pub(crate) fn diff_hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let (old, new) = (split_lines(old), split_lines(new));
    let mut input: InternedInput<&[u8]> = InternedInput::default();
    input.update_before(old.into_iter());
    input.update_after(new.into_iter());
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    diff.hunks().collect()
}

/// Returns the lines without their ends.
pub(crate) fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
}

/// Returns the similarity of two texts, 0 to 100: bytes of common lines relative to the larger text.
pub fn similarity_percent(old: &[u8], new: &[u8]) -> usize {
    let larger = old.len().max(new.len());
    if larger == 0 {
        return 0; // empty files are no copies of one another
    }
    let mut n_lines: HashMap<&[u8], usize> = HashMap::new();
    for line in split_lines(old) {
        *n_lines.entry(line).or_default() += 1;
    }
    let mut shared = 0;
    for line in split_lines(new) {
        if let Some(left) = n_lines.get_mut(line).filter(|left| **left > 0) {
            *left -= 1;
            shared += line.len() + 1;
        }
    }
    (shared * 100 / larger).min(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_lines_that_differ() {
        let check = |old: &str, new: &str, expected: &[(u32, u32, u32, u32)]| {
            let hunks = diff_hunks(old.as_bytes(), new.as_bytes());
            let found: Vec<_> =
                hunks.iter().map(|h| (h.before.start, h.before.end, h.after.start, h.after.end)).collect();
            assert_eq!(found, expected, "{old:?} {new:?}");
        };
        check("", "", &[]);
        check("a\nb\n", "a\nb", &[]);
        check("a\r\nb\r\n", "a\nb\n", &[]);
        check("a\nb\nc\n", "a\nx\nc\n", &[(1, 2, 1, 2)]);
        check("a\n", "a\nb\n", &[(1, 1, 1, 2)]);
        check("", "a\n", &[(0, 0, 0, 1)]);
        check("a\nb\n", "", &[(0, 2, 0, 0)]);
    }

    #[test]
    fn likenesses() {
        let check = |old: &str, new: &str, expected: usize| {
            assert_eq!(similarity_percent(old.as_bytes(), new.as_bytes()), expected, "{old:?} {new:?}");
        };
        check("", "", 0);
        check("a\nb\n", "a\nb\n", 100);
        check("a\nb\n", "b\nx\n", 50);
        check("a\na\n", "a\n", 50);
        check("a\n", "b\n", 0);
    }
}
