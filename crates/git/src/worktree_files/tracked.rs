//! Lists the paths in git's index.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::Metadata;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use filetime::FileTime;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::hash::{Kind, ObjectId};
use gix::index::entry::{Flags, Mode, Stage};
use gix::index::{File, State, decode};
use gix::objs::tree::EntryKind;
use memod_base::paths::{IoContext, is_transient, open_regular};
use memod_base::types::Stat;

use crate::git_error::{GitError, find_system_error};
use crate::special::refuse_special_index;

/// Largest index that is read, in bytes: enough for ten million paths.
const MOST_BYTES: u64 = 1 << 30;

/// The kind of the index entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackedAs {
    /// No entry.
    Untracked,
    /// A file or a symbolic link, in any stage.
    File,
    /// A submodule.
    Repository,
}

/// A path that a merge left unmerged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmergedPath {
    /// Relative to the worktree.
    pub path: BString,
    /// Whether our side has the file.
    pub is_ours: bool,
    /// Whether their side has it.
    pub is_theirs: bool,
}

/// The entries of one git index, read at one moment.
pub struct GitIndex {
    index: Option<File>,
    folded: Option<FoldedPaths>,
}

/// Look-up tables with ASCII letters in lower case, for `core.ignoreCase`.
#[derive(Default)]
struct FoldedPaths {
    entries: HashMap<Vec<u8>, usize>,
    directories: HashSet<Vec<u8>>,
}

impl GitIndex {
    /// Returns a fingerprint of the tracked paths and their modes, without contents.
    pub fn digest(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        for (index, entry) in
            self.index.iter().flat_map(|index| index.entries().iter().map(move |entry| (index, entry)))
        {
            std::hash::Hash::hash(&(entry.path(index), entry.mode.bits()), &mut hasher);
        }
        std::hash::Hasher::finish(&hasher)
    }

    /// Returns an empty index.
    pub fn empty() -> Self {
        Self { index: None, folded: None }
    }

