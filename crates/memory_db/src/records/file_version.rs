//! Holds the versions of memories in files.

use memod_proto::memory::LinkKind;
use serde_json::{Map, Value, json};

use crate::records::memory_event::MemoryEvent;
use crate::records::memory_record::{FileSide, MemoryRecord};

/// The name of remarks among the fields of a change.
const FIELD: &str = "remarks";

/// The columns that describe the file of a memory.
pub(crate) struct FileColumns {
    /// blake3 of the file as memod writes it.
    pub(crate) version: Option<[u8; 32]>,
    pub(crate) file_links: Option<String>,
    pub(crate) remarks: Option<String>,
}

/// Hash of a file.
pub(crate) type FileHash = [u8; 32];

/// The version of a memory in a file, or in one side of it.
#[derive(Clone, Debug)]
pub struct FileVersion {
    /// Whole, or which side of a conflict.
    pub side: FileSide,
    /// blake3 of the file as memod writes it.
    pub hash: FileHash,
    /// The memory; fields that the file does not store are ignored.
    pub record: MemoryRecord,
    /// Its links.
    pub links: Vec<(LinkKind, String)>,
    /// Comments, and keys that this version does not know, as lines.
    pub remarks: String,
}

/// The memories that a file shows.
#[derive(Clone, Debug)]
pub enum ShownMemories {
    /// One memory, or the two sides of a conflict.
    Versions(Vec<FileVersion>),
    /// None, for this reason.
    Nothing(String),
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct FileState {
    /// Its name.
    pub name: String,
    /// blake3 of its text with LF.
    pub hash: FileHash,
    /// The memories that it shows.
    pub shown: ShownMemories,
    /// The event of a change to a known memory; `None` where its author is unknown.
    pub event: Option<MemoryEvent>,
    /// When its present text was committed, or first seen uncommitted, unix ms; `None` where that is unknown.
    pub edited: Option<i64>,
}

/// The links in a file: kind, and id of the other memory.
pub(crate) type FileLinks = Vec<(LinkKind, String)>;

/// The content of a file.
#[derive(Clone, Debug)]
pub struct FileMemory {
    /// The memory.
    pub record: MemoryRecord,
    /// Its links, also to memories that are not here.
    pub links: FileLinks,
    /// Its remarks, as lines; empty where they are not known.
    pub remarks: String,
}

/// Returns the id of the row for a worktree's version of a memory.
pub(crate) fn version_id(id: &str, worktree: i64, side: FileSide) -> String {
    format!("{id}#{worktree}{}", if side == FileSide::Theirs { "t" } else { "" })
}

/// Adds remarks to the fields of a change if they differ, and both are known.
pub(crate) fn add_remarks(fields: &mut Map<String, Value>, before: Option<String>, after: Option<String>) {
    if let Some((before, after)) = before.zip(after)
        && before != after
    {
        fields.insert(FIELD.to_owned(), json!([before, after]));
    }
}
