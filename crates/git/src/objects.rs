//! Reads commits, trees and blobs.
//!
//! Packs, loose objects and alternates are read. Replacements (`git replace`) and grafts are ignored, and missing objects of
//! a partial clone are never fetched.

pub(crate) mod blob;
mod object_dirs;

use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::hash::Kind as ObjectHash;
use gix::objs::tree::EntryKind;
use gix::objs::{CommitRefIter, Find as _, FindHeader as _, TreeRefIter};
use gix::odb::pack::cache::lru::MemoryCappedHashmap;
use memod_base::paths::{PathError, RepoLayout, read_regular};

use self::object_dirs::ObjectDirs;
use crate::git_error::{GitError, clone_io_error, find_system_error};

/// Size of the cache for trees, which are stored as deltas, in bytes.
const DELTA_CACHE_BYTES: usize = 32 << 20;

/// The objects of a repository. If an object is not found, the packs are listed again, because `git gc` may have moved the
/// object.
pub struct Objects {
    pub(super) odb: gix::odb::Handle,
    dirs: ObjectDirs,
    object_hash: ObjectHash,
    /// Commits whose parents a shallow clone lacks.
    shallow: HashSet<ObjectId>,
    /// The first pack that cannot be opened, if any; searched for when an object is missing.
    unreadable_pack: OnceLock<Option<PathError>>,
}

/// The parts of a commit that a walk needs.
#[derive(Clone, Debug)]
pub struct CommitNode {
    /// Its tree.
    pub tree: ObjectId,
    /// Its parents; empty at the boundary of a shallow history.
    pub parents: Vec<ObjectId>,
    /// Commit time, unix seconds.
    pub time: i64,
    /// Whether the commit has parents that a shallow clone lacks.
    pub lacks_parents: bool,
}

/// A commit for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: ObjectId,
    /// `Name <mail>`.
    pub author: String,
    /// Author time, RFC 3339 with the author's offset.
    pub date: String,
    /// The first paragraph of the message in one line, as `git log --format=%s` shows it.
    pub subject: String,
    /// The rest of the message, without blank lines around it.
    pub body: String,
}

/// The entry of a tree at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The object.
    pub id: ObjectId,
    /// Type and permissions.
    pub kind: EntryKind,
}

impl CommitNode {
    /// Returns why history ends at this commit although it has parents, if it does.
    pub fn why_history_ends(&self, id: ObjectId) -> Option<String> {
        self.lacks_parents.then(|| format!("history ends at {id}: this is a shallow clone"))
    }
}

impl TreeEntry {
    /// Returns whether the entry is a file.
    pub fn is_file(&self) -> bool {
        matches!(self.kind, EntryKind::Blob | EntryKind::BlobExecutable)
    }

    /// Returns whether the entry is a directory.
    pub(super) fn is_directory(&self) -> bool {
        self.kind == EntryKind::Tree
    }

    /// Returns whether the entry is a submodule.
    pub fn is_submodule(&self) -> bool {
        self.kind == EntryKind::Commit
    }

    /// Returns whether the file is executable; `None` if the entry is no file.
    pub fn is_executable(&self) -> Option<bool> {
        self.is_file().then_some(self.kind == EntryKind::BlobExecutable)
    }

    /// Returns whether the entry is a file or a symbolic link, whose target is its text.
    pub fn has_text(&self) -> bool {
        self.is_file() || self.kind == EntryKind::Link
    }
}

