//! Declares plain values that all crates share.

mod compound_name;
mod escape_text;
mod exact_numbers;
mod expression;
mod file_class;
mod file_structure;
mod id_set;
mod noun_form;
mod path_target;
mod qualified_name;
mod ranking_part;
mod relative_path;
mod secret_name;
mod typed_time;
mod word_pieces;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::compound_name::is_compound;
pub use self::escape_text::escape_for_display;
pub use self::exact_numbers::{parse_with_exact_metadata, parse_with_exact_numbers};
pub use self::expression::{Expression, Phrase};
pub use self::file_class::{ClassSet, FileClass};
pub use self::file_structure::{
    Arity, DeclaredItem, DeclaredRole, ExportedName, FileStructure, ImportedName, LOCAL_MARK, NameUse,
    TypedValue, UseReceiver, UseRole, is_version, without_local_mark,
};
pub use self::id_set::IdSet;
pub use self::noun_form::{noun_form, suggest_names};
pub use self::path_target::{PathPart, explain_wrong_lines, parse_target};
pub use self::qualified_name::{
    is_same_or_inside, last_part, last_typed_part, qualifier, to_dotted_name, typed_parts,
};
pub use self::ranking_part::{RankingPart, RankingParts};
pub use self::relative_path::{file_name, parent_dir};
pub use self::secret_name::is_secret_name;
pub use self::typed_time::{TimeDirection, format_rfc3339, parse_moment};
pub use self::word_pieces::WordPieces;

/// Largest number of chunks of a file; more would only be noise. A megabyte of one-word headings would have 262,000.
pub const MAX_CHUNKS_PER_FILE: usize = 8_192;

/// Identity of one indexed thing inside a worktree: its worktree-relative path with `/` separators.
///
/// Invariant: never absolute, never empty, never with `.` or `..` components, always UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceKey(String);

impl SourceKey {
    /// Creates the key of a file from its worktree-relative path with `/` separators.
    pub fn new(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of the file in a worktree with this root.
    pub fn path_in(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }

    /// Returns the key of a commit. If a file has the same path, the key belongs to the file.
    pub fn for_commit(oid: &impl fmt::Display) -> Self {
        Self(format!("{COMMIT_PREFIX}{oid}"))
    }
}

/// Prefix of the key of a commit.
const COMMIT_PREFIX: &str = "commit:";

impl fmt::Display for SourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Row id of a worktree of the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorktreeId(pub i64);

/// Row id of a blob: the content of files in worktrees, independent of their paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub i64);

/// Average number of characters in a token. Tokenizers differ; for English and code the average is about four.
pub const CHARS_PER_TOKEN: usize = 4;

/// Row id of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId(pub i64);

/// The first half of the BLAKE3 hash of a text, which suffices to distinguish the texts of a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TextHash(pub [u8; 16]);

impl TextHash {
    /// Returns the hash of some bytes.
    pub fn hash_bytes(bytes: &[u8]) -> Self {
        blake3::hash(bytes).into()
    }
}

impl From<blake3::Hash> for TextHash {
    fn from(hash: blake3::Hash) -> Self {
        let mut half = [0; 16];
        half.copy_from_slice(&hash.as_bytes()[..16]);
        Self(half)
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A definition in a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Names of the enclosing definitions and own name, joined as in the language: `Session::login`.
    pub title: String,
    /// Own names, mostly one, joined by spaces.
    pub names: String,
    /// First and last line, 1-based and inclusive, including the comments above the definition.
    pub lines: (u32, u32),
    /// Hash of the text of the definition, without the comments above.
    pub text: TextHash,
    /// Hash of the same text without the names that it defines.
    pub shape: TextHash,
    /// Whether it is a field, attribute or variant of a type.
    pub is_field: bool,
    /// Number of `@overload` declarations of Python before the implementation.
    pub n_overloads: u32,
}

impl Definition {
    /// Returns the shortest of `definitions` that has all lines of `lines`, the first and last line. A line of a field is in its
    /// type.
    pub fn innermost_around(definitions: &[Self], lines: (u32, u32)) -> Option<&Self> {
        let around = definitions.iter().filter(|found| !found.is_field && has_lines(found.lines, lines));
        around.min_by_key(|found| found.lines.1 - found.lines.0)
    }
}

/// Returns whether the lines of `inner` are all in `span`; both have a first and a last line, inclusive.
pub fn has_lines(span: (u32, u32), inner: (u32, u32)) -> bool {
    span.0 <= inner.0 && inner.1 <= span.1
}

/// An HTTP route that a source file declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpRoute {
    /// The HTTP method such as `GET`, or a word of the framework such as `resources`; empty if the file names none.
    pub method: String,
    /// The path as written, without a prefix that a router in another place adds.
    pub path: String,
    /// Line in which the path is, 1-based.
    pub line: u32,
}

impl From<ChunkId> for i64 {
    fn from(id: ChunkId) -> Self {
        id.0
    }
}

/// Row id of a memory, never reused. People use its public id, `mem_…`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryRow(pub i64);

impl From<MemoryRow> for i64 {
    fn from(row: MemoryRow) -> Self {
        row.0
    }
}

/// The kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChunkKind {
    /// A section of a Markdown file.
    Doc,
    /// The map record of a source file: its symbols and skeleton.
    Map,
    /// One definition in a source file.
    Symbol,
    /// Lines of any other text, or of code outside of all definitions.
    Text,
    /// A commit: message, author, date and changed paths.
    Commit,
    /// A memory, which is not in the index.
    Memory,
}

