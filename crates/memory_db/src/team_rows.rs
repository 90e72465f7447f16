//! Stores the team's versions of memories.
//!
//! The row of a memory is this user's version; `team_memory` has the same as a text, as it is sent and compared. A change is
//! committed together with its row in `outbox`, so every acknowledged change is sent eventually.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};
use serde_json::Map;
use sha2::{Digest as _, Sha256};

use super::shared_files::{FileHash, FileVersion, with_local_fields};
use super::sharing::Sharing;
use super::{MemoryEvent, MemoryRecord, MemoryRows};

/// The source of changes that come from the team.
pub const FROM_TEAM: &str = "team";
/// Why a memory of the team is not shown: a file of the worktree has its id.
const FILE_HAS_ID: &str = "a file of this repository has its id: `memo unshare` takes it out of the files, and then `memo share --team` gives it to the team";
/// Why the team's text is not this user's memory: that was never the team's, or has left it, and differs.
const OWN_HAS_ID: &str = "a memory of yours alone has its id and says something else: `memo get ID` shows both, `memo resolve ID \
     --ours|--theirs|--both` ends it; while yours is in the archive, `memo restore ID` comes first";
/// Why the team's text is not this user's memory: that has left the team.
const TAKEN_BACK: &str = "you have taken it back: `memo share --team` gives it to the team again";
/// The reason in the archive for a memory that the team has archived.
const ARCHIVED: &str = "team";

/// A memory of the team that a person must look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamTrouble {
    /// Its id.
    pub id: String,
    /// Why the team's text is not the memory; `None` for a conflict of two changes.
    pub why: Option<String>,
    /// Whether the team's text is shown beside this user's memory.
    pub is_shown: bool,
}

impl TeamTrouble {
    /// Returns whether the team's text is not shown anywhere.
    pub fn is_hidden(&self) -> bool {
        self.why.is_some() && !self.is_shown
    }
}

/// The state of a memory of the team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamRow {
    /// This user's text; empty if it is archived.
    pub text: String,
    /// The team's text before the unsent changes; `None` if all are sent.
    pub base: Option<String>,
    /// The team's side of a conflict.
    pub theirs: Option<String>,
    /// Why it shows no memory.
    pub why: Option<String>,
}

/// Counts of the memories of the team.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TeamCounts {
    /// Living memories.
    pub memories: u64,
    /// Queued changes.
    pub unsent: u64,
    /// Memories in conflict, and texts that are shown beside a memory of this user alone.
    pub conflicts: u64,
    /// Texts that are not shown.
    pub unreadable: u64,
}

