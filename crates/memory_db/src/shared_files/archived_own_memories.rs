//! Separates an archived memory of this user from a different memory of a file with the same id.
//!
//! While this user's memory is archived, only the memory of the file is shown. A verb that takes that one out of the files makes
//! it this user's, too. Then this user has two, and the archived one gets a new id.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension as _, params};

use super::super::{FileSide, MemoryEvent, MemoryRecord, MemoryRows};
use super::FROM_FILE;
use super::{MainRow, add_remarks, version_id, with_local_fields};

impl MemoryRows<'_> {
    /// Gives this user's archived memory a new id if a file of the worktree has a different memory under its id. Returns the new
    /// id.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn separate_from_archived(
        &self,
        id: &str,
        event: &MemoryEvent,
    ) -> Result<Option<String>, DatabaseError> {
        let (Some(_), Some(version)) =
            (self.main_row(id)?.filter(MainRow::is_archived_own), self.own_version_id(id)?)
        else {
            return Ok(None);
        };
        let own = self.record_at(id)?;
        if self.has_same_content(&own, &self.record_at(&version)?) {
            return Ok(None);
        }
        let new_id = (self.record_functions().new_id)(self.now_ms(), self.random_bytes()?);
        let event = MemoryEvent { action: "part".to_owned(), ..event.clone() };
        self.change_own_id(id, &new_id, &event)?;
        Ok(Some(new_id))
    }

    /// Returns the other side of a conflict in which a memory is, in the worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_their_side(&self, id: &str) -> Result<Option<MemoryRecord>, DatabaseError> {
        self.find_their_row_id(id)?.map(|row_id| self.record_at(&row_id)).transpose()
    }

    /// Returns the id of the row for the other side of a conflict in the worktree.
    fn find_their_row_id(&self, id: &str) -> Result<Option<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT v.id FROM memory m CROSS JOIN memory v ON v.main = m.row CROSS JOIN memory_file f ON f.memory = v.row
                 WHERE m.id = ?1 AND f.worktree = memod_worktree() AND f.side = ?2",
            )?
            .query_row(params![id, FileSide::Theirs as i64], |row| row.get(0))
            .optional()
        })
    }

    /// Notes the other side of a conflict in git in the history of `ours`, if it is in one, before its file is removed.
    pub(super) fn note_conflict(
        &self,
        ours: &MemoryRecord,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let Some(row_id) =
            self.find_their_row_id(&ours.id)?.filter(|_| ours.shared && ours.side == FileSide::Ours)
        else {
            return Ok(());
        };
        let mut fields = self.diff_records(&with_local_fields(ours, &self.record_at(&row_id)?), ours);
        let own = self.own_version_id(&ours.id)?.unwrap_or_else(|| ours.id.clone());
        add_remarks(&mut fields, self.remarks_at(&row_id)?, self.remarks_at(&own)?);
        self.note_change(&ours.id, &MemoryEvent { fields, ..event.clone() })
    }

    /// Notes the other side of a conflict whose file in the worktree is gone: a conflict in git, or one with a memory of this user
    /// alone.
    pub(super) fn note_conflict_of_gone(&self, id: &str) -> Result<(), DatabaseError> {
        // No verb has taken the memory out of the worktree, so the action is `update`.
        let event =
            MemoryEvent { source: FROM_FILE.to_owned(), ..MemoryEvent::of_daemon(self.now_ms(), "update") };
        if self.main_row(id)?.is_some_and(|main| main.is_own()) {
            return self.note_file_version(id, event);
        }
        let ours = if self.find_their_row_id(id)?.is_some() { self.find_memory(id)? } else { None };
        ours.map_or(Ok(()), |ours| self.note_conflict(&ours, &event))
    }

    /// Notes the version of the worktree's file in the history of a private memory, living or archived.
    fn note_file_version(&self, id: &str, event: MemoryEvent) -> Result<(), DatabaseError> {
        let row_id = version_id(id, self.current_worktree()?, FileSide::Whole);
        let Some(theirs) = self.find_record_at(&row_id)? else { return Ok(()) };
        let own = self.record_at(id)?;
        let mut fields = self.diff_records(&with_local_fields(&own, &theirs), &own);
        // A memory that never had a file has no remarks.
        add_remarks(&mut fields, self.remarks_at(&row_id)?, Some(self.remarks_at(id)?.unwrap_or_default()));
        if fields.is_empty() { Ok(()) } else { self.note_change(id, &MemoryEvent { fields, ..event }) }
    }

    /// Notes the other side of a conflict in the history before it is removed; `outcome` is the resolved version.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_their_side(
        &self,
        theirs: Option<&MemoryRecord>,
        outcome: &MemoryRecord,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let fields = theirs.map(|theirs| self.diff_records(&with_local_fields(outcome, theirs), outcome));
        self.note_change(&outcome.id, &MemoryEvent { fields: fields.unwrap_or_default(), ..event.clone() })
    }
}
