//! Measures how well a text matches words: by BM25, and by the similarity of single words.

pub(crate) mod maxsim;
pub(crate) mod text_statistics;