impl MemoryRows<'_> {
    /// Returns the state of a memory of the team.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_team_row(&self, id: &str) -> Result<Option<TeamRow>, DatabaseError> {
        self.run(|conn| {
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

    /// Returns whether the team has a memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_team(&self, id: &str) -> Result<bool, DatabaseError> {
        Ok(self.main_row(id)?.is_some_and(|main| main.is_team))
    }

    /// Returns this user's archived memory with the id of a record that is the team's.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_archived_beside(&self, record: &MemoryRecord) -> Result<Option<MemoryRecord>, DatabaseError> {
        let main = if record.team { self.main_row(&record.id)? } else { None };
        main.filter(|main| main.is_own() && main.is_archived).map(|_| self.record_at(&record.id)).transpose()
    }

    /// Makes a memory one of the team's. [`Self::queue_change`] queues its text.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn share_with_team(&self, id: &str) -> Result<(), DatabaseError> {
        self.set_shared(id, Sharing::Team)
    }

    /// Makes a memory this user's alone, and archives it for the others.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn leave_team(&self, id: &str) -> Result<(), DatabaseError> {
        self.queue_withdrawal(id)?;
        self.set_shared(id, Sharing::Never)
    }

    /// Makes all memories of the team this user's alone, and deletes queued changes and the cursor. Of two with one text the later
    /// one is archived. Returns their number.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn leave_team_with_all(&self) -> Result<u64, DatabaseError> {
        self.reset_exchange()?;
        self.run(|conn| {
            conn.execute_batch(
                "DELETE FROM memory_fts WHERE rowid IN (SELECT row FROM memory WHERE shared = 3 AND main IS NOT NULL);
                 DELETE FROM memory WHERE shared = 3 AND main IS NOT NULL;",
            )?;
            conn.execute(
                "UPDATE memory SET archived_at = ?1, archived_why = 'forgotten'
                 WHERE shared = 3 AND archived_at IS NULL AND EXISTS (
                     SELECT 1 FROM memory o WHERE o.container = memory.container AND o.hash = memory.hash
                         AND o.key IS NULL AND o.archived_at IS NULL AND o.main IS NULL
                         AND (o.shared IN (0, 2) OR o.shared = 3 AND o.row < memory.row))",
                [self.now_ms()],
            )?;
            let n = conn.execute("UPDATE memory SET shared = ?1 WHERE shared = 3", [Sharing::Never as i64])?;
            Ok(n as u64)
        })
    }

    /// Deletes queued changes, the cursor and the copies from other repositories, so that everything is pulled again.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn reset_exchange(&self) -> Result<(), DatabaseError> {
        self.unfollow_all()?;
        self.run(|conn| conn.execute_batch("DELETE FROM outbox; DELETE FROM team_memory;"))?;
        self.unset_meta(PLACE)
    }

    /// Records that the row of a memory equals its team row.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_equal_to_team(&self, id: &str) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "UPDATE team_memory SET updated = (SELECT updated FROM memory WHERE id = ?1) WHERE id = ?1",
            )?
            .execute([id])
            .map(drop)
        })
    }

    /// Stores the team's text of a memory; `version` is that text as it was parsed, or why it cannot be. An empty text archives
    /// the memory. Its queued changes stay.
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
        let why = match (self.main_row(id)?, version) {
            (Some(main), _) if !text.is_empty() && main.is_shared && self.is_shown_by_file(main.row)? => {
                Some(FILE_HAS_ID)
            }
            (Some(main), _) if text.is_empty() && main.is_team && !main.is_archived => {
                let record = self.record_at(id)?;
                self.set_archived(&[record], Some(ARCHIVED), &self.team_event("forget", author))?;
                None
            }
            (_, _) if text.is_empty() => None,
            (_, Err(why)) => Some(why),
            (Some(main), Ok(version)) if main.is_own() && !self.is_same_and_living(version)? => {
                self.put_their_row(id, version)?;
                Some(OWN_HAS_ID)
            }
            (Some(main), Ok(_)) if main.is_unshared => Some(TAKEN_BACK),
            (main, Ok(version)) => {
                self.put_team_version(main.map(|main| main.is_archived), version, author)?;
                None
            }
        };
        self.run(|conn| {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO team_memory(id, text, hash, updated, why)
                 VALUES(?1, ?2, ?3, (SELECT updated FROM memory WHERE id = ?1), ?4)",
            )?
            .execute(params![id, text, sha256_of(text), why])
            .map(drop)
        })
    }

    /// Returns whether the present memory is not archived and equals a version.
    fn is_same_and_living(&self, version: &FileVersion) -> Result<bool, DatabaseError> {
        let known = self.record_at(&version.record.id)?;
        Ok(known.archived_at.is_none() && self.has_same_content(&known, &version.record))
    }

    fn put_team_version(
        &self,
        is_archived: Option<bool>,
        version: &FileVersion,
        author: &str,
    ) -> Result<(), DatabaseError> {
        let record = &version.record;
        let id = &record.id;
        let Some(is_archived) = is_archived else {
            let record = as_team_record(record, self.now_ms());
            let event = self.team_event("add", author);
            self.put_at(id, &record, &self.derive_data(&record), Some(&event))?;
            return self.set_version(id, version);
        };
        let known = self.record_at(id)?;
        let new = as_team_record(record, self.now_ms());
        let new = MemoryRecord {
            source: known.source.clone(),
            updated: new.updated.max(known.updated + 1),
            last_access: known.last_access,
            access_count: known.access_count,
            archived_at: known.archived_at,
            archived_why: known.archived_why.clone(),
            ..new
        };
        let fields = self.diff_records(&known, &with_local_fields(&known, &new));
        self.set_shared(id, Sharing::Team)?;
        let event = MemoryEvent { fields, ..self.team_event("update", author) };
        let is_noted = !event.fields.is_empty();
        self.put_at(id, &new, &self.derive_data(&new), is_noted.then_some(&event))?;
        self.set_version(id, version)?;
        if is_archived {
            self.set_archived(&[new], None, &self.team_event("restore", author))?;
        }
        Ok(())
    }

    /// Shows the team's side of a conflict beside this user's memory, or records why it shows none. The memory is not sent until
    /// the conflict is resolved.
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
        self.delete_outgoing(id)?;
        if let Ok(version) = version {
            self.put_their_row(id, version)?;
        }
        self.run(|conn| {
            conn.prepare_cached("UPDATE team_memory SET theirs = ?2, why = ?3 WHERE id = ?1")?
                .execute(params![id, theirs, version.err()])
                .map(drop)
        })
    }

    fn put_their_row(&self, id: &str, version: &FileVersion) -> Result<(), DatabaseError> {
        let row_id = theirs_id(id);
        let record = &version.record;
        let record =
            MemoryRecord { source: FROM_TEAM.to_owned(), team: true, shared: false, ..record.clone() };
        self.put_at(&row_id, &record, &self.derive_data(&record), None)?;
        self.set_version(&row_id, &FileVersion { links: Vec::new(), ..version.clone() })
    }

    /// Returns the team's side of a conflict, if it is shown.
    pub(super) fn find_team_side(&self, id: &str) -> Result<Option<MemoryRecord>, DatabaseError> {
        let row_id = theirs_id(id);
        self.find_record_at(&row_id)
    }

    /// Hides the team's side of a conflict, which stays unresolved.
    pub(super) fn hide_team_side(&self, id: &str) -> Result<(), DatabaseError> {
        let row_id = theirs_id(id);
        self.run(|conn| {
            conn.prepare_cached(
                "DELETE FROM memory_fts WHERE rowid = (SELECT row FROM memory WHERE id = ?1)",
            )?
            .execute([&row_id])?;
            conn.prepare_cached("DELETE FROM memory WHERE id = ?1")?.execute([&row_id]).map(drop)
        })
    }

    /// Ends a conflict of two changes: only this user's side is left. A team text beside an unrelated memory with its id stays.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_conflict(&self, id: &str) -> Result<(), DatabaseError> {
        match self.find_team_row(id)? {
            Some(TeamRow { theirs: None, why: Some(_), .. }) => Ok(()),
            _ => self.remove_team_side(id),
        }
    }

    pub(super) fn remove_team_side(&self, id: &str) -> Result<(), DatabaseError> {
        self.hide_team_side(id)?;
        self.run(|conn| {
            conn.prepare_cached("UPDATE team_memory SET theirs = NULL, why = NULL WHERE id = ?1")?
                .execute([id])
                .map(drop)
        })
    }

    /// Records the present version of a memory of the team, and whether this user trusts it. A new link is a new version, but no
    /// change of the memory; so the time of the version is stored here, limited to now.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_team_version(&self, version: &FileVersion, is_trusted: bool) -> Result<(), DatabaseError> {
        let FileVersion { hash, record, links, .. } = version;
        self.set_version(&record.id, version)?;
        self.set_linked(&record.id, links)?;
        self.run(|conn| {
            conn.prepare_cached("UPDATE memory SET updated = max(updated, ?2) WHERE id = ?1")?
                .execute(params![record.id, record.updated.min(self.now_ms())])
        })?;
        match is_trusted {
            true => self.trust_version(&record.id, hash),
            false => Ok(()),
        }
    }

    /// Returns ids of memories of the team that were changed by restoring a backup, not by a verb.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_unequal_to_team(&self) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT t.id FROM team_memory t JOIN memory m ON m.id = t.id
                 WHERE m.shared = 3 AND m.updated IS NOT t.updated AND t.theirs IS NULL AND t.why IS NULL",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns ids of memories in conflict whose other side is not shown, because they were saved from a damaged file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_hidden_sides(&self) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT t.id FROM team_memory t WHERE t.theirs IS NOT NULL AND t.why IS NULL
                     AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = t.id || '#team')",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns a page of the ids that the team has or had, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_team_ids(&self, after: &str, at_most: usize) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT id FROM team_memory WHERE id > ?1 ORDER BY id LIMIT ?2")?
                .query_map(params![after, at_most as i64], |row| row.get(0))?
                .collect()
        })
    }

    /// Returns memories in conflict, and texts that are not the memory with their id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_team_troubles(&self) -> Result<Vec<TeamTrouble>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT t.id, t.why, EXISTS (SELECT 1 FROM memory m WHERE m.id = t.id || '#team')
                 FROM team_memory t WHERE t.theirs IS NOT NULL OR t.why IS NOT NULL ORDER BY t.id",
            )?
            .query_map([], |row| {
                Ok(TeamTrouble { id: row.get(0)?, why: row.get(1)?, is_shown: row.get(2)? })
            })?
            .collect()
        })
    }

    /// Counts the memories of the team by state.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_team_memories(&self) -> Result<TeamCounts, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT (SELECT count(*) FROM team_memory WHERE text != '' AND why IS NULL),
                     (SELECT count(*) FROM outbox),
                     (SELECT count(*) FROM team_memory t WHERE t.theirs IS NOT NULL OR t.why IS NOT NULL
                         AND EXISTS (SELECT 1 FROM memory m WHERE m.id = t.id || '#team')),
                     (SELECT count(*) FROM team_memory t WHERE t.why IS NOT NULL
                         AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = t.id || '#team'))",
            )?
            .query_row([], |row| {
                Ok(TeamCounts {
                    memories: row.get(0)?,
                    unsent: row.get(1)?,
                    conflicts: row.get(2)?,
                    unreadable: row.get(3)?,
                })
            })
        })
    }

    /// Returns the stored cursor: how far the team's changes are known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn team_cursor(&self) -> Result<Option<String>, DatabaseError> {
        self.read_meta(PLACE)
    }

    /// Stores the cursor.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_team_cursor(&self, json: &str) -> Result<(), DatabaseError> {
        self.set_meta(PLACE, json)
    }

    /// Returns a new name of this database for a server.
    ///
    /// # Errors
    /// When the database fails.
    pub fn new_client_name(&self) -> Result<String, DatabaseError> {
        Ok(self.random_bytes()?.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn team_event(&self, action: &str, author: &str) -> MemoryEvent {
        MemoryEvent {
            at: self.now_ms(),
            action: action.to_owned(),
            author: author.to_owned(),
            source: FROM_TEAM.to_owned(),
            fields: Map::new(),
        }
    }
}

/// The key in `meta` of the cursor.
const PLACE: &str = "team";

/// Returns a record as one of the team's.
fn as_team_record(record: &MemoryRecord, now_ms: i64) -> MemoryRecord {
    MemoryRecord {
        source: FROM_TEAM.to_owned(),
        created: record.created.min(now_ms),
        updated: record.updated.min(now_ms), // limited to now, for a clock that was ahead
        shared: false,
        team: true,
        ..record.clone()
    }
}

/// Returns the id of the row for the team's side of a conflict.
fn theirs_id(id: &str) -> String {
    format!("{id}#team")
}

pub(super) fn sha256_of(text: &str) -> FileHash {
    Sha256::digest(text).into()
}