impl ChunkKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::Doc, Self::Map, Self::Symbol, Self::Text, Self::Commit, Self::Memory];

    /// Returns the word used in SQL, JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Doc => "doc",
            Self::Map => "map",
            Self::Symbol => "symbol",
            Self::Text => "text",
            Self::Commit => "commit",
            Self::Memory => "memory",
        }
    }

    /// Returns the kind that `word` names; `None` for any other word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// The reason why a file that git lists is not read. `memo status --skipped` counts the files for each reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadRefusal {
    /// The name is that of a file with credentials: `.env`, a private key, `.netrc`, …
    SecretName,
    /// The file is larger than 1 MiB.
    TooBig,
    /// The first 8 KiB have a NUL byte.
    Binary,
    /// A symbolic link; never followed.
    Symlink,
    /// A FIFO, socket or device.
    Special,
    /// A directory with its own `.git`: another repository or worktree.
    NestedRepository,
    /// The operating system denies reading the file.
    Unreadable,
    /// The name of the file is not UTF-8.
    NameNotUtf8,
}

impl ReadRefusal {
    /// All reasons, for parsing and for tables.
    pub const ALL: [Self; 8] = [
        Self::SecretName,
        Self::TooBig,
        Self::Binary,
        Self::Symlink,
        Self::Special,
        Self::NestedRepository,
        Self::Unreadable,
        Self::NameNotUtf8,
    ];

    /// Returns the word used in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SecretName => "secret-name",
            Self::TooBig => "too-big",
            Self::Binary => "binary",
            Self::Symlink => "symlink",
            Self::Special => "special",
            Self::NestedRepository => "nested-repository",
            Self::Unreadable => "unreadable",
            Self::NameNotUtf8 => "name-not-utf8",
        }
    }

    /// Returns the reason that `word` names; `None` for any other word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// Directory of the files of shared memories, relative to the top of a worktree.
pub const MEMORY_FILES_DIR: &str = ".memod/memories";

/// Largest size of the file of a shared memory, bytes.
pub const MAX_MEMORY_FILE_BYTES: u64 = 64 << 10;

/// Returns the path of the file of a shared memory, relative to the top of a worktree.
pub fn memory_file_path(id: &str) -> String {
    format!("{MEMORY_FILES_DIR}/{id}.md")
}

/// The metadata of a path from `lstat`. Equal values mean that the file was not written meanwhile, except for a write within the
/// same tick of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stat {
    /// Size, bytes.
    pub size: u64,
    /// Modification time, ns since the epoch.
    pub mtime_ns: i64,
    /// Inode change time, ns since the epoch (0 where the platform has none).
    pub ctime_ns: i64,
    /// Inode number (0 where the platform has none).
    pub inode: u64,
    /// Device number (0 where the platform has none).
    pub dev: u64,
    /// Type and permission bits as `st_mode` has them.
    pub mode: u32,
}

impl Stat {
    /// Value of `mode` in the manifest row of a commit, as in git's trees; no file has this mode.
    pub const COMMIT_MODE: u32 = 0o160_000;

    /// Returns whether the owner of the file can execute it; `None` for anything but a regular file.
    pub fn is_executable(&self) -> Option<bool> {
        (self.mode & 0o170_000 == 0o100_000).then_some(self.mode & 0o100 != 0)
    }

    /// Returns whether this is the manifest row of a commit.
    pub fn is_commit(&self) -> bool {
        self.mode == Self::COMMIT_MODE
    }

    /// Returns whether the path is a directory.
    pub fn is_dir(&self) -> bool {
        is_dir_mode(self.mode)
    }
}

/// Returns whether a value of `st_mode` is that of a directory.
pub fn is_dir_mode(mode: u32) -> bool {
    mode & 0o170_000 == 0o040_000
}

/// A file that we have no permission to read, or a directory that we have no permission to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableEntry {
    /// The path relative to the top of the worktree.
    pub path: String,
    /// Whether the path is a directory, whose content is then unknown.
    pub is_dir: bool,
}

impl UnreadableEntry {
    /// Returns whether this entry is `path`, or a directory around `path`.
    pub fn covers(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&self.path);
        rest.is_some_and(|rest| rest.is_empty() || self.is_dir && rest.starts_with('/'))
    }
}

/// Uptime of the machine, including sleep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineUptime {
    /// Id of the boot, which differs after a restart of the machine.
    pub boot: String,
    /// Milliseconds since the boot.
    pub ms: i64,
}

/// The memories that one transaction has changed by one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryChange {
    /// The action that the history of the memories records, such as `add`; `purge`, `reset` or `expire` if they were deleted.
    pub action: String,
    /// Ids of the memories. Empty if every memory may have changed, because the database was replaced.
    pub ids: Vec<String>,
}
