//! Keeps which chunks have which words: an inverted index as rows of index.db.
//!
//! Ids of chunks ascend and are never used again. The chunks that one transaction adds are a *segment*, so the segments of an
//! index have ranges of ids that do not overlap, and the list of a word is that of each segment, one after the other.
//!
//! A new segment is a row of its own, with the lists of all its words: a saved file costs one row, whatever words it has.
//! Neighbours are merged into larger segments between other work of the writer. A merged one has rows in the tables `posting`
//! and `position`, up to [`ROW_POSTINGS`] postings each, by segment, word and number of the row: the list of a word is read
//! from pages side by side.
//!
//! Postings of deleted chunks stay until their segment is merged. Whoever reads a list looks up which chunks there are.

mod inverted;
mod list;
mod lookup;
mod merge;
mod segments;
#[cfg(test)]
mod tests;
mod unused;

pub(super) use inverted::Inverted;
pub use lookup::Postings;
pub(super) use merge::{Merging, compact};
pub(super) use segments::{add_segment, clear};
