//! Declares a chunk that some arm found.

use std::sync::Arc;

use memod_base::types::{ChunkId, ChunkKind, ClassSet};

use super::arm_signals::ArmSignals;

/// A chunk that some arm found.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkCandidate {
    /// The chunk.
    pub key: ChunkId,
    /// The first piece found of its definition; the chunk itself where the definition is whole.
    pub definition: ChunkId,
    /// The content of the worktree that the chunk is part of.
    pub content: u32,
    /// Worktree-relative, with `/`.
    pub path: String,
    /// Classes of its file.
    pub classes: ClassSet,
    /// Kind of source.
    pub kind: ChunkKind,
    /// Name of the definition.
    pub symbol: Option<Arc<str>>,
    /// Heading path, or enclosing names and own name.
    pub title: Option<Arc<str>>,
    /// First and last line, 1-based and inclusive.
    pub lines: (u32, u32),
    /// Byte span, half-open.
    pub bytes: (usize, usize),
    /// The rank in each arm.
    pub signals: ArmSignals,
}
