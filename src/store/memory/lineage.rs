//! Tells whether one database holds all that another one does.
//!
//! Each database has an id and counts its writes; a copy has both. One that takes over what others hold notes their ids
//! and counts. So what is newer is known without a clock and without the names of files.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension};

use super::{MemoryDb, Rows, StoreError};

/// Which database it is, how often it was written, and what it holds of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lineage {
    /// Empty in a database of an older schema.
    id: String,
    writes: u64,
    /// The count up to which each of the others is held.
    holds: BTreeMap<String, u64>,
}

/// Which version of a memory is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    row: i64,
    pub(super) updated: i64,
    pub(super) is_living: bool,
}

impl Lineage {
    /// Returns how often it was written; never less than any that it holds.
    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    /// Returns whether it is noted that all of the other one is held.
    pub(super) fn holds(&self, other: &Self) -> bool {
        self.holds.get(&other.id).is_some_and(|writes| *writes >= other.writes)
    }

    /// Notes that all of the other one is held.
    pub(super) fn take(&mut self, other: &Self) {
        let itself = [(&other.id, &other.writes)].into_iter().filter(|(id, _)| !id.is_empty());
        for (id, writes) in other.holds.iter().chain(itself).filter(|(id, _)| **id != self.id) {
            let known = self.holds.entry(id.clone()).or_default();
            *known = (*known).max(*writes);
        }
        self.exceed(other);
    }

    /// Counts on from the other one, of which perhaps not all is held.
    pub(super) fn exceed(&mut self, other: &Self) {
        self.writes = self.writes.max(other.writes);
    }
}

impl MemoryDb {
    /// Reads it as it is, also of an older schema.
    ///
    /// # Errors
    /// When it is damaged, or no memory.db.
    pub(super) fn lineage(&self) -> Result<Lineage, StoreError> {
        self.run(|conn| {
            let meta = |key: &str| -> rusqlite::Result<Option<String>> {
                conn.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
            };
            let number = |text: String| text.parse().unwrap_or_default();
            let holds = meta("holds")?.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
            match meta("lineage")? {
                Some(id) => Ok(Lineage { id, writes: meta("writes")?.map_or(0, number), holds }),
                None => Ok(Lineage { writes: rows_ever(conn)?, ..Lineage::default() }),
            }
        })
    }

    /// Returns whether all is held that another one holds. A file that was copied goes on under the same id, so beyond what
    /// is noted each memory is looked at.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub(super) fn holds(&self, other: &Self) -> Result<bool, StoreError> {
        Ok(self.lineage()?.holds(&other.lineage()?) || self.holds_each(other)?)
    }

    /// Returns whether each memory of another one is here as new, or was deleted here.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub(super) fn holds_each(&self, other: &Self) -> Result<bool, StoreError> {
        let ours = self.versions()?;
        let deleted: Option<HashSet<String>> =
            self.deleted().ok().map(|all| all.into_iter().map(|of| of.0).collect());
        // What a database of an older schema has deleted is known by its numbers: none is used again.
        let rows: HashSet<i64> = ours.values().map(|version| version.row).collect();
        let last = rows.iter().max().copied().unwrap_or_default();
        let is_held = |(id, theirs): (&String, &Version)| match (ours.get(id), &deleted) {
            (Some(known), _) => known.updated >= theirs.updated,
            (None, Some(deleted)) => deleted.contains(id),
            (None, None) => theirs.row < last && !rows.contains(&theirs.row),
        };
        Ok(other.versions()?.iter().all(is_held))
    }

    /// Returns which version there is of each memory, by id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn versions(&self) -> Result<HashMap<String, Version>, StoreError> {
        self.run(|conn| {
            conn.prepare("SELECT id, row, updated, archived_at IS NULL FROM memory")?
                .query_map([], |row| {
                    Ok((
                        row.get(0)?,
                        Version { row: row.get(1)?, updated: row.get(2)?, is_living: row.get(3)? },
                    ))
                })?
                .collect()
        })
    }
}

impl Rows<'_> {
    /// Makes another database of this one, which holds what this lineage does.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn begin_lineage(&self, of: &Lineage) -> Result<(), StoreError> {
        let id = self.run(|conn| conn.query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0)))?;
        let mut new = Lineage { id, ..Lineage::default() };
        new.take(of);
        self.set_lineage(&new)
    }

    pub(super) fn set_lineage(&self, lineage: &Lineage) -> Result<(), StoreError> {
        let holds = serde_json::to_string(&lineage.holds).expect("an object of JSON has string keys");
        self.set_meta("lineage", &lineage.id)?;
        self.set_meta("writes", &lineage.writes.to_string())?;
        self.set_meta("holds", &holds)
    }

    /// Counts a write; in its transaction.
    pub(super) fn count_write(&self) -> Result<(), StoreError> {
        self.run(|conn| {
            conn.prepare_cached("UPDATE meta SET value = value + 1 WHERE key = 'writes'")?
                .execute([])
                .map(drop)
        })
    }
}

/// Returns how many memories and changes there ever were: what a database of an older schema has for a count.
fn rows_ever(conn: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory'), 0)
               + coalesce((SELECT max(row) FROM history), 0)";
    conn.query_row(sql, [], |row| row.get(0))
}
