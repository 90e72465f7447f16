//! Derives data from the records of memories.

use memod_memory::{id, text};
use memod_memory_db::{HashAndWords, MemoryRecord, RecordFunctions};

use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::render_file::render_file;

/// The functions by which the store derives data from records.
pub(in crate::daemon) const RECORD_FUNCTIONS: RecordFunctions = RecordFunctions {
    compute_hash_and_words: derive_data,
    differences: protocol_values::diff_fields,
    new_id: id::new_id,
    render_file,
};

/// Computes the data that the database stores beside a record: the hash of its text, and its words for the search.
pub(in crate::daemon::memories) fn derive_data(record: &MemoryRecord) -> HashAndWords {
    HashAndWords {
        hash: text::hash_content(&record.content),
        words: text::list_index_words(
            record.title.as_deref(),
            &record.tags,
            &record.anchors,
            &record.content,
        ),
    }
}