impl Objects {
    /// Opens the objects of a repository; `None` outside git.
    ///
    /// # Errors
    /// When the directory of objects cannot be read.
    pub fn open(layout: &RepoLayout, object_hash: ObjectHash) -> Result<Option<Self>, GitError> {
        let Some(common_dir) = &layout.common_dir else { return Ok(None) };
        let dir = common_dir.join("objects");
        let dirs = ObjectDirs::find(&dir)?;
        let opened = gix::odb::at(&dir, object_hash);
        let mut odb = match opened {
            Ok(odb) => odb,
            Err(source) => {
                let error = PathError { action: "read", path: dir, source };
                return Err(GitError::Io(dirs.find_unreadable_pack().unwrap_or(error)));
            }
        };
        odb.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(DELTA_CACHE_BYTES)));
        let shallow = read_shallow(&common_dir.join("shallow"));
        Ok(Some(Self { odb, dirs, object_hash, shallow, unreadable_pack: OnceLock::new() }))
    }

    /// Returns the parts of a commit that a walk needs.
    ///
    /// # Errors
    /// When it is missing, damaged or no commit.
    pub fn read_commit_node(&self, id: ObjectId) -> Result<CommitNode, GitError> {
        let bytes = self.read_object(id, gix::objs::Kind::Commit)?;
        // Parse field by field, because the rest may be damaged and is not needed.
        let mut fields = CommitRefIter::from_bytes(&bytes, self.object_hash);
        let tree = fields.tree_id().map_err(|error| damaged_error(id, &error))?;
        let lacks_parents = self.shallow.contains(&id);
        let parents = if lacks_parents { Vec::new() } else { fields.parent_ids().collect() };
        let time = fields.committer().map_or(0, |committer| committer.seconds());
        Ok(CommitNode { tree, parents, time, lacks_parents })
    }

    /// Returns a commit for display.
    ///
    /// # Errors
    /// When it is missing, damaged or no commit.
    pub fn read_commit(&self, id: ObjectId) -> Result<Commit, GitError> {
        let bytes = self.read_object(id, gix::objs::Kind::Commit)?;
        let fields = || CommitRefIter::from_bytes(&bytes, self.object_hash);
        let encoding = fields().filter_map(Result::ok).find_map(|token| match token {
            gix::objs::commit::ref_iter::Token::Encoding(label) => Some(label),
            _ => None,
        });
        let decode = |bytes: &BStr| decode_text(bytes, encoding);
        // The message starts after the first blank line, even if the fields above are malformed.
        let message = bytes.find(b"\n\n").map(|at| decode(bytes[at + 2..].as_bstr()));
        let (subject, body) = split_message(&message.unwrap_or_default());
        let author = fields().author().ok();
        let time = author.and_then(|author| author.time().ok());
        let format = gix::date::time::format::ISO8601_STRICT;
        Ok(Commit {
            id,
            author: author.map_or_else(String::new, |author| {
                let author = author.trim();
                format!("{} <{}>", decode(author.name), decode(author.email))
            }),
            date: time.map_or_else(String::new, |time| time.format_or_unix(format).replace("+00:00", "Z")),
            subject,
            body,
        })
    }

    /// Returns the entry in the tree of a commit at a path, if there is one.
    ///
    /// # Errors
    /// When a tree on the way is missing or damaged.
    pub fn find_tree_entry(&self, tree: ObjectId, path: &str) -> Result<Option<TreeEntry>, GitError> {
        let mut at = TreeEntry { id: tree, kind: EntryKind::Tree };
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if at.kind != EntryKind::Tree {
                return Ok(None);
            }
            let bytes = self.read_tree(at.id)?;
            let entries = TreeRefIter::from_bytes(&bytes, self.object_hash);
            let Some(entry) = entries.filter_map(Result::ok).find(|entry| entry.filename == name) else {
                return Ok(None);
            };
            at = TreeEntry { id: entry.oid.to_owned(), kind: entry.mode.kind() };
        }
        Ok(Some(at))
    }

    /// Adds the paths of the files below a tree to `files`, each with `prefix` before it, until there are `most`.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub fn list_files_below(
        &self,
        tree: ObjectId,
        prefix: &str,
        (files, most): (&mut Vec<String>, usize),
    ) -> Result<(), GitError> {
        let bytes = self.read_tree(tree)?;
        for entry in TreeRefIter::from_bytes(&bytes, self.object_hash).filter_map(Result::ok) {
            let path = format!("{prefix}{}", entry.filename);
            if files.len() >= most {
                return Ok(());
            }
            match entry.mode.kind() {
                EntryKind::Tree => {
                    self.list_files_below(entry.oid.to_owned(), &format!("{path}/"), (&mut *files, most))?;
                }
                _ => files.push(path),
            }
        }
        Ok(())
    }

    /// Returns the content of a blob; `None` if it has more than `most_bytes` bytes.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn read_blob_at_most(&self, id: ObjectId, most_bytes: u64) -> Result<Option<Vec<u8>>, GitError> {
        if self.read_header(id)?.size > most_bytes {
            return Ok(None);
        }
        self.read_object(id, gix::objs::Kind::Blob).map(Some)
    }

    pub(super) fn read_tree(&self, id: ObjectId) -> Result<Vec<u8>, GitError> {
        if id.is_empty_tree() {
            return Ok(Vec::new()); // git knows the empty tree without storing it
        }
        self.read_object(id, gix::objs::Kind::Tree)
    }

    /// Follows annotated tags to their commit.
    ///
    /// # Errors
    /// When the target is not a commit, or an object on the way is missing or damaged.
    pub fn peel_to_commit(&self, mut id: ObjectId) -> Result<ObjectId, GitError> {
        loop {
            match self.object_kind(id)? {
                gix::objs::Kind::Commit => return Ok(id),
                gix::objs::Kind::Tag => {
                    let bytes = self.read_object(id, gix::objs::Kind::Tag)?;
                    let tag = gix::objs::TagRefIter::from_bytes(&bytes, self.object_hash).target_id();
                    id = tag.map_err(|error| damaged_error(id, &error))?;
                }
                kind => return Err(wrong_type_error(id, kind, gix::objs::Kind::Commit)),
            }
        }
    }

    /// Returns the type of an object.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn object_kind(&self, id: ObjectId) -> Result<gix::objs::Kind, GitError> {
        Ok(self.read_header(id)?.kind)
    }

    pub(super) fn object_hash(&self) -> ObjectHash {
        self.object_hash
    }

    /// Returns the error for an object that was not found. If a pack or the object's file cannot be opened, the error names
    /// that file, because gix passes over it.
    fn missing_error(&self, id: ObjectId) -> GitError {
        if let Some(PathError { action, path, source }) =
            self.unreadable_pack.get_or_init(|| self.dirs.find_unreadable_pack())
        {
            return PathError { action, path: path.clone(), source: clone_io_error(source) }.into();
        }
        self.dirs.find_unreadable_loose_object(&id).map_or(GitError::Missing { id }, GitError::Io)
    }

    /// Returns the error for an object that could not be read; the error names a pack that cannot be opened, if there is one.
    fn unreadable_object_error(&self, id: ObjectId, error: &gix::Error) -> GitError {
        match find_system_error(error, Path::new(&format!("git object {id}"))) {
            Some(interrupted) if !interrupted.is_transient() => {
                self.dirs.find_unreadable_pack().map_or(interrupted, GitError::Io)
            }
            Some(interrupted) => interrupted,
            None => damaged_error(id, error),
        }
    }

    /// Reads the type and size of an object.
    fn read_header(&self, id: ObjectId) -> Result<gix::objs::Header, GitError> {
        self.dirs.refuse_special_object(&id)?;
        let header = self.odb.try_header(&id).map_err(|error| self.unreadable_object_error(id, &error))?;
        header.ok_or_else(|| self.missing_error(id))
    }

    /// Reads an object of a type.
    fn read_object(&self, id: ObjectId, kind: gix::objs::Kind) -> Result<Vec<u8>, GitError> {
        let mut bytes = Vec::new();
        self.dirs.refuse_special_object(&id)?;
        let found =
            self.odb.try_find(&id, &mut bytes).map_err(|error| self.unreadable_object_error(id, &error))?;
        let found = found.ok_or_else(|| self.missing_error(id))?.kind;
        if found == kind { Ok(bytes) } else { Err(wrong_type_error(id, found, kind)) }
    }
}

