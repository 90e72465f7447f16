//! Stores with whom a memory is shared, and which versions this user trusts.

use memod_database::DatabaseError;
use rusqlite::params;

use crate::access::row_access::row_handle;
use crate::files::file_rows::FileRows;
use crate::memory_tables::record_rows::RecordRows;
use crate::memory_tables::version_rows::VersionRows;
use crate::records::file_version::{FileHash, FileVersion};
use crate::records::memory_record::FileSide;
use crate::records::sharing::Sharing;

row_handle! {
    /// With whom memories are shared, and which versions this user trusts.
    pub struct SharingRows { records: RecordRows, versions: VersionRows, files: FileRows }
}

impl SharingRows<'_> {
    /// Returns whether a memory is shared through a file, in any worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_shared_by_file(&self, id: &str) -> Result<bool, DatabaseError> {
        Ok(self.versions().main_row(id)?.is_some_and(|main| main.is_shared_by_file))
    }

    /// Returns whether the team has a memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_team_memory(&self, id: &str) -> Result<bool, DatabaseError> {
        Ok(self.versions().main_row(id)?.is_some_and(|main| main.is_team_memory))
    }

    /// Returns whether this user has stopped sharing a memory, so that no rule shares it again.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_unshared(&self, id: &str) -> Result<bool, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT 1 FROM memory WHERE id = ?1 AND shared = ?2")?
                .exists(params![id, Sharing::Never as i64])
        })
    }

    /// Returns the hash of the file that memod writes for the main row of a memory; `None` if there is no such file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn main_file_hash(&self, id: &str) -> Result<Option<[u8; 32]>, DatabaseError> {
        Ok(self.versions().main_row(id)?.and_then(|main| main.version))
    }

    /// Sets with whom a memory is shared.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn set_sharing(&self, id: &str, shared: Sharing) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE memory SET shared = ?2 WHERE id = ?1")?
                .execute(params![id, shared as i64])
                .map(drop)
        })?;
        if shared == Sharing::Repo {
            self.files().end_file_conflicts(id)?;
        }
        self.files().request_hidden_file_reread(id)
    }

    /// Marks a memory as shared through the worktree's file `name`, which the caller then writes.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_shared_through_file(&self, id: &str, name: &str) -> Result<(), DatabaseError> {
        self.set_sharing(id, Sharing::Repo)?;
        self.files().put_file_row(
            name,
            FileSide::Whole,
            Some(self.versions().find_row_number(id)?),
            &[0; 32],
            None,
        )
    }

    /// Records that this user trusts the version of a memory with this hash.
    pub(crate) fn trust_version(&self, id: &str, hash: &FileHash) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "INSERT OR IGNORE INTO trusted_version SELECT row, ?2 FROM memory WHERE id = ?1",
            )?
            .execute(params![id, hash])
            .map(drop)
        })
    }

    /// Records that this user trusts the worktree's version of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn trust_memory(&self, id: &str) -> Result<(), DatabaseError> {
        let row_id = self.versions().worktree_version_id(id)?.unwrap_or_else(|| id.to_owned());
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE memory SET version = coalesce(version, zeroblob(32)) WHERE id = ?1")?
                .execute([&row_id])?;
            conn.prepare_cached(
                "INSERT OR IGNORE INTO trusted_version
                 SELECT coalesce(main, row), version FROM memory WHERE id = ?1",
            )?
            .execute([&row_id])
            .map(drop)
        })
    }

    /// Records that a memory was written to its file in the worktree, or that this user has confirmed the file. The file then shows
    /// the memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_file_written(
        &self,
        id: &str,
        name: &str,
        version: &FileVersion,
        is_trusted: bool,
    ) -> Result<(), DatabaseError> {
        let hash = &version.hash;
        let row_id = self.versions().worktree_version_id(id)?.unwrap_or_else(|| id.to_owned());
        self.versions().set_file_columns(&row_id, version)?;
        self.access.run(|conn| {
            let sql = "DELETE FROM memory_file WHERE worktree = memod_worktree() AND name = ?1";
            conn.prepare_cached(sql)?.execute([name]).map(drop)
        })?;
        self.files().put_file_row(
            name,
            FileSide::Whole,
            Some(self.versions().find_row_number(&row_id)?),
            hash,
            None,
        )?;
        if is_trusted {
            self.trust_version(id, hash)?;
        }
        Ok(())
    }

    /// Returns whether a memory is living and shared through files, but not in this worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_only_elsewhere(&self, id: &str) -> Result<bool, DatabaseError> {
        let is_living =
            self.versions().main_row(id)?.is_some_and(|main| main.is_shared_by_file && !main.is_archived);
        Ok(is_living && self.records().find_memory(id)?.is_none())
    }
}