    /// Reads the index at `path`; a missing index is empty, as in a new repository.
    ///
    /// Takes no lock: git replaces the file by renaming, so one complete version is read.
    ///
    /// # Errors
    /// When the index is damaged, of an unknown format, or unreadable at the moment. The error names the index.
    pub fn read(path: &Path, object_hash: Kind, ignore_case: bool) -> Result<Self, GitError> {
        // The file is read, and not mapped as gix would do: if a mapped file is truncated, the process ends.
        let (bytes, meta) = match read_with_meta(path) {
            Ok(read) => read,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Self::empty());
            }
            Err(error) if is_transient(&error) => return Err(error).at("read", path)?,
            Err(error) => return Err(damaged_error(path, error.to_string())),
        };
        let written = FileTime::from_last_modification_time(&meta);
        let (state, _) = State::from_bytes(&bytes, written, object_hash, decode::Options::default())
            .map_err(|error| git_index_error(&error, path))?;
        let index = match state.link() {
            None => File::from_state(state, path),
            Some(_) => {
                refuse_special_index(path)?;
                // The checksum is not verified; git does that only in `git fsck`.
                File::at(path, object_hash, true, decode::Options::default())
                    .map_err(|error| git_index_error(&error, path))?
            }
        };
        let folded = ignore_case.then(|| FoldedPaths::from_index(&index));
        Ok(Self { index: Some(index), folded })
    }

    /// Returns the kind of the entry at `path`, ignoring case if `core.ignoreCase` is set.
    pub fn tracked_as(&self, path: &BStr) -> TrackedAs {
        match self.find_entry(path).map(|(index, at)| index.entry(at).mode) {
            None | Some(Mode::DIR) => TrackedAs::Untracked,
            Some(Mode::COMMIT) => TrackedAs::Repository,
            Some(_) => TrackedAs::File,
        }
    }

    /// Returns whether the index has an entry below the directory `dir`.
    pub fn has_entry_below(&self, dir: &BStr) -> bool {
        let Some(index) = &self.index else {
            return false;
        };
        if let Some(folded) = &self.folded {
            return folded.directories.contains(&dir.to_ascii_lowercase());
        }
        let mut prefix = dir.to_vec();
        prefix.push(b'/');
        let at = index.entries().partition_point(|entry| entry.path(index) <= prefix.as_bstr());
        index.entries().get(at).is_some_and(|entry| entry.path(index).starts_with(&prefix))
    }

    /// Returns the paths below the directory `dir` that a merge left unmerged.
    pub fn list_unmerged_paths(&self, dir: &BStr) -> Vec<UnmergedPath> {
        let Some(index) = &self.index else {
            return Vec::new();
        };
        let mut prefix = dir.to_vec();
        prefix.push(b'/');
        let entries = index.prefixed_entries(prefix.as_bstr()).unwrap_or_default();
        let paths = entries.chunk_by(|a, b| a.path(index) == b.path(index));
        let unmerged = paths.filter_map(|of_path| {
            let has = |stage| of_path.iter().any(|entry| entry.stage() == stage);
            let (is_ours, is_theirs) = (has(Stage::Ours), has(Stage::Theirs));
            let path = || of_path[0].path(index).to_owned();
            (is_ours || is_theirs).then(|| UnmergedPath { path: path(), is_ours, is_theirs })
        });
        unmerged.collect()
    }

    /// Returns the blob id that the index records for a file, if `stat` equals the recorded one, and whether the file is
    /// racy: written in the same second as the index or later, so that git itself would read the file.
    pub fn recorded_content(&self, path: &BStr, stat: &Stat) -> Option<(ObjectId, bool)> {
        let (index, at) = self.find_entry(path)?;
        let entry = index.entry(at);
        let known = entry.stat;
        let is_racy = i64::from(known.mtime.secs) >= index.timestamp().unix_seconds();
        let is_same = time_ns(known.mtime) == stat.mtime_ns
            && time_ns(known.ctime) == stat.ctime_ns
            && known.size == stat.size as u32
            && known.ino == stat.inode as u32;
        let is_certain = entry.stage() == Stage::Unconflicted && !entry.flags.contains(Flags::INTENT_TO_ADD);
        (is_same && is_certain).then_some((entry.id, is_racy))
    }

    /// Returns the paths of the submodules with their recorded commits, in a conflict those of our side; paths that are not
    /// UTF-8 are left out.
    pub fn submodules(&self) -> BTreeMap<String, ObjectId> {
        let entries =
            self.index.iter().flat_map(|index| index.entries().iter().map(move |entry| (index, entry)));
        let mut submodules = BTreeMap::new();
        for (index, entry) in entries.filter(|(_, entry)| entry.mode == Mode::COMMIT) {
            let Ok(path) = entry.path(index).to_str() else { continue };
            if entry.stage() == Stage::Ours || !submodules.contains_key(path) {
                submodules.insert(path.to_owned(), entry.id);
            }
        }
        submodules
    }

    /// Returns the type of the entry at `path`.
    pub fn entry_kind(&self, path: &BStr) -> Option<EntryKind> {
        let (index, at) = self.find_entry(path)?;
        Some(index.entry(at).mode.to_tree_entry_mode()?.kind())
    }

    /// Returns the blob id of the file or link at `path`.
    pub fn recorded_blob(&self, path: &BStr) -> Option<ObjectId> {
        let (index, at) = self.find_entry(path)?;
        let entry = index.entry(at);
        (!matches!(entry.mode, Mode::DIR | Mode::COMMIT)).then_some(entry.id)
    }

    /// Returns the blob id of `path` if a sparse checkout leaves it out of the worktree.
    pub fn blob_outside_sparse_checkout(&self, path: &BStr) -> Option<ObjectId> {
        let (index, at) = self.find_entry(path)?;
        let entry = index.entry(at);
        entry.flags.contains(Flags::SKIP_WORKTREE).then_some(entry.id)
    }

    /// Returns whether a sparse checkout leaves the file at `path` out of the worktree, also where a sparse index has only a directory
    /// above it.
    pub fn is_outside_sparse_checkout(&self, path: &BStr) -> bool {
        let mut above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        let is_dir = |end: usize| {
            let entry = self.find_entry(path[..=end].as_bstr());
            entry.is_some_and(|(index, at)| index.entry(at).mode == Mode::DIR)
        };
        self.blob_outside_sparse_checkout(path).is_some() || above.any(is_dir)
    }

    /// Returns the paths in the index, each with whether a sparse checkout leaves it out of the worktree. The path of a directory, which
    /// a sparse index has instead of its files, ends with `/`, and has the id of the directory's tree.
    pub fn paths_by_sparseness(&self) -> impl Iterator<Item = (&BStr, bool, ObjectId)> {
        self.index.iter().flat_map(|index| {
            index
                .entries()
                .iter()
                .map(move |entry| (entry.path(index), entry.flags.contains(Flags::SKIP_WORKTREE), entry.id))
        })
    }

    /// Returns the index and the position of a path's entry in it.
    fn find_entry(&self, path: &BStr) -> Option<(&File, usize)> {
        let index = self.index.as_ref()?;
        let at = match &self.folded {
            Some(folded) => folded.entries.get(&path.to_ascii_lowercase()).copied()?,
            None => index.entry_index_by_path(path).ok()?,
        };
        Some((index, at))
    }
}

/// Returns the error for an index that cannot be used.
fn damaged_error(path: &Path, reason: String) -> GitError {
    GitError::Index { path: path.to_owned(), reason }
}

/// Returns the error for an index that gix could not read.
fn git_index_error(error: &gix::Error, path: &Path) -> GitError {
    find_system_error(error, path).unwrap_or_else(|| damaged_error(path, error.to_string()))
}

/// Converts a time of the index to nanoseconds since the epoch.
fn time_ns(time: gix::index::entry::stat::Time) -> i64 {
    i64::from(time.secs) * 1_000_000_000 + i64::from(time.nsecs)
}

fn read_with_meta(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    let mut file = open_regular(path, true)?;
    let (mut bytes, meta) = (Vec::new(), file.metadata()?);
    if meta.len() > MOST_BYTES {
        return Err(io::Error::new(ErrorKind::InvalidData, format!("larger than {} GiB", MOST_BYTES >> 30)));
    }
    file.read_to_end(&mut bytes)?;
    Ok((bytes, meta))
}

impl FoldedPaths {
    /// Builds the look-up tables of an index.
    fn from_index(index: &File) -> Self {
        let mut folded = Self::default();
        for (at, entry) in index.entries().iter().enumerate() {
            let path = entry.path(index).to_ascii_lowercase();
            for (slash, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
                if !folded.directories.contains(&path[..slash]) {
                    folded.directories.insert(path[..slash].to_vec());
                }
            }
            folded.entries.insert(path, at);
        }
        folded
    }
}
