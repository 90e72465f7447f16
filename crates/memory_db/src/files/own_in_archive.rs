//! Separates a memory that this user has in the archive from another one that a file has under the same id.
//!
//! While this user's memory is in the archive, only the one of the file is shown. A verb that takes that out of the files makes it
//! this user's too. Then this user has two, and the one in the archive gets an id of its own.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension as _, params};

use super::super::{MemoryEvent, Record, Rows, Side};
use super::FROM_FILE;
use super::{Main, add_remarks, said_of, version_id};

impl Rows<'_> {
    /// Gives what this user has in the archive an id of its own, if a file of the worktree says something else under its id. Returns
    /// that id.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn part_from_archived(&self, id: &str, event: &MemoryEvent) -> Result<Option<String>, DatabaseError> {
        let is_archived_own = |main: &Main| main.is_own() && main.is_archived;
        let (Some(_), Some(version)) = (self.main(id)?.filter(is_archived_own), self.own_version(id)?) else {
            return Ok(None);
        };
        let own = self.record_at(id)?;
        if self.says_same(&own, &self.record_at(&version)?) {
            return Ok(None);
        }
        let new_id = (self.forms().new_id)(self.now_ms(), self.random()?);
        let event = MemoryEvent { action: "part".to_owned(), ..event.clone() };
        self.move_own_to(id, &new_id, &event)?;
        Ok(Some(new_id))
    }

    /// Returns the other side of a conflict in which a memory is, in the worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn their_side(&self, id: &str) -> Result<Option<Record>, DatabaseError> {
        self.their_row(id)?.map(|at| self.record_at(&at)).transpose()
    }

    /// Returns the id of the row of that side.
    fn their_row(&self, id: &str) -> Result<Option<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT v.id FROM memory m CROSS JOIN memory v ON v.main = m.row CROSS JOIN memory_file f ON f.memory = v.row
                 WHERE m.id = ?1 AND f.worktree = memod_worktree() AND f.side = ?2",
            )?
            .query_row(params![id, Side::Theirs as i64], |row| row.get(0))
            .optional()
        })
    }

    /// Notes what the other side of a conflict of git says, if `ours` is in one, before its file is gone.
    pub(super) fn note_conflict(&self, ours: &Record, event: &MemoryEvent) -> Result<(), DatabaseError> {
        let Some(at) = self.their_row(&ours.id)?.filter(|_| ours.shared && ours.side == Side::Ours) else {
            return Ok(());
        };
        let mut fields = self.differences(&said_of(ours, &self.record_at(&at)?), ours);
        let own = self.own_version(&ours.id)?.unwrap_or_else(|| ours.id.clone());
        add_remarks(&mut fields, self.remarks_at(&at)?, self.remarks_at(&own)?);
        self.note_change(&ours.id, &MemoryEvent { fields, ..event.clone() })
    }

    /// Notes what the other side of a conflict says whose file in the worktree is gone: of one of git, or with what is this user's
    /// alone.
    pub(super) fn note_conflict_of_gone(&self, id: &str) -> Result<(), DatabaseError> {
        // No verb has taken the memory out of the worktree, so it is none of their actions.
        let event =
            MemoryEvent { source: FROM_FILE.to_owned(), ..MemoryEvent::of_daemon(self.now_ms(), "update") };
        if self.main(id)?.is_some_and(|main| main.is_own()) {
            return self.note_beside_own(id, event);
        }
        let ours = if self.their_row(id)?.is_some() { self.get(id)? } else { None };
        ours.map_or(Ok(()), |ours| self.note_conflict(&ours, &event))
    }

    /// Notes what the worktree's file says beside a memory that is this user's alone, living or in the archive.
    fn note_beside_own(&self, id: &str, event: MemoryEvent) -> Result<(), DatabaseError> {
        let at = version_id(id, self.worktree()?, Side::Whole);
        let Some(theirs) = self.find_record_at(&at)? else { return Ok(()) };
        let own = self.record_at(id)?;
        let mut fields = self.differences(&said_of(&own, &theirs), &own);
        // What never had a file has none.
        add_remarks(&mut fields, self.remarks_at(&at)?, Some(self.remarks_at(id)?.unwrap_or_default()));
        if fields.is_empty() { Ok(()) } else { self.note_change(id, &MemoryEvent { fields, ..event }) }
    }

    /// Notes what the other side of a conflict said, before it is gone; `outcome` is what holds.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_their_side(
        &self,
        theirs: Option<&Record>,
        outcome: &Record,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let fields = theirs.map(|theirs| self.differences(&said_of(outcome, theirs), outcome));
        self.note_change(&outcome.id, &MemoryEvent { fields: fields.unwrap_or_default(), ..event.clone() })
    }
}
