//! Declares the rows that the writer stores.

use memod_base::types::{ChunkId, ChunkKind, Definition, ReadRefusal, SourceKey, Stat, WordPieces};

/// Vectors that were assigned to chunks.
pub(crate) type AddedVectors = Vec<(ChunkId, Vec<i8>)>;

/// The identity of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewKey {
    /// Canonical git dir, or the root outside git.
    pub git_dir: String,
    /// Inode of that directory, because names are reused after `git worktree remove`.
    pub inode: u64,
    /// Top directory.
    pub root: String,
}

/// One change of a manifest.
#[derive(Debug)]
pub enum ManifestChange {
    /// The path holds this content.
    Put {
        /// The path.
        key: SourceKey,
        /// Its signature when it was read.
        stat: Stat,
        /// Whether an equal signature does not prove that the file is unchanged.
        racy: bool,
        /// blake3 of its bytes.
        hash: [u8; 32],
        /// Format name; `""` where unknown.
        lang: &'static str,
        /// The extracted content; `None` if it was known already.
        blob: Option<Box<NewBlob>>,
    },
    /// Git lists the path, but it is not indexed.
    Refuse {
        /// The path.
        key: SourceKey,
        /// Its signature.
        stat: Stat,
        /// The reason.
        refusal: ReadRefusal,
    },
    /// The path is gone.
    Remove {
        /// The path.
        key: SourceKey,
        /// Whether its content has a secret name now.
        is_secret: bool,
    },
}

impl ManifestChange {
    /// Returns the path that it changes.
    pub fn key(&self) -> &SourceKey {
        match self {
            Self::Put { key, .. } | Self::Refuse { key, .. } | Self::Remove { key, .. } => key,
        }
    }
}

/// An extracted content.
#[derive(Debug, Default)]
pub struct NewBlob {
    /// Bytes.
    pub size: u64,
    /// `text`, `generated`, `licence`, `minified`, `opted-out`, `parse-failed`, `parse-aborted` or `commit`.
    pub kind: &'static str,
    /// Version of the extractors.
    pub extractor_version: i64,
    /// Names used, one `name count` per line.
    pub refs: String,
    /// Its declarations, imports and uses, encoded; empty where they are unknown.
    pub structure: Vec<u8>,
    /// HTTP routes declared, one `line method path` per line; the method may be empty.
    pub routes: String,
    /// Problems, one per line.
    pub problems: String,
    /// Credentials that were cut out.
    pub n_secrets: usize,
    /// Its definitions, each once.
    pub definitions: Vec<Definition>,
    /// In order.
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
    /// Text where it is not the byte span.
    pub text: Option<String>,
    /// blake3 of what is embedded.
    pub text_hash: [u8; 32],
    /// Whether it gets a vector.
    pub embeds: bool,
    /// Words of symbol, title and body.
    pub words: [String; 3],
    /// Pieces of their words.
    pub pieces: WordPieces,
}

/// A vector to be stored.
#[derive(Debug)]
pub struct NewVector {
    /// The owner of the vector.
    pub owner: VectorOwner,
    /// int8, times 127; `None` if the model knows no word of the text.
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
