//! Derives data from the records of memories.

use memod_memory::{id, text};
use memod_memory_db::{DerivedData, MemoryRecord, RecordFunctions};

use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::render_file::render_file;

/// The functions by which the store derives data from records.
pub(in crate::daemon) const RECORD_FUNCTIONS: RecordFunctions = RecordFunctions {
    derive: derive_data,
    differences: protocol_values::diff_fields,
    new_id: id::new_id,
    file_text: render_file,
};

/// Computes the data that the database stores beside a record: the hash of its text, and its words for the search.
pub(in crate::daemon::memories) fn derive_data(record: &MemoryRecord) -> DerivedData {
    DerivedData {
        hash: text::hash(&record.content),
        words: text::index_memory(record.title.as_deref(), &record.tags, &record.anchors, &record.content),
    }
}
