//! Finds the chunks that have a word, a phrase, or what an expression demands.

use memod_base::types::{ChunkId, Expression, IdSet, Phrase};
use memod_database::DatabaseError;
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::list::{Places, Posting, offset, weight};
use super::segments::{inline_lists, row_id};
use crate::Reader;

/// Most terms whose postings are sorted.
const MOST_SORTED: usize = 32;

/// The words of all chunks in one snapshot, those of deleted chunks included.
pub struct Postings<'a> {
    reader: &'a Reader,
    /// In the order of their chunks.
    segments: Vec<Segment>,
}

struct Segment {
    id: i64,
    /// Its last chunk.
    last: i64,
    /// The lists of a segment in one row.
    inline: Option<Vec<u8>>,
}

/// Where the places of a row of postings are.
enum PlacesAt {
    /// The row of `position` with this id.
    Row(i64),
    /// Some of the bytes of this segment's column.
    Inline(i64, std::ops::Range<usize>),
}

impl Reader {
    /// Returns the words of all chunks. They must be read in the same snapshot.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn postings(&self) -> Result<Postings<'_>, DatabaseError> {
        let segments = self.run(|conn| {
            conn.prepare_cached("SELECT id, last, postings FROM segment ORDER BY first")?
                .query_map([], |row| Ok(Segment { id: row.get(0)?, last: row.get(1)?, inline: row.get(2)? }))?
                .collect()
        })?;
        Ok(Postings { reader: self, segments })
    }
}

