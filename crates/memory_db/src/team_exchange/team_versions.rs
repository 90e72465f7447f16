//! Stores the team's versions of memories.
//!
//! The row in `memory` is this user's version. The row in `team_memory`, the team row, has this version as the text that is sent
//! and compared. A change is committed together with its row in `outbox`, so every acknowledged change is sent eventually.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};
use serde_json::Map;

use crate::access::row_access::row_handle;
use crate::files::file_link_rows::FileLinkRows;
use crate::files::file_rows::FileRows;
use crate::files::sharing_rows::SharingRows;
use crate::memory_tables::archive_rows::ArchiveRows;
use crate::memory_tables::record_rows::RecordRows;
use crate::memory_tables::version_rows::VersionRows;
use crate::records::file_version::FileVersion;
use crate::records::memory_event::{MemoryEvent, TEAM_SOURCE};
use crate::records::memory_record::{MemoryRecord, with_local_fields};
use crate::records::sharing::Sharing;
use crate::team_exchange::outbox_rows::{OutboxRows, sha256_of};

/// Why a memory of the team is not shown: a memory file of the worktree has its id.
const FILE_HAS_ID: &str = "a memory file of this repository has the same id: `memo share remove ID` removes the file, and then `memo share --team ID` gives the memory to the team";

/// Why the team's text is not used: a private memory with the same id has a different text.
const OWN_HAS_ID: &str = "a private memory of yours has the same id and a different text: `memo get ID` shows both, and \
     `memo resolve ID --ours|--theirs|--both` ends the conflict; if yours is archived, run `memo restore ID` first";

/// Why the team's text is not used: this user has withdrawn the memory from the team.
const TAKEN_BACK: &str =
    "you have withdrawn this memory from the team: `memo share --team ID` gives it to the team again";

/// The reason in the archive for a memory that the team has archived.
const ARCHIVED: &str = "team";

row_handle! {
    /// The team's versions of memories.
    pub struct TeamVersionTables {
        records: RecordRows,
        archive: ArchiveRows,
        versions: VersionRows,
        files: FileRows,
        sharing: SharingRows,
        outbox: OutboxRows,
        file_links: FileLinkRows,
    }
}

/// The state of a memory of the team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamRow {
    /// This user's text; empty if the memory is archived.
    pub text: String,
    /// The team's text before the unsent changes; `None` if all changes are sent.
    pub base: Option<String>,
    /// The team's text in a conflict; `None` without a conflict.
    pub theirs: Option<String>,
    /// Why the team's text is not used; `None` if it is.
    pub why: Option<String>,
}

