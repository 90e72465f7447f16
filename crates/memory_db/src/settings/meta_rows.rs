//! Stores values about the database itself, by key.

use memod_database::DatabaseError;
use rusqlite::OptionalExtension;

use crate::access::row_access::row_handle;

row_handle! {
    /// Values about the database itself, by key.
    pub(crate) struct MetaRows {}
}

impl MetaRows<'_> {
    /// Returns the value of a key in `meta`; `None` if the key is not set.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn read_meta(&self, key: &str) -> Result<Option<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?
                .query_row([key], |row| row.get(0))
                .optional()
        })
    }

    /// Stores the value of a key in `meta`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn set_meta(&self, key: &str, value: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)", [key, value]).map(drop)
        })
    }

    /// Deletes a key from `meta`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn unset_meta(&self, key: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| conn.execute("DELETE FROM meta WHERE key = ?1", [key]).map(drop))
    }
}
