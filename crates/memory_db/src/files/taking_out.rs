//! Takes memories out of the files of a worktree, and brings them into it.

use memod_database::DatabaseError;
use serde_json::Map;

use super::super::shared_with::Sharing;
use super::super::{MemoryEvent, Record, Rows};
use super::add_remarks;

impl Rows<'_> {
    /// Takes a shared memory out of the worktree; archives it if no other worktree has it. What only this worktree had of it is in
    /// its history then, as is the other side of a conflict. A memory of this user alone that has its id stays.
    pub(crate) fn take_out_of_worktree(
        &self,
        record: &Record,
        why: &str,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        self.part_from_archived(&record.id, event)?;
        self.note_conflict(record, event)?;
        let at = self.own_version(&record.id)?;
        let remarks = self.remarks_at(at.as_ref().unwrap_or(&record.id))?;
        let Some(main) = self.main(&record.id)? else { return Ok(()) };
        self.unpoint_memory(&record.id)?;
        let Record { archived_at, archived_why, shared, .. } = record.clone();
        let known =
            Record { side: record.side, archived_at, archived_why, shared, ..self.record_at(&record.id)? };
        let mut fields = self.differences(record, &known);
        add_remarks(&mut fields, remarks, self.remarks_at(&record.id)?);
        let event = MemoryEvent { fields, ..event.clone() };
        if !main.is_archived && !main.is_own() && !self.is_shown(main.row)? {
            return self.set_archived(std::slice::from_ref(record), Some(why), &event);
        }
        self.note_change(&record.id, &event)?;
        self.settle(&record.id)
    }

    /// Makes a memory this user's alone: what the worktree has of it, whose file is going to be removed. Other worktrees keep
    /// their files.
    ///
    /// # Errors
    /// When the database cannot be written, also where a living memory has the same text.
    pub fn unshare(&self, id: &str, event: &MemoryEvent) -> Result<(), DatabaseError> {
        self.part_from_archived(id, event)?;
        self.keep_for_others(id)?;
        let main = self.record_at(id)?;
        let own = self.own_version(id)?;
        self.set_shared(id, Sharing::Never)?;
        self.unpoint_memory(id)?;
        let mut fields = Map::new();
        if let Some(at) = own {
            let own = Record { updated: main.updated + 1, side: main.side, ..self.record_at(&at)? };
            fields = self.differences(&main, &own);
            add_remarks(&mut fields, self.remarks_at(id)?, self.remarks_at(&at)?);
            self.put_at(id, &Record { shared: false, ..own.clone() }, &self.derived(&own), None)?;
            self.copy_version(self.row_of(&at)?, self.row_of(id)?)?; // nobody has confirmed more by this
        }
        self.note_change(id, &MemoryEvent { fields, ..event.clone() })?;
        self.drop_unshown()
    }

    /// Returns whether another worktree alone has a memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_elsewhere(&self, id: &str) -> Result<bool, DatabaseError> {
        let is_living = self.main(id)?.is_some_and(|main| main.is_shared && !main.is_archived);
        Ok(is_living && self.get(id)?.is_none())
    }

    /// Removes what is known of the file of a memory in the worktree.
    fn unpoint_memory(&self, id: &str) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                // With + it goes by the memory, and does not look at all files of the worktree.
                "DELETE FROM memory_file WHERE +worktree = memod_worktree() AND memory IN (
                     SELECT row FROM memory WHERE id = ?1
                     UNION ALL SELECT v.row FROM memory m CROSS JOIN memory v ON v.main = m.row WHERE m.id = ?1)",
            )?
            .execute([id])
            .map(drop)
        })
    }

    /// Returns whether a file of any worktree shows a memory.
    pub(crate) fn is_shown(&self, main: i64) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory v CROSS JOIN memory_file f ON f.memory = v.row WHERE v.row = ?1 OR v.main = ?1",
            )?
            .exists([main])
        })
    }
}
