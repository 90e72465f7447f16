//! Stores the full-text words that memories lack.
//!
//! Memories lack words after a migration, in an old backup, and after they were saved from a damaged file.

use memod_database::DatabaseError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::database::open_database::MemoryDb;
use crate::memory_tables::version_rows::put_words;
use crate::records::memory_record::MemoryRecord;
use crate::records::record_columns::{COLUMNS, read_record};
use crate::records::record_functions::HashAndWords;

/// Number of memories that are read at a time.
const BATCH_SIZE: usize = 1_000;

impl MemoryDb {
    /// Removes the words of memories that are gone, and stores the words that other memories lack, in one transaction.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub(crate) fn repair_words(
        &self,
        derive: fn(&MemoryRecord) -> HashAndWords,
    ) -> Result<(), DatabaseError> {
        self.run(|conn| {
            if list_orphan_word_rows(conn, 1)?.is_empty() && list_memories_without_words(conn, 1)?.is_empty()
            {
                return Ok(());
            }
            let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
            for row in list_orphan_word_rows(&tx, i64::MAX)? {
                tx.execute("DELETE FROM memory_fts WHERE rowid = ?1", [row])?;
            }
            loop {
                let memories = list_memories_without_words(&tx, BATCH_SIZE)?;
                if memories.is_empty() {
                    return tx.commit();
                }
                for (row, record) in memories {
                    put_words(&tx, row, &derive(&record).words)?;
                }
            }
        })
    }
}

/// Returns at most `at_most` row numbers of the full-text index that have no memory. A repair by hand or by SQLite leaves such
/// rows.
fn list_orphan_word_rows(conn: &Connection, at_most: i64) -> rusqlite::Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT id FROM memory_fts_docsize WHERE id NOT IN (SELECT row FROM memory) LIMIT ?1",
    )?
    .query_map([at_most], |row| row.get(0))?
    .collect()
}

/// Returns at most `at_most` memories without words in the full-text index, each with its row number.
fn list_memories_without_words(
    conn: &Connection,
    at_most: usize,
) -> rusqlite::Result<Vec<(i64, MemoryRecord)>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS}, m.row FROM memory m
         WHERE NOT EXISTS (SELECT 1 FROM memory_fts_docsize d WHERE d.id = m.row) LIMIT ?1"
    ))?
    .query_map([at_most as i64], |row| Ok((row.get("row")?, read_record(row)?)))?
    .collect()
}

#[cfg(test)]
mod tests {
    use memod_base::types::MemoryRow;

    use super::*;
    use crate::MemoryFilter;
    use crate::database::schema::MEMORY_SCHEMA;
    use memod_database::migrations;
    use memod_database::open_connection;

    fn derive(record: &MemoryRecord) -> HashAndWords {
        let body = format!("{} of-{}", record.content, record.id);
        HashAndWords { hash: [0; 32], words: [String::new(), record.tags.join(" "), body] }
    }

    #[test]
    fn words_of_an_older_schema_are_put_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        let mut old = open_connection(&path, rusqlite::OpenFlags::default()).unwrap();
        migrations::migrate_schema(&mut old, &path, &MEMORY_SCHEMA[..4]).unwrap();
        let fill = "
            WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2500)
            INSERT INTO memory SELECT n, 'mem_' || n, 'hashed', NULL, 'repo', 'long', NULL, 5, 1.0, 'cli', 'x', n, n,
                NULL, 0, '{}', CAST(n AS BLOB), NULL, NULL, NULL, NULL FROM n;
            INSERT INTO tag VALUES(7, 'seven');
            INSERT INTO memory_fts(rowid, title, tags, body) SELECT row, '', '', content FROM memory;";
        old.execute_batch(fill).unwrap();
        drop(old);
        let (db, _) = MemoryDb::open(&path, |_, _| Ok(())).unwrap();
        let found = |expression: &str| {
            db.read(0, |rows| rows.search().rank_by_bm25(&MemoryFilter::default(), expression, 9)).unwrap()
        };
        assert_eq!(found("hashed"), [], "the index is empty");
        db.repair_words(derive).unwrap();
        assert_eq!(found("hashed").len(), 9);
        let rows = |expression| found(expression).into_iter().map(|(row, _)| row).collect::<Vec<_>>();
        assert_eq!((rows("\"of mem 2345\""), rows("seven")), (vec![MemoryRow(2345)], vec![MemoryRow(7)]));
        let orphan = "INSERT INTO memory_fts(rowid, title, tags, body) VALUES(9000, '', '', 'hashed')";
        db.conn.execute_batch(orphan).unwrap();
        assert_eq!(
            db.check_integrity("model").unwrap().faults,
            ["1 texts in the full-text index without a memory"]
        );
        db.repair_words(|_| unreachable!("all have their words")).unwrap();
        assert_eq!(db.check_integrity("model").unwrap().faults, Vec::<String>::new());
    }
}
