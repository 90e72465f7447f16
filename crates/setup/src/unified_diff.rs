//! Formats the change of a file as a unified diff.

use std::fmt::Write;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// Number of unchanged lines around a change, as in `diff -u`.
const N_CONTEXT_LINES: u32 = 3;

/// Returns the change of a file as `diff -u` prints it; empty if there is none.
///
/// The printer of imara-diff is not used, because it does not mark a missing line feed at the end, and prints a wrong line number
/// if four to six lines are before the first change.
pub(super) fn format_unified_diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let input = InternedInput::new(before.unwrap_or_default(), after.unwrap_or_default());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let mut shown = format!("--- {}\n+++ {}\n", side_name(path, before), side_name(path, after));
    let hunks: Vec<Hunk> = diff.hunks().collect();
    for group in hunks.chunk_by(|a, b| b.before.start - a.before.end <= 2 * N_CONTEXT_LINES) {
        write_hunk_group(group, &input, &mut shown);
    }
    shown
}

/// Returns the name of a side in the header: `/dev/null` when the file does not exist there.
fn side_name<'a>(path: &'a str, text: Option<&str>) -> &'a str {
    text.map_or("/dev/null", |_| path)
}

/// Writes changes that are close together, with their header and the lines around them.
fn write_hunk_group(group: &[Hunk], input: &InternedInput<&str>, shown: &mut String) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let lead = first.before.start.min(N_CONTEXT_LINES);
    let tail = (input.before.len() as u32 - last.before.end).min(N_CONTEXT_LINES);
    let old = hunk_span(first.before.start - lead, last.before.end + tail);
    let new = hunk_span(first.after.start - lead, last.after.end + tail);
    // Writing to a string does not fail.
    let _ = writeln!(shown, "@@ -{old} +{new} @@");
    let mut at = first.before.start - lead;
    for hunk in group {
        write_lines(' ', at..hunk.before.start, &input.before, input, shown);
        write_lines('-', hunk.before.clone(), &input.before, input, shown);
        write_lines('+', hunk.after.clone(), &input.after, input, shown);
        at = hunk.before.end;
    }
    write_lines(' ', at..last.before.end + tail, &input.before, input, shown);
}

/// Returns the first line and the number of lines of one side, in the form of a hunk header.
fn hunk_span(start: u32, end: u32) -> String {
    let n_lines = end - start;
    // An empty side names the line before it.
    format!("{},{n_lines}", start + u32::from(n_lines > 0))
}

/// Writes lines of one side, each after a sign.
fn write_lines(
    sign: char,
    lines: Range<u32>,
    side: &[imara_diff::Token],
    input: &InternedInput<&str>,
    shown: &mut String,
) {
    for &token in &side[lines.start as usize..lines.end as usize] {
        let line = input.interner[token];
        shown.push(sign);
        shown.push_str(line);
        if !line.ends_with('\n') {
            shown.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_a_new_file_and_none() {
        let changed = format_unified_diff("a.json", Some("1\n2\n3\n"), Some("1\nnew\n2\n3\n"));
        assert_eq!(changed, "--- a.json\n+++ a.json\n@@ -1,3 +1,4 @@\n 1\n+new\n 2\n 3\n");
        let created = format_unified_diff("a.json", None, Some("1\n"));
        assert_eq!(created, "--- /dev/null\n+++ a.json\n@@ -0,0 +1,1 @@\n+1\n");
        let removed = format_unified_diff("a.json", Some("1"), None);
        assert_eq!(removed, "--- a.json\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-1\n\\ No newline at end of file\n");
        assert_eq!(format_unified_diff("a.json", Some("1\n"), Some("1\n")), "");
    }

    #[test]
    fn changes_far_apart_have_their_own_lines() {
        let before: String = (1..=30).map(|line| format!("{line}\n")).collect();
        let after = before.replace("\n6\n", "\nsix\n").replace("\n25\n", "\n25\nnew\n");
        let diff = format_unified_diff("a", Some(&before), Some(&after));
        assert!(
            diff.contains("@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n@@ -23,6 +23,7 @@\n 23\n"),
            "{diff}"
        );
        assert!(diff.ends_with(" 25\n+new\n 26\n 27\n 28\n"), "{diff}");
    }
}
