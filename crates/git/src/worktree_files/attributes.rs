//! Finds out which contents git converts when it stores them, by gitattributes(5).
//!
//! Conversions of line ends are ignored. Filters are not run, so a content that a filter converts stays unknown.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gix::bstr::{BStr, ByteSlice};
use gix::glob::pattern::Case;
use gix_attributes::search::{MetadataCollection, Outcome};
use gix_attributes::{Search, State};
use memod_base::paths::{RepoLayout, open_regular, read_regular};
use sha2::{Digest as _, Sha256};

use super::encodings;
use super::tracked::GitIndex;
use crate::objects::Objects;
use crate::settings::{Settings, UserDirs};

/// Name of the file of attributes in a directory.
const ATTRIBUTES_FILE_NAME: &str = ".gitattributes";
/// Largest file of attributes that is read from the index, in bytes; the same as git's.
const MOST_BYTES: u64 = 100 << 20;
/// First line of a pointer, which git-lfs stores in place of a content.
const LFS_POINTER_START: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// How git converts a content, besides its line ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// Name of a filter that git's settings define.
    pub filter: Option<String>,
    /// Encoding of the content in the worktree, which git stores as UTF-8.
    pub encoding: Option<String>,
    /// Whether `$Id$` is expanded in the worktree.
    pub ident: bool,
}

impl Conversion {
    /// Returns whether git stores the content unchanged.
    pub fn stores_unchanged(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what git stores for a content of the worktree; `None` if that is not known.
    pub fn convert_for_storage<'a>(&self, bytes: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        // Git-lfs stores a content that is already a pointer unchanged.
        let is_pointer = self.filter.as_deref() == Some("lfs") && bytes.starts_with(LFS_POINTER_START);
        if self.filter.is_some() && !is_pointer {
            return None;
        }
        let mut stored = Cow::Borrowed(bytes);
        if let Some(label) = &self.encoding {
            stored = Cow::Owned(encodings::decode_text(bytes, label)?.into_bytes());
        }
        Some(if self.ident { Cow::Owned(collapse_idents(&stored)) } else { stored })
    }

    /// Returns why [`Self::convert_for_storage`] does not know what git stores, for messages about a file.
    pub fn why_unknown(&self) -> String {
        match (&self.filter, &self.encoding) {
            (None, Some(label)) => {
                format!("git converts the file from {label} (.gitattributes), which memod cannot decode")
            }
            _ => "a filter of git (.gitattributes) converts the file; `git status` runs filters".to_owned(),
        }
    }
}

/// Returns whether a stored content is the pointer that git-lfs stores for `bytes`; `None` if it is no pointer of git-lfs.
pub fn is_lfs_pointer_to(stored: &[u8], bytes: &[u8]) -> Option<bool> {
    let fields = stored.strip_prefix(LFS_POINTER_START)?;
    let oid = fields.lines().find_map(|line| line.strip_prefix(b"oid sha256:"))?;
    let own: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Some(oid == own.as_bytes())
}

/// Returns a content with `$Id$` for each `$Id: …$`.
fn collapse_idents(bytes: &[u8]) -> Vec<u8> {
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

/// The attributes that are outside the worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutsideAttributes {
    /// Contents of the system's file, then of the user's.
    files: Vec<Vec<u8>>,
    /// Content of the repository's own file, which takes precedence.
    info: Vec<u8>,
}

impl OutsideAttributes {
    /// Reads the files; a missing or unreadable file counts as empty.
    pub fn read(layout: &RepoLayout, settings: &Settings, dirs: &UserDirs) -> Self {
        let of_system = dirs.system_config.as_ref().map(|config| config.with_file_name("gitattributes"));
        let info = layout.common_dir.as_ref().map(|dir| dir.join("info/attributes"));
        let files = of_system.into_iter().chain(settings.attributes_file.clone());
        let files = files.map(|path| read_or_empty(&path)).collect();
        Self { files, info: info.as_deref().map(read_or_empty).unwrap_or_default() }
    }
}

/// The attributes of a worktree. Files are read when a path needs them.
pub struct Attributes<'a> {
    root: &'a Path,
    settings: &'a Settings,
    outside: &'a OutsideAttributes,
    /// Git's index, for files that the worktree lacks.
    index: (&'a GitIndex, Option<&'a Objects>),
    /// Contents of the files that were read from the worktree, by directory; `None` for a missing file.
    files: RefCell<BTreeMap<String, Option<Vec<u8>>>>,
    /// The rules that were read so far, by directory.
    rules_by_dir: RefCell<HashMap<String, Rc<Rules>>>,
}

/// The directory of a file of attributes, and the hash of the file's content; `None` if there was no file.
pub type AttributeFile = (String, Option<blake3::Hash>);

/// The rules of all files of attributes that apply to the files of a directory.
type Rules = (Search, MetadataCollection);

impl<'a> Attributes<'a> {
    /// Prepares to read the attributes of a worktree. `outside` holds the attributes that git reads from files outside it.
    pub fn new(
        root: &'a Path,
        settings: &'a Settings,
        outside: &'a OutsideAttributes,
        index: (&'a GitIndex, Option<&'a Objects>),
    ) -> Self {
        Self { root, settings, outside, index, files: RefCell::default(), rules_by_dir: RefCell::default() }
    }

    /// Returns the files of attributes that were looked up in the worktree so far.
    pub fn list_read_files(&self) -> Vec<AttributeFile> {
        let files = self.files.borrow();
        let hashed = files.iter().map(|(dir, bytes)| (dir.clone(), bytes.as_deref().map(blake3::hash)));
        hashed.collect()
    }