impl Postings<'_> {
    /// Calls `see` with each chunk that has a phrase, ids ascending, and how often: an occurrence counts 1, in a title 2, in
    /// names 4, and all together at most 255.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each(&self, phrase: &Phrase, mut see: impl FnMut(ChunkId, u8)) -> Result<(), DatabaseError> {
        self.reader.run(|conn| {
            let tokens = token_ids(conn, phrase)?;
            let found = match tokens.as_slice() {
                [terms] if terms.len() == 1 => {
                    return self.each_row(conn, terms, |postings, _| {
                        Posting::all(postings).for_each(|(id, count)| see(ChunkId(id), count));
                        Ok(())
                    });
                }
                [terms] => self.any_of(conn, terms)?,
                tokens => self.adjacent(conn, tokens)?,
            };
            found.into_iter().for_each(|(id, count)| see(ChunkId(id), count));
            Ok(())
        })
    }

    /// Returns the chunks that satisfy an expression.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn matching(&self, expression: &Expression) -> Result<IdSet, DatabaseError> {
        let mut set = IdSet::default();
        match expression {
            Expression::Phrase(phrase) => {
                let last = self.segments.last().map_or(0, |segment| segment.last);
                let mut ids = Vec::new();
                self.each(phrase, |id, _| ids.push(id))?;
                ids.retain(|id| (0..=last).contains(&id.0)); // damaged bytes may give any number
                set = ids.into_iter().collect();
            }
            Expression::Any(parts) => {
                for part in parts {
                    set.add(&self.matching(part)?);
                }
            }
            Expression::All(parts) => {
                for (nth, part) in parts.iter().enumerate() {
                    let found = self.matching(part)?;
                    if nth == 0 { set = found } else { set.keep(&found) }
                }
            }
            Expression::Without(wanted, unwanted) => {
                set = self.matching(wanted)?;
                set.remove(&self.matching(unwanted)?);
            }
        }
        Ok(set)
    }

    /// Returns the number of chunks that have a term; 0 if all of them are deleted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn n_chunks_with(&self, term: &str) -> Result<u64, DatabaseError> {
        let mut ids = Vec::new();
        self.each(&Phrase { tokens: term.to_owned(), is_prefix: false }, |id, _| ids.push(id))?;
        self.reader.run(|conn| {
            let mut find = conn.prepare_cached("SELECT 1 FROM chunk WHERE id = ?1")?;
            for id in &ids {
                if find.exists([id.0])? {
                    return Ok(ids.len() as u64);
                }
            }
            Ok(0)
        })
    }

    /// Calls `see` with every term, and perhaps some that no chunk has any more.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_term(&self, see: &mut dyn FnMut(&str)) -> Result<(), DatabaseError> {
        self.reader.run(|conn| {
            let mut statement = conn.prepare_cached("SELECT term FROM term")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                see(row.get_ref(0)?.as_str().unwrap_or_default());
            }
            Ok(())
        })
    }

    /// Calls `see` with each row of the lists of some terms, which ascend. Those of one term are in the order of their chunks.
    fn each_row(
        &self,
        conn: &Connection,
        terms: &[i64],
        mut see: impl FnMut(&[u8], PlacesAt) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let (Some(first), Some(last)) = (terms.first(), terms.last()) else { return Ok(()) };
        let mut of_rows =
            conn.prepare_cached("SELECT id, data FROM posting WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
        for Segment { id: segment, inline, .. } in &self.segments {
            if let Some(lists) = inline {
                let near = inline_lists(lists).skip_while(|list| list.term < *first);
                let near = near.take_while(|list| list.term <= *last);
                for list in near.filter(|list| terms.binary_search(&list.term).is_ok()) {
                    see(list.postings, PlacesAt::Inline(*segment, list.places))?;
                }
                continue;
            }
            // Words that are added together have ids in their order, so those of a prefix are mostly neighbours.
            for run in terms.chunk_by(|term, next| *next == term + 1) {
                let (first, last) = (run[0], run[run.len() - 1]);
                let mut rows = of_rows.query([row_id(*segment, first), row_id(*segment, last + 1)])?;
                while let Some(row) = rows.next()? {
                    see(row.get_ref(1)?.as_blob()?, PlacesAt::Row(row.get(0)?))?;
                }
            }
        }
        Ok(())
    }

    /// Returns the chunks that have some of these terms, which ascend, and how often.
    fn any_of(&self, conn: &Connection, terms: &[i64]) -> rusqlite::Result<Vec<(i64, u8)>> {
        if terms.len() > MOST_SORTED {
            return self.any_of_many(conn, terms);
        }
        let mut all = Vec::new();
        self.each_row(conn, terms, |postings, _| {
            all.extend(Posting::all(postings));
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

    /// Like [`Self::any_of`], with a count for each id: the lists of a short prefix have most chunks many times.
    fn any_of_many(&self, conn: &Connection, terms: &[i64]) -> rusqlite::Result<Vec<(i64, u8)>> {
        let last = self.segments.iter().map(|segment| segment.last).max().unwrap_or(0);
        let mut counts = vec![0_u8; usize::try_from(last + 1).unwrap_or(0)];
        self.each_row(conn, terms, |postings, _| {
            for (id, count) in Posting::all(postings) {
                // Damaged bytes may give any number.
                if let Some(sum) = usize::try_from(id).ok().and_then(|id| counts.get_mut(id)) {
                    *sum = sum.saturating_add(count);
                }
            }
            Ok(())
        })?;
        Ok((0..).zip(counts).filter(|(_, count)| *count > 0).collect())
    }

    /// Returns the chunks that have tokens side by side, each of which is one of its terms, and how often.
    fn adjacent(&self, conn: &Connection, tokens: &[Vec<i64>]) -> rusqlite::Result<Vec<(i64, u8)>> {
        let mut chunks: Option<Vec<i64>> = None;
        for terms in tokens {
            let found = self.any_of(conn, terms)?.into_iter().map(|(id, _)| id).collect();
            keep_common(&mut chunks, found);
        }
        let mut chunks = chunks.unwrap_or_default();
        let mut starts: Option<Vec<(i64, u32)>> = None;
        for (nth, terms) in (0..).zip(tokens) {
            let mut found = Vec::new();
            for term in terms.iter().filter(|_| !chunks.is_empty()) {
                self.each_place(conn, *term, &chunks, |id, place| {
                    if offset(place) >= nth {
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
            let weight = weight(start) as u8;
            match counts.last_mut() {
                Some((last, count)) if *last == id => *count = count.saturating_add(weight),
                _ => counts.push((id, weight)),
            }
        }
        Ok(counts)
    }

    /// Calls `see` with each place of a term in some chunks, which ascend.
    fn each_place(
        &self,
        conn: &Connection,
        term: i64,
        chunks: &[i64],
        mut see: impl FnMut(i64, u32),
    ) -> rusqlite::Result<()> {
        let mut of_row = conn.prepare_cached("SELECT data FROM position WHERE id = ?1")?;
        let mut of_segment =
            conn.prepare_cached("SELECT substr(places, ?2, ?3) FROM segment WHERE id = ?1")?;
        let mut rest = chunks;
        self.each_row(conn, &[term], |postings, at| {
            let mut wanted = Vec::new();
            for (id, _) in Posting::all(postings) {
                rest = &rest[rest.partition_point(|chunk| *chunk < id)..];
                wanted.push((id, rest.first() == Some(&id)));
            }
            if !wanted.iter().any(|(_, is_wanted)| *is_wanted) {
                return Ok(());
            }
            let bytes = places(&mut of_row, &mut of_segment, at)?;
            let mut places = Places(&bytes);
            for (id, is_wanted) in wanted {
                if is_wanted {
                    places.next_posting(|place| see(id, place));
                } else {
                    places.next_encoded();
                }
            }
            Ok(())
        })
    }
}

fn places(
    of_row: &mut CachedStatement<'_>,
    of_segment: &mut CachedStatement<'_>,
    at: PlacesAt,
) -> rusqlite::Result<Vec<u8>> {
    match at {
        PlacesAt::Row(id) => of_row.query_row([id], |row| row.get(0)),
        PlacesAt::Inline(segment, range) => {
            let params = params![segment, range.start as i64 + 1, range.len() as i64];
            of_segment.query_row(params, |row| row.get(0))
        }
    }
}

/// Returns for each token of a phrase the ids of its terms, ascending: one, or those that it is the beginning of.
fn token_ids(conn: &Connection, phrase: &Phrase) -> rusqlite::Result<Vec<Vec<i64>>> {
    let mut exact = conn.prepare_cached("SELECT id FROM term WHERE term = ?1")?;
    // No character is behind the last one.
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

/// Removes what is not in `found`, too; both ascend.
fn keep_common<T: Ord>(kept: &mut Option<Vec<T>>, found: Vec<T>) {
    match kept {
        None => *kept = Some(found),
        Some(kept) => {
            let mut found = found.iter().peekable();
            kept.retain(|one| {
                while found.next_if(|other| *other < one).is_some() {}
                found.peek() == Some(&one)
            });
        }
    }
}
