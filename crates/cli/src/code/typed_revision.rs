//! Reads the revisions and times that people type after `changed`, `tests` and `impact`.

use std::path::Path;

use memod_base::clock::{now_ms, to_local_time};
use memod_base::types::{TimeDirection, parse_moment};
use memod_terminal::CliError;

/// Returns the sides of a comparison, at most two: several words that name one time, such as `since friday` or `3 days ago`,
/// become one side.
///
/// # Errors
/// When there are more than two sides.
pub(super) fn join_time_words(mut words: Vec<String>) -> Result<Vec<String>, CliError> {
    let joined = words.join(" ");
    if words.len() > 1 && is_time(&joined) {
        return Ok(vec![joined]);
    }
    if words.len() > 1 && words[0].eq_ignore_ascii_case("since") {
        words.remove(0);
    }
    if words.len() > 2 {
        return Err(CliError::Usage {
            message: format!("{joined}: neither a time nor two revisions"),
            hint: "`memo changed 3d`, `memo changed \"3 days ago\"` and `memo changed A B` are understood",
        });
    }
    Ok(words)
}

/// Returns whether a target cannot be a path or a name, but is a revision or a time, such as `HEAD~3` or `3d`.
pub(super) fn is_revision_or_time(target: &str, cwd: &Path) -> bool {
    let is_relative = target.contains(['~', '^']) || target.contains("@{");
    let is_head = matches!(target, "HEAD" | "@" | "FETCH_HEAD" | "ORIG_HEAD");
    // `sat` and `today` are also names of definitions.
    let is_word = target.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && target.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_relative || is_head || !is_word && is_time(target)) && !cwd.join(target).exists()
}

fn is_time(text: &str) -> bool {
    parse_moment(text, &to_local_time(now_ms()), TimeDirection::Back).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_time_are_one_side() {
        let check = |typed: &str, expected: &[&str]| {
            let words = typed.split_whitespace().map(str::to_owned).collect();
            assert_eq!(join_time_words(words).expect("at most two sides"), expected, "{typed}");
        };
        check("since friday", &["since friday"]);
        check("3 days ago", &["3 days ago"]);
        check("last week", &["last week"]);
        check("since HEAD~3", &["HEAD~3"]);
        check("since main HEAD", &["main", "HEAD"]);
        check("main HEAD", &["main", "HEAD"]);
        check("since", &["since"]);
        check("friday", &["friday"]);
        let words = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert!(join_time_words(words).is_err());
    }

    #[test]
    fn a_revision_is_no_name() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("a~1"), "").expect("a file");
        let check = |target: &str, expected: bool| {
            assert_eq!(is_revision_or_time(target, dir.path()), expected, "{target}");
        };
        for revision in ["HEAD~3", "HEAD", "main^", "@{u}", "HEAD@{1}", "since friday", "3d", "2026-11-01"] {
            check(revision, true);
        }
        for name in ["a~1", "main", "src/a.rs", "A::b", "src/a.rs#b", "head", "sat", "today"] {
            check(name, false);
        }
    }
}
