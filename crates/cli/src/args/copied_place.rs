//! Finds the place in what was copied: from a diff, a link, or a line that a compiler, a test runner or a debugger has printed.

use std::path::Path;

use memod_base::types::parse_target;

/// Characters between the words of a printed line.
const BETWEEN_WORDS: &str = "()[]{}<>\"'`,;|❯│";

/// Returns the place that a copied text names; `None` if the text is a place that exists as typed, or names none. `cwd` is the directory
/// to which a typed place is relative, `root` the top of the worktree.
pub(crate) fn find_copied_place(text: &str, cwd: &Path, root: &Path) -> Option<String> {
    if names_file(text, cwd) {
        return None;
    }
    let bare = text.strip_suffix(':').filter(|bare| !bare.is_empty() && !bare.ends_with(':'));
    let bare = strip_quotes(bare.unwrap_or(text));
    if names_file(bare, cwd) {
        return Some(bare.to_owned());
    }
    // Without blanks, the text is not a line that a program printed but one path. It is not split: its brackets may be those of a
    // glob.
    let is_printed = bare.contains(char::is_whitespace) || bare.contains("://") && !bare.starts_with("file:");
    let is_between = |c: char| is_printed && (c.is_whitespace() || BETWEEN_WORDS.contains(c));
    let found =
        || bare.split(is_between).filter_map(|word| find_place(trim_word(word), is_printed, cwd, root));
    found()
        .find(|place| has_line(place))
        .or_else(|| found().next())
        .or_else(|| find_hunk_function(bare))
        .or_else(|| (bare.len() < text.len()).then(|| bare.to_owned()))
}

/// Returns whether a text names a line of a file that exists, and more, as a line that a program has printed.
pub(crate) fn is_printed_line(text: &str, cwd: &Path, root: &Path) -> bool {
    text.contains(char::is_whitespace)
        && find_copied_place(text, cwd, root).is_some_and(|place| has_line(&place))
}

/// Returns the place that a word names, as a place in `cwd`. In a printed line the word may also be a link, or a path on another machine.
fn find_place(word: &str, is_printed: bool, cwd: &Path, root: &Path) -> Option<String> {
    let in_root = |place: &str| {
        Some(if cwd == root { place.to_owned() } else { root.join(place).to_str()?.to_owned() })
    };
    let is_place = !word.is_empty() && word.contains(['/', '.']);
    if is_place && names_file(word, cwd) {
        return Some(word.to_owned());
    }
    // The paths in a diff begin at the top of the worktree.
    let in_diff = ["a/", "b/"].iter().find_map(|before| word.strip_prefix(before));
    if let Some(place) = in_diff.filter(|place| names_file(place, root)) {
        return in_root(place);
    }
    if !is_printed {
        return None;
    }
    // A link and a path on another machine may end with a path of the worktree.
    let ends = word.match_indices('/').map(|(at, _)| &word[at + 1..]);
    let mut ends = ends.filter(|end| end.contains('/') && names_file(end, root));
    ends.next().and_then(in_root)
}

/// Returns a word without the scheme before a path, and without the punctuation after it.
fn trim_word(word: &str) -> &str {
    word.trim_start_matches("file://").trim_end_matches([':', '.', ','])
}

/// Returns the name of the function in the heading of a hunk of a diff: `@@ -1,2 +1,3 @@ fn walk(`.
fn find_hunk_function(text: &str) -> Option<String> {
    let heading = text.strip_prefix("@@ ")?.split_once(" @@ ")?.1;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let before_arguments = heading.split('(').next()?.trim_end();
    let name = before_arguments.rsplit(|c: char| !is_name(c)).find(|name| !name.is_empty())?;
    Some(name.to_owned())
}

/// Returns whether a place names a line.
fn has_line(place: &str) -> bool {
    parse_target(place)
        .into_iter()
        .any(|(_, part)| part.linked_lines().unwrap_or(part).line_range().is_some())
}

/// Returns a text without the quotes around it.
fn strip_quotes(text: &str) -> &str {
    let inner = ['"', '\'', '`'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.filter(|inner| !inner.is_empty()).unwrap_or(text)
}

/// Returns whether a place, perhaps with a line or symbol after it, names a file or directory that exists below `dir`.
fn names_file(place: &str, dir: &Path) -> bool {
    let exists = |path: &str| !path.is_empty() && dir.join(path).symlink_metadata().is_ok();
    parse_target(place).into_iter().any(|(path, _)| exists(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_copied_with_a_place_is_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path();
        fs::create_dir_all(root.join("src/b")).expect("directories");
        for file in ["src/a.rs", "src/b/c.rs"] {
            fs::write(root.join(file), "").expect("a file");
        }
        let check = |place: &str, expected: Option<&str>| {
            assert_eq!(find_copied_place(place, root, root).as_deref(), expected, "{place}");
        };
        check("\"src/a.rs\"", Some("src/a.rs"));
        check("'src/a.rs:3'", Some("src/a.rs:3"));
        check("`parse_query`", Some("parse_query"));
        check("src/a.rs:", Some("src/a.rs"));
        check("a/src/a.rs", Some("src/a.rs"));
        check("b/src/a.rs#load", Some("src/a.rs#load"));
        check("\"b/src/a.rs\":", Some("src/a.rs"));
        for place in ["src/a.rs", "src/a.rs:3", "src/b/c.rs", "b/gone.rs", "parse_query", "a::", "\""] {
            check(place, None);
        }
        #[cfg(unix)] // no name of a file on Windows has quotes
        {
            fs::write(root.join("\"odd\""), "").expect("a file");
            check("\"odd\"", None);
        }
        for (printed, expected) in [
            ("  --> src/a.rs:253:25", "src/a.rs:253:25"),
            ("error in src/b/c.rs(3,4): no", "src/b/c.rs"),
            ("    at merge (file:///home/ci/w/src/a.rs:164:11)", "src/a.rs:164:11"),
            ("thread 'main' panicked at src/a.rs:253:25:", "src/a.rs:253:25"),
            (" ❯ src/a.rs:300:10", "src/a.rs:300:10"),
            (" FAIL  src/b/c.rs > valid > empty", "src/b/c.rs"),
            ("+++ b/src/a.rs", "src/a.rs"),
            ("--- a/src/a.rs\t2026-01-01", "src/a.rs"),
            ("diff --git a/src/a.rs b/src/a.rs", "src/a.rs"),
            ("https://git.example/o/r/blob/main/src/b/c.rs#L10-L20", "src/b/c.rs#L10-L20"),
            ("@@ -350,6 +351,7 @@ pub fn build_walker(root: &Path)", "build_walker"),
            ("@@ -1 +1 @@ class Order:", "Order"),
            ("see src/a.rs, then src/b/c.rs:7.", "src/b/c.rs:7"),
        ] {
            check(printed, Some(expected));
            let has_place = has_line(expected) && printed.contains(' ');
            assert_eq!(is_printed_line(printed, root, root), has_place, "{printed}");
        }
        for text in [
            "how does it work",
            "--> src/gone.rs:1:1",
            "@@ -1 +1 @@",
            "https://git.example/o/r",
            "a.b c.d",
            "src/{a,b}.rs",
            "src/[ab].rs",
            "src/b/*.{rs,md}",
        ] {
            check(text, None);
        }
        let below = root.join("src");
        let cleaned = find_copied_place("b/src/a.rs:2", &below, root);
        assert_eq!(cleaned, root.join("src/a.rs:2").to_str().map(str::to_owned));
        assert_eq!(find_copied_place("b/c.rs", &below, root), None); // it exists
    }
}
