//! Writes index.db: contents with their chunks and words, vectors, and which contents each worktree has.
//!
//! [`index_writer`] has the connection and begins the transactions. Rows are written by [`blob_rows`] and
//! [`vector_rows`]; [`purge`] removes secrets, [`vector_table`] copies vectors into blocks, and [`model_switch`]
//! replaces all vectors.

mod blob_rows;
pub(crate) mod index_writer;
mod model_switch;
pub(crate) mod new_rows;
mod purge;
mod vector_rows;
pub(crate) mod vector_table;
