//! Determines whether a database includes everything in another database.
//!
//! Each database has an id and counts its writes, and a copy inherits both. A database that merges others records their ids and
//! counts. So the newer of two databases is found without a clock or a file name.

use std::collections::BTreeMap;

use memod_database::DatabaseError;
use rusqlite::{Connection, OptionalExtension};

use crate::access::row_access::row_handle;
use crate::settings::meta_rows::MetaRows;

row_handle! {
    /// The id of the database, its number of writes, and the databases that it includes.
    pub(crate) struct LineageRows { meta: MetaRows }
}

/// The lineage of a database: its id, its number of writes, and the other databases that it includes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lineage {
    /// Id of the database; empty in an older schema.
    id: String,
    /// Number of writes; at least that of each included database.
    writes: u64,
    /// Number of writes up to which each other database is included, by id.
    included: BTreeMap<String, u64>,
}

impl Lineage {
    /// Reads the lineage of a database, also from an older schema.
    pub(crate) fn read_from(conn: &Connection) -> rusqlite::Result<Self> {
        let holds = meta_value(conn, "holds")?.and_then(|json| serde_json::from_str(&json).ok());
        let holds = holds.unwrap_or_default();
        match meta_value(conn, "lineage")? {
            Some(id) => {
                let writes = meta_value(conn, "writes")?.and_then(|text| text.parse().ok());
                Ok(Self { id, writes: writes.unwrap_or_default(), included: holds })
            }
            None => Ok(Self { writes: count_rows_ever(conn)?, ..Self::default() }),
        }
    }

    /// Returns the number of writes; at least that of each included database.
    pub(crate) fn n_writes(&self) -> u64 {
        self.writes
    }

    /// Returns whether the other database is recorded as included completely.
    pub(crate) fn includes_database(&self, other: &Self) -> bool {
        self.included.get(&other.id).is_some_and(|writes| *writes >= other.writes)
    }

    /// Records that the other database is included completely.
    pub(crate) fn include_database(&mut self, other: &Self) {
        let itself = [(&other.id, &other.writes)].into_iter().filter(|(id, _)| !id.is_empty());
        for (id, writes) in other.included.iter().chain(itself).filter(|(id, _)| **id != self.id) {
            let known = self.included.entry(id.clone()).or_default();
            *known = (*known).max(*writes);
        }
        self.raise_write_count_to(other);
    }

    /// Raises the number of writes to at least that of the other database, which may not be included completely.
    pub(crate) fn raise_write_count_to(&mut self, other: &Self) {
        self.writes = self.writes.max(other.writes);
    }
}

impl LineageRows<'_> {
    /// Gives this database a new id, and records that the databases of `included` are included.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn begin_lineage(&self, included: &Lineage) -> Result<(), DatabaseError> {
        let id = self
            .access
            .run(|conn| conn.query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0)))?;
        let mut new = Lineage { id, ..Lineage::default() };
        new.include_database(included);
        self.set_lineage(&new)
    }

    /// Stores the lineage of this database.
    pub(crate) fn set_lineage(&self, lineage: &Lineage) -> Result<(), DatabaseError> {
        let holds = serde_json::to_string(&lineage.included).expect("an object of JSON has string keys");
        self.meta().set_meta("lineage", &lineage.id)?;
        self.meta().set_meta("writes", &lineage.writes.to_string())?;
        self.meta().set_meta("holds", &holds)
    }

    /// Increments the number of writes, within the transaction that writes.
    pub(crate) fn increment_write_count(&self) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE meta SET value = value + 1 WHERE key = 'writes'")?
                .execute([])
                .map(drop)
        })
    }
}

/// Returns the value of a key in `meta`, also from an older schema.
fn meta_value(conn: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    conn.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
}

/// Returns the number of memories and changes that ever existed, which counts as the number of writes of an older schema.
fn count_rows_ever(conn: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory'), 0)
               + coalesce((SELECT max(row) FROM history), 0)";
    conn.query_row(sql, [], |row| row.get(0))
}
