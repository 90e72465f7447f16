//! Deletes words that no chunk has any more.
//!
//! Each saved file may add words that no other has, such as ids, and leave those of its former content unused. A word that is
//! deleted and comes again gets another id.

use std::time::{Duration, Instant};

use memod_base::types::IdSet;
use rusqlite::{OptionalExtension, Transaction, params};

use super::segment_rows::{
    CHECKED_TO, N_CHECKED, NEXT_UNUSED, first_row_id, inline_lists, last_term, read_meta_number,
    write_meta_number,
};

/// Number of words that are read from the database at once.
const WORDS_AT_ONCE: i64 = 512;
/// Unused words are searched for after this number of new words, or after half as many as there are words if that is more.
const LEAST_NEW: i64 = 100_000;
const NEW_WORDS_DIVISOR: i64 = 2;

/// Returns whether enough words are new to search for unused ones.
pub(super) fn is_search_due(tx: &Transaction<'_>) -> rusqlite::Result<bool> {
    let n_new = last_term(tx)? - read_meta_number(tx, CHECKED_TO)?;
    Ok(n_new > LEAST_NEW.max(read_meta_number(tx, N_CHECKED)? / NEW_WORDS_DIVISOR))
}

/// Deletes unused words for about the time `at_most`, beginning where the last call stopped. Returns whether words are left to
/// check.
///
/// All rows of `posting` must belong to a segment in the table `segment`.
pub(super) fn delete_unused_words_step(tx: &Transaction<'_>, at_most: Duration) -> rusqlite::Result<bool> {
    let began = Instant::now();
    let inline = inline_terms(tx)?;
    let mut find = tx.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    let mut next: String = find.query_row([NEXT_UNUSED], |row| row.get(0)).optional()?.unwrap_or_default();
    loop {
        let words = read_term_page(tx, &next)?;
        let Some((last, _)) = words.last() else {
            return record_search_end(tx).map(|()| false);
        };
        next.clone_from(last);
        next.push('\0'); // the smallest word that is greater
        for (word, id) in &words {
            if !inline.contains(*id) && !is_in_rows(tx, *id)? {
                tx.prepare_cached("DELETE FROM term WHERE term = ?1")?.execute([word])?;
            }
        }
        if began.elapsed() > at_most {
            tx.prepare_cached("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)")?
                .execute(params![NEXT_UNUSED, next])?;
            return Ok(true);
        }
    }
}

/// Deletes all unused words.
pub(super) fn delete_all_unused_words(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    restart_search(tx)?;
    delete_unused_words_step(tx, Duration::MAX).map(drop)
}

/// Lets the next search for unused words begin at the first word.
fn restart_search(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM meta WHERE key = ?1", [NEXT_UNUSED]).map(drop)
}

fn read_term_page(tx: &Transaction<'_>, from: &str) -> rusqlite::Result<Vec<(String, i64)>> {
    tx.prepare_cached("SELECT term, id FROM term WHERE term >= ?1 ORDER BY term LIMIT ?2")?
        .query_map(params![from, WORDS_AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Returns the terms of one-row segments.
fn inline_terms(tx: &Transaction<'_>) -> rusqlite::Result<IdSet> {
    let mut statement = tx.prepare_cached("SELECT postings FROM segment WHERE postings IS NOT NULL")?;
    let mut rows = statement.query([])?;
    let mut terms: Vec<i64> = Vec::new();
    let last = last_term(tx)?;
    while let Some(row) = rows.next()? {
        let lists = inline_lists(row.get_ref(0)?.as_blob()?);
        terms.extend(lists.map(|list| list.term).filter(|term| (0..=last).contains(term))); // others are damage
    }
    Ok(terms.into_iter().collect())
}

/// Returns whether a segment has a first row for a term.
fn is_in_rows(tx: &Transaction<'_>, term: i64) -> rusqlite::Result<bool> {
    tx.prepare_cached(
        "SELECT 1 FROM segment s CROSS JOIN posting p ON p.id = s.id * ?2 + ?1 WHERE s.id > 0 LIMIT 1",
    )?
    .exists([first_row_id(0, term), first_row_id(1, 0)])
}

/// Records that all words were checked.
fn record_search_end(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    restart_search(tx)?;
    let n_words = tx.query_row("SELECT count(*) FROM term", [], |row| row.get(0))?;
    write_meta_number(tx, N_CHECKED, n_words)?;
    write_meta_number(tx, CHECKED_TO, last_term(tx)?)
}
