//! Decides which versions are shown of a private memory whose id a file or the team has, too.

use memod_database::DatabaseError;
use rusqlite::params;
use serde_json::json;

use crate::access::row_access::row_handle;
use crate::files::file_rows::FileRows;
use crate::files::sharing_rows::SharingRows;
use crate::memory_tables::record_rows::RecordRows;
use crate::memory_tables::version_rows::{MainRow, VersionRows};
use crate::records::file_version::version_id;
use crate::records::memory_event::FILE_SOURCE;
use crate::records::memory_record::{FileSide, MemoryRecord, with_local_fields};
use crate::records::sharing::Sharing;
use crate::shared::own_rows::PrivateMemoryRows;
use crate::shared::shared_rows::SharedRows;
use crate::team_exchange::team_versions::TeamVersionTables;

row_handle! {
    /// Decides which versions of private memories are shown.
    pub struct VersionVisibility {
        records: RecordRows,
        versions: VersionRows,
        files: FileRows,
        sharing: SharingRows,
        team_versions: TeamVersionTables,
        own_memories: PrivateMemoryRows,
        shared: SharedRows,
    }
}

impl VersionVisibility<'_> {
    /// Decides which rows are shown for each private memory that the transaction has written, or whose versions it has written.
    /// Called at the end of each transaction.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn update_shown_versions(&self) -> Result<(), DatabaseError> {
        let (Some(_), Some(touched)) = (self.access.functions, &self.access.touched) else { return Ok(()) };
        let rows = json!(touched.row_numbers()).to_string();
        let ids: Vec<String> = self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT m.id FROM json_each(?1) w CROSS JOIN memory v ON v.row = w.value
                     CROSS JOIN memory m ON m.row = v.main WHERE v.shared = 1 AND m.shared IN (0, 2)
                 UNION
                 SELECT m.id FROM json_each(?1) w CROSS JOIN memory v ON v.main = w.value
                     CROSS JOIN memory m ON m.row = v.main WHERE m.shared IN (0, 2)",
            )?
            .query_map([rows], |row| row.get(0))?
            .collect()
        })?;
        ids.iter().try_for_each(|id| self.update_shown_version(id))
    }

    /// Decides which rows are shown for the memory with this id, if the memory is private.
    fn update_shown_version(&self, id: &str) -> Result<(), DatabaseError> {
        let Some(main) = self.versions().main_row(id)?.filter(MainRow::is_private) else { return Ok(()) };
        let own = self.records().record_at(id)?;
        self.files().hide_conflicted_files(main.row)?;
        let theirs = self.team_versions().find_team_side(id)?;
        if theirs.is_some_and(|theirs| !main.is_archived && self.versions().has_same_content(&own, &theirs)) {
            self.team_versions().hide_team_side(id)?;
        }
        for (row, row_id) in self.own_memories().list_file_versions(main.row)? {
            let is_same = self.versions().has_same_content(&own, &self.records().record_at(&row_id)?);
            if is_same && !main.is_unshared {
                return self.adopt_file_version(id, &own, (row, &row_id));
            }
            let side = match (main.is_archived, is_same) {
                (true, _) => FileSide::Whole,
                (false, true) => FileSide::EqualToPrivate,
                (false, false) => FileSide::Theirs,
            };
            self.access.run(|conn| {
                conn.prepare_cached("UPDATE memory_file SET side = ?2 WHERE memory = ?1 AND side != ?2")?
                    .execute(params![row, side as i64])
            })?;
        }
        Ok(())
    }

    /// Makes a private memory a shared memory, because the file's version is equal: the file then shows the memory's main row.
    fn adopt_file_version(
        &self,
        id: &str,
        own: &MemoryRecord,
        (version, row_id): (i64, &str),
    ) -> Result<(), DatabaseError> {
        let adopted = MemoryRecord {
            shared: true,
            expires_at: None,
            key: None,
            ..with_local_fields(own, &self.records().record_at(row_id)?)
        };
        self.sharing().set_sharing(id, Sharing::Repo)?;
        self.versions().store_record_at(id, &adopted, &self.access.compute_hash_and_words(&adopted), None)?;
        self.files().point_file_to_main(id, version)?;
        if own.source != FILE_SOURCE {
            self.sharing().trust_memory(id)?;
        }
        self.shared().reconcile_shared_memory(id)?;
        self.files().delete_unshown_rows()
    }

    /// Makes the worktree's file show the main row of a private memory with a different text, which becomes shared. The caller then
    /// stores the version that stays.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn share_conflicting(&self, id: &str) -> Result<(), DatabaseError> {
        let version = version_id(id, self.access.current_worktree()?, FileSide::Whole);
        self.sharing().set_sharing(id, Sharing::Repo)?;
        self.files().point_file_to_main(id, self.versions().find_row_number(&version)?)?;
        // Without `version`, the row does not count as the content of the file.
        self.access
            .run(|conn| conn.execute("UPDATE memory SET version = NULL WHERE id = ?1", [id]).map(drop))?;
        self.files().delete_unshown_rows()
    }
}
