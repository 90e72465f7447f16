//! Finds the chunks that match a word, a phrase or an expression.

use memod_base::types::{ChunkId, Expression, IdSet, Phrase};
use memod_database::DatabaseError;
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::posting_list::{PlaceReader, PostingReader, place_offset, place_weight};
use super::segment_rows::{first_row_id, inline_lists};
use crate::reading::index_reader::IndexReader;

/// Most terms whose postings are merged by sorting; with more terms, an array has a count for each chunk.
const MOST_SORTED: usize = 32;

/// The posting lists of all words in one snapshot. They may have chunks that are deleted.
pub struct PostingLists<'a> {
    reader: &'a IndexReader,
    /// The segments in the order of their chunks.
    segments: Vec<StoredSegment>,
}

struct StoredSegment {
    id: i64,
    /// The last chunk of the segment.
    last: i64,
    /// The lists, if the segment is in one row.
    inline: Option<Vec<u8>>,
}

/// The location of the places of a row of postings.
enum PlacesLocation {
    /// The row of `position` with this id.
    Row(i64),
    /// These bytes in the column `places` of the one-row segment with this id.
    Inline(i64, std::ops::Range<usize>),
}

impl IndexReader {
    /// Returns the posting lists of all words, which must be read in the same snapshot.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read_postings(&self) -> Result<PostingLists<'_>, DatabaseError> {
        let segments = self.run_query(|conn| {
            conn.prepare_cached("SELECT id, last, postings FROM segment ORDER BY first")?
                .query_map([], |row| {
                    Ok(StoredSegment { id: row.get(0)?, last: row.get(1)?, inline: row.get(2)? })
                })?
                .collect()
        })?;
        Ok(PostingLists { reader: self, segments })
    }
}

