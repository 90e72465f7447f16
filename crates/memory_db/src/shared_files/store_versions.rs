//! Stores the versions of memories that files hold.

use memod_database::DatabaseError;

use super::super::{FileSide, MemoryEvent, MemoryRecord, MemoryRows};
use super::{FileState, FileVersion};
use super::{SeenRecord, UNKNOWN_EDITOR, add_remarks, version_id};

impl MemoryRows<'_> {
    /// Stores a version, unless a row has it; returns its row.
    pub(super) fn take_version(
        &self,
        version: &FileVersion,
        before: Option<&SeenRecord>,
        file: &FileState,
    ) -> Result<i64, DatabaseError> {
        let FileVersion { side, hash, record, .. } = version;
        // Times of a clock that was ahead are limited to now.
        let (created, updated) = (record.created.min(self.now_ms()), record.updated.min(self.now_ms()));
        let record = &MemoryRecord { created, updated, ..record.clone() };
        let Some(main) = self.main_row(&record.id)? else {
            self.put_version_row(&record.id, record, version, Some(&self.file_event("add", &record.author)))?;
            return self.row_of(&record.id);
        };
        // The file names the author who added the memory, not the one who changed it.
        let event = file.event.clone().unwrap_or_else(|| self.file_event("update", UNKNOWN_EDITOR));
        if main.is_own() {
            return self.put_beside_own_memory(record, version, event);
        }
        if main.version.as_ref() == Some(hash) && *side != FileSide::Theirs {
            return Ok(main.row);
        }
        let main_row = (self.record_at(&record.id)?, self.remarks_at(&record.id)?);
        let known = &main_row.0;
        let (seen, remarks) = before.unwrap_or(&main_row);
        let is_alone = *side != FileSide::Theirs && !self.is_shown_elsewhere(main.row)?;
        let at = if is_alone {
            record.id.clone()
        } else {
            version_id(&record.id, self.current_worktree()?, *side)
        };
        let mut new = MemoryRecord {
            source: known.source.clone(),
            updated: record.updated.max(known.updated + 1),
            last_access: known.last_access,
            access_count: known.access_count,
            archived_at: known.archived_at.filter(|_| is_alone),
            archived_why: known.archived_why.clone().filter(|_| is_alone),
            ..record.clone()
        };
        // Fields that a file does not store are no difference.
        let said = MemoryRecord {
            archived_at: seen.archived_at,
            archived_why: seen.archived_why.clone(),
            shared: seen.shared,
            is_unconfirmed: seen.is_unconfirmed,
            side: seen.side,
            ..new.clone()
        };
        let mut fields = self.diff_records(seen, &said);
        add_remarks(&mut fields, remarks.clone(), Some(version.remarks.clone()));
        let is_noted = !fields.is_empty() && *side != FileSide::Theirs;
        if *side == FileSide::Whole && !fields.is_empty() {
            new.updated = new.updated.max(edit_time(record, known, file, self.now_ms()));
        }
        let event = MemoryEvent { fields, ..event };
        self.put_version_row(&at, &new, version, is_noted.then_some(&event))?;
        self.row_of(&at)
    }

    fn file_event(&self, action: &str, author: &str) -> MemoryEvent {
        MemoryEvent { author: author.to_owned(), ..MemoryEvent::of_file(self.now_ms(), action) }
    }

    /// Stores the row of a file's version, with the columns about the file.
    pub(super) fn put_version_row(
        &self,
        row_id: &str,
        record: &MemoryRecord,
        version: &FileVersion,
        event: Option<&MemoryEvent>,
    ) -> Result<(), DatabaseError> {
        let record = MemoryRecord { shared: true, key: None, expires_at: None, ..record.clone() };
        self.put_at(row_id, &record, &self.derive_data(&record), event)?;
        self.set_version(row_id, version)
    }
}

/// Returns the time of the last change of a file's memory: the time in the file, unless an editor has left that line unchanged.
/// Then it is the time of the commit, or of the first look at an uncommitted change.
fn edit_time(record: &MemoryRecord, known: &MemoryRecord, file: &FileState, now_ms: i64) -> i64 {
    match record.updated > known.updated {
        true => record.updated,
        false => file.edited.unwrap_or_default().min(now_ms),
    }
}
