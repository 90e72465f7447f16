//! Defines the versions of memories in files.

use memod_proto::memory::LinkKind;
use serde_json::{Map, Value, json};

use crate::records::memory_event::MemoryEvent;
use crate::records::memory_record::{FileSide, MemoryRecord};

/// The key of remarks in the fields of a change.
const REMARKS_FIELD: &str = "remarks";

/// The columns of `memory` that describe the memory's file.
pub(crate) struct FileColumns {
    /// blake3 of the file as memod writes it.
    pub(crate) version: Option<[u8; 32]>,
    /// The links in the file, as JSON.
    pub(crate) file_links: Option<String>,
    /// Comments and unknown keys of the file, as lines.
    pub(crate) remarks: Option<String>,
}

/// blake3 of a memory file, or SHA-256 of a text of the team.
pub(crate) type FileHash = [u8; 32];

/// The version of a memory in a file, or in one side of a file in conflict.
#[derive(Clone, Debug)]
pub struct FileVersion {
    /// The side of the file; [`FileSide::Whole`] for a file that is not in conflict.
    pub side: FileSide,
    /// blake3 of the file as memod writes it.
    pub hash: FileHash,
    /// The memory; fields that the file does not store are ignored.
    pub record: MemoryRecord,
    /// The links in the file: kind, and id of the other memory.
    pub links: Vec<(LinkKind, String)>,
    /// Comments of the file, and keys that this version of memod does not know, as lines.
    pub remarks: String,
}

/// The memories that a file shows.
#[derive(Clone, Debug)]
pub enum MemoriesInFile {
    /// One memory, or the two sides of a conflict.
    Versions(Vec<FileVersion>),
    /// No memory, for this reason.
    NoneBecause(String),
}

/// A memory file that was read.
#[derive(Clone, Debug)]
pub struct MemoryFileSnapshot {
    /// Name of the file.
    pub name: String,
    /// blake3 of the file's text with LF.
    pub hash: FileHash,
    /// The memories that the file shows.
    pub memories: MemoriesInFile,
    /// The event of a change to a known memory; `None` where its author is unknown.
    pub event: Option<MemoryEvent>,
    /// Time when the file's present text was committed, or first read before a commit, unix ms; `None` if unknown.
    pub edited_ms: Option<i64>,
}

/// The links in a file: kind, and id of the other memory.
pub(crate) type FileLinks = Vec<(LinkKind, String)>;

/// The content of a memory file.
#[derive(Clone, Debug)]
pub struct FileMemory {
    /// The memory.
    pub record: MemoryRecord,
    /// The links in the file, also to memories that this database does not have.
    pub links: FileLinks,
    /// Comments and unknown keys of the file, as lines; empty if they are not stored.
    pub remarks: String,
}

/// Returns the id in the row of a worktree's version of a memory.
pub(crate) fn version_id(id: &str, worktree: i64, side: FileSide) -> String {
    format!("{id}#{worktree}{}", if side == FileSide::Theirs { "t" } else { "" })
}

/// Adds the remarks before and after a change to its fields, if both are known and differ.
pub(crate) fn add_remarks(fields: &mut Map<String, Value>, before: Option<String>, after: Option<String>) {
    if let Some((before, after)) = before.zip(after)
        && before != after
    {
        fields.insert(REMARKS_FIELD.to_owned(), json!([before, after]));
    }
}
