//! Reads the vocabulary of the full-text index: the terms, and how many memories have each.

use memod_database::DatabaseError;
use rusqlite::OptionalExtension;

use crate::access::row_access::row_handle;

/// SQL for the vocabulary of the full-text index, a temporary table that takes no space in the file.
const VOCABULARY: &str =
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.memory_vocab USING fts5vocab('main', 'memory_fts', 'row')";

row_handle! {
    /// The vocabulary of the full-text index.
    pub struct WordRows {}
}

impl WordRows<'_> {
    /// Returns the number of memories that have a term, including archived memories.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_memories_with_term(&self, term: &str) -> Result<u64, DatabaseError> {
        self.access.run(|conn| {
            conn.execute_batch(VOCABULARY)?;
            let mut statement = conn.prepare("SELECT doc FROM temp.memory_vocab WHERE term = ?1")?;
            statement.query_row([term], |row| row.get(0)).optional().map(Option::unwrap_or_default)
        })
    }

    /// Returns an upper bound for the number of memories, including archived memories: the largest row number. Counting the rows
    /// would read all of them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn estimate_memory_count(&self) -> Result<u64, DatabaseError> {
        self.access.run(|conn| {
            let last: Option<u64> = conn.query_row("SELECT max(row) FROM memory", [], |row| row.get(0))?;
            Ok(last.unwrap_or(0))
        })
    }

    /// Calls `visit` with every term that any memory has, including archived memories.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn visit_terms(&self, visit: &mut dyn FnMut(&str)) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.execute_batch(VOCABULARY)?;
            let mut statement = conn.prepare("SELECT term FROM temp.memory_vocab")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(row.get_ref(0)?.as_str().unwrap_or_default());
            }
            Ok(())
        })
    }
}
