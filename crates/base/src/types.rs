//! Plain values that all modules share.

mod compound_name;
mod escape_text;
mod exact_numbers;
mod expression;
mod file_class;
mod file_structure;
mod id_set;
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
pub use self::escape_text::escape;
pub use self::exact_numbers::{parse_exactly, parse_with_metadata};
pub use self::expression::{Expression, Phrase};
pub use self::file_class::{ClassSet, FileClass};
pub use self::file_structure::{
    Arity, DeclaredItem, DeclaredRole, FileStructure, ImportedName, NameUse, TypedValue, UseReceiver,
    UseRole, is_version,
};
pub use self::id_set::IdSet;
pub use self::qualified_name::{is_inside, own_part, qualifier, typed_own_part, typed_parts, with_dots};
pub use self::ranking_part::{RankingPart, RankingParts};
pub use self::relative_path::{file_name, parent_dir};
pub use self::secret_name::is_secret_name;
pub use self::typed_time::{TimeDirection, parse_moment, rfc3339};
pub use self::word_pieces::WordPieces;

/// Most chunks of a file; more would be noise. A megabyte of one-word headings has 262,000.
pub const MOST_CHUNKS: usize = 8_192;

/// Identity of one indexed thing inside a worktree: its worktree-relative path with `/` separators.
///
/// Invariant: never absolute, never empty, never with `.` or `..` components, always UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceKey(String);

impl SourceKey {
    /// Wraps a worktree-relative path that uses `/`.
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

    /// Returns the key of a commit. If a file has that name, the key belongs to the file.
    pub fn commit(oid: &impl fmt::Display) -> Self {
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

/// Row id of a blob: a content in worktrees, independent of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub i64);

/// Characters of a token, roughly. Tokenizers differ; for English and code the average is about four.
pub const TOKEN_CHARS: usize = 4;

/// Row id of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId(pub i64);

/// The first half of a blake3 hash, which suffices to distinguish the texts of a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TextHash(pub [u8; 16]);

impl TextHash {
    /// Hashes some bytes.
    pub fn of(bytes: &[u8]) -> Self {
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
    /// Enclosing names and own name, as the language joins them: `Session::login`.
    pub title: String,
    /// Own names, joined by spaces.
    pub names: String,
    /// First and last line, 1-based and inclusive, with the comments above.
    pub lines: (u32, u32),
    /// Hash of its own text, without its position and the comments above.
    pub text: TextHash,
    /// Hash of that text without its own names.
    pub shape: TextHash,
}

impl Definition {
    /// Returns the shortest of `definitions` that has all of these lines, first and last.
    pub fn innermost_around(definitions: &[Self], lines: (u32, u32)) -> Option<&Self> {
        let around = definitions.iter().filter(|found| has_lines(found.lines, lines));
        around.min_by_key(|found| found.lines.1 - found.lines.0)
    }
}

/// Returns whether a span of lines has all lines of another.
pub fn has_lines(span: (u32, u32), inner: (u32, u32)) -> bool {
    span.0 <= inner.0 && inner.1 <= span.1
}

/// An HTTP route that a source file declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpRoute {
    /// `GET`, or the word of the framework: `resources`; empty where none is named.
    pub method: String,
    /// As it is written; what a router around it adds is not known.
    pub path: String,
    /// Line of the path, 1-based.
    pub line: u32,
}

impl From<ChunkId> for i64 {
    fn from(id: ChunkId) -> Self {
        id.0
    }
}

/// Row id of a memory, never reused; people know it by its `mem_…`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryRow(pub i64);

impl From<MemoryRow> for i64 {
    fn from(row: MemoryRow) -> Self {
        row.0
    }
}

/// The kind of source of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChunkKind {
    /// A section of a Markdown file.
    Doc,
    /// The map record of a source file: its symbols and skeleton.
    Map,
    /// One definition in a source file.
    Symbol,
    /// Lines of any other text, or code outside every definition.
    Text,
    /// A commit: message, author, date and changed paths.
    Commit,
    /// A memory; not in the index.
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

    /// Returns the kind that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Why a file that git lists is not read. `memo status --skipped` counts these and the files that extraction leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadRefusal {
    /// The name is one of credentials: `.env`, a private key, `.netrc`, …
    SecretName,
    /// Over 1 MiB.
    TooBig,
    /// A NUL byte in the first 8 KiB.
    Binary,
    /// A symbolic link; never followed.
    Symlink,
    /// A FIFO, socket or device.
    Special,
    /// A directory with its own `.git`: another repository or worktree.
    NestedRepository,
    /// The operating system would not let it be read.
    Unreadable,
    /// Its name is not UTF-8.
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

    /// Returns the reason that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// Directory of the files of shared memories, from the top of a worktree.
pub const MEMORY_FILES_DIR: &str = ".memod/memories";

/// Largest file of a shared memory, bytes.
pub const MAX_MEMORY_FILE: u64 = 64 << 10;

/// Returns the path of the file of a shared memory, from the top of a worktree.
pub fn memory_file(id: &str) -> String {
    format!("{MEMORY_FILES_DIR}/{id}.md")
}

/// The signature of a path from `lstat`; equal ones mean "not written since", unless racy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stat {
    /// Bytes.
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
    /// Type of a manifest row for a commit, as in git's trees; no file has it.
    pub const COMMIT_MODE: u32 = 0o160_000;

    /// Returns whether its owner can execute a file; `None` for anything but a file.
    pub fn is_executable(&self) -> Option<bool> {
        (self.mode & 0o170_000 == 0o100_000).then_some(self.mode & 0o100 != 0)
    }

    /// Returns whether the row holds a commit.
    pub fn is_commit(&self) -> bool {
        self.mode == Self::COMMIT_MODE
    }

    /// Returns whether it is a directory.
    pub fn is_dir(&self) -> bool {
        is_dir(self.mode)
    }
}

/// Returns whether `st_mode` is that of a directory.
pub fn is_dir(mode: u32) -> bool {
    mode & 0o170_000 == 0o040_000
}

/// A file that may not be read, or a directory that may not be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableEntry {
    /// Its path from the top of the worktree.
    pub path: String,
    /// Whether it is a directory; what is below it is not known then.
    pub is_dir: bool,
}

impl UnreadableEntry {
    /// Returns whether it is a path, or a directory around it.
    pub fn covers(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&self.path);
        rest.is_some_and(|rest| rest.is_empty() || self.is_dir && rest.starts_with('/'))
    }
}

/// Uptime of the machine, including sleep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineUptime {
    /// Id of the boot.
    pub boot: String,
    /// Milliseconds since the boot.
    pub ms: i64,
}

/// Memories that one transaction has changed in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedChange {
    /// The action that the history of the memories records, such as `add`; `purge`, `reset` or `expire` for deleted ones.
    pub action: String,
    /// Ids of the memories. Empty if every memory may have changed, because the database was replaced.
    pub ids: Vec<String>,
}
