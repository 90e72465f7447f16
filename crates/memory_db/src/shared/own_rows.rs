//! Keeps a private memory apart from a file, or a memory of the team, that has the same id. A private memory is this user's alone.
//!
//! Neither files nor the team change a private memory, and no verb on the memory changes the file. If the file's version is equal,
//! the two become one memory, which is shared from then on; but if this user has stopped sharing the memory, it stays private and
//! only the private memory is shown. A different version gets a row of its own, and both are shown as the two sides of a conflict
//! until a person resolves the conflict. While the private memory is archived there is no conflict: only the version of the file
//! or of the team is shown.

use memod_database::DatabaseError;
use rusqlite::params;
use serde_json::{Map, json};

use crate::access::row_access::row_handle;
use crate::files::file_link_rows::FileLinkRows;
use crate::files::file_rows::FileRows;
use crate::files::sharing_rows::SharingRows;
use crate::memory_tables::archive_rows::ArchiveRows;
use crate::memory_tables::history_rows::HistoryRows;
use crate::memory_tables::note_event::BESIDE;
use crate::memory_tables::record_rows::RecordRows;
use crate::memory_tables::version_rows::{MainRow, VersionRows};
use crate::records::memory_event::{FILE_SOURCE, MemoryEvent};
use crate::records::memory_record::MemoryRecord;
use crate::records::record_functions::HashAndWords;
use crate::records::sharing::Sharing;
use crate::team_exchange::team_versions::TeamVersionTables;

row_handle! {
    /// Private memories whose ids files or the team have, too.
    pub struct PrivateMemoryRows {
        records: RecordRows,
        archive: ArchiveRows,
        versions: VersionRows,
        history: HistoryRows,
        files: FileRows,
        sharing: SharingRows,
        team_versions: TeamVersionTables,
        file_links: FileLinkRows,
    }
}

impl PrivateMemoryRows<'_> {
    /// Detaches the versions of files from private memories that are about to be deleted. Returns the ids of these memories, each
    /// with the number of the row that is to get the id.
    pub(crate) fn detach_files(&self, records: &[MemoryRecord]) -> Result<Vec<(String, i64)>, DatabaseError> {
        let mut heirs = Vec::new();
        for record in records {
            self.files().request_hidden_file_reread(&record.id)?;
            if let Some(main) = self.versions().main_row(&record.id)?.filter(MainRow::is_private)
                && let Some(heir) = self.detach_versions(main.row)?
            {
                heirs.push((record.id.clone(), heir));
            }
        }
        Ok(heirs)
    }

    /// Detaches the versions of files from the main row of a private memory; returns the number of the row that becomes the new
    /// main row, `None` if there is no version. Links from shared memories and the history of the files move to this row.
    fn detach_versions(&self, main: i64) -> Result<Option<i64>, DatabaseError> {
        let Some(heir) = self.list_file_versions(main)?.first().map(|(row, _)| *row) else { return Ok(None) };
        self.access.run(|conn| {
            conn.execute(
                "UPDATE memory_file SET side = 0 WHERE memory IN (SELECT row FROM memory WHERE main = ?1)",
                [main],
            )?;
            conn.execute("UPDATE memory SET main = ?2 WHERE main = ?1 AND row != ?2", [main, heir])?;
            conn.execute("UPDATE memory SET main = NULL WHERE row = ?1", [heir])?;
            conn.execute(
                "UPDATE OR IGNORE link SET target = ?2
                 WHERE target = ?1 AND source IN (SELECT row FROM memory WHERE shared IN (1, 3))",
                [main, heir],
            )?;
            let sql = format!(
                "UPDATE history SET memory = ?2, fields = json_remove(fields, '$.{BESIDE}')
                 WHERE memory = ?1 AND fields ->> '$.{BESIDE}' IS NOT NULL"
            );
            conn.execute(&sql, [main, heir])
        })?;
        Ok(Some(heir))
    }

    /// Gives a detached row the id of the deleted or renamed memory. If the row has no history, an `add` from the file begins it.
    pub(crate) fn inherit_id(&self, id: &str, heir: i64) -> Result<(), DatabaseError> {
        self.access
            .run(|conn| conn.execute("UPDATE memory SET id = ?2 WHERE row = ?1", params![heir, id]))?;
        if !self.history().list_history(id)?.is_empty() {
            return self.file_links().update_file_links();
        }
        let event = MemoryEvent {
            source: FILE_SOURCE.to_owned(),
            author: self.records().record_at(id)?.author,
            ..MemoryEvent::new_by_daemon(self.access.now_ms(), "add")
        };
        self.history().record_change(id, &event)?;
        self.file_links().update_file_links()
    }

    /// Gives a private memory another id, with its history, links and recalls. The former id then belongs to the versions of files
    /// and of the team.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn change_private_id(
        &self,
        id: &str,
        new_id: &str,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let row = self.versions().find_row_number(id)?;
        self.team_versions().hide_team_side(id)?;
        let heir = self.detach_versions(row)?;
        self.access.run(|conn| {
            conn.execute("UPDATE memory SET id = ?2, updated = updated + 1 WHERE id = ?1", [id, new_id])
        })?;
        let fields = Map::from_iter([("id".to_owned(), json!([id, new_id]))]);
        self.history().record_change(new_id, &MemoryEvent { fields, ..event.clone() })?;
        if let Some(heir) = heir {
            self.inherit_id(id, heir)?;
        }
        self.files().request_hidden_file_reread(id)
    }

    /// Gives an archived private memory a new id if a file of the worktree has a different memory under the same id. Returns the
    /// new id; `None` if nothing was changed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn give_archived_new_id(
        &self,
        id: &str,
        event: &MemoryEvent,
    ) -> Result<Option<String>, DatabaseError> {
        let (Some(_), Some(version)) = (
            self.versions().main_row(id)?.filter(MainRow::is_archived_private),
            self.versions().worktree_version_id(id)?,
        ) else {
            return Ok(None);
        };
        let own = self.records().record_at(id)?;
        if self.versions().has_same_content(&own, &self.records().record_at(&version)?) {
            return Ok(None);
        }
        let new_id =
            (self.access.record_functions().new_id)(self.access.now_ms(), self.access.random_bytes()?);
        let event = MemoryEvent { action: "part".to_owned(), ..event.clone() };
        self.change_private_id(id, &new_id, &event)?;
        Ok(Some(new_id))
    }

    /// Returns the numbers of the rows of file versions beside a private memory, and the ids in these rows.
    pub(crate) fn list_file_versions(&self, main: i64) -> Result<Vec<(i64, String)>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT row, id FROM memory WHERE main = ?1 AND shared = 1 ORDER BY row")?
                .query_map([main], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }

    /// Makes a memory private, so that no rule shares it. Archives the memory if another living memory has its text.
    pub(crate) fn make_private(
        &self,
        id: &str,
        derive: fn(&MemoryRecord) -> HashAndWords,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        self.team_versions().end_conflict(id)?;
        self.versions().copy_for_other_worktrees(id)?;
        let record = self.records().record_at(id)?;
        let hash = derive(&record).hash;
        if record.archived_at.is_none() {
            self.archive().archive_expired_duplicates(&record, &hash)?;
        }
        if record.archived_at.is_none() && self.records().has_duplicate(&record, &hash)? {
            self.archive().archive_or_restore(&[record], Some("forgotten"), event)?;
        }
        self.sharing().set_sharing(id, Sharing::Never)
    }
}
