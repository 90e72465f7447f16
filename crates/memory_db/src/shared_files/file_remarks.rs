//! Keeps the remarks of files: comments, and keys that this version does not know.
//!
//! A row has the remarks of its file, and keeps them while the memory has no file: they come back with the file.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension as _, params};
use serde_json::{Map, Value, json};

use super::super::{MemoryRecord, MemoryRows};
use super::file_links::FileLinks;
use super::{FileState, ShownMemories};

/// The name of remarks among the fields of a change.
const FIELD: &str = "remarks";

/// The content of a file.
#[derive(Clone, Debug)]
pub struct FileMemory {
    /// The memory.
    pub record: MemoryRecord,
    /// Its links, also to memories that are not here.
    pub links: FileLinks,
    /// Its remarks, as lines; empty where they are not known.
    pub remarks: String,
}

impl MemoryRows<'_> {
    /// Returns the content of the file of a row, or of its last file.
    pub(crate) fn read_file_memory(&self, row: i64) -> Result<FileMemory, DatabaseError> {
        let (id, links, remarks): (String, Option<String>, Option<String>) = self.run(|conn| {
            conn.prepare_cached("SELECT id, file_links, remarks FROM memory WHERE row = ?1")?
                .query_row([row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        })?;
        let links = links.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        Ok(FileMemory { record: self.record_at(&id)?, links, remarks: remarks.unwrap_or_default() })
    }

    /// Returns the content of a memory's file in the worktree, or of its last file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn file_memory_of(&self, id: &str) -> Result<FileMemory, DatabaseError> {
        let row_id = self.own_version_id(id)?.unwrap_or_else(|| id.to_owned());
        self.read_file_memory(self.row_of(&row_id)?)
    }

    /// Returns the remarks of the row of an id; `None` if they are not known.
    pub(super) fn remarks_at(&self, row_id: &str) -> Result<Option<String>, DatabaseError> {
        let remarks = self.run(|conn| {
            conn.prepare_cached("SELECT remarks FROM memory WHERE id = ?1")?
                .query_row([row_id], |row| row.get(0))
                .optional()
        });
        Ok(remarks?.flatten())
    }

    /// Stores the remarks of the main row of a memory, and the links of its file as JSON.
    pub(crate) fn set_remarks(
        &self,
        id: &str,
        remarks: &str,
        file_links: Option<&String>,
    ) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("UPDATE memory SET remarks = ?2, file_links = ?3 WHERE id = ?1")?
                .execute(params![id, remarks, file_links])
                .map(drop)
        })
    }

    /// Returns whether a file of the worktree was read by a version that did not keep its remarks.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn lacks_remarks(&self) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory_file f JOIN memory m ON m.row = f.memory
                 WHERE f.worktree = memod_worktree() AND m.version IS NOT NULL AND m.remarks IS NULL",
            )?
            .exists([])
        })
    }

    /// Stores the remarks of files whose rows lack them and are otherwise up to date.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn fill_in_remarks(&self, files: &[FileState]) -> Result<(), DatabaseError> {
        for file in files {
            let ShownMemories::Versions(versions) = &file.shown else { continue };
            for version in versions {
                self.run(|conn| {
                    conn.prepare_cached(
                        "UPDATE memory SET remarks = ?4 WHERE remarks IS NULL AND version = ?3 AND row IN (
                             SELECT memory FROM memory_file WHERE worktree = memod_worktree() AND name = ?1 AND hash = ?2)",
                    )?
                    .execute(params![file.name, file.hash, version.hash, version.remarks])
                })?;
            }
        }
        Ok(())
    }
}

/// Adds remarks to the fields of a change if they differ, and both are known.
pub(super) fn add_remarks(fields: &mut Map<String, Value>, before: Option<String>, after: Option<String>) {
    if let Some((before, after)) = before.zip(after)
        && before != after
    {
        fields.insert(FIELD.to_owned(), json!([before, after]));
    }
}
