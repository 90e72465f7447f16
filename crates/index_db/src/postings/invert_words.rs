//! Inverts the words of new chunks: from the words of each chunk to the chunks of each word. Pure.

use std::collections::HashMap;

use memod_base::types::ChunkId;

use super::posting_list::{ChunkField, ListWriter, PostingRow, encode_place};

/// The posting lists of the words of some chunks.
#[derive(Default)]
pub(crate) struct InvertedWords<'a> {
    lists: HashMap<&'a str, ListWriter>,
    /// The first and the last chunk, and how many there are.
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) n_chunks: i64,
}

impl<'a> InvertedWords<'a> {
    /// Adds a chunk with the words of its symbol, title and body. Call this in ascending order of ids.
    pub(crate) fn add_chunk(&mut self, ChunkId(id): ChunkId, [symbol, title, body]: &'a [String; 3]) {
        for (field, words) in
            [(ChunkField::Body, body), (ChunkField::Title, title), (ChunkField::Symbol, symbol)]
        {
            for (nth, word) in words.split_ascii_whitespace().enumerate() {
                self.lists.entry(word).or_default().add_occurrence(id, encode_place(field, nth));
            }
        }
        if self.n_chunks == 0 {
            self.first = id;
        }
        (self.last, self.n_chunks) = (id, self.n_chunks + 1);
    }

    /// Returns each word with the rows of its list, words ascending.
    pub(super) fn into_lists(self) -> Vec<(&'a str, Vec<PostingRow>)> {
        let lists = self.lists.into_iter().map(|(word, list)| (word, list.into_rows()));
        let mut lists: Vec<_> = lists.collect();
        lists.sort_unstable_by_key(|(word, _)| *word);
        lists
    }
}