    /// Returns whether a file still has the content that was read.
    pub fn is_unchanged(root: &Path, (dir, hash): &AttributeFile) -> bool {
        read_attributes(root, dir).as_deref().map(blake3::hash) == *hash
    }

    /// Returns how git converts the content of a file.
    pub fn find_conversion(&self, path: &str) -> Conversion {
        let rules = self.rules_for_dir(&path[..path.rfind('/').map_or(0, |at| at + 1)]);
        let (search, names) = &*rules;
        let mut found = Outcome::default();
        found.initialize_with_selection(names, ["filter", "working-tree-encoding", "ident"]);
        let case = if self.settings.ignore_case { Case::Fold } else { Case::Sensitive };
        search.pattern_matching_relative_path(BStr::new(path), case, Some(false), &mut found);
        let states: Vec<State> =
            found.iter_selected().map(|found| found.assignment.state.to_owned()).collect();
        let [filter, encoding, ident] = &states[..] else { return Conversion::default() };
        Conversion {
            filter: attribute_value(filter).filter(|name| self.settings.filters.contains(name)),
            encoding: attribute_value(encoding).filter(|label| !label.is_empty() && !is_utf8(label)),
            ident: *ident == State::Set,
        }
    }

    /// Returns the rules for the files of a directory, which ends with a slash unless it is the root.
    fn rules_for_dir(&self, dir: &str) -> Rc<Rules> {
        if let Some(known) = self.rules_by_dir.borrow().get(dir) {
            return Rc::clone(known);
        }
        let (mut search, mut names) = Rules::default();
        let mut add = |bytes: &[u8], file: PathBuf, root: Option<&Path>, has_macros: bool| {
            // This fails only for a file outside the root.
            let _ = search.add_patterns_buffer(bytes, file, root, &mut names, has_macros);
        };
        self.outside.files.iter().for_each(|bytes| add(bytes, PathBuf::new(), None, true));
        let mut files = self.files.borrow_mut();
        for end in std::iter::once(0).chain(dir.match_indices('/').map(|(at, _)| at + 1)) {
            let dir = &dir[..end];
            let read = files.entry(dir.to_owned()).or_insert_with(|| read_attributes(self.root, dir));
            let bytes = read
                .as_deref()
                .map(Cow::Borrowed)
                .or_else(|| self.read_tracked(&format!("{dir}{ATTRIBUTES_FILE_NAME}")).map(Cow::Owned));
            let file = self.root.join(dir).join(ATTRIBUTES_FILE_NAME);
            add(&bytes.unwrap_or_default(), file, Some(self.root), end == 0);
        }
        drop(files);
        add(&self.outside.info, PathBuf::new(), None, true);
        let rules = Rc::new((search, names));
        self.rules_by_dir.borrow_mut().insert(dir.to_owned(), Rc::clone(&rules));
        rules
    }

    /// Returns the content that git's index has for a file.
    fn read_tracked(&self, path: &str) -> Option<Vec<u8>> {
        let (tracked, objects) = self.index;
        objects?.read_blob_at_most(tracked.recorded_blob(path.into())?, MOST_BYTES).ok().flatten()
    }
}

/// Reads a file; returns no bytes if the file cannot be read.
fn read_or_empty(path: &Path) -> Vec<u8> {
    read_regular(path).unwrap_or_default()
}

/// Returns the value of an attribute, if it has one.
fn attribute_value(state: &State) -> Option<String> {
    match state {
        State::Value(value) => Some(value.as_ref().as_bstr().to_str_lossy().into_owned()),
        _ => None,
    }
}

/// Returns whether an encoding is UTF-8.
fn is_utf8(label: &str) -> bool {
    ["utf-8", "utf8"].contains(&label.to_ascii_lowercase().as_str())
}

/// Reads the file of attributes in a directory; does not follow a symbolic link, as git does not.
fn read_attributes(root: &Path, dir: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(&root.join(dir).join(ATTRIBUTES_FILE_NAME), false).ok()?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expanded_ids_are_stored_without_their_value() {
        let stored = |text: &str| String::from_utf8(collapse_idents(text.as_bytes())).unwrap();
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
            ATTRIBUTES_FILE_NAME,
            "# comment\n[attr]big filter=lfs -text\n*.bin big\n\"a b.txt\" ident\n*.u working-tree-encoding=UTF-16LE\n*.v working-tree-encoding=UTF-8\nsub/* ident\n",
        );
        write("sub/.gitattributes", "*.bin !filter\n/x.txt -ident\n");
        let (root, state_dir, id) = (dir.path().to_owned(), PathBuf::new(), String::new());
        let layout = RepoLayout { root, git_dir: None, common_dir: None, state_dir, id };
        let mut settings = Settings::read(&layout, &UserDirs::default()).unwrap();
        settings.filters.insert("lfs".to_owned());
        let (outside, tracked) = (OutsideAttributes::default(), GitIndex::empty());
        let attributes = Attributes::new(dir.path(), &settings, &outside, (&tracked, None));
        let is = |path: &str, filter: Option<&str>, encoding: Option<&str>, ident| {
            let (filter, encoding) = (filter.map(str::to_owned), encoding.map(str::to_owned));
            assert_eq!(attributes.find_conversion(path), Conversion { filter, encoding, ident }, "{path}");
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
