//! Merges neighbouring segments, so that a list has few parts and no deleted chunks.
//!
//! A merge writes the rows of the new segment in steps. Nothing reads them until the last step, which replaces the rows of the
//! merged segments by one for the new segment. Interrupted merges and merged segments leave rows that no segment names; these
//! are deleted in steps, too.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use memod_base::types::{ChunkId, IdSet};
use rusqlite::{OptionalExtension, Transaction, params};

use super::posting_list::{ListWriter, PostingRow};
use super::segment_rows::{
    allocate_segment_id, first_row_id, inline_lists, last_term, segment_from_row_id, term_from_row_id,
};
use super::unused_terms;

/// Number of one-row segments, and of chunks in them, at which one-row segments are merged, because each search reads their rows.
const MOST_INLINE: usize = 16;
const MOST_INLINE_CHUNKS: i64 = 512;

/// Number of one-row segments, and of chunks that are being merged for the first time, above which no more chunks are added until
/// the merge has ended.
const MOST_WAITING: usize = 64;
const MOST_WAITING_CHUNKS: i64 = 1_024;

/// Number of neighbours that are merged into one segment, if the largest has fewer than about this many times the chunks of the
/// smallest, or if there are more than [`MOST_SEGMENTS`] merged segments.
const FAN_IN: usize = 8;
const MOST_SEGMENTS: usize = 48;

/// About how long a step takes, and the most steps of a merge: each step reads all one-row segments of the merge.
const STEP_TIME: Duration = Duration::from_millis(15);
const MOST_STEPS: i64 = 64;

/// Number of terms in the first step, most terms in a step that finds any lists, and most rows that a step deletes.
const FIRST_TERMS: i64 = 1_024;
const MOST_TERMS: i64 = 1 << 16;
const DELETED_ROWS: i64 = 4_096;

/// The next step of merging.
#[derive(Debug)]
pub(crate) enum MergeState {
    /// Delete rows of segments that the table `segment` does not have, then search for segments to merge.
    DeleteUnnamedRows,
    /// Merge all segments into one.
    MergeAll,
    /// Continue a merge.
    Merging(SegmentMerge),
    /// Delete the rows of a failed merge, and do nothing else until chunks are added, because the disk may be full.
    Failed,
    /// Delete words that no chunk has.
    DeleteUnusedWords,
    /// Do nothing until chunks are added.
    Done,
}

/// A merge of neighbours.
#[derive(Debug)]
pub(crate) struct SegmentMerge {
    sources: Vec<SegmentSource>,
    target: i64,
    /// The chunks of the sources that still exist.
    chunks: IdSet,
    n_chunks: i64,
    next_term: i64,
    n_terms: i64,
    /// Number of one-row segments that wait to be merged.
    n_waiting: usize,
}

#[derive(Clone, Debug)]
struct SegmentSource {
    id: i64,
    first: i64,
    last: i64,
    n_chunks: i64,
    is_inline: bool,
}

impl MergeState {
    /// Runs one step. Returns whether more steps are needed.
    pub(crate) fn take_step(&mut self, tx: &Transaction<'_>) -> rusqlite::Result<bool> {
        match self {
            Self::Merging(merge) => {
                if merge.merge_next_terms(tx)? {
                    *self = Self::DeleteUnnamedRows;
                }
            }
            Self::MergeAll => {
                let sources = list_sources(tx)?;
                *self = if sources.is_empty() {
                    Self::Done
                } else {
                    Self::Merging(SegmentMerge::new(tx, sources)?)
                };
            }
            Self::DeleteUnnamedRows => {
                if !delete_unnamed_rows(tx, DELETED_ROWS)? {
                    *self = match select_segments_to_merge(&list_sources(tx)?) {
                        Some(sources) => Self::Merging(SegmentMerge::new(tx, sources)?),
                        None if unused_terms::is_search_due(tx)? => Self::DeleteUnusedWords,
                        None => Self::Done,
                    };
                }
            }
            Self::Failed => {
                if !delete_unnamed_rows(tx, DELETED_ROWS)? {
                    *self = Self::Done;
                }
            }
            Self::DeleteUnusedWords => {
                if !unused_terms::delete_unused_words_step(tx, STEP_TIME)? {
                    *self = Self::Done;
                }
            }
            Self::Done => {}
        }
        Ok(!matches!(self, Self::Done))
    }

