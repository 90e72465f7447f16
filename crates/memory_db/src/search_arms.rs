//! Searches memories by words and vectors.

pub(crate) mod search_rows;
pub(crate) mod vector_rows;
pub(crate) mod word_rows;
