//! Stores the index in index.db: contents, chunks, words, vectors, structure, and what each worktree has of them.
//!
//! Only SQL lives here.

mod blob_rows;
mod definition_rows;
mod filter_chunks;
mod index_contents;
mod index_counts;
mod index_reader;
mod index_writer;
mod lexical_arms;
mod model_switch;
mod name_completion;
mod new_rows;
mod postings;
mod purge;
mod schema;
mod source_files;
mod vector_rows;
mod vector_table;

use std::path::Path;

use memod_database::{DatabaseError, migrations};

pub use index_contents::{ChunkLocation, ChunkSummary, IndexedContent};
pub use index_reader::{IndexReader, ManifestEntry, PendingChunk, ViewRow};
pub use index_writer::IndexWriter;
pub use new_rows::{ManifestChange, NewBlob, NewChunk, NewVector, VectorOwner, ViewKey};
pub use postings::PostingLists;
pub use source_files::SourceFile;
pub use vector_table::VectorTable;

/// Checks whether index.db can be opened, as [`migrations::check_schema`] does.
///
/// # Errors
/// When its schema is newer than ours, or it cannot be read.
pub fn check_index(path: &Path) -> Result<(), DatabaseError> {
    migrations::check_schema(path, schema::INDEX)
}

#[doc(hidden)]
pub mod test_rows;
#[cfg(test)]
mod tests;
