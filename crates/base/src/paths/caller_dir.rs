//! Converts paths between those relative to a caller's directory and those relative to the top of the worktree.
//!
//! Paths in the index are relative to the top. People type and read paths relative to their current directory.

use std::path::Path;

use super::file_uri::{decode_uri_path, encode_uri_path, split_file_uri};
use super::path_spelling::accent_forms;
use super::{FS_FOLDS_NAMES, RepoLayout, SpellingCache, canonicalize_path};

/// The current directory of a caller, as the names that lead to it from the top of the worktree.
#[derive(Clone, Debug, Default)]
pub struct CallerDir {
    root: String,
    parts: Vec<String>,
}

/// A typed path that leads out of the worktree.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: outside the worktree {root}")]
pub struct OutsideError {
    path: String,
    root: String,
}

impl CallerDir {
    /// Creates the value for `cwd`, a canonical path. Outside of the worktree, the top of the worktree is used.
    pub fn new(layout: &RepoLayout, cwd: &Path) -> Self {
        let below = cwd.strip_prefix(&layout.root).unwrap_or(Path::new(""));
        let parts = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        Self { root: layout.root.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"), parts }
    }

    /// Converts a path relative to the top into one relative to the caller's directory; `None` if the caller is at the top, where
    /// both are equal.
    pub fn relative_path(&self, path: &str) -> Option<String> {
        if self.parts.is_empty() {
            return None;
        }
        let theirs: Vec<&str> = path.split('/').collect();
        let n_common = self.parts.iter().zip(&theirs).take_while(|(own, their)| own == their).count();
        let n_common = n_common.min(theirs.len() - 1); // the caller's own directory becomes `../name`
        let up = std::iter::repeat_n("..", self.parts.len() - n_common);
        Some(up.chain(theirs[n_common..].iter().copied()).collect::<Vec<_>>().join("/"))
    }

    /// Converts a path relative to the top, perhaps with a line or symbol after it, into one relative to the caller's directory.
    pub fn display_path(&self, path: &str) -> String {
        self.relative_path(path).unwrap_or_else(|| path.to_owned())
    }

    /// Rewrites an absolute path or `file:` URI that leads into the worktree through a symbolic link so that it begins with the top
    /// of the worktree. Returns every other path, and a line or symbol after a path, unchanged.
    pub fn rewrite_linked_root(&self, typed: String) -> String {
        let uri_path = split_file_uri(&typed);
        let path = Path::new(uri_path.unwrap_or(&typed));
        let root = Path::new(&self.root);
        if !path.is_absolute() || path.starts_with(root) {
            return typed;
        }
        let to_root = path.ancestors().find_map(|above| {
            let own = above.to_str().filter(|_| uri_path.is_some()).and_then(decode_uri_path);
            let own = own.as_deref().map_or(above, Path::new);
            let is_root = canonicalize_path(own).is_ok_and(|found| found == root);
            is_root.then(|| path.strip_prefix(above).ok()).flatten()
        });
        match (to_root, uri_path) {
            (None, _) => typed,
            (Some(below), None) => root.join(below).to_string_lossy().into_owned(),
            (Some(below), Some(_)) => {
                let path = Path::new(&encode_uri_path(&self.root)).join(below);
                format!("file://{}", path.to_string_lossy())
            }
        }
    }

    /// Converts a typed glob into one for paths relative to the top, with a `/` before it. Returns a name without `/` unchanged,
    /// because it matches in every directory. A path that exists as typed, such as `app/[slug]`, is that path and no glob.
    ///
    /// # Errors
    /// When the glob leads out of the worktree, so that no path in the worktree can match it.
    pub fn resolve_glob(&self, typed: &str) -> Result<String, OutsideError> {
        if let Some(path) = self.find_bracketed_path(typed) {
            return Ok(format!("/{}", escape_glob(&path)));
        }
        let is_name = !typed.contains(['/', std::path::MAIN_SEPARATOR]) && !matches!(typed, "." | "..");
        if is_name {
            // At any depth, either is possible: a name, or a class of letters.
            let is_either = typed.contains('[') && !typed.contains(['{', '}', ',']);
            return Ok(if is_either {
                format!("{{{},{typed}}}", escape_glob(typed))
            } else {
                with_accent_forms(typed.to_owned())
            });
        }
        let parts = self.resolve_parts(typed, escape_glob)?;
        let glob = with_accent_forms(parts.join("/"));
        Ok(if parts.is_empty() { "**".to_owned() } else { format!("/{glob}") })
    }

    /// Returns the path from the top of a file or directory that exists as typed, though its name has brackets as a glob has.
    fn find_bracketed_path(&self, typed: &str) -> Option<String> {
        if !typed.contains(['[', '{']) {
            return None;
        }
        let path = self.resolve_path(typed).ok().filter(|path| !path.is_empty())?;
        Path::new(&self.root).join(&path).symlink_metadata().is_ok().then_some(path)
    }

    /// Converts a typed path or `file:` URI into one relative to the top; empty for the top itself.
    ///
    /// # Errors
    /// When the path leads out of the worktree.
    pub fn resolve_path(&self, typed: &str) -> Result<String, OutsideError> {
        let path = self.resolve_parts(typed, str::to_owned)?.join("/");
        let may_differ = FS_FOLDS_NAMES || accent_forms(&path).is_some();
        Ok(if may_differ && !path.is_empty() { self.with_spelling(&path) } else { path })
    }

    /// Returns a path relative to the top, spelled as its directories list it. A symbol or line after the path stays.
    fn with_spelling(&self, path: &str) -> String {
        let root = Path::new(&self.root);
        let is_whole = root.join(path).exists();
        let end = path.find(['#', ':']).filter(|_| !is_whole).unwrap_or(path.len());
        SpellingCache::default().spell_path(root, &path[..end]) + &path[end..]
    }

    /// Returns the names that lead from the top to a typed path or glob; `own` converts the names of the caller's directory.
    ///
    /// # Errors
    /// When the path leads out of the worktree.
    fn resolve_parts(&self, typed: &str, own: fn(&str) -> String) -> Result<Vec<String>, OutsideError> {
        let of_uri = split_file_uri(typed).and_then(decode_uri_path);
        let typed = of_uri.as_deref().unwrap_or(typed);
        let slashed = if cfg!(windows) { typed.replace('\\', "/") } else { typed.to_owned() };
        let mut parts: Vec<String> = Vec::new();
        if !Path::new(typed).has_root() {
            parts.extend(self.root.split('/').filter(|part| !part.is_empty()).map(str::to_owned));
            parts.extend(self.parts.iter().map(|part| own(part)));
        }
        for part in slashed.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part.to_owned()),
            }
        }
        let root: Vec<&str> = self.root.split('/').filter(|part| !part.is_empty()).collect();
        let is_below =
            parts.len() >= root.len() && parts.iter().zip(&root).all(|(part, root)| is_same_name(part, root));
        if !is_below {
            let root = self.root.replace('/', std::path::MAIN_SEPARATOR_STR);
            return Err(OutsideError { path: typed.to_owned(), root });
        }
        Ok(parts.split_off(root.len()))
    }
}

