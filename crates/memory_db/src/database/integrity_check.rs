//! Checks the integrity of memory.db.

use memod_database::DatabaseError;
use memod_proto::memory::LinkKind;

use crate::database::open_database::MemoryDb;
use crate::records::memory_record::MemoryRecord;
use crate::records::record_functions::HashAndWords;

/// The id of a memory whose text does not match its stored hash, and this hash.
pub(crate) type AlteredText = (String, [u8; 32]);

/// The result of an integrity check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    /// The problems found, one line each.
    pub faults: Vec<String>,
    /// Number of unarchived rows of `memory`: memories, their versions in worktrees, and copies.
    pub living: u64,
    /// Number of these rows whose vector is still to be computed.
    pub vectorless: u64,
}

impl MemoryDb {
    /// Runs the integrity checks of SQLite, FTS5 and memod; `model` is the identity of the model whose vectors are counted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn check_integrity(&self, model: &str) -> Result<IntegrityReport, DatabaseError> {
        let outcome: String =
            self.run(|conn| conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)))?;
        self.run(|conn| {
            conn.execute_batch("INSERT INTO memory_fts(memory_fts, rank) VALUES('integrity-check', 0)")
        })?;
        let mut faults =
            if outcome == "ok" { Vec::new() } else { vec![format!("integrity_check: {outcome}")] };
        let kinds = LinkKind::ALL.map(|kind| format!("'{}'", kind.as_str())).join(", ");
        let checks = [
            (
                "rows that refer to a missing memory",
                "SELECT count(*) FROM pragma_foreign_key_check".to_owned(),
            ),
            ("links of an unknown kind", format!("SELECT count(*) FROM link WHERE kind NOT IN ({kinds})")),
            (
                "anchors that cannot be read",
                "SELECT count(*) FROM anchor WHERE NOT json_valid(anchor)".to_owned(),
            ),
            (
                "memories missing from the full-text index",
                "SELECT count(*) FROM memory WHERE row NOT IN (SELECT id FROM memory_fts_docsize)".to_owned(),
            ),
            (
                "texts in the full-text index without a memory",
                "SELECT count(*) FROM memory_fts_docsize WHERE id NOT IN (SELECT row FROM memory)".to_owned(),
            ),
        ];
        for (fault, sql) in checks {
            match self.run(|conn| conn.query_row(&sql, [], |row| row.get(0)))? {
                0_u64 => {}
                n => faults.push(format!("{n} {fault}")),
            }
        }
        let (living, vectorless) = self.run(|conn| {
            conn.query_row(
                "SELECT count(*), count(*) FILTER (WHERE v.memory IS NULL) FROM memory m
                 LEFT JOIN memory_vector v ON v.memory = m.row AND v.model = ?1 WHERE m.archived_at IS NULL",
                [model],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
        })?;
        Ok(IntegrityReport { faults, living, vectorless })
    }

    /// Returns the memories whose text does not match their stored hash: a disk has lost bits, or another program has written the
    /// file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn find_altered_texts(
        &self,
        derive: fn(&MemoryRecord) -> HashAndWords,
    ) -> Result<Vec<AlteredText>, DatabaseError> {
        self.run(|conn| {
            let mut statement = conn.prepare("SELECT id, hash, content FROM memory ORDER BY row")?;
            let mut rows = statement.query([])?;
            let mut altered = Vec::new();
            while let Some(row) = rows.next()? {
                // A text that is not UTF-8 was altered, too.
                let content = row.get_ref(2)?.as_bytes().unwrap_or_default();
                let (id, hash) = (row.get(0)?, row.get(1)?);
                let is_same = std::str::from_utf8(content).is_ok_and(|content| {
                    derive(&MemoryRecord { content: content.to_owned(), ..MemoryRecord::default() }).hash
                        == hash
                });
                if !is_same {
                    altered.push((id, hash));
                }
            }
            Ok(altered)
        })
    }

    /// Returns whether this database has a readable text with the stored hash for a memory whose text was altered elsewhere.
    pub(crate) fn has_text(&self, altered: &AlteredText, derive: fn(&MemoryRecord) -> HashAndWords) -> bool {
        let (id, hash) = altered;
        let read = self.run(|conn| {
            conn.query_row("SELECT content FROM memory WHERE id = ?1", [id], |row| row.get::<_, String>(0))
        });
        read.is_ok_and(|content| derive(&MemoryRecord { content, ..MemoryRecord::default() }).hash == *hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HashAndWords, MemoryEvent, MemoryRecord, MemoryRows};

    #[test]
    fn what_does_not_hold_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let (mut db, _) = MemoryDb::open(&dir.path().join("memory.db"), |_, _| Ok(())).unwrap();
        let put = |rows: &MemoryRows<'_>| {
            for (id, hash) in [("mem_a", [1; 32]), ("mem_b", [2; 32])] {
                let record =
                    MemoryRecord { id: id.to_owned(), content: id.to_owned(), ..MemoryRecord::default() };
                let derived = HashAndWords { hash, words: Default::default() };
                rows.put_memory(&record, &derived, &MemoryEvent::default())?;
            }
            Ok::<_, DatabaseError>(())
        };
        db.write(1, put).unwrap();
        let good = IntegrityReport { faults: Vec::new(), living: 2, vectorless: 2 };
        assert_eq!(db.check_integrity("model").unwrap(), good);
        let spoil = "PRAGMA foreign_keys = OFF;
            INSERT INTO link VALUES(1, 2, 'likes', 0); INSERT INTO tag VALUES(9, 'x');
            INSERT INTO anchor VALUES(1, 0, '{'); DELETE FROM memory_fts WHERE rowid = 2;
            INSERT INTO memory_vector VALUES(1, 'model', NULL), (2, 'other', NULL);";
        db.conn.execute_batch(spoil).unwrap();
        let faults = [
            "1 rows that refer to a missing memory",
            "1 links of an unknown kind",
            "1 anchors that cannot be read",
            "1 memories missing from the full-text index",
        ];
        let found = db.check_integrity("model").unwrap();
        assert_eq!((found.faults, found.vectorless), (faults.map(str::to_owned).to_vec(), 1));
    }
}