impl PostingLists<'_> {
    /// Calls `visit` with each chunk that has a phrase, ids ascending, and how often: an occurrence counts 1, in a title 2, in
    /// names 4, and all together at most 255.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_match(
        &self,
        phrase: &Phrase,
        mut visit: impl FnMut(ChunkId, u8),
    ) -> Result<(), DatabaseError> {
        self.reader.run_query(|conn| {
            let tokens = find_term_ids(conn, phrase)?;
            let found = match tokens.as_slice() {
                [terms] if terms.len() == 1 => {
                    return self.each_list_row(conn, terms, |postings, _| {
                        PostingReader::new(postings).for_each(|(id, count)| visit(ChunkId(id), count));
                        Ok(())
                    });
                }
                [terms] => self.find_chunks_with_any(conn, terms)?,
                tokens => self.find_adjacent(conn, tokens)?,
            };
            found.into_iter().for_each(|(id, count)| visit(ChunkId(id), count));
            Ok(())
        })
    }

    /// Returns the chunks that satisfy an expression.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_matching(&self, expression: &Expression) -> Result<IdSet, DatabaseError> {
        let mut set = IdSet::default();
        match expression {
            Expression::Phrase(phrase) => {
                let last = self.segments.last().map_or(0, |segment| segment.last);
                let mut ids = Vec::new();
                self.each_match(phrase, |id, _| ids.push(id))?;
                ids.retain(|id| (0..=last).contains(&id.0)); // damaged bytes may give any number
                set = ids.into_iter().collect();
            }
            Expression::Any(parts) => {
                for part in parts {
                    set.union_with(&self.find_matching(part)?);
                }
            }
            Expression::All(parts) => {
                for (nth, part) in parts.iter().enumerate() {
                    let found = self.find_matching(part)?;
                    if nth == 0 { set = found } else { set.intersect_with(&found) }
                }
            }
            Expression::Without(wanted, unwanted) => {
                set = self.find_matching(wanted)?;
                set.difference_with(&self.find_matching(unwanted)?);
            }
        }
        Ok(set)
    }

    /// Returns the number of chunks that have a term, deleted ones included; 0 if all of them are deleted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn count_chunks_with_term(&self, term: &str) -> Result<u64, DatabaseError> {
        let mut ids = Vec::new();
        self.each_match(&Phrase { tokens: term.to_owned(), is_prefix: false }, |id, _| ids.push(id))?;
        self.reader.run_query(|conn| {
            let mut find = conn.prepare_cached("SELECT 1 FROM chunk WHERE id = ?1")?;
            for id in &ids {
                if find.exists([id.0])? {
                    return Ok(ids.len() as u64);
                }
            }
            Ok(0)
        })
    }

    /// Calls `visit` with every term, and perhaps some that no chunk has any more.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_term(&self, visit: &mut dyn FnMut(&str)) -> Result<(), DatabaseError> {
        self.reader.run_query(|conn| {
            let mut statement = conn.prepare_cached("SELECT term FROM term")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(row.get_ref(0)?.as_str().unwrap_or_default());
            }
            Ok(())
        })
    }

    /// Calls `visit` with each row of the lists of some terms, which ascend. The rows of one term come in the order of their
    /// chunks.
    fn each_list_row(
        &self,
        conn: &Connection,
        terms: &[i64],
        mut visit: impl FnMut(&[u8], PlacesLocation) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let (Some(first), Some(last)) = (terms.first(), terms.last()) else { return Ok(()) };
        let mut find_rows =
            conn.prepare_cached("SELECT id, data FROM posting WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
        for StoredSegment { id: segment, inline, .. } in &self.segments {
            if let Some(lists) = inline {
                let lists_in_range = inline_lists(lists).skip_while(|list| list.term < *first);
                let lists_in_range = lists_in_range.take_while(|list| list.term <= *last);
                for list in lists_in_range.filter(|list| terms.binary_search(&list.term).is_ok()) {
                    visit(list.postings, PlacesLocation::Inline(*segment, list.places))?;
                }
                continue;
            }
            // Words that are added together get ids in alphabetical order, so the words with one prefix mostly have consecutive ids,
            // and one query reads them.
            for run in terms.chunk_by(|term, next| *next == term + 1) {
                let (first, last) = (run[0], run[run.len() - 1]);
                let mut rows =
                    find_rows.query([first_row_id(*segment, first), first_row_id(*segment, last + 1)])?;
                while let Some(row) = rows.next()? {
                    visit(row.get_ref(1)?.as_blob()?, PlacesLocation::Row(row.get(0)?))?;
                }
            }
        }
        Ok(())
    }

    /// Returns the chunks that have at least one of these terms, which ascend, each with its count of occurrences.
    fn find_chunks_with_any(&self, conn: &Connection, terms: &[i64]) -> rusqlite::Result<Vec<(i64, u8)>> {
        if terms.len() > MOST_SORTED {
            return self.find_chunks_with_any_of_many(conn, terms);
        }
        let mut all = Vec::new();
        self.each_list_row(conn, terms, |postings, _| {
            all.extend(PostingReader::new(postings));
            Ok(())
        })?;
        if terms.len() > 1 {
            all.sort_unstable_by_key(|(id, _)| *id);
            all.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                kept.1 = if is_same { kept.1.saturating_add(next.1) } else { kept.1 };
                is_same
            });
        }
        Ok(all)
    }

    /// Like [`Self::find_chunks_with_any`], but with an array of counts: the lists of a short prefix have most chunks many times.
    fn find_chunks_with_any_of_many(
        &self,
        conn: &Connection,
        terms: &[i64],
    ) -> rusqlite::Result<Vec<(i64, u8)>> {
        let last = self.segments.iter().map(|segment| segment.last).max().unwrap_or(0);
        let mut counts = vec![0_u8; usize::try_from(last + 1).unwrap_or(0)];
        self.each_list_row(conn, terms, |postings, _| {
            for (id, count) in PostingReader::new(postings) {
                // Damaged bytes may give any number.
                if let Some(sum) = usize::try_from(id).ok().and_then(|id| counts.get_mut(id)) {
                    *sum = sum.saturating_add(count);
                }
            }
            Ok(())
        })?;
        Ok((0..).zip(counts).filter(|(_, count)| *count > 0).collect())
    }

    /// Returns the chunks that have the tokens side by side, each with its count; a token matches any of its terms.
    fn find_adjacent(&self, conn: &Connection, tokens: &[Vec<i64>]) -> rusqlite::Result<Vec<(i64, u8)>> {
        let mut chunks: Option<Vec<i64>> = None;
        for terms in tokens {
            let found = self.find_chunks_with_any(conn, terms)?.into_iter().map(|(id, _)| id).collect();
            keep_common(&mut chunks, found);
        }
        let mut chunks = chunks.unwrap_or_default();
        let mut starts: Option<Vec<(i64, u32)>> = None;
        for (nth, terms) in (0..).zip(tokens) {
            let mut found = Vec::new();
            for term in terms.iter().filter(|_| !chunks.is_empty()) {
                self.each_place(conn, *term, &chunks, |id, place| {
                    if place_offset(place) >= nth {
                        found.push((id, place - nth));
                    }
                })?;
            }
            if terms.len() > 1 {
                found.sort_unstable();
            }
            keep_common(&mut starts, found);
            chunks = starts.iter().flatten().map(|(id, _)| *id).collect();
            chunks.dedup();
        }
        let mut counts: Vec<(i64, u8)> = Vec::new();
        for (id, start) in starts.unwrap_or_default() {
            let weight = place_weight(start) as u8;
            match counts.last_mut() {
                Some((last, count)) if *last == id => *count = count.saturating_add(weight),
                _ => counts.push((id, weight)),
            }
        }
        Ok(counts)
    }

    /// Calls `visit` with each place of a term in some chunks, which ascend.
    fn each_place(
        &self,
        conn: &Connection,
        term: i64,
        chunks: &[i64],
        mut visit: impl FnMut(i64, u32),
    ) -> rusqlite::Result<()> {
        let mut find_row = conn.prepare_cached("SELECT data FROM position WHERE id = ?1")?;
        let mut find_in_segment =
            conn.prepare_cached("SELECT substr(places, ?2, ?3) FROM segment WHERE id = ?1")?;
        let mut rest = chunks;
        self.each_list_row(conn, &[term], |postings, at| {
            let mut wanted = Vec::new();
            for (id, _) in PostingReader::new(postings) {
                rest = &rest[rest.partition_point(|chunk| *chunk < id)..];
                wanted.push((id, rest.first() == Some(&id)));
            }
            if !wanted.iter().any(|(_, is_wanted)| *is_wanted) {
                return Ok(());
            }
            let bytes = read_places(&mut find_row, &mut find_in_segment, at)?;
            let mut places = PlaceReader(&bytes);
            for (id, is_wanted) in wanted {
                if is_wanted {
                    places.visit_next_posting(|place| visit(id, place));
                } else {
                    places.take_encoded_places();
                }
            }
            Ok(())
        })
    }
}