    /// Returns the state after a failed step; the next change of a worktree starts merging again.
    pub(crate) fn after_failure(self) -> Self {
        if matches!(self, Self::Merging(_)) { Self::Failed } else { Self::Done }
    }

    /// Returns whether so many chunks wait for their first merge that the next job must wait.
    pub(crate) fn has_backlog(&self) -> bool {
        let Self::Merging(merge) = self else { return false };
        merge.n_waiting > MOST_WAITING || merge.n_chunks > MOST_WAITING_CHUNKS && merge.sources[0].is_inline
    }
}

/// Merges all segments into one; deletes the rows of other segments, and the words that no chunk has.
pub(crate) fn compact_segments(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let sources = list_sources(tx)?;
    if !sources.is_empty() {
        let mut merge = SegmentMerge::new(tx, sources)?;
        while !merge.merge_next_terms(tx)? {}
    }
    while delete_unnamed_rows(tx, i64::MAX)? {}
    unused_terms::delete_all_unused_words(tx)
}

fn list_sources(tx: &Transaction<'_>) -> rusqlite::Result<Vec<SegmentSource>> {
    tx.prepare_cached(
        "SELECT id, first, last, n_chunks, typeof(postings) != 'null' FROM segment ORDER BY first",
    )?
    .query_map([], |row| {
        Ok(SegmentSource {
            id: row.get(0)?,
            first: row.get(1)?,
            last: row.get(2)?,
            n_chunks: row.get(3)?,
            is_inline: row.get(4)?,
        })
    })?
    .collect()
}

/// Returns the neighbours to merge next.
fn select_segments_to_merge(sources: &[SegmentSource]) -> Option<Vec<SegmentSource>> {
    let n_inline = sources.iter().rev().take_while(|source| source.is_inline).count();
    let inline = &sources[sources.len() - n_inline..];
    let inline = &inline[..n_inline.min(MOST_WAITING)]; // each step reads all of them
    if n_inline >= MOST_INLINE
        || inline.iter().map(|source| source.n_chunks).sum::<i64>() >= MOST_INLINE_CHUNKS
    {
        return Some(inline.to_vec());
    }
    let merged = &sources[..sources.len() - n_inline];
    let due = merged.windows(FAN_IN).filter(|neighbours| {
        let sizes = neighbours.iter().map(|source| source.n_chunks);
        merged.len() > MOST_SEGMENTS
            || sizes.clone().max() < sizes.min().map(|least| (least + 1) * FAN_IN as i64)
    });
    due.min_by_key(|neighbours| neighbours.iter().map(|source| source.n_chunks).sum::<i64>())
        .map(<[SegmentSource]>::to_vec)
}

impl SegmentMerge {
    fn new(tx: &Transaction<'_>, sources: Vec<SegmentSource>) -> rusqlite::Result<Self> {
        let (first, last) = (sources[0].first, sources[sources.len() - 1].last);
        let mut statement = tx.prepare_cached("SELECT id FROM chunk WHERE id >= ?1 AND id <= ?2")?;
        let ids: Vec<ChunkId> =
            statement.query_map([first, last], |row| row.get(0).map(ChunkId))?.collect::<Result<_, _>>()?;
        let n_chunks = ids.len() as i64;
        let (target, chunks) = (allocate_segment_id(tx)?, ids.into_iter().collect());
        Ok(Self { sources, target, chunks, n_chunks, next_term: 0, n_terms: FIRST_TERMS, n_waiting: 0 })
    }

    /// Merges the lists of the next terms. Returns whether these terms were the last.
    fn merge_next_terms(&mut self, tx: &Transaction<'_>) -> rusqlite::Result<bool> {
        let began = Instant::now();
        let n_terms = last_term(tx)? + 1;
        let (first, end) = (self.next_term, n_terms.min(self.next_term + self.n_terms));
        let mut lists: BTreeMap<i64, ListWriter> = BTreeMap::new();
        for source in &self.sources {
            let mut append = |term: i64, postings: &[u8], places: &[u8]| {
                let list = lists.entry(term).or_default();
                list.append_row(postings, places, |id| self.chunks.contains(id));
            };
            if source.is_inline {
                each_inline_list(tx, source.id, first..end, &mut append)?;
            } else {
                each_stored_list_row(tx, source.id, first..end, &mut append)?;
            }
        }
        let has_lists = !lists.is_empty();
        for (term, list) in lists {
            insert_list_rows(tx, first_row_id(self.target, term), list.into_rows())?;
        }
        self.next_term = end;
        self.n_waiting = tx
            .prepare_cached("SELECT count(*) FROM segment WHERE id < 0")?
            .query_row([], |row| row.get(0))?;
        let is_last = end == n_terms;
        if is_last {
            self.install_segment(tx)?;
        }
        let took = began.elapsed();
        let least = n_terms / MOST_STEPS + 1;
        self.n_terms = match took > STEP_TIME {
            true => (self.n_terms / 2).max(least),
            false if has_lists => (self.n_terms * 2).min(MOST_TERMS.max(least)),
            false => self.n_terms, // the step took no time, so it does not predict the next ones
        };
        Ok(is_last)
    }

