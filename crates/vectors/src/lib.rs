//! Finds the nearest vectors of chunks, in memory or in the table of sqlite-vec.

pub mod shared_vectors;
pub mod stored_vectors;
pub mod vector_index;