/// Returns the encoded places of a row of postings.
fn read_places(
    find_row: &mut CachedStatement<'_>,
    find_in_segment: &mut CachedStatement<'_>,
    at: PlacesLocation,
) -> rusqlite::Result<Vec<u8>> {
    match at {
        PlacesLocation::Row(id) => find_row.query_row([id], |row| row.get(0)),
        PlacesLocation::Inline(segment, range) => {
            let params = params![segment, range.start as i64 + 1, range.len() as i64];
            find_in_segment.query_row(params, |row| row.get(0))
        }
    }
}

/// Returns the ids of the terms of each token of a phrase, ascending: its own, or for a prefix those that begin with it.
fn find_term_ids(conn: &Connection, phrase: &Phrase) -> rusqlite::Result<Vec<Vec<i64>>> {
    let mut exact = conn.prepare_cached("SELECT id FROM term WHERE term = ?1")?;
    // No character sorts after the last one.
    let mut beginning = conn
        .prepare_cached("SELECT id FROM term WHERE term >= ?1 AND term < ?1 || char(0x10ffff) ORDER BY id")?;
    let mut tokens = phrase.tokens.split(' ').peekable();
    let mut ids = Vec::new();
    while let Some(token) = tokens.next() {
        if phrase.is_prefix && tokens.peek().is_none() {
            ids.push(beginning.query_map([token], |row| row.get(0))?.collect::<Result<_, _>>()?);
        } else {
            ids.push(exact.query_row([token], |row| row.get(0)).optional()?.into_iter().collect());
        }
    }
    Ok(ids)
}

/// Removes from `common` the items that are not in `found`; both ascend. `None` means all items.
fn keep_common<T: Ord>(common: &mut Option<Vec<T>>, found: Vec<T>) {
    match common {
        None => *common = Some(found),
        Some(common) => {
            let mut found = found.iter().peekable();
            common.retain(|one| {
                while found.next_if(|other| *other < one).is_some() {}
                found.peek() == Some(&one)
            });
        }
    }
}