/// Returns a glob that matches the names with either form of accents.
fn with_accent_forms(glob: String) -> String {
    // The alternatives of another glob have commas of their own.
    let forms = accent_forms(&glob).filter(|_| !glob.contains(['{', '}', ',']));
    forms.map_or(glob, |[composed, decomposed]| format!("{{{composed},{decomposed}}}"))
}

/// Returns whether two names in a path are the same; on Windows the case does not matter.
fn is_same_name(typed: &str, name: &str) -> bool {
    typed == name || cfg!(windows) && typed.to_lowercase() == name.to_lowercase()
}

/// Returns a glob that matches exactly a path.
fn escape_glob(path: &str) -> String {
    // A backslash is an escape in a glob.
    globset::escape(path).replace('\\', "\\\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is absolute here, with a drive where the system has them, and every other path as it is.
    fn of_system(path: &str) -> String {
        let is_absolute = cfg!(windows) && path.starts_with('/');
        if is_absolute { format!("C:{path}") } else { path.to_owned() }
    }

    fn dir(cwd: &str) -> CallerDir {
        let layout = RepoLayout {
            root: of_system("/r/w").into(),
            git_dir: None,
            common_dir: None,
            state_dir: "/r/w/.memo".into(),
            id: String::new(),
        };
        CallerDir::new(&layout, Path::new(&of_system(cwd)))
    }

    #[test]
    fn paths_are_shown_as_they_would_be_typed() {
        let check = |cwd: &str, path: &str, expected: Option<&str>| {
            assert_eq!(dir(cwd).relative_path(path).as_deref(), expected, "{path} from {cwd}");
        };
        check("/r/w", "src/a.rs", None);
        check("/elsewhere", "src/a.rs", None);
        check("/r/w/src", "src/a.rs", Some("a.rs"));
        check("/r/w/src", "src/b/c.rs", Some("b/c.rs"));
        check("/r/w/src", "srcs/a.rs", Some("../srcs/a.rs"));
        check("/r/w/src/b", "src/a.rs", Some("../a.rs"));
        check("/r/w/src/b", "README.md", Some("../../README.md"));
        check("/r/w/src/b", "src/b", Some("../b"));
    }

    #[test]
    fn paths_start_where_they_are_typed() {
        let check = |cwd: &str, path: &str, expected: Option<&str>| {
            assert_eq!(
                dir(cwd).resolve_path(&of_system(path)).ok().as_deref(),
                expected,
                "{path} from {cwd}"
            );
        };
        check("/r/w", "src/a.rs", Some("src/a.rs"));
        check("/r/w", ".", Some(""));
        check("/r/w", "..", None);
        check("/r/w/src", "a.rs", Some("src/a.rs"));
        check("/r/w/src", "./b/", Some("src/b"));
        check("/r/w/src", "..", Some(""));
        check("/r/w/a[b]", "../docs/x", Some("docs/x"));
        check("/r/w/a[b]", "x", Some("a[b]/x"));
        check("/r/w/src", "/r/w/docs", Some("docs"));
        check("/r/w/src", "/r/wide", None);
        check("/r/w/src", "/R/W/Docs", cfg!(windows).then_some("Docs"));
        if cfg!(unix) {
            check("/r/w/src", "file:///r/w/docs/a%20b%23c.md", Some("docs/a b#c.md"));
            check("/r/w/src", "file://localhost/r/w/docs", Some("docs"));
            check("/r/w/src", "file:/r/w/docs", Some("docs"));
            check("/r/w/src", "file:///r/wide", None);
        }
        check("/r/w/src", "file:a.rs", Some("src/file:a.rs"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_the_top_is_replaced() {
        let top = tempfile::tempdir().unwrap();
        let top = canonicalize_path(top.path()).unwrap();
        std::fs::create_dir_all(top.join("w/src")).unwrap();
        std::os::unix::fs::symlink(top.join("w"), top.join("a link")).unwrap();
        let top = top.to_str().unwrap();
        let dir = CallerDir { root: format!("{top}/w"), parts: Vec::new() };
        let check = |typed: &str, expected: &str| {
            assert_eq!(
                dir.rewrite_linked_root(format!("{typed}/src/a.rs:7")),
                format!("{expected}/src/a.rs:7")
            );
        };
        check(&format!("{top}/a link"), &format!("{top}/w"));
        check(&format!("{top}/w"), &format!("{top}/w"));
        check(&format!("file://{top}/a%20link"), &format!("file://{top}/w"));
        check("file:///elsewhere", "file:///elsewhere");
        check("src", "src");
    }

    #[test]
    fn paths_are_spelled_as_their_files() {
        let top = tempfile::tempdir().unwrap();
        std::fs::create_dir(top.path().join("Docs")).unwrap();
        std::fs::write(top.path().join("Docs/A#b.md"), "").unwrap();
        let root = top.path().to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        let dir = CallerDir { root, parts: Vec::new() };
        let check = |typed: &str, expected: &str| {
            let expected = if FS_FOLDS_NAMES { expected } else { typed };
            assert_eq!(dir.resolve_path(typed).unwrap(), expected, "{typed}");
        };
        check("docs/a#b.md", "Docs/A#b.md");
        check("docs/a#B.md:3-4", "Docs/a#B.md:3-4");
        check("docs#C::d", "Docs#C::d");
        check("none/docs", "none/docs");
    }

    #[test]
    fn a_path_that_exists_is_no_glob() {
        let top = tempfile::tempdir().unwrap();
        for below in ["app/[slug]", "app/(shop)/[[...rest]]", "app/{x}"] {
            std::fs::create_dir_all(top.path().join(below)).unwrap();
        }
        let root = top.path().to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        let check = |parts: &[&str], typed: &str, expected: &str| {
            let parts = parts.iter().map(|part| (*part).to_owned()).collect();
            let dir = CallerDir { root: root.clone(), parts };
            assert_eq!(dir.resolve_glob(&of_system(typed)).unwrap(), expected, "{typed}");
        };
        check(&[], "app/[slug]", "/app/[[]slug[]]");
        check(&[], "app/[slug]/", "/app/[[]slug[]]");
        check(&["app"], "[slug]", "/app/[[]slug[]]");
        check(&[], "app/(shop)/[[...rest]]", "/app/(shop)/[[][[]...rest[]][]]");
        check(&[], "app/{x}", "/app/[{]x[}]");
        check(&[], "app/[ab]", "/app/[ab]");
        check(&[], "[slug]", "{[[]slug[]],[slug]}");
        check(&[], "{a,b}.rs", "{a,b}.rs");
    }

    #[test]
    fn globs_start_where_they_are_typed() {
        let check = |cwd: &str, glob: &str, expected: Option<&str>| {
            assert_eq!(
                dir(cwd).resolve_glob(&of_system(glob)).ok().as_deref(),
                expected,
                "{glob} from {cwd}"
            );
        };
        check("/r/w", "src/*.rs", Some("/src/*.rs"));
        check("/r/w", "./src/*.rs", Some("/src/*.rs"));
        check("/r/w", "src/", Some("/src"));
        check("/r/w", ".", Some("**"));
        check("/r/w", "..", None);
        check("/r/w", "*.rs", Some("*.rs"));
        check("/r/w/src", "*.rs", Some("*.rs"));
        check("/r/w/src", "./*.rs", Some("/src/*.rs"));
        check("/r/w/src", "**/*.rs", Some("/src/**/*.rs"));
        check("/r/w/src", ".", Some("/src"));
        check("/r/w/src", "..", Some("**"));
        check("/r/w/src", "../docs/*.md", Some("/docs/*.md"));
        check("/r/w/src", "../../x", None);
        check("/r/w/src", "../../w/docs", Some("/docs"));
        check("/r/w/src", "/r/w/../w/./docs", Some("/docs"));
        check("/r/w/a[b]", "./x", Some("/a[[]b[]]/x"));
        check("/r/w", "été.md", Some("{été.md,e\u{301}te\u{301}.md}"));
        check("/r/w/src", "./é*", Some("/{src/é*,src/e\u{301}*}"));
        check("/r/w/src", "/r/w/docs/*.md", Some("/docs/*.md"));
        check("/r/w/src", "/r/w", Some("**"));
        check("/r/w/src", "/r/wide/*.md", None);
        #[cfg(unix)]
        check("/r/w/src", "/etc/*", None);
        #[cfg(unix)]
        check("/r/w/a\\b", "./x", Some("/a\\\\b/x"));
        let error = dir("/r/w").resolve_glob("../x/*.rs").unwrap_err();
        let root = of_system("/r/w").replace('/', std::path::MAIN_SEPARATOR_STR);
        assert_eq!(error.to_string(), format!("../x/*.rs: outside the worktree {root}"));
    }
}
