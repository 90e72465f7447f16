//! Names the functions that compute data from records.

use serde_json::{Map, Value};

use crate::records::file_version::FileMemory;
use crate::records::memory_record::MemoryRecord;

/// Renders the file of a memory, in conflict with the other side if there is one; returns its text and hash.
pub(crate) type RenderFileText = fn(&FileMemory, Option<&FileMemory>) -> Option<(String, [u8; 32])>;

/// The functions with which the store computes data from records.
#[derive(Clone, Copy)]
pub struct RecordFunctions {
    /// Computes the derived data of a record.
    pub derive: fn(&MemoryRecord) -> DerivedData,
    /// Returns the fields that differ, as in a history: `{field: [before, after]}`.
    pub differences: fn(&MemoryRecord, &MemoryRecord) -> Map<String, Value>,
    /// Makes an id from a time, unix ms, and random bytes.
    pub new_id: fn(i64, [u8; 10]) -> String,
    /// Renders a file; returns its text and hash, or `None` if others may not have it.
    pub file_text: RenderFileText,
}

/// Data that is computed from a record and stored with it.
#[derive(Clone, Debug)]
pub struct DerivedData {
    /// blake3 of the normalised content.
    pub hash: [u8; 32],
    /// Words of title, tags and content.
    pub words: [String; 3],
}
