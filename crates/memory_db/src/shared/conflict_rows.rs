//! Finds the other side of a conflict, and records it in the history before it is removed.
//!
//! A conflict is in a file that git could not merge, or between a private memory and a file with the same id. While the private
//! memory is archived, only the memory of the file is shown.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};

use crate::access::row_access::row_handle;
use crate::memory_tables::history_rows::HistoryRows;
use crate::memory_tables::record_rows::RecordRows;
use crate::memory_tables::version_rows::VersionRows;
use crate::records::file_version::{add_remarks, version_id};
use crate::records::memory_event::{FILE_SOURCE, MemoryEvent};
use crate::records::memory_record::{FileSide, MemoryRecord, with_local_fields};

row_handle! {
    /// The other sides of conflicts.
    pub struct ConflictRows { records: RecordRows, versions: VersionRows, history: HistoryRows }
}

impl ConflictRows<'_> {
    /// Returns the other side of a memory's conflict in the worktree; `None` if the memory is in no conflict there.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_their_side(&self, id: &str) -> Result<Option<MemoryRecord>, DatabaseError> {
        self.find_their_row_id(id)?.map(|row_id| self.records().record_at(&row_id)).transpose()
    }

    /// Returns the id in the row of the other side of a memory's conflict in the worktree.
    fn find_their_row_id(&self, id: &str) -> Result<Option<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT v.id FROM memory m CROSS JOIN memory v ON v.main = m.row CROSS JOIN memory_file f ON f.memory = v.row
                 WHERE m.id = ?1 AND f.worktree = memod_worktree() AND f.side = ?2",
            )?
            .query_row(params![id, FileSide::Theirs as i64], |row| row.get(0))
            .optional()
        })
    }

    /// Records the other side of a conflict in git in the history of `ours`, before the file is removed. Does nothing if `ours` is
    /// in no such conflict.
    pub(crate) fn record_their_side_of_file(
        &self,
        ours: &MemoryRecord,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let Some(row_id) =
            self.find_their_row_id(&ours.id)?.filter(|_| ours.shared && ours.side == FileSide::Ours)
        else {
            return Ok(());
        };
        let mut fields =
            self.access.diff_records(&with_local_fields(ours, &self.records().record_at(&row_id)?), ours);
        let own = self.versions().worktree_version_id(&ours.id)?.unwrap_or_else(|| ours.id.clone());
        add_remarks(&mut fields, self.versions().remarks_at(&row_id)?, self.versions().remarks_at(&own)?);
        self.history().record_change(&ours.id, &MemoryEvent { fields, ..event.clone() })
    }

    /// Records the other side of a conflict whose file in the worktree is gone in the history of the memory with this id: a
    /// conflict in git, or with a private memory.
    pub(crate) fn record_their_side_of_gone_file(&self, id: &str) -> Result<(), DatabaseError> {
        // No verb has removed the memory from the worktree, so the action is `update`.
        let event = MemoryEvent {
            source: FILE_SOURCE.to_owned(),
            ..MemoryEvent::new_by_daemon(self.access.now_ms(), "update")
        };
        if self.versions().main_row(id)?.is_some_and(|main| main.is_private()) {
            return self.record_file_version(id, event);
        }
        let ours = if self.find_their_row_id(id)?.is_some() { self.records().find_memory(id)? } else { None };
        ours.map_or(Ok(()), |ours| self.record_their_side_of_file(&ours, &event))
    }

    /// Records the version of the worktree's file in the history of a private memory, living or archived.
    fn record_file_version(&self, id: &str, event: MemoryEvent) -> Result<(), DatabaseError> {
        let row_id = version_id(id, self.access.current_worktree()?, FileSide::Whole);
        let Some(theirs) = self.records().find_record_at(&row_id)? else { return Ok(()) };
        let own = self.records().record_at(id)?;
        let mut fields = self.access.diff_records(&with_local_fields(&own, &theirs), &own);
        // A memory that never had a file has no remarks.
        add_remarks(
            &mut fields,
            self.versions().remarks_at(&row_id)?,
            Some(self.versions().remarks_at(id)?.unwrap_or_default()),
        );
        if fields.is_empty() {
            Ok(())
        } else {
            self.history().record_change(id, &MemoryEvent { fields, ..event })
        }
    }

    /// Records the other side of a conflict in the history before it is removed; `outcome` is the resolved version.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_their_side(
        &self,
        theirs: Option<&MemoryRecord>,
        outcome: &MemoryRecord,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let fields =
            theirs.map(|theirs| self.access.diff_records(&with_local_fields(outcome, theirs), outcome));
        self.history()
            .record_change(&outcome.id, &MemoryEvent { fields: fields.unwrap_or_default(), ..event.clone() })
    }

    /// Returns whether the worktree or the team has a different version of a private memory, so that both are shown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_other_version(&self, id: &str) -> Result<bool, DatabaseError> {
        Ok(self.versions().main_row(id)?.is_some_and(|main| main.is_private())
            && self.records().record_at(id)?.side == FileSide::Ours)
    }
}
