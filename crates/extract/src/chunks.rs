//! Cuts a text into chunks at its lines and words, and declares what is extracted from a file.

pub(crate) mod chunk;
pub(crate) mod cut_text;
pub(crate) mod plain_text;
