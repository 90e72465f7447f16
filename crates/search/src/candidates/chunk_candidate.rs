//! Declares a chunk that some arm found.

use std::sync::Arc;

use memod_base::types::{ChunkId, ChunkKind, ClassSet};

use super::arm_signals::ArmSignals;

/// A chunk that some arm found.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkCandidate {
    /// Id of the chunk.
    pub key: ChunkId,
    /// The chunk that represents all found pieces of the definition: the first of them, or the chunk itself if there are no others.
    pub definition: ChunkId,
    /// Number of the content that the chunk is part of, in the worktree.
    pub content: u32,
    /// Path of the file, relative to the worktree, with `/`.
    pub path: String,
    /// Classes of the file.
    pub classes: ClassSet,
    /// Kind of the chunk.
    pub kind: ChunkKind,
    /// Name of the definition; `None` for other chunks.
    pub symbol: Option<Arc<str>>,
    /// Path of headings, or the names of the enclosing definitions and the own name.
    pub title: Option<Arc<str>>,
    /// First and last line, 1-based and inclusive.
    pub lines: (u32, u32),
    /// Byte span, half-open.
    pub bytes: (usize, usize),
    /// The ranks and values in each arm.
    pub signals: ArmSignals,
}
