//! Keeps the inverted index, from words to chunks, as rows of index.db.
//!
//! Ids of chunks ascend and are never used again. The chunks that one transaction adds are a *segment*, so the segments of an
//! index have ranges of ids that do not overlap, and the list of a word is the concatenation of its lists in all segments.
//!
//! A new segment is a row of its own, with the lists of all its words: a saved file costs one row, whatever words it has.
//! Neighbours are merged into larger segments between other work of the writer. A merged one has rows in the tables `posting`
//! and `position`, up to [`ROW_POSTINGS`] postings each, in the order of segment, word and number of the row: the list of a word
//! is read from neighbouring pages.
//!
//! Postings of deleted chunks stay until their segment is merged. Readers of a list check which chunks still exist.

mod invert_words;
mod merge_segments;
mod posting_list;
mod posting_lookup;
mod segment_rows;
#[cfg(test)]
mod tests;
mod unused_terms;

pub(super) use invert_words::InvertedWords;
pub(super) use merge_segments::{MergeState, compact_segments};
pub use posting_lookup::PostingLists;
pub(super) use segment_rows::{add_segment, clear_postings};