    /// Puts the new segment in place of the old ones.
    fn install_segment(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        for source in &self.sources {
            tx.execute("DELETE FROM segment WHERE id = ?1", [source.id])?;
        }
        if self.n_chunks == 0 {
            return Ok(());
        }
        let (first, last) = (self.sources[0].first, self.sources[self.sources.len() - 1].last);
        tx.execute(
            "INSERT INTO segment(id, first, last, n_chunks) VALUES(?1, ?2, ?3, ?4)",
            params![self.target, first, last, self.n_chunks],
        )
        .map(drop)
    }
}

/// A function that receives a term with the postings and places of one of its rows.
type VisitList<'a> = dyn FnMut(i64, &[u8], &[u8]) + 'a;

/// Calls `visit` with the lists of some terms in a one-row segment.
fn each_inline_list(
    tx: &Transaction<'_>,
    segment: i64,
    terms: std::ops::Range<i64>,
    visit: &mut VisitList<'_>,
) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached("SELECT postings, places FROM segment WHERE id = ?1")?;
    statement.query_row([segment], |row| {
        let (lists, places) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
        for list in inline_lists(lists).filter(|list| terms.contains(&list.term)) {
            visit(list.term, list.postings, places.get(list.places).unwrap_or_default());
        }
        Ok(())
    })
}

/// Calls `visit` with the rows of some terms in a segment that is in the tables `posting` and `position`.
fn each_stored_list_row(
    tx: &Transaction<'_>,
    segment: i64,
    terms: std::ops::Range<i64>,
    visit: &mut VisitList<'_>,
) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached(
        "SELECT l.id, l.data, p.data FROM posting l CROSS JOIN position p ON p.id = l.id
         WHERE l.id >= ?1 AND l.id < ?2 ORDER BY l.id",
    )?;
    let mut rows = statement.query([first_row_id(segment, terms.start), first_row_id(segment, terms.end)])?;
    while let Some(row) = rows.next()? {
        visit(term_from_row_id(row.get(0)?), row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?);
    }
    Ok(())
}

fn insert_list_rows(tx: &Transaction<'_>, first_id: i64, rows: Vec<PostingRow>) -> rusqlite::Result<()> {
    let mut postings = tx.prepare_cached("INSERT INTO posting(id, data) VALUES(?1, ?2)")?;
    let mut positions = tx.prepare_cached("INSERT INTO position(id, data) VALUES(?1, ?2)")?;
    for (id, row) in (first_id..).zip(rows) {
        postings.execute(params![id, row.postings])?;
        positions.execute(params![id, row.places])?;
    }
    Ok(())
}

/// Deletes at most `at_most` rows of a segment that the table `segment` does not have. Returns whether there may be more.
fn delete_unnamed_rows(tx: &Transaction<'_>, at_most: i64) -> rusqlite::Result<bool> {
    for table in ["posting", "position"] {
        let mut next =
            tx.prepare_cached(&format!("SELECT id FROM {table} WHERE id >= ?1 ORDER BY id LIMIT 1"))?;
        let mut is_named = tx.prepare_cached("SELECT 1 FROM segment WHERE id = ?1")?;
        let mut from = 0_i64;
        while let Some(id) = next.query_row([from], |row| row.get::<_, i64>(0)).optional()? {
            let segment = segment_from_row_id(id);
            from = first_row_id(segment + 1, 0);
            if !is_named.exists([segment])? {
                tx.prepare_cached(&format!(
                    "DELETE FROM {table} WHERE id IN (SELECT id FROM {table} WHERE id >= ?1 AND id < ?2 LIMIT ?3)"
                ))?
                .execute([id, from, at_most])?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}
