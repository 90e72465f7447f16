//! Stores copies of memories of the team's other repositories. Searches find the copies; only the other repository changes them.
//!
//! The id in the row of a copy has a form that only this file uses, so that no verb takes a copy for a memory of this repository.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, Params, params};

use crate::access::row_access::row_handle;
use crate::memory_tables::version_rows::VersionRows;
use crate::records::file_version::FileVersion;
use crate::records::memory_event::TEAM_SOURCE;
use crate::records::memory_record::MemoryRecord;
use crate::records::sharing::Sharing;

row_handle! {
    /// Copies of memories of the team's other repositories.
    pub struct FollowedRows { versions: VersionRows }
}

/// Another repository of the team whose memories are copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedRow {
    /// Name of the repository.
    pub repository: String,
    /// The stored cursor, JSON: up to which change the repository's memories are copied.
    pub cursor: String,
    /// Number of copied memories.
    pub memories: u64,
}

impl FollowedRows<'_> {
    /// Stores the team's version of a memory of another repository as a copy. Leaves out anchors and links, because they refer to
    /// that repository.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn store_followed_memory(
        &self,
        repository: &str,
        version: &FileVersion,
    ) -> Result<(), DatabaseError> {
        let FileVersion { hash, record, .. } = version;
        let row_id = copied_row_id(repository, &record.id);
        let is_known = self.access.run(|conn| {
            conn.prepare_cached("SELECT 1 FROM memory WHERE id = ?1 AND version = ?2")?
                .exists(params![row_id, hash])
        })?;
        if is_known {
            return Ok(());
        }
        let record = MemoryRecord {
            source: TEAM_SOURCE.to_owned(),
            anchors: Vec::new(),
            created: record.created.min(self.access.now_ms()),
            updated: record.updated.min(self.access.now_ms()),
            shared: false,
            team: true,
            ..record.clone()
        };
        self.versions().store_record_at(
            &row_id,
            &record,
            &self.access.compute_hash_and_words(&record),
            None,
        )?;
        self.access.run(|conn| {
            conn.prepare_cached(
                "UPDATE memory SET shared = ?2, repository = ?3, version = ?4, main = NULL WHERE id = ?1",
            )?
            .execute(params![row_id, Sharing::Followed as i64, repository, hash])
            .map(drop)
        })
    }

    /// Deletes the copy of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_copy(&self, repository: &str, id: &str) -> Result<(), DatabaseError> {
        self.delete_copies("m.id = ?1", [copied_row_id(repository, id)])
    }

    /// Deletes the copies of a repository's memories, except those of the memories `ids`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_other_copies(&self, repository: &str, ids: &[String]) -> Result<(), DatabaseError> {
        let kept: Vec<String> = ids.iter().map(|id| copied_row_id(repository, id)).collect();
        let kept = serde_json::Value::from(kept).to_string();
        self.delete_copies(
            "m.repository = ?1 AND m.id NOT IN (SELECT value FROM json_each(?2))",
            [repository, &kept],
        )
    }

    /// Deletes the copies of a repository's memories, and its cursor.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn unfollow_repository(&self, repository: &str) -> Result<(), DatabaseError> {
        self.delete_copies("m.repository = ?1", [repository])?;
        self.access
            .run(|conn| conn.execute("DELETE FROM followed WHERE repository = ?1", [repository]).map(drop))
    }

    /// Deletes the copies of all repositories, and their cursors.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn unfollow_all(&self) -> Result<(), DatabaseError> {
        self.delete_copies("true", [])?;
        self.access.run(|conn| conn.execute("DELETE FROM followed", []).map(drop))
    }

    /// Deletes the copies that a condition on `memory m` selects. If there are any, also deletes the stored answers, which may
    /// quote them.
    fn delete_copies(&self, condition: &str, values: impl Params + Clone) -> Result<(), DatabaseError> {
        let rows = format!("SELECT m.row FROM memory m WHERE m.repository IS NOT NULL AND {condition}");
        self.access.run(|conn| {
            conn.prepare_cached(&format!("DELETE FROM memory_fts WHERE rowid IN ({rows})"))?
                .execute(values.clone())?;
            let n =
                conn.prepare_cached(&format!("DELETE FROM memory WHERE row IN ({rows})"))?.execute(values)?;
            match n {
                0 => Ok(()),
                _ => conn.execute("DELETE FROM request", []).map(drop),
            }
        })
    }

    /// Returns the followed repositories, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_followed(&self) -> Result<Vec<FollowedRow>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT f.repository, f.place, (SELECT count(*) FROM memory m WHERE m.repository = f.repository)
                 FROM followed f ORDER BY 1",
            )?
            .query_map([], |row| {
                Ok(FollowedRow { repository: row.get(0)?, cursor: row.get(1)?, memories: row.get(2)? })
            })?
            .collect()
        })
    }

    /// Returns the stored cursor of another repository: up to which change its memories are copied.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn followed_cursor(&self, repository: &str) -> Result<Option<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT place FROM followed WHERE repository = ?1")?
                .query_row([repository], |row| row.get(0))
                .optional()
        })
    }

    /// Stores the cursor of another repository: up to which change its memories are copied.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_followed_cursor(&self, repository: &str, cursor: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("INSERT OR REPLACE INTO followed(repository, place) VALUES(?1, ?2)")?
                .execute([repository, cursor])
                .map(drop)
        })
    }
}

/// Returns the id in the row of a copy.
fn copied_row_id(repository: &str, id: &str) -> String {
    format!("{id}#of {repository}")
}
