//! Writes and reads the rows of segments.

use memod_database::corruption_error;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::invert_words::InvertedWords;
use super::posting_list::{PostingRow, read_varint, write_varint};

/// Numbers of bits in the id of a row of `posting` and `position`: it consists of segment, term and number of the row. A word can
/// be in 4 million chunks of a segment, and there can be 33 million merges and 67 million words.
const ROW_BITS: u32 = 12;
const TERM_BITS: u32 = 26;

/// Returns the id of the first row of a term in a segment.
pub(super) fn first_row_id(segment: i64, term: i64) -> i64 {
    ((segment << TERM_BITS) + term) << ROW_BITS
}

/// Returns the segment that a row belongs to.
pub(super) fn segment_from_row_id(row_id: i64) -> i64 {
    row_id >> (TERM_BITS + ROW_BITS)
}

/// Returns the term that a row belongs to.
pub(super) fn term_from_row_id(row_id: i64) -> i64 {
    row_id >> ROW_BITS & ((1 << TERM_BITS) - 1)
}

/// Keys in `meta` of the last ids that were given to terms and segments. Ids of segments are never used again, because rows of an
/// unfinished merge may have one.
const LAST_TERM: &str = "last_term";
const LAST_SEGMENT: &str = "last_segment";

/// Keys in `meta` of the highest id of a word when unused words were searched for last, and of the number of words then.
pub(super) const CHECKED_TO: &str = "terms_checked_to";
pub(super) const N_CHECKED: &str = "n_terms_checked";

/// Key in `meta` of the word at which the search for unused words continues.
pub(super) const NEXT_UNUSED: &str = "unused_terms_from";

/// Returns the number that `meta` has under a key; 0 if it has none.
pub(super) fn read_meta_number(tx: &Connection, key: &str) -> rusqlite::Result<i64> {
    tx.prepare_cached("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
        .map(Option::unwrap_or_default)
}

/// Stores a number in `meta` under a key.
pub(super) fn write_meta_number(tx: &Transaction<'_>, key: &str, id: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)")?
        .execute(params![key, id.to_string()])
        .map(drop)
}

/// Returns the highest id of a term.
pub(super) fn last_term(conn: &Connection) -> rusqlite::Result<i64> {
    read_meta_number(conn, LAST_TERM)
}

/// Returns an id that no segment with rows has had.
pub(super) fn allocate_segment_id(tx: &Transaction<'_>) -> rusqlite::Result<i64> {
    let id = read_meta_number(tx, LAST_SEGMENT)? + 1;
    write_meta_number(tx, LAST_SEGMENT, id)?;
    Ok(id)
}

/// Adds the words of new chunks as a segment in one row. Does nothing without chunks.
pub(crate) fn add_segment(tx: &Transaction<'_>, words: InvertedWords<'_>) -> rusqlite::Result<()> {
    let InvertedWords { first, last, n_chunks, .. } = words;
    if n_chunks == 0 {
        return Ok(());
    }
    let mut lists = assign_term_ids(tx, words.into_lists())?;
    lists.sort_unstable_by_key(|(term, _)| *term);
    let mut all = PostingRow::default();
    let mut before = 0;
    for (term, rows) in lists {
        for row in rows {
            write_varint(&mut all.postings, (term - before) as u64);
            before = term;
            write_varint(&mut all.postings, row.postings.len() as u64);
            write_varint(&mut all.postings, row.places.len() as u64);
            all.postings.extend_from_slice(&row.postings);
            all.places.extend_from_slice(&row.places);
        }
    }
    // Ids below 0 are for one-row segments and are used again, so that saving a file uses up none of the other ids.
    tx.prepare_cached(
        "INSERT INTO segment(id, first, last, n_chunks, postings, places)
         SELECT min(0, coalesce(min(id), 0)) - 1, ?1, ?2, ?3, ?4, ?5 FROM segment",
    )?
    .execute(params![first, last, n_chunks, all.postings, all.places])
    .map(drop)
}

/// Replaces words by their ids, and gives new words an id.
fn assign_term_ids(
    tx: &Transaction<'_>,
    lists: Vec<(&str, Vec<PostingRow>)>,
) -> rusqlite::Result<Vec<(i64, Vec<PostingRow>)>> {
    let before = last_term(tx)?;
    let mut last = before;
    let mut find = tx.prepare_cached("SELECT id FROM term WHERE term = ?1")?;
    let mut insert = tx.prepare_cached("INSERT INTO term(term, id) VALUES(?1, ?2)")?;
    let mut found = Vec::with_capacity(lists.len());
    for (word, rows) in lists {
        let known: Option<i64> = find.query_row([word], |row| row.get(0)).optional()?;
        if known.is_none() {
            last += 1;
            if last >= 1 << TERM_BITS {
                // After 67 million words the index is rebuilt, as after damage.
                return Err(corruption_error("no id is left for a new word".to_owned()));
            }
            insert.execute(params![word, last])?;
        }
        found.push((known.unwrap_or(last), rows));
    }
    if last > before {
        write_meta_number(tx, LAST_TERM, last)?;
    }
    Ok(found)
}

/// A list of a one-row segment: its term, its postings, and the range of their places in the column `places`.
pub(super) struct InlineList<'a> {
    pub(super) term: i64,
    pub(super) postings: &'a [u8],
    pub(super) places: std::ops::Range<usize>,
}

/// Returns the lists of a one-row segment, terms ascending, given its column `postings`.
pub(super) fn inline_lists(mut bytes: &[u8]) -> impl Iterator<Item = InlineList<'_>> {
    let (mut term, mut end) = (0, 0);
    std::iter::from_fn(move || {
        term = i64::wrapping_add(term, read_varint(&mut bytes)? as i64);
        let n_bytes = read_varint(&mut bytes)? as usize;
        let begin = end;
        end = usize::saturating_add(end, read_varint(&mut bytes)? as usize);
        let (postings, rest) = bytes.split_at_checked(n_bytes)?;
        bytes = rest;
        Some(InlineList { term, postings, places: begin..end })
    })
}

/// Deletes all words, segments and postings.
pub(crate) fn clear_postings(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch("DELETE FROM segment; DELETE FROM posting; DELETE FROM position; DELETE FROM term;")?;
    tx.execute("DELETE FROM meta WHERE key = ?1", [NEXT_UNUSED])?;
    write_meta_number(tx, CHECKED_TO, 0)?;
    write_meta_number(tx, N_CHECKED, 0)?;
    write_meta_number(tx, LAST_TERM, 0)
}
