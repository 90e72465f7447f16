//! Declares the rows that the writer stores.

use memod_base::types::{ChunkId, ChunkKind, Definition, ReadRefusal, SourceKey, Stat, WordPieces};

/// Vectors that were stored for chunks.
pub(crate) type AddedVectors = Vec<(ChunkId, Vec<i8>)>;

/// The identity of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeKey {
    /// Canonical path of the git dir; outside git, of the root.
    pub git_dir: String,
    /// Inode of that directory, because names are reused after `git worktree remove`.
    pub inode: u64,
    /// Top directory of the worktree.
    pub root: String,
}

/// One change of a manifest.
#[derive(Debug)]
pub enum ManifestChange {
    /// The path holds this content.
    Put {
        /// The path.
        key: SourceKey,
        /// Signature of the file when it was read.
        stat: Stat,
        /// Whether an equal signature does not prove that the file is unchanged.
        racy: bool,
        /// blake3 of the file's bytes.
        hash: [u8; 32],
        /// Format name; `""` where unknown.
        lang: &'static str,
        /// The part of the path on which extraction depends, such as the name of a component; mostly empty.
        path_part: String,
        /// The extracted content; `None` if it was known already.
        blob: Option<Box<NewBlob>>,
    },
    /// Git lists the path, but it is not indexed.
    Refuse {
        /// The path.
        key: SourceKey,
        /// Signature of the file.
        stat: Stat,
        /// The reason.
        refusal: ReadRefusal,
    },
    /// The path is gone, or is not listed by git any more.
    Remove {
        /// The path.
        key: SourceKey,
        /// Whether its content has a secret name now.
        is_secret: bool,
    },
}

impl ManifestChange {
    /// Returns the path whose row changes.
    pub fn key(&self) -> &SourceKey {
        match self {
            Self::Put { key, .. } | Self::Refuse { key, .. } | Self::Remove { key, .. } => key,
        }
    }
}

/// An extracted content.
#[derive(Debug, Default)]
pub struct NewBlob {
    /// Size in bytes.
    pub size: u64,
    /// `text`, `generated`, `licence`, `minified`, `opted-out`, `parse-failed`, `parse-aborted` or `commit`.
    pub kind: &'static str,
    /// Version of the extractors.
    pub extractor_version: i64,
    /// Names that the content uses, one `name count` per line.
    pub refs: String,
    /// Encoded declarations, imports and uses of the content; empty where they are unknown.
    pub structure: Vec<u8>,
    /// HTTP routes declared, one `line method path` per line; the method may be empty.
    pub routes: String,
    /// Problems of the extraction, one per line.
    pub problems: String,
    /// Number of credentials that were cut out.
    pub n_secrets: usize,
    /// Definitions of the content, each once.
    pub definitions: Vec<Definition>,
    /// Chunks of the content, in order.
    pub chunks: Vec<NewChunk>,
}

/// One chunk with the words to be indexed.
#[derive(Debug)]
pub struct NewChunk {
    /// Kind of source.
    pub kind: ChunkKind,
    /// Byte span, half-open.
    pub bytes: (usize, usize),
    /// Lines, 1-based, inclusive.
    pub lines: (u32, u32),
    /// Names defined, joined by spaces.
    pub symbol: Option<String>,
    /// Heading path or qualified name.
    pub title: Option<String>,
    /// Text of the chunk if it is not the byte span of a file.
    pub text: Option<String>,
    /// blake3 of the text that is embedded.
    pub text_hash: [u8; 32],
    /// Whether the chunk gets a vector.
    pub gets_vector: bool,
    /// Words of symbol, title and body.
    pub words: [String; 3],
    /// Word pieces of the chunk.
    pub pieces: WordPieces,
}

/// A vector to be stored.
#[derive(Debug)]
pub struct NewVector {
    /// The owner of the vector.
    pub owner: VectorOwner,
    /// The vector as int8, times 127; `None` if the model knows no word of the text.
    pub vec: Option<Vec<i8>>,
}

/// The owner of a vector.
#[derive(Clone, Copy, Debug)]
pub enum VectorOwner {
    /// A chunk with the blake3 of its text; chunks with the same text share the vector.
    Chunk(ChunkId, [u8; 32]),
    /// A row of `path`.
    Path(i64),
}
