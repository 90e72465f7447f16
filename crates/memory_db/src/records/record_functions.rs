//! Names the functions that compute data from records.

use serde_json::{Map, Value};

use crate::records::file_version::FileMemory;
use crate::records::memory_record::MemoryRecord;

/// Renders the file of a memory, in conflict with the other side if there is one. Returns the text of the file and its hash, or
/// `None` if others must not have the memory.
pub(crate) type RenderFileText = fn(&FileMemory, Option<&FileMemory>) -> Option<(String, [u8; 32])>;

/// The functions with which the store computes data from records.
#[derive(Clone, Copy)]
pub struct RecordFunctions {
    /// Computes the derived data of a record.
    pub compute_hash_and_words: fn(&MemoryRecord) -> HashAndWords,
    /// Returns the fields that differ, as in a history: `{field: [before, after]}`.
    pub differences: fn(&MemoryRecord, &MemoryRecord) -> Map<String, Value>,
    /// Makes the id of a memory from a time, unix ms, and random bytes.
    pub new_id: fn(i64, [u8; 10]) -> String,
    /// Renders the file of a memory.
    pub render_file: RenderFileText,
}

/// Data that is computed from a record and stored with it.
#[derive(Clone, Debug)]
pub struct HashAndWords {
    /// blake3 of the normalised content.
    pub hash: [u8; 32],
    /// Full-text words of title, tags and content, in this order.
    pub words: [String; 3],
}
