//! Keeps the lines of files that say nothing of their memories: comments, and keys that this version does not know.
//!
//! A row has those of the file that it is of, and keeps them while the memory has no file: they come back with the file.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension as _, params};
use serde_json::{Map, Value, json};

use super::super::{Record, Rows};
use super::file_links::FileLinks;
use super::{FileState, ShownBy};

/// Their name among the fields of a change.
const FIELD: &str = "remarks";

/// What a file says.
#[derive(Clone, Debug)]
pub struct SaidByFile {
    /// The memory.
    pub record: Record,
    /// Its links, also to memories that are not here.
    pub links: FileLinks,
    /// Its other lines; none where they are not known.
    pub remarks: String,
}

impl Rows<'_> {
    /// Returns what the file of a row says, or said while there was one.
    pub(crate) fn said_by_file(&self, row: i64) -> Result<SaidByFile, DatabaseError> {
        let (id, links, remarks): (String, Option<String>, Option<String>) = self.run(|conn| {
            conn.prepare_cached("SELECT id, file_links, remarks FROM memory WHERE row = ?1")?
                .query_row([row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        })?;
        let links = links.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        Ok(SaidByFile { record: self.record_at(&id)?, links, remarks: remarks.unwrap_or_default() })
    }

    /// Returns what the file of a memory in the worktree says, or said while there was one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn said_of_memory(&self, id: &str) -> Result<SaidByFile, DatabaseError> {
        let at = self.own_version(id)?.unwrap_or_else(|| id.to_owned());
        self.said_by_file(self.row_of(&at)?)
    }

    /// Returns the remarks of the row of an id; `None` if they are not known.
    pub(super) fn remarks_at(&self, at: &str) -> Result<Option<String>, DatabaseError> {
        let remarks = self.run(|conn| {
            conn.prepare_cached("SELECT remarks FROM memory WHERE id = ?1")?
                .query_row([at], |row| row.get(0))
                .optional()
        });
        Ok(remarks?.flatten())
    }

    /// Stores the remarks of the main row of a memory, and the links that its file says, as JSON.
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

    /// Stores the remarks of files whose rows lack them, and are otherwise as the files say.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn learn_remarks(&self, files: &[FileState]) -> Result<(), DatabaseError> {
        for file in files {
            let ShownBy::Versions(versions) = &file.shown else { continue };
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
