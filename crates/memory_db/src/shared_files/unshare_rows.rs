//! Takes memories out of the files of a worktree.

use memod_database::DatabaseError;
use serde_json::Map;

use super::super::sharing::Sharing;
use super::super::{MemoryEvent, MemoryRecord, MemoryRows};
use super::add_remarks;

impl MemoryRows<'_> {
    /// Takes a shared memory out of the worktree; archives it if no other worktree has it. The version of this worktree and the
    /// other side of a conflict go into its history. A memory of this user alone with the same id stays.
    pub(crate) fn take_out_of_worktree(
        &self,
        record: &MemoryRecord,
        why: &str,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        self.separate_from_archived(&record.id, event)?;
        self.note_conflict(record, event)?;
        let row_id = self.own_version_id(&record.id)?;
        let remarks = self.remarks_at(row_id.as_ref().unwrap_or(&record.id))?;
        let Some(main) = self.main_row(&record.id)? else { return Ok(()) };
        self.delete_memory_file(&record.id)?;
        let MemoryRecord { archived_at, archived_why, shared, .. } = record.clone();
        let known = MemoryRecord {
            side: record.side,
            archived_at,
            archived_why,
            shared,
            ..self.record_at(&record.id)?
        };
        let mut fields = self.diff_records(record, &known);
        add_remarks(&mut fields, remarks, self.remarks_at(&record.id)?);
        let event = MemoryEvent { fields, ..event.clone() };
        if !main.is_archived && !main.is_own() && !self.is_shown_by_file(main.row)? {
            return self.set_archived(std::slice::from_ref(record), Some(why), &event);
        }
        self.note_change(&record.id, &event)?;
        self.settle_shared(&record.id)
    }

    /// Makes the worktree's version of a memory this user's alone; its file is about to be removed. Other worktrees keep their
    /// files.
    ///
    /// # Errors
    /// When the database cannot be written, also where a living memory has the same text.
    pub fn unshare_memory(&self, id: &str, event: &MemoryEvent) -> Result<(), DatabaseError> {
        self.separate_from_archived(id, event)?;
        self.copy_for_other_worktrees(id)?;
        let main = self.record_at(id)?;
        let own = self.own_version_id(id)?;
        self.set_shared(id, Sharing::Never)?;
        self.delete_memory_file(id)?;
        let mut fields = Map::new();
        if let Some(row_id) = own {
            let own = MemoryRecord { updated: main.updated + 1, side: main.side, ..self.record_at(&row_id)? };
            fields = self.diff_records(&main, &own);
            add_remarks(&mut fields, self.remarks_at(id)?, self.remarks_at(&row_id)?);
            self.put_at(id, &MemoryRecord { shared: false, ..own.clone() }, &self.derive_data(&own), None)?;
            self.copy_version(self.row_of(&row_id)?, self.row_of(id)?)?; // this confirms no further version
        }
        self.note_change(id, &MemoryEvent { fields, ..event.clone() })?;
        self.delete_unshown_rows()
    }

    /// Returns whether only other worktrees have a memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_only_elsewhere(&self, id: &str) -> Result<bool, DatabaseError> {
        let is_living = self.main_row(id)?.is_some_and(|main| main.is_shared && !main.is_archived);
        Ok(is_living && self.find_memory(id)?.is_none())
    }

    /// Deletes the file rows of a memory in the worktree.
    fn delete_memory_file(&self, id: &str) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                // With `+`, SQLite uses the index on `memory` instead of reading all files of the worktree.
                "DELETE FROM memory_file WHERE +worktree = memod_worktree() AND memory IN (
                     SELECT row FROM memory WHERE id = ?1
                     UNION ALL SELECT v.row FROM memory m CROSS JOIN memory v ON v.main = m.row WHERE m.id = ?1)",
            )?
            .execute([id])
            .map(drop)
        })
    }

    /// Returns whether a file of any worktree shows a memory.
    pub(crate) fn is_shown_by_file(&self, main: i64) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory v CROSS JOIN memory_file f ON f.memory = v.row WHERE v.row = ?1 OR v.main = ?1",
            )?
            .exists([main])
        })
    }
}
