//! Cuts a text into chunks at lines and words, and defines the result of extraction.

pub(crate) mod chunk;
pub(crate) mod cut_text;
pub(crate) mod plain_text;
