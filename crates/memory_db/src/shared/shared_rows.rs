//! Keeps the main row of a shared memory equal to the files that show it.
//!
//! The file in a worktree is the truth. The main row of a memory has the latest version, the history, links and recalls. A worktree
//! whose file differs has a version row of its own, so that searches in this worktree find this version, and others do not. No
//! file changes the main row of a private memory: see `own_rows`. A shared memory without a file is archived, and restored when a
//! file comes back.

use memod_database::DatabaseError;
use rusqlite::params;
use serde_json::Map;

use crate::access::row_access::row_handle;
use crate::files::file_rows::FileRows;
use crate::files::sharing_rows::SharingRows;
use crate::files::worktree_notices::FILE_GONE_REASON;
use crate::memory_tables::archive_rows::ArchiveRows;
use crate::memory_tables::history_rows::HistoryRows;
use crate::memory_tables::record_rows::RecordRows;
use crate::memory_tables::version_rows::{MainRow, VersionRows};
use crate::records::file_version::add_remarks;
use crate::records::memory_event::{FILE_SOURCE, MemoryEvent};
use crate::records::memory_record::MemoryRecord;
use crate::records::sharing::Sharing;
use crate::shared::conflict_rows::ConflictRows;
use crate::shared::deletion_rows::DeletionRows;
use crate::shared::own_rows::PrivateMemoryRows;

row_handle! {
    /// Memories that are shared through files.
    pub struct SharedRows {
        records: RecordRows,
        archive: ArchiveRows,
        versions: VersionRows,
        history: HistoryRows,
        files: FileRows,
        sharing: SharingRows,
        own_memories: PrivateMemoryRows,
        conflicts: ConflictRows,
        deletions: DeletionRows,
    }
}

