//! Stores what files say of memories.

use memod_database::DatabaseError;
use serde_json::Map;

use super::super::{MemoryEvent, Record, Rows, Side};
use super::{FROM_FILE, FileState, FileVersion};
use super::{Seen, WHOEVER, add_remarks, version_id};

impl Rows<'_> {
    /// Stores a version, unless a row has it; returns its row.
    pub(super) fn take_version(
        &self,
        version: &FileVersion,
        before: Option<&Seen>,
        file: &FileState,
    ) -> Result<i64, DatabaseError> {
        let FileVersion { side, hash, record, .. } = version;
        // A clock that was ahead does not stay ahead here.
        let (created, updated) = (record.created.min(self.now_ms()), record.updated.min(self.now_ms()));
        let record = &Record { created, updated, ..record.clone() };
        let event = |action: &str, author: &str| MemoryEvent {
            at: self.now_ms(),
            action: action.to_owned(),
            author: author.to_owned(),
            source: FROM_FILE.to_owned(),
            fields: Map::new(),
        };
        let Some(main) = self.main(&record.id)? else {
            self.put_file_row(&record.id, record, version, Some(&event("add", &record.author)))?;
            return self.row_of(&record.id);
        };
        // The file says who has added the memory, and not who has changed it.
        let event = file.event.clone().unwrap_or_else(|| event("update", WHOEVER));
        if main.is_own() {
            return self.put_beside_own(record, version, event);
        }
        if main.version.as_ref() == Some(hash) && *side != Side::Theirs {
            return Ok(main.row);
        }
        let main_row = (self.record_at(&record.id)?, self.remarks_at(&record.id)?);
        let known = &main_row.0;
        let (seen, remarks) = before.unwrap_or(&main_row);
        let is_alone = *side != Side::Theirs && !self.is_shown_elsewhere(main.row)?;
        let at = if is_alone { record.id.clone() } else { version_id(&record.id, self.worktree()?, *side) };
        let mut new = Record {
            source: known.source.clone(),
            updated: record.updated.max(known.updated + 1),
            last_access: known.last_access,
            access_count: known.access_count,
            archived_at: known.archived_at.filter(|_| is_alone),
            archived_why: known.archived_why.clone().filter(|_| is_alone),
            ..record.clone()
        };
        // What the file does not say is no difference.
        let said = Record {
            archived_at: seen.archived_at,
            archived_why: seen.archived_why.clone(),
            shared: seen.shared,
            is_unconfirmed: seen.is_unconfirmed,
            side: seen.side,
            ..new.clone()
        };
        let mut fields = self.differences(seen, &said);
        add_remarks(&mut fields, remarks.clone(), Some(version.remarks.clone()));
        let is_noted = !fields.is_empty() && *side != Side::Theirs;
        if *side == Side::Whole && !fields.is_empty() {
            new.updated = new.updated.max(edited(record, known, file, self.now_ms()));
        }
        let event = MemoryEvent { fields, ..event };
        self.put_file_row(&at, &new, version, is_noted.then_some(&event))?;
        self.row_of(&at)
    }

    /// Stores a row of a file, with what is of that alone.
    pub(super) fn put_file_row(
        &self,
        at: &str,
        record: &Record,
        version: &FileVersion,
        event: Option<&MemoryEvent>,
    ) -> Result<(), DatabaseError> {
        let record = Record { shared: true, key: None, expires_at: None, ..record.clone() };
        self.put_at(at, &record, &self.derived(&record), event)?;
        self.set_version(at, version)
    }
}

/// Returns when a memory was changed that a file says: as the file says, unless that is of an earlier change, because an editor leaves
/// the line as it is. Then it was changed when that was committed, or seen not to be committed.
fn edited(record: &Record, known: &Record, file: &FileState, now_ms: i64) -> i64 {
    match record.updated > known.updated {
        true => record.updated,
        false => file.edited.unwrap_or_default().min(now_ms),
    }
}