impl TeamVersionTables<'_> {
    /// Returns the team row of a memory; `None` if the team never had the memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_team_row(&self, id: &str) -> Result<Option<TeamRow>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT text, base, theirs, why FROM team_memory WHERE id = ?1")?
                .query_row([id], |row| {
                    Ok(TeamRow {
                        text: row.get(0)?,
                        base: row.get(1)?,
                        theirs: row.get(2)?,
                        why: row.get(3)?,
                    })
                })
                .optional()
        })
    }

    /// Stores the team's text of a memory, and makes it the memory unless a file or a private memory has the same id. `version` is
    /// the parsed text, or why it cannot be parsed. An empty text archives the memory. The memory's queued changes stay.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn apply_team_text(
        &self,
        id: &str,
        text: &str,
        version: Result<&FileVersion, &str>,
        author: &str,
    ) -> Result<(), DatabaseError> {
        self.remove_team_side(id)?;
        let why = match (self.versions().main_row(id)?, version) {
            (Some(main), _)
                if !text.is_empty()
                    && main.is_shared_by_file
                    && self.files().is_shown_by_file(main.row)? =>
            {
                Some(FILE_HAS_ID)
            }
            (Some(main), _) if text.is_empty() && main.is_team_memory && !main.is_archived => {
                let record = self.records().record_at(id)?;
                self.archive().archive_or_restore(
                    &[record],
                    Some(ARCHIVED),
                    &self.team_event("forget", author),
                )?;
                None
            }
            (_, _) if text.is_empty() => None,
            (_, Err(why)) => Some(why),
            (Some(main), Ok(version)) if main.is_private() && !self.is_same_and_living(version)? => {
                self.put_team_side_row(id, version)?;
                Some(OWN_HAS_ID)
            }
            (Some(main), Ok(_)) if main.is_unshared => Some(TAKEN_BACK),
            (main, Ok(version)) => {
                self.put_team_version(main.map(|main| main.is_archived), version, author)?;
                None
            }
        };
        self.access.run(|conn| {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO team_memory(id, text, hash, updated, why)
                 VALUES(?1, ?2, ?3, (SELECT updated FROM memory WHERE id = ?1), ?4)",
            )?
            .execute(params![id, text, sha256_of(text), why])
            .map(drop)
        })
    }

    /// Returns whether the memory with the version's id is not archived and has the version's content.
    fn is_same_and_living(&self, version: &FileVersion) -> Result<bool, DatabaseError> {
        let known = self.records().record_at(&version.record.id)?;
        Ok(known.archived_at.is_none() && self.versions().has_same_content(&known, &version.record))
    }

    /// Stores the team's version as the memory. `is_archived` is the state of the present memory; `None` if there is none.
    fn put_team_version(
        &self,
        is_archived: Option<bool>,
        version: &FileVersion,
        author: &str,
    ) -> Result<(), DatabaseError> {
        let record = &version.record;
        let id = &record.id;
        let Some(is_archived) = is_archived else {
            let record = as_team_record(record, self.access.now_ms());
            let event = self.team_event("add", author);
            self.versions().store_record_at(
                id,
                &record,
                &self.access.compute_hash_and_words(&record),
                Some(&event),
            )?;
            return self.versions().set_file_columns(id, version);
        };
        let known = self.records().record_at(id)?;
        let new = as_team_record(record, self.access.now_ms());
        let new = MemoryRecord {
            source: known.source.clone(),
            updated: new.updated.max(known.updated + 1),
            last_access: known.last_access,
            access_count: known.access_count,
            archived_at: known.archived_at,
            archived_why: known.archived_why.clone(),
            ..new
        };
        let fields = self.access.diff_records(&known, &with_local_fields(&known, &new));
        self.sharing().set_sharing(id, Sharing::Team)?;
        let event = MemoryEvent { fields, ..self.team_event("update", author) };
        let is_noted = !event.fields.is_empty();
        self.versions().store_record_at(
            id,
            &new,
            &self.access.compute_hash_and_words(&new),
            is_noted.then_some(&event),
        )?;
        self.versions().set_file_columns(id, version)?;
        if is_archived {
            self.archive().archive_or_restore(&[new], None, &self.team_event("restore", author))?;
        }
        Ok(())
    }

    /// Stores a conflict: shows the team's version beside this user's memory, or records why it cannot be shown. The memory is not
    /// sent until the conflict is resolved.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_team_conflict(
        &self,
        id: &str,
        theirs: &str,
        version: Result<&FileVersion, &str>,
    ) -> Result<(), DatabaseError> {
        self.remove_team_side(id)?;
        self.outbox().delete_outgoing(id)?;
        if let Ok(version) = version {
            self.put_team_side_row(id, version)?;
        }
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE team_memory SET theirs = ?2, why = ?3 WHERE id = ?1")?
                .execute(params![id, theirs, version.err()])
                .map(drop)
        })
    }

    /// Stores the row that shows the team's version beside this user's memory.
    fn put_team_side_row(&self, id: &str, version: &FileVersion) -> Result<(), DatabaseError> {
        let row_id = team_side_row_id(id);
        let record = &version.record;
        let record =
            MemoryRecord { source: TEAM_SOURCE.to_owned(), team: true, shared: false, ..record.clone() };
        self.versions().store_record_at(
            &row_id,
            &record,
            &self.access.compute_hash_and_words(&record),
            None,
        )?;
        self.versions().set_file_columns(&row_id, &FileVersion { links: Vec::new(), ..version.clone() })
    }

    /// Returns the team's version that is shown beside this user's memory, if there is one.
    pub(crate) fn find_team_side(&self, id: &str) -> Result<Option<MemoryRecord>, DatabaseError> {
        let row_id = team_side_row_id(id);
        self.records().find_record_at(&row_id)
    }

    /// Deletes the row that shows the team's version beside this user's memory. A conflict stays unresolved.
    pub(crate) fn hide_team_side(&self, id: &str) -> Result<(), DatabaseError> {
        let row_id = team_side_row_id(id);
        self.access.run(|conn| {
            conn.prepare_cached(
                "DELETE FROM memory_fts WHERE rowid = (SELECT row FROM memory WHERE id = ?1)",
            )?
            .execute([&row_id])?;
            conn.prepare_cached("DELETE FROM memory WHERE id = ?1")?.execute([&row_id]).map(drop)
        })
    }

    /// Ends a conflict of two changes, and keeps only this user's version. A text of the team that is shown beside a private memory
    /// with the same id stays.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_conflict(&self, id: &str) -> Result<(), DatabaseError> {
        match self.find_team_row(id)? {
            Some(TeamRow { theirs: None, why: Some(_), .. }) => Ok(()),
            _ => self.remove_team_side(id),
        }
    }

    /// Removes the team's version that is shown beside this user's memory, and ends the conflict.
    pub(crate) fn remove_team_side(&self, id: &str) -> Result<(), DatabaseError> {
        self.hide_team_side(id)?;
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE team_memory SET theirs = NULL, why = NULL WHERE id = ?1")?
                .execute([id])
                .map(drop)
        })
    }

    /// Returns an event that a member of the team causes, without fields.
    fn team_event(&self, action: &str, author: &str) -> MemoryEvent {
        MemoryEvent {
            at: self.access.now_ms(),
            action: action.to_owned(),
            author: author.to_owned(),
            source: TEAM_SOURCE.to_owned(),
            fields: Map::new(),
        }
    }

    /// Records the present version of a memory of the team, and whether this user trusts it. Also stores the time of the version,
    /// limited to now: a new link makes a new version without changing the memory's row.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_team_version(&self, version: &FileVersion, is_trusted: bool) -> Result<(), DatabaseError> {
        let FileVersion { hash, record, links, .. } = version;
        self.versions().set_file_columns(&record.id, version)?;
        self.file_links().set_applied_links(&record.id, links)?;
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE memory SET updated = max(updated, ?2) WHERE id = ?1")?
                .execute(params![record.id, record.updated.min(self.access.now_ms())])
        })?;
        match is_trusted {
            true => self.sharing().trust_version(&record.id, hash),
            false => Ok(()),
        }
    }

    /// Deletes the team row of a memory, and its queued changes.
    pub(crate) fn delete_team_row(&self, id: &str) -> Result<(), DatabaseError> {
        self.remove_team_side(id)?;
        self.outbox().delete_outgoing(id)?;
        self.access
            .run(|conn| conn.prepare_cached("DELETE FROM team_memory WHERE id = ?1")?.execute([id]).map(drop))
    }
}

/// Returns a record marked as a memory of the team, with its times limited to now.
fn as_team_record(record: &MemoryRecord, now_ms: i64) -> MemoryRecord {
    MemoryRecord {
        source: TEAM_SOURCE.to_owned(),
        created: record.created.min(now_ms),
        updated: record.updated.min(now_ms), // limited to now, for a clock that was ahead
        shared: false,
        team: true,
        ..record.clone()
    }
}

/// Returns the id in the row that shows the team's version beside this user's memory.
fn team_side_row_id(id: &str) -> String {
    format!("{id}#team")
}