impl SharedRows<'_> {
    /// Brings a shared memory in line with the files that show it: archives the memory if no worktree has it any more, restores
    /// it if a worktree has it again, and copies the version of a worktree into the main row if no file shows the main row.
    pub(crate) fn reconcile_shared_memory(&self, id: &str) -> Result<(), DatabaseError> {
        let Some(MainRow { row, is_shared_by_file: true, is_archived, .. }) = self.versions().main_row(id)?
        else {
            return Ok(());
        };
        let shown: Vec<(i64, String)> = self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT v.row, v.id FROM memory v CROSS JOIN memory_file f ON f.memory = v.row
                 WHERE v.row = ?1 OR v.main = ?1 ORDER BY f.side, v.row",
            )?
            .query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })?;
        match shown.first() {
            None if !is_archived => {
                let record = self.records().record_at(id)?;
                if let Some((updated, at)) = self.deletions().find_deletion(id)?
                    && !self.history().has_changed_since(&record, updated, at)?
                {
                    return self.deletions().delete_memories(
                        &[record],
                        &MemoryEvent::new_by_file(self.access.now_ms(), "purge"),
                    ); // another database has deleted it
                }
                self.remove_branch_switch_events(row)?;
                return self.archive().archive_or_restore(
                    &[self.records().record_at(id)?],
                    Some(FILE_GONE_REASON),
                    &MemoryEvent::new_by_file(self.access.now_ms(), "forget"),
                );
            }
            None => return Ok(()),
            Some(_) if shown.iter().any(|(shown, _)| *shown == row) => {}
            Some((version, at)) => self.promote_version(id, row, *version, at)?,
        }
        if is_archived {
            self.archive().restore_memories(
                &[self.records().record_at(id)?],
                &MemoryEvent::new_by_file(self.access.now_ms(), "restore"),
            )?;
        }
        Ok(())
    }

    /// Copies a version row into the main row, and makes the files that show the version row show the main row.
    fn promote_version(&self, id: &str, main: i64, version: i64, row_id: &str) -> Result<(), DatabaseError> {
        let (known, new) = (self.records().record_at(id)?, self.records().record_at(row_id)?);
        let shown = MemoryRecord {
            archived_at: known.archived_at,
            archived_why: known.archived_why.clone(),
            updated: new.updated.max(known.updated + 1),
            ..new
        };
        // The former version, which no worktree has any more, goes into the history.
        let mut fields =
            self.access.diff_records(&known, &MemoryRecord { side: known.side, ..shown.clone() });
        add_remarks(&mut fields, self.versions().remarks_at(id)?, self.versions().remarks_at(row_id)?);
        let event = MemoryEvent {
            fields,
            source: FILE_SOURCE.to_owned(),
            ..MemoryEvent::new_by_daemon(self.access.now_ms(), "update")
        };
        self.versions().store_record_at(
            id,
            &shown,
            &self.access.compute_hash_and_words(&shown),
            (!event.fields.is_empty()).then_some(&event),
        )?;
        self.versions().copy_file_columns(version, main)?;
        self.access.run(|conn| {
            conn.execute("UPDATE memory_file SET memory = ?1 WHERE memory = ?2", [main, version]).map(drop)
        })
    }

    /// Removes the last two changes of a history if they record that a file was gone and came back, so that frequent switches of
    /// branches do not fill the history.
    fn remove_branch_switch_events(&self, row: i64) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "DELETE FROM history WHERE row IN (SELECT row FROM history WHERE memory = ?1 ORDER BY row DESC LIMIT 2)
                 AND 2 = (SELECT count(*) FROM (SELECT action, source, row_number() OVER (ORDER BY row DESC) n
                     FROM history WHERE memory = ?1 ORDER BY row DESC LIMIT 2)
                     WHERE source = ?2 AND action = iif(n = 1, 'restore', 'forget'))",
            )?
            .execute(params![row, FILE_SOURCE])
            .map(drop)
        })
    }

    /// Removes a shared memory from the worktree, and archives it if no other worktree has it. The history records the version of
    /// this worktree and the other side of a conflict. A private memory with the same id stays.
    pub(crate) fn remove_from_worktree(
        &self,
        record: &MemoryRecord,
        why: &str,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        self.own_memories().give_archived_new_id(&record.id, event)?;
        self.conflicts().record_their_side_of_file(record, event)?;
        let row_id = self.versions().worktree_version_id(&record.id)?;
        let remarks = self.versions().remarks_at(row_id.as_ref().unwrap_or(&record.id))?;
        let Some(main) = self.versions().main_row(&record.id)? else { return Ok(()) };
        self.files().delete_file_rows_of_memory(&record.id)?;
        let MemoryRecord { archived_at, archived_why, shared, .. } = record.clone();
        let known = MemoryRecord {
            side: record.side,
            archived_at,
            archived_why,
            shared,
            ..self.records().record_at(&record.id)?
        };
        let mut fields = self.access.diff_records(record, &known);
        add_remarks(&mut fields, remarks, self.versions().remarks_at(&record.id)?);
        let event = MemoryEvent { fields, ..event.clone() };
        if !main.is_archived && !main.is_private() && !self.files().is_shown_by_file(main.row)? {
            return self.archive().archive_or_restore(std::slice::from_ref(record), Some(why), &event);
        }
        self.history().record_change(&record.id, &event)?;
        self.reconcile_shared_memory(&record.id)
    }

    /// Makes the worktree's version of a memory private; the caller then removes the file. Other worktrees keep their files.
    ///
    /// # Errors
    /// When the database cannot be written, also where a living memory has the same text.
    pub fn unshare_memory(&self, id: &str, event: &MemoryEvent) -> Result<(), DatabaseError> {
        self.own_memories().give_archived_new_id(id, event)?;
        self.versions().copy_for_other_worktrees(id)?;
        let main = self.records().record_at(id)?;
        let own = self.versions().worktree_version_id(id)?;
        self.sharing().set_sharing(id, Sharing::Never)?;
        self.files().delete_file_rows_of_memory(id)?;
        let mut fields = Map::new();
        if let Some(row_id) = own {
            let own = MemoryRecord {
                updated: main.updated + 1,
                side: main.side,
                ..self.records().record_at(&row_id)?
            };
            fields = self.access.diff_records(&main, &own);
            add_remarks(&mut fields, self.versions().remarks_at(id)?, self.versions().remarks_at(&row_id)?);
            self.versions().store_record_at(
                id,
                &MemoryRecord { shared: false, ..own.clone() },
                &self.access.compute_hash_and_words(&own),
                None,
            )?;
            self.versions().copy_file_columns(
                self.versions().find_row_number(&row_id)?,
                self.versions().find_row_number(id)?,
            )?; // this confirms no further version
        }
        self.history().record_change(id, &MemoryEvent { fields, ..event.clone() })?;
        self.files().delete_unshown_rows()
    }

    /// Deletes the rows of a worktree that is gone, and archives the memories that only this worktree had; returns their ids.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_worktree(&self, worktree: i64) -> Result<Vec<String>, DatabaseError> {
        let ids: Vec<String> = self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT m.id FROM memory_file f JOIN memory v ON v.row = f.memory
                 JOIN memory m ON m.row = coalesce(v.main, v.row) WHERE f.worktree = ?1",
            )?
            .query_map([worktree], |row| row.get(0))?
            .collect()
        })?;
        let entered = self.access.current_worktree()?;
        self.access.select_worktree(worktree);
        ids.iter().try_for_each(|id| self.conflicts().record_their_side_of_gone_file(id))?;
        self.access.select_worktree(entered);
        self.access.run(|conn| conn.execute("DELETE FROM worktree WHERE id = ?1", [worktree]).map(drop))?;
        let mut archived = Vec::new();
        for id in ids {
            let was_archived = self.versions().main_row(&id)?.is_some_and(|main| main.is_archived);
            self.reconcile_shared_memory(&id)?;
            if !was_archived && self.versions().main_row(&id)?.is_some_and(|main| main.is_archived) {
                archived.push(id);
            }
        }
        self.files().delete_unshown_rows()?;
        Ok(archived)
    }
}
