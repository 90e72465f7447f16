//! Removes from a typed place what was copied with it: quotes, a colon at its end, and the `a/` or `b/` of a diff.

use std::path::Path;

use memod_base::types::parse_target;

/// Returns the place without what was copied with it; `None` if the place exists as typed, or nothing was copied. `cwd` is the
/// directory to which the place is relative, `root` the top of the worktree.
pub(crate) fn clean_copied_place(place: &str, cwd: &Path, root: &Path) -> Option<String> {
    if names_file(place, cwd) {
        return None;
    }
    let bare = place.strip_suffix(':').filter(|bare| !bare.is_empty() && !bare.ends_with(':'));
    let bare = strip_quotes(bare.unwrap_or(place));
    if names_file(bare, cwd) {
        return Some(bare.to_owned());
    }
    // The paths in a diff begin at the top of the worktree.
    let in_diff = ["a/", "b/"].iter().find_map(|before| bare.strip_prefix(before));
    if let Some(path) = in_diff.filter(|path| names_file(path, root)) {
        return Some(if cwd == root { path.to_owned() } else { root.join(path).to_str()?.to_owned() });
    }
    (bare.len() < place.len()).then(|| bare.to_owned())
}

/// Returns a text without the quotes around it.
fn strip_quotes(text: &str) -> &str {
    let inner = ['"', '\'', '`'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.filter(|inner| !inner.is_empty()).unwrap_or(text)
}

/// Returns whether a place, perhaps with a line or symbol after it, names a file or directory that exists below `dir`.
fn names_file(place: &str, dir: &Path) -> bool {
    parse_target(place).into_iter().any(|(path, _)| dir.join(path).symlink_metadata().is_ok())
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
        for file in ["src/a.rs", "src/b/c.rs", "\"odd\""] {
            fs::write(root.join(file), "").expect("a file");
        }
        let check = |place: &str, expected: Option<&str>| {
            assert_eq!(clean_copied_place(place, root, root).as_deref(), expected, "{place}");
        };
        check("\"src/a.rs\"", Some("src/a.rs"));
        check("'src/a.rs:3'", Some("src/a.rs:3"));
        check("`parse_query`", Some("parse_query"));
        check("src/a.rs:", Some("src/a.rs"));
        check("a/src/a.rs", Some("src/a.rs"));
        check("b/src/a.rs#load", Some("src/a.rs#load"));
        check("\"b/src/a.rs\":", Some("src/a.rs"));
        for place in
            ["src/a.rs", "src/a.rs:3", "\"odd\"", "src/b/c.rs", "b/gone.rs", "parse_query", "a::", "\""]
        {
            check(place, None);
        }
        let below = root.join("src");
        let cleaned = clean_copied_place("b/src/a.rs:2", &below, root);
        assert_eq!(cleaned, root.join("src/a.rs:2").to_str().map(str::to_owned));
        assert_eq!(clean_copied_place("b/c.rs", &below, root), None); // it exists
    }
}
