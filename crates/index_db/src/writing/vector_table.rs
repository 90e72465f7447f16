//! Keeps the vectors of chunks in a table of sqlite-vec, for indexes whose vectors exceed the memory budget.
//!
//! `embedding` has each vector by the hash of its text, in no useful order: reading all vectors takes one look-up each. The
//! table `chunk_vec` has a copy by chunk id, in blocks that can be read at the speed of the disk. The table exists only while
//! it is needed. It is filled step by step; from then on a row is added in the transaction that stores the vector of the chunk,
//! and deleted in the one that deletes the chunk.
//!
//! Blocks are read from the tables in which sqlite-vec keeps them (`ARCHITECTURE.md` of sqlite-vec 0.1.9), because its own
//! KNN takes four times as long and compares k times with each row of a block; benchmarks-history.md has the figures.

use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};

use super::index_writer::IndexWriter;
use super::vector_rows::{ALL_CHUNKS, SLOTS_PER_BLOCK, copy_rows, create_table, drop_table, read_filled_to};
use crate::reading::index_reader::IndexReader;

/// Number of wanted rows from which on a block is read as a whole, in 60 us; fewer rows are read one by one, in 5 us each.
const ROWS_WORTH_A_BLOCK: usize = 8;

/// The state of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorTableState {
    /// There is no table.
    Absent,
    /// Some vectors are missing; [`IndexWriter::fill_vector_table`] must be called again.
    Partial,
    /// The table has all vectors.
    Complete,
}

impl IndexWriter {
    /// Returns the state of the table of vectors.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn vector_table_state(&self) -> Result<VectorTableState, DatabaseError> {
        let filled_to =
            read_filled_to(&self.conn).map_err(|error| DatabaseError::from_sqlite(&self.path, error))?;
        Ok(match filled_to {
            None => VectorTableState::Absent,
            Some(ALL_CHUNKS) => VectorTableState::Complete,
            Some(_) => VectorTableState::Partial,
        })
    }

    /// Creates an empty table for vectors of `dims` numbers if there is none, or if more than half of its slots are empty, which
    /// sqlite-vec does not fill again.
    ///
    /// # Errors
    /// When the database cannot be written; nothing is changed then.
    pub fn prepare_vector_table(&mut self, dims: usize) -> Result<(), DatabaseError> {
        self.run_transaction(|tx| {
            if read_filled_to(tx)?.is_some() {
                let is_sparse: bool = tx.query_row(
                    "SELECT (SELECT count(*) FROM chunk_vec_chunks) * ?1 > 2 * (SELECT count(*) FROM chunk_vec_rowids) + ?1",
                    [SLOTS_PER_BLOCK],
                    |row| row.get(0),
                )?;
                if !is_sparse {
                    return Ok(());
                }
            }
            create_table(tx, dims)
        })
    }

    /// Adds the vectors of the next `n_chunks` chunks to the table.
    ///
    /// # Errors
    /// When the database cannot be written; the step must be repeated then.
    pub fn fill_vector_table(&mut self, n_chunks: usize) -> Result<(), DatabaseError> {
        self.run_transaction(|tx| {
            let Some(after) = read_filled_to(tx)?.filter(|filled_to| *filled_to != ALL_CHUNKS) else {
                return Ok(());
            };
            let last: Option<i64> = tx
                .prepare_cached("SELECT id FROM chunk WHERE id > ?1 ORDER BY id LIMIT 1 OFFSET ?2")?
                .query_row(params![after, n_chunks - 1], |row| row.get(0))
                .optional()?;
            let last = last.unwrap_or(ALL_CHUNKS);
            copy_rows(tx, after, last)
        })
    }

    /// Deletes the table of vectors if there is one.
    ///
    /// # Errors
    /// When the database cannot be written; the table is unchanged then.
    pub fn drop_vector_table(&mut self) -> Result<(), DatabaseError> {
        self.run_transaction(|tx| if read_filled_to(tx)?.is_some() { drop_table(tx) } else { Ok(()) })
    }
}

impl IndexReader {
    /// Returns whether there is a table of vectors, and it has all of them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_vector_table_complete(&self) -> Result<bool, DatabaseError> {
        self.run_query(|conn| Ok(read_filled_to(conn)? == Some(ALL_CHUNKS)))
    }

    /// Calls `visit` for each block of the table, with the ids and the vectors, `[n_ids, dims]`, of the chunks for which `admits`
    /// returns true. The table must have all vectors.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_vector_block(
        &self,
        admits: impl Fn(ChunkId) -> bool,
        mut visit: impl FnMut(&[ChunkId], &[i8]),
    ) -> Result<(), DatabaseError> {
        self.run_query(|conn| {
            let mut blocks =
                conn.prepare_cached("SELECT chunk_id, validity, rowids FROM chunk_vec_chunks")?;
            let mut vectors =
                conn.prepare_cached("SELECT vectors FROM chunk_vec_vector_chunks00 WHERE _rowid_ = ?1")?;
            let mut vector = conn.prepare_cached(
                "SELECT e.vec FROM chunk c CROSS JOIN embedding e ON e.text_hash = c.text_hash
                      AND e.model_id = (SELECT value FROM meta WHERE key = 'model')
                 WHERE c.id = ?1",
            )?;
            let mut found = BlockRows::default();
            let mut rows = blocks.query([])?;
            while let Some(row) = rows.next()? {
                found.clear();
                let slots = used_slots(row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?);
                let wanted: Vec<(usize, ChunkId)> = slots.filter(|(_, id)| admits(*id)).collect();
                if wanted.len() >= ROWS_WORTH_A_BLOCK {
                    vectors.query_row([row.get::<_, i64>(0)?], |row| {
                        let bytes = row.get_ref(0)?.as_blob()?;
                        let dims = bytes.len() / SLOTS_PER_BLOCK;
                        wanted.iter().for_each(|(slot, id)| found.add(*id, &bytes[slot * dims..][..dims]));
                        Ok(())
                    })?;
                } else {
                    for (_, id) in wanted {
                        vector.query_row([id.0], |row| {
                            found.add(id, row.get_ref(0)?.as_blob()?);
                            Ok(())
                        })?;
                    }
                }
                visit(&found.ids, &found.rows);
            }
            Ok(())
        })
    }
}

/// The wanted rows of a block.
#[derive(Default)]
struct BlockRows {
    ids: Vec<ChunkId>,
    rows: Vec<i8>,
}

impl BlockRows {
    fn clear(&mut self) {
        self.ids.clear();
        self.rows.clear();
    }

    fn add(&mut self, id: ChunkId, vector: &[u8]) {
        self.ids.push(id);
        self.rows.extend(vector.iter().map(|byte| byte.cast_signed()));
    }
}

/// Returns the slots of a block that are in use, with their ids: a bit each in `validity`, the lowest of a byte first, and 8
/// bytes each in `ids`.
fn used_slots(validity: &[u8], ids: &[u8]) -> impl Iterator<Item = (usize, ChunkId)> {
    let ids = ids.as_chunks().0.iter().map(|bytes| ChunkId(i64::from_ne_bytes(*bytes)));
    ids.enumerate()
        .filter(move |(slot, _)| validity.get(slot / 8).is_some_and(|byte| byte >> (slot % 8) & 1 == 1))
}
