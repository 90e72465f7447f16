//! Finds the chunks whose vectors are nearest to a query, in memory or in a table of sqlite-vec.

pub mod shared_vectors;
pub mod stored_vectors;
pub mod vector_index;
