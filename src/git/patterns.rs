//! Does an ignore file, by itself, ignore or keep a path?

use gix::bstr::{BStr, ByteSlice};
use gix::glob::Pattern;
use gix::glob::pattern::Case;
use gix::glob::wildmatch::Mode;

/// The patterns of one ignore file, in gitignore(5) syntax.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// Parses the bytes of an ignore file; every line is either a pattern or skipped, none is an error.
    pub fn parse(bytes: &[u8]) -> Self {
        // Git knows no "precious" patterns: a leading `$` is a character like any other.
        let support_precious = false;
        Self(gix::ignore::parse(bytes, support_precious).map(|(pattern, _, _)| pattern).collect())
    }

    /// Returns whether the last pattern that matches ignores `path` (true) or keeps it (false); none matches: `None`.
    ///
    /// `path` is relative to the directory of the ignore file. Says nothing of the directories `path` is in.
    pub fn decide(&self, path: &BStr, is_dir: bool, case: Case) -> Option<bool> {
        let basename = path.rfind_byte(b'/').map(|slash| slash + 1);
        let matches = |pattern: &&Pattern| {
            pattern.matches_repo_relative_path(
                path,
                basename,
                Some(is_dir),
                case,
                Mode::NO_MATCH_SLASH_LITERAL,
            )
        };
        self.0.iter().rev().find(matches).map(|pattern| !pattern.is_negative())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, path: &str, expected: Option<bool>) {
        let (path, is_dir) = path.strip_suffix('/').map_or((path, false), |dir| (dir, true));
        let decided = Patterns::parse(file.as_bytes()).decide(path.into(), is_dir, Case::Sensitive);
        assert_eq!(decided, expected, "{file:?} on {path:?}");
    }

    #[test]
    fn last_match_decides() {
        check("*.log", "a/b.log", Some(true));
        check("*.log\n!b.log", "a/b.log", Some(false));
        check("!b.log\n*.log", "a/b.log", Some(true));
        check("*.log", "b.txt", None);
        check("", "b.txt", None);
    }

    #[test]
    fn gitignore_syntax() {
        check("out/", "out/", Some(true));
        check("out/", "out", None);
        check("/top", "top", Some(true));
        check("/top", "a/top", None);
        check("a/b", "a/b", Some(true));
        check("a/b", "x/a/b", None);
        check("**/b", "x/y/b", Some(true));
        check("a/**", "a/x/y", Some(true));
        check("a/**/z", "a/z", Some(true));
        check("a/*", "a/x/y", None);
        check("\\#x", "#x", Some(true));
        check("#x", "#x", None);
        check("\\!x", "!x", Some(true));
        check("x   ", "x", Some(true));
        check("x\\ ", "x ", Some(true));
        check("$x", "$x", Some(true));
        check("\u{feff}x", "x", Some(true));
        check("x\r\ny\r\n", "y", Some(true));
        check("[a-c]?", "b9", Some(true));
        check("[", "[", None);
        check("/", "a", None);
    }

    #[test]
    fn case_folds_only_where_asked() {
        let patterns = Patterns::parse(b"READ*");
        assert_eq!(patterns.decide("readme".into(), false, Case::Fold), Some(true));
        assert_eq!(patterns.decide("readme".into(), false, Case::Sensitive), None);
    }
}
