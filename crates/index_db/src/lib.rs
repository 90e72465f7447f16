//! Stores the index in index.db: contents with their chunks, words, vectors and structure, and which contents each worktree has.
//!
//! Only SQL lives here. `writing` fills the tables of `schema` with what was extracted, `postings` has the tables of words, and
//! `reading` has the queries of requests and of the engine.

mod postings;
mod reading;
mod schema;
mod vector_state;
mod writing;

use std::path::Path;

use memod_database::{DatabaseError, migrations};

pub use postings::PostingLists;
pub use reading::index_contents::{ChunkLocation, ChunkSummary, IndexedContent};
pub use reading::index_reader::{IndexReader, ManifestEntry, PendingChunk, WorktreeRow};
pub use reading::source_files::SourceFile;
pub use writing::index_writer::IndexWriter;
pub use writing::new_rows::{ManifestChange, NewBlob, NewChunk, NewVector, VectorOwner, WorktreeKey};
pub use writing::vector_table::VectorTableState;

/// Checks whether index.db can be opened, as [`migrations::check_schema`] does.
///
/// # Errors
/// When the schema is newer than that of this version, or index.db cannot be read.
pub fn check_index(path: &Path) -> Result<(), DatabaseError> {
    migrations::refuse_newer_schema(path, schema::INDEX_MIGRATIONS)
}

#[doc(hidden)]
pub mod test_rows;
#[cfg(test)]
mod tests;
