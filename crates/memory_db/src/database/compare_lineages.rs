//! Compares the lineages and the versions of two databases.

use std::collections::{HashMap, HashSet};

use memod_database::DatabaseError;

use crate::database::open_database::MemoryDb;
use crate::records::record_columns::IS_NO_VERSION_ROW;
use crate::settings::lineage_rows::Lineage;

/// The version of a memory, with the number of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowVersion {
    row: i64,
    /// Time of the last change, unix ms; it grows with each change.
    pub(crate) updated: i64,
}

impl MemoryDb {
    /// Reads the lineage of the database, also from an older schema.
    ///
    /// # Errors
    /// When the file is damaged or not a memory.db.
    pub(crate) fn read_lineage(&self) -> Result<Lineage, DatabaseError> {
        self.run(Lineage::read_from)
    }

    /// Returns whether this database includes everything in another database. If the lineages do not show that, each memory is
    /// compared: a file that was copied and written separately keeps its id.
    ///
    /// # Errors
    /// When one of the databases cannot be read.
    pub(crate) fn includes_database(&self, other: &Self) -> Result<bool, DatabaseError> {
        Ok(self.read_lineage()?.includes_database(&other.read_lineage()?)
            || self.includes_each_memory(other)?)
    }

    /// Returns whether this database has each memory of another database in the same or a newer version, or has deleted it.
    ///
    /// # Errors
    /// When one of the databases cannot be read.
    pub(crate) fn includes_each_memory(&self, other: &Self) -> Result<bool, DatabaseError> {
        let ours = self.list_versions()?;
        let deleted: Option<HashSet<String>> =
            self.list_deleted().ok().map(|deleted| deleted.into_iter().map(|(id, ..)| id).collect());
        // An older schema does not record deletions, but gaps in its row numbers show them, because numbers are never reused.
        let rows: HashSet<i64> = ours.values().map(|version| version.row).collect();
        let last = rows.iter().max().copied().unwrap_or_default();
        Ok(other.list_versions()?.iter().all(|(id, theirs)| match (ours.get(id), &deleted) {
            (Some(known), _) => known.updated >= theirs.updated,
            (None, Some(deleted)) => deleted.contains(id),
            (None, None) => theirs.row < last && !rows.contains(&theirs.row),
        }))
    }

    /// Returns the version of each memory, by id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn list_versions(&self) -> Result<HashMap<String, RowVersion>, DatabaseError> {
        self.run(|conn| {
            conn.prepare(&format!("SELECT m.id, m.row, m.updated FROM memory m WHERE {IS_NO_VERSION_ROW}"))?
                .query_map([], |row| {
                    Ok((row.get(0)?, RowVersion { row: row.get(1)?, updated: row.get(2)? }))
                })?
                .collect()
        })
    }
}
