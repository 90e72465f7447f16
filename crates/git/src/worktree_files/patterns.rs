//! Matches a path against one ignore file.

use gix::bstr::{BStr, ByteSlice};
use gix::glob::Pattern;
use gix::glob::pattern::{self, Case};
use gix::glob::wildmatch::Mode;

/// The mode of matching in which `*` does not match across directories.
const SLASH_IS_LITERAL: Mode = Mode::NO_MATCH_SLASH_LITERAL;

/// The patterns of one ignore file, in gitignore(5) syntax.
#[derive(Clone, Debug, Default, Hash)]
pub struct IgnorePatterns(Vec<Pattern>);

impl IgnorePatterns {
    /// Parses the bytes of an ignore file; every line is either a pattern or skipped, none is an error.
    pub fn parse(bytes: &[u8]) -> Self {
        // Git has no "precious" patterns: a leading `$` is an ordinary character.
        let support_precious = false;
        Self(gix::ignore::parse(bytes, support_precious).map(|(pattern, _, _)| pattern).collect())
    }

    /// Returns whether the last pattern that matches ignores `path` (true) or keeps it (false); `None` if none matches.
    ///
    /// `path` is relative to the directory of the ignore file. The directories above `path` are not considered.
    pub fn ignores_path(&self, path: &BStr, is_dir: bool, case: Case) -> Option<bool> {
        let basename = path.rfind_byte(b'/').map(|slash| slash + 1);
        let matches = |pattern: &&Pattern| match stars_after_literal(pattern) {
            Some(literal) => matches_in_two_parts(pattern, literal, path, is_dir, case),
            None => pattern.matches_repo_relative_path(path, basename, Some(is_dir), case, SLASH_IS_LITERAL),
        };
        self.0.iter().rev().find(matches).map(|pattern| !pattern.is_negative())
    }
}

/// Returns the length of the text before the first wildcard, if that is a `**` in the middle of a name, as in `a**/b`.
///
/// According to gitignore(5), such a `**` is two ordinary stars. But git compares the literal part first and matches the rest
/// separately (`match_pathname` in its dir.c). The `**` is at the beginning of that rest and matches across directories.
fn stars_after_literal(pattern: &Pattern) -> Option<usize> {
    let is_basename =
        pattern.mode.contains(pattern::Mode::NO_SUB_DIR) && !pattern.mode.contains(pattern::Mode::ABSOLUTE);
    let literal = pattern.first_wildcard_pos.filter(|literal| !is_basename && *literal > 0)?;
    let (before, after) = pattern.text.split_at(literal);
    (after.starts_with(b"**") && !before.ends_with(b"/")).then_some(literal)
}

fn matches_in_two_parts(pattern: &Pattern, literal: usize, path: &BStr, is_dir: bool, case: Case) -> bool {
    let Some((start, rest)) = path.split_at_checked(literal) else {
        return false;
    };
    let (before, after) = pattern.text.split_at(literal);
    let (same_start, mode) = match case {
        Case::Sensitive => (before == start, SLASH_IS_LITERAL),
        Case::Fold => (before.eq_ignore_ascii_case(start), SLASH_IS_LITERAL | Mode::IGNORE_CASE),
    };
    let kind_fits = is_dir || !pattern.mode.contains(pattern::Mode::MUST_BE_DIR);
    kind_fits && same_start && gix::glob::wildmatch(after.as_bstr(), rest.as_bstr(), mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, path: &str, expected: Option<bool>) {
        let (path, is_dir) = path.strip_suffix('/').map_or((path, false), |dir| (dir, true));
        let decided =
            IgnorePatterns::parse(file.as_bytes()).ignores_path(path.into(), is_dir, Case::Sensitive);
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
        check("a**/b", "a1/2/b", Some(true));
        check("/a**/**", "a.x", Some(true));
        check("x/a**/b/", "x/a1/2/b", None);
        check("/a**/[!a]/", "ab/", Some(true));
        check("b/a**/**", "b/a b/", Some(true));
        check("b/a**/**", "b/ab.x", Some(true));
        check("a b/a***/**", "a b/a b.x", Some(true));
        check("a**/**/*", "ab.f", Some(true));
        check("\u{feff}x", "x", Some(true));
        check("x\r\ny\r\n", "y", Some(true));
        check("[a-c]?", "b9", Some(true));
        check("[", "[", None);
        check("/", "a", None);
    }

    #[test]
    fn case_folds_only_where_asked() {
        let patterns = IgnorePatterns::parse(b"READ*");
        assert_eq!(patterns.ignores_path("readme".into(), false, Case::Fold), Some(true));
        assert_eq!(patterns.ignores_path("readme".into(), false, Case::Sensitive), None);
    }
}