/// Finds trees for a comparison. A tree that cannot be opened without blocking counts as missing.
impl gix::objs::Find for Objects {
    fn try_find<'a>(
        &self,
        id: &gix::oid,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Option<gix::objs::Data<'a>>, gix::Error> {
        match self.dirs.refuse_special_object(id) {
            Ok(()) => self.odb.try_find(id, buffer),
            Err(_) => Ok(None),
        }
    }
}

/// Returns the error for an object of another type.
fn wrong_type_error(id: ObjectId, found: gix::objs::Kind, wanted: gix::objs::Kind) -> GitError {
    GitError::Object { id, reason: format!("it is a {found}, but a {wanted} is needed") }
}

/// Returns the error for an object that does not parse.
fn damaged_error(id: ObjectId, error: &dyn std::fmt::Display) -> GitError {
    GitError::Object { id, reason: error.to_string() }
}

/// Reads the ids of the commits where a shallow history ends; empty for a complete history.
fn read_shallow(path: &Path) -> HashSet<ObjectId> {
    let text = read_regular(path).unwrap_or_default();
    text.lines().filter_map(|line| ObjectId::from_hex(line.trim()).ok()).collect()
}

/// Converts text to UTF-8. Invalid bytes, also in an unknown encoding, become U+FFFD.
fn decode_text(bytes: &BStr, encoding: Option<&BStr>) -> String {
    let known = encoding.and_then(|label| encoding_rs::Encoding::for_label(label));
    match known {
        Some(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
        None => bytes.to_str_lossy().into_owned(),
    }
}

/// Splits a message into its first paragraph, in one line, and the rest.
fn split_message(message: &str) -> (String, String) {
    // Terminals, SQLite and git read a text only up to a NUL, so each NUL becomes a blank.
    let message = message.replace('\0', " ");
    let mut lines = message.trim_start_matches(['\n', '\r']).lines();
    let subject: Vec<&str> = lines.by_ref().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let body: Vec<&str> = lines.map(str::trim_end).collect();
    (subject.join(" "), body.join("\n").trim_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        let check = |message: &str, subject: &str, body: &str| {
            assert_eq!(split_message(message), (subject.to_owned(), body.to_owned()), "{message:?}");
        };
        check("", "", "");
        check("one", "one", "");
        check("\n\none\n", "one", "");
        check("one\ntwo\n\n\nthree\n\n four\n", "one two", "three\n\n four");
        check("one\r\n\r\ntwo\r\n", "one", "two");
        check("a\0b", "a b", "");
    }

    #[test]
    fn encodings() {
        let check = |bytes: &[u8], encoding: Option<&str>, expected: &str| {
            assert_eq!(decode_text(bytes.into(), encoding.map(BStr::new)), expected);
        };
        check("größe".as_bytes(), None, "größe");
        check(b"gr\xf6\xdfe", Some("ISO-8859-1"), "größe");
        check(b"\x93\xfa\x96\x7b", Some("Shift_JIS"), "日本");
        check(b"gr\xf6e", Some("no-such"), "gr\u{fffd}e");
    }
}
