//! Reads index.db in snapshots: the manifest of a worktree, its contents, definitions and counts.
//!
//! [`index_reader`] has the connection; each other file adds the reads of one subject to it.

mod definition_rows;
mod filter_chunks;
pub(crate) mod index_contents;
mod index_counts;
pub(crate) mod index_reader;
mod lexical_arms;
mod name_completion;
pub(crate) mod source_files;
