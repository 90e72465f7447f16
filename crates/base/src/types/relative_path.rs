//! Splits paths with `/` separators: paths in a worktree, keys of sources, URLs.

/// Returns the last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the directory of a path, without a `/` at the end; empty for a path without `/`.
pub fn parent_dir(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_directory_and_a_name() {
        let check = |path: &str, dir: &str, name: &str| {
            assert_eq!((parent_dir(path), file_name(path)), (dir, name), "{path}");
        };
        check("a.rs", "", "a.rs");
        check("src/web/a.rs", "src/web", "a.rs");
        check("src/", "src", "");
    }
}
