//! Stores the index in index.db: contents, chunks, words, vectors, structure, and what each worktree has of them.
//!
//! Only SQL lives here.

mod blob_rows;
mod contents;
mod counts;
mod definition_rows;
mod lexical;
mod members;
mod model_switch;
mod names;
mod new_rows;
mod postings;
mod purge;
mod reader;
mod schema;
mod source_files;
mod vector_rows;
mod vector_table;
mod writer;

use std::path::Path;

use memod_database::{DatabaseError, migrations};

pub use contents::{Content, ContentChunk, Place};
pub use new_rows::{Change, Embedded, NewBlob, NewChunk, NewVector, ViewKey};
pub use postings::Postings;
pub use reader::{Entry, PendingChunk, Reader, ViewRow};
pub use source_files::SourceFile;
pub use vector_table::VectorTable;
pub use writer::Writer;

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
