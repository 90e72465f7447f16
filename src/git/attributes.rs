//! Finds out which contents git converts when it stores them, by gitattributes(5).
//!
//! Line ends are not looked at. No filter is run: what only a filter can tell stays unknown.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gix::bstr::{BStr, ByteSlice};
use gix::glob::pattern::Case;
use sha2::{Digest as _, Sha256};

use super::GitError;
use super::patterns::Patterns;
use super::settings::{Settings, UserDirs, load, path_value};
use crate::paths::{RepoLayout, read_regular};

/// Name of the file in each directory.
const FILE: &str = ".gitattributes";
/// Deepest nesting of macros.
const MOST_NESTED: usize = 8;
/// First line of what git-lfs stores in place of a content.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// How git converts a content, besides its line ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// A filter.
    pub filter: Option<String>,
    /// Encoding in the worktree; UTF-8 is stored.
    pub encoding: Option<String>,
    /// Whether `$Id$` is expanded in the worktree.
    pub ident: bool,
}

impl Conversion {
    /// Returns whether the content is stored as it is.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what git stores of a content of the worktree; `None` if that is not known.
    pub fn stored<'a>(&self, bytes: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        if self.filter.is_some() {
            return None;
        }
        let mut stored = Cow::Borrowed(bytes);
        if let Some(label) = &self.encoding {
            let encoding = encoding_rs::Encoding::for_label(label.as_bytes())?;
            let (text, _, has_errors) = encoding.decode(bytes);
            stored = Cow::Owned((!has_errors).then(|| text.into_owned().into_bytes())?);
        }
        Some(if self.ident { Cow::Owned(without_ids(&stored)) } else { stored })
    }
}

/// Returns whether a stored content is what git-lfs stores for a content of the worktree; `None` if it is nothing of git-lfs.
pub fn is_lfs_pointer_to(stored: &[u8], bytes: &[u8]) -> Option<bool> {
    let fields = stored.strip_prefix(LFS)?;
    let oid = fields.lines().find_map(|line| line.strip_prefix(b"oid sha256:"))?;
    let own: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Some(oid == own.as_bytes())
}

/// Returns a content with `$Id$` for each `$Id: …$`.
fn without_ids(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.find(b"$Id:") {
        let after = &rest[at + 4..];
        let end = after.iter().position(|byte| matches!(byte, b'$' | b'\n'));
        match end.filter(|end| after[*end] == b'$') {
            Some(end) => {
                kept.extend_from_slice(&rest[..at]);
                kept.extend_from_slice(b"$Id$");
                rest = &after[end + 1..];
            }
            None => {
                kept.extend_from_slice(&rest[..at + 4]);
                rest = after;
            }
        }
    }
    kept.extend_from_slice(rest);
    kept
}

/// The attributes of a worktree. Files are read when a path needs them.
pub struct Attributes {
    root: PathBuf,
    case: Case,
    /// Of the system, then of the user.
    outside: Vec<Rc<Rules>>,
    /// Of the repository alone; they take precedence.
    info: Rc<Rules>,
    /// By directory.
    inside: RefCell<HashMap<String, Rc<Rules>>>,
}

impl Attributes {
    /// Prepares to read the attributes of a worktree.
    ///
    /// # Errors
    /// When the settings cannot be read.
    pub fn of(layout: &RepoLayout, settings: &Settings, dirs: &UserDirs) -> Result<Self, GitError> {
        let config = load(layout, dirs)?;
        let named = config.as_ref().filter(|config| config.path("core.attributesFile").is_some());
        let of_user = match named {
            Some(config) => path_value(config, "core.attributesFile", &layout.root, dirs),
            None => dirs.xdg("attributes"),
        };
        let of_system = dirs.system_config.as_ref().map(|config| config.with_file_name("gitattributes"));
        let read = |path: PathBuf| Rc::new(Rules::read(&path));
        let info = layout.common_dir.as_ref().map(|dir| dir.join("info/attributes"));
        Ok(Self {
            root: layout.root.clone(),
            case: if settings.ignore_case { Case::Fold } else { Case::Sensitive },
            outside: of_system.into_iter().chain(of_user).map(read).collect(),
            info: info.map(read).unwrap_or_default(),
            inside: RefCell::default(),
        })
    }

    /// Returns how git converts the content of a file.
    pub fn conversion(&self, path: &str) -> Conversion {
        let mut files: Vec<(&str, Rc<Rules>)> =
            self.outside.iter().map(|rules| ("", Rc::clone(rules))).collect();
        let slashes = path.match_indices('/').map(|(at, _)| at + 1);
        files.extend(std::iter::once(0).chain(slashes).map(|end| (&path[..end], self.inside(&path[..end]))));
        files.push(("", Rc::clone(&self.info)));
        let macros: Vec<&Rule> =
            files.iter().filter(|(dir, _)| dir.is_empty()).flat_map(|(_, rules)| &rules.macros).collect();
        let mut found = HashMap::new();
        for (dir, rules) in &files {
            let below = BStr::new(&path[dir.len()..]);
            for rule in &rules.rules {
                if rule.pattern.decide(below, false, self.case).is_some() {
                    set(&mut found, &rule.states, &macros, MOST_NESTED);
                }
            }
        }
        let mut value = |name: &str| match found.remove(name) {
            Some(State::Value(value)) if !value.is_empty() => Some(value),
            _ => None,
        };
        let (filter, encoding) = (value("filter"), value("working-tree-encoding"));
        let is_utf8 = |label: &String| ["utf-8", "utf8"].contains(&label.to_ascii_lowercase().as_str());
        let ident = matches!(found.get("ident"), Some(State::Set));
        Conversion { filter, encoding: encoding.filter(|label| !is_utf8(label)), ident }
    }

