//! Determines whether a database includes everything in another database.
//!
//! Each database has an id and counts its writes, and a copy inherits both. A database that merges others records their
//! ids and counts. So no clock and no file name is needed to find the newer one.

use std::collections::{BTreeMap, HashMap, HashSet};

use memod_database::DatabaseError;
use rusqlite::{Connection, OptionalExtension};

use super::{MemoryDb, MemoryRows};

/// The id of a database, its number of writes, and the other databases that it includes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lineage {
    /// Id; empty in a database of an older schema.
    id: String,
    writes: u64,
    /// The count up to which each other database is included.
    holds: BTreeMap<String, u64>,
}

/// The version of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowVersion {
    row: i64,
    pub(super) updated: i64,
}

impl Lineage {
    /// Returns the number of writes; never less than that of any database it includes.
    pub(super) fn n_writes(&self) -> u64 {
        self.writes
    }

    /// Returns whether the other database is recorded as included completely.
    pub(super) fn includes_database(&self, other: &Self) -> bool {
        self.holds.get(&other.id).is_some_and(|writes| *writes >= other.writes)
    }

    /// Records that the other database is included completely.
    pub(super) fn include_database(&mut self, other: &Self) {
        let itself = [(&other.id, &other.writes)].into_iter().filter(|(id, _)| !id.is_empty());
        for (id, writes) in other.holds.iter().chain(itself).filter(|(id, _)| **id != self.id) {
            let known = self.holds.entry(id.clone()).or_default();
            *known = (*known).max(*writes);
        }
        self.continue_count(other);
    }

    /// Continues the count of the other database, which may not be included completely.
    pub(super) fn continue_count(&mut self, other: &Self) {
        self.writes = self.writes.max(other.writes);
    }
}

impl MemoryDb {
    /// Reads the lineage, also from an older schema.
    ///
    /// # Errors
    /// When the file is damaged or not a memory.db.
    pub(super) fn read_lineage(&self) -> Result<Lineage, DatabaseError> {
        self.run(|conn| {
            let holds = meta_value(conn, "holds")?.and_then(|json| serde_json::from_str(&json).ok());
            let holds = holds.unwrap_or_default();
            match meta_value(conn, "lineage")? {
                Some(id) => {
                    let writes = meta_value(conn, "writes")?.and_then(|text| text.parse().ok());
                    Ok(Lineage { id, writes: writes.unwrap_or_default(), holds })
                }
                None => Ok(Lineage { writes: count_rows_ever(conn)?, ..Lineage::default() }),
            }
        })
    }

    /// Returns whether everything from another database is included. A copied file continues under the same id, so beyond
    /// the recorded count each memory is compared.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub(super) fn includes_database(&self, other: &Self) -> Result<bool, DatabaseError> {
        Ok(self.read_lineage()?.includes_database(&other.read_lineage()?)
            || self.includes_each_memory(other)?)
    }

    /// Returns whether each memory of another database is here in the same or a newer version, or was deleted here.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub(super) fn includes_each_memory(&self, other: &Self) -> Result<bool, DatabaseError> {
        let ours = self.list_versions()?;
        let deleted: Option<HashSet<String>> =
            self.list_deleted().ok().map(|deleted| deleted.into_iter().map(|(id, ..)| id).collect());
        // In an older schema, gaps in the row numbers show deletions: numbers are never reused.
        let rows: HashSet<i64> = ours.values().map(|version| version.row).collect();
        let last = rows.iter().max().copied().unwrap_or_default();
        Ok(other.list_versions()?.iter().all(|(id, theirs)| match (ours.get(id), &deleted) {
            (Some(known), _) => known.updated >= theirs.updated,
            (None, Some(deleted)) => deleted.contains(id),
            (None, None) => theirs.row < last && !rows.contains(&theirs.row),
        }))
    }

    /// Returns the version of each memory by id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn list_versions(&self) -> Result<HashMap<String, RowVersion>, DatabaseError> {
        self.run(|conn| {
            conn.prepare("SELECT id, row, updated FROM memory WHERE instr(id, '#') = 0")?
                .query_map([], |row| {
                    Ok((row.get(0)?, RowVersion { row: row.get(1)?, updated: row.get(2)? }))
                })?
                .collect()
        })
    }
}

impl MemoryRows<'_> {
    /// Gives this database a new id, with this lineage as included.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn begin_lineage(&self, included: &Lineage) -> Result<(), DatabaseError> {
        let id = self.run(|conn| conn.query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0)))?;
        let mut new = Lineage { id, ..Lineage::default() };
        new.include_database(included);
        self.set_lineage(&new)
    }

    pub(super) fn set_lineage(&self, lineage: &Lineage) -> Result<(), DatabaseError> {
        let holds = serde_json::to_string(&lineage.holds).expect("an object of JSON has string keys");
        self.set_meta("lineage", &lineage.id)?;
        self.set_meta("writes", &lineage.writes.to_string())?;
        self.set_meta("holds", &holds)
    }

    /// Counts a write, within its transaction.
    pub(super) fn count_write(&self) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("UPDATE meta SET value = value + 1 WHERE key = 'writes'")?
                .execute([])
                .map(drop)
        })
    }
}

fn meta_value(conn: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    conn.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
}

/// Returns the number of memories and changes that ever existed, which is the count of an older schema.
fn count_rows_ever(conn: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory'), 0)
               + coalesce((SELECT max(row) FROM history), 0)";
    conn.query_row(sql, [], |row| row.get(0))
}