    fn inside(&self, dir: &str) -> Rc<Rules> {
        if let Some(known) = self.inside.borrow().get(dir) {
            return Rc::clone(known);
        }
        let read = Rc::new(Rules::read(&self.root.join(dir).join(FILE)));
        self.inside.borrow_mut().insert(dir.to_owned(), Rc::clone(&read));
        read
    }
}

/// The state of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Set,
    Unset,
    Unspecified,
    Value(String),
}

/// Attributes of the paths that match a pattern, or of a macro.
#[derive(Default)]
struct Rule {
    pattern: Patterns,
    name: String,
    states: Vec<(String, State)>,
}

/// The lines of a file.
#[derive(Default)]
struct Rules {
    rules: Vec<Rule>,
    macros: Vec<Rule>,
}

impl Rules {
    /// Reads a file; one that cannot be read says nothing.
    fn read(path: &Path) -> Self {
        let mut rules = Self::default();
        for line in read_regular(path).unwrap_or_default().lines() {
            let line = line.trim_ascii();
            let Some((pattern, rest)) = pattern(line) else { continue };
            let states = rest.to_str_lossy().split_ascii_whitespace().map(state).collect();
            match pattern.strip_prefix(b"[attr]") {
                Some(name) => {
                    let name = name.to_str_lossy().into_owned();
                    rules.macros.push(Rule { name, states, ..Rule::default() });
                }
                None => {
                    let pattern = Patterns::parse(&pattern);
                    rules.rules.push(Rule { pattern, states, ..Rule::default() });
                }
            }
        }
        rules
    }
}

/// Splits a line into its pattern, which may be quoted, and the rest; `None` for a comment, and for a pattern that git ignores.
fn pattern(line: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    if matches!(line.first(), None | Some(b'#' | b'!')) {
        return None;
    }
    let Some(quoted) = line.strip_prefix(b"\"") else {
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        return Some((line[..end].to_vec(), &line[end..]));
    };
    let (mut pattern, mut is_escaped) = (Vec::new(), false);
    for (at, byte) in quoted.iter().enumerate() {
        match byte {
            b'\\' if !is_escaped => is_escaped = true,
            b'"' if !is_escaped => return Some((pattern, &quoted[at + 1..])),
            byte => {
                pattern.push(*byte);
                is_escaped = false;
            }
        }
    }
    None
}

fn state(word: &str) -> (String, State) {
    match (word.strip_prefix('-'), word.strip_prefix('!'), word.split_once('=')) {
        (Some(name), ..) => (name.to_owned(), State::Unset),
        (_, Some(name), _) => (name.to_owned(), State::Unspecified),
        (.., Some((name, value))) => (name.to_owned(), State::Value(value.to_owned())),
        _ => (word.to_owned(), State::Set),
    }
}

/// Applies a line, with the macros that it sets; what comes later takes precedence.
fn set(found: &mut HashMap<String, State>, states: &[(String, State)], macros: &[&Rule], depth: usize) {
    for (name, state) in states {
        found.insert(name.clone(), state.clone());
        let named = macros.iter().rfind(|rule| rule.name == *name && *state == State::Set);
        if let Some((rule, depth)) = named.zip(depth.checked_sub(1)) {
            set(found, &rule.states, macros, depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expanded_ids_are_stored_without_their_value() {
        let stored = |text: &str| String::from_utf8(without_ids(text.as_bytes())).unwrap();
        assert_eq!(stored("a $Id: 1234 $ b $Id$ c $Id: x$"), "a $Id$ b $Id$ c $Id$");
        assert_eq!(stored("$Id: no end\n$ $Id: "), "$Id: no end\n$ $Id: ");
    }

    #[test]
    fn the_last_line_that_matches_decides() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            FILE,
            "# comment\n[attr]big filter=lfs -text\n*.bin big\n\"a b.txt\" ident\n*.u working-tree-encoding=UTF-16LE\n*.v working-tree-encoding=UTF-8\nsub/* ident\n",
        );
        write("sub/.gitattributes", "*.bin !filter\n/x.txt -ident\n");
        let attributes = Attributes {
            root: dir.path().to_owned(),
            case: Case::Sensitive,
            outside: Vec::new(),
            info: Rc::default(),
            inside: RefCell::default(),
        };
        let is = |path: &str, filter: Option<&str>, encoding: Option<&str>, ident| {
            let (filter, encoding) = (filter.map(str::to_owned), encoding.map(str::to_owned));
            assert_eq!(attributes.conversion(path), Conversion { filter, encoding, ident }, "{path}");
        };
        is("x.bin", Some("lfs"), None, false);
        is("deep/x.bin", Some("lfs"), None, false);
        is("sub/x.bin", None, None, true);
        is("sub/x.txt", None, None, false);
        is("sub/y.txt", None, None, true);
        is("sub/deep/y.txt", None, None, false);
        is("a b.txt", None, None, true);
        is("x.u", None, Some("UTF-16LE"), false);
        is("x.v", None, None, false);
    }
}
