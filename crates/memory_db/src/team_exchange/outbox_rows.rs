//! Queues the changes that are to be sent to the team, in order.

use memod_database::DatabaseError;
use rusqlite::params;
use sha2::{Digest as _, Sha256};

use crate::access::row_access::row_handle;
use crate::records::file_version::FileHash;
use crate::settings::meta_rows::MetaRows;

/// The key in `meta` of the cursor into the team's changes.
pub(crate) const TEAM_CURSOR_KEY: &str = "team";

row_handle! {
    /// Changes that are queued for the team, and the cursor into the team's changes.
    pub struct OutboxRows { meta: MetaRows }
}

/// A change that is queued for the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingChange {
    /// Number of the change; later changes have larger numbers.
    pub n: i64,
    /// Id of the memory.
    pub id: String,
    /// SHA-256 of the text that the team has before the change; `None` if the team does not have the memory.
    pub former: Option<FileHash>,
    /// The new text; empty to archive the memory.
    pub text: String,
}

impl OutboxRows<'_> {
    /// Queues the new text of a memory for the team.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn queue_change(&self, id: &str, text: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "INSERT INTO outbox(id, former, text)
                 SELECT ?1, (SELECT hash FROM team_memory WHERE id = ?1), ?2",
            )?
            .execute([id, text])?;
            conn.prepare_cached(
                "INSERT INTO team_memory(id, text, hash, updated, base)
                 VALUES(?1, ?2, ?3, (SELECT updated FROM memory WHERE id = ?1), '')
                 ON CONFLICT(id) DO UPDATE SET base = coalesce(base, text), text = ?2, hash = ?3,
                     updated = excluded.updated, why = NULL",
            )?
            .execute(params![id, text, sha256_of(text)])
            .map(drop)
        })
    }

    /// Queues the archiving of a memory for the team, in place of the memory's unsent changes.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn queue_withdrawal(&self, id: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "INSERT INTO outbox(id, former, text) SELECT ?1, iif(EXISTS (SELECT 1 FROM outbox WHERE id = ?1),
                     (SELECT former FROM outbox WHERE id = ?1 ORDER BY n LIMIT 1), hash), '' FROM team_memory WHERE id = ?1",
            )?
            .execute([id])?;
            conn.prepare_cached("DELETE FROM outbox WHERE id = ?1 AND n < (SELECT max(n) FROM outbox)")?.execute([id])?;
            conn.prepare_cached(
                "UPDATE team_memory SET base = coalesce(base, text), text = '', hash = ?2, theirs = NULL, why = NULL WHERE id = ?1",
            )?
            .execute(params![id, sha256_of("")])
            .map(drop)
        })
    }

    /// Replaces the queued changes of a memory by one change from the team's present text `theirs` to this user's text. `theirs` is
    /// `None` if the server has lost the memory; the base of later merges is then the text that the server had.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn requeue_change(&self, id: &str, theirs: Option<&str>, text: &str) -> Result<(), DatabaseError> {
        self.delete_outgoing(id)?;
        self.access.run(|conn| {
            conn.prepare_cached("INSERT INTO outbox(id, former, text) VALUES(?1, ?2, ?3)")?
                .execute(params![id, theirs.map(sha256_of), text])?;
            conn.prepare_cached(
                "UPDATE team_memory SET base = coalesce(?2, nullif(base, ''), ?3), text = ?3, hash = ?4 WHERE id = ?1",
            )?
            .execute(params![id, theirs, text, sha256_of(text)])
            .map(drop)
        })
    }

    /// Deletes the queued changes of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_outgoing(&self, id: &str) -> Result<(), DatabaseError> {
        self.access
            .run(|conn| conn.prepare_cached("DELETE FROM outbox WHERE id = ?1")?.execute([id]).map(drop))
    }

    /// Returns the first queued changes: at most `at_most`, with at most `bytes` of text together, but at least one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_outgoing(&self, at_most: usize, bytes: usize) -> Result<Vec<OutgoingChange>, DatabaseError> {
        self.access.run(|conn| {
            let mut statement =
                conn.prepare_cached("SELECT n, id, former, text FROM outbox ORDER BY n LIMIT ?1")?;
            let mut rows = statement.query([at_most as i64])?;
            let (mut found, mut size): (Vec<OutgoingChange>, _) = (Vec::new(), 0);
            while let Some(row) = rows.next()? {
                let change = OutgoingChange {
                    n: row.get(0)?,
                    id: row.get(1)?,
                    former: row.get(2)?,
                    text: row.get(3)?,
                };
                size += change.text.len();
                if !found.is_empty() && size > bytes {
                    break;
                }
                found.push(change);
            }
            Ok(found)
        })
    }

    /// Records that the team has all queued changes up to a number, and removes them from the queue.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_sent_up_to(&self, up_to: i64) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "UPDATE team_memory SET base = NULL WHERE theirs IS NULL
                     AND id IN (SELECT id FROM outbox WHERE n <= ?1)
                     AND id NOT IN (SELECT id FROM outbox WHERE n > ?1)",
            )?
            .execute([up_to])?;
            // If a memory has further unsent changes, the team now has the text of its last sent change.
            conn.prepare_cached(
                "UPDATE team_memory SET base = (SELECT o.text FROM outbox o WHERE o.id = team_memory.id AND o.n <= ?1
                     ORDER BY o.n DESC LIMIT 1)
                 WHERE id IN (SELECT id FROM outbox WHERE n <= ?1) AND id IN (SELECT id FROM outbox WHERE n > ?1)",
            )?
            .execute([up_to])?;
            conn.prepare_cached("DELETE FROM outbox WHERE n <= ?1")?.execute([up_to]).map(drop)
        })
    }

    /// Returns the stored cursor, JSON: up to which change the team's memories are known; `None` before the first exchange.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn team_cursor(&self) -> Result<Option<String>, DatabaseError> {
        self.meta().read_meta(TEAM_CURSOR_KEY)
    }

    /// Stores the cursor into the team's changes, JSON.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_team_cursor(&self, json: &str) -> Result<(), DatabaseError> {
        self.meta().set_meta(TEAM_CURSOR_KEY, json)
    }

    /// Returns a new random name under which this database sends changes to a server.
    ///
    /// # Errors
    /// When the database fails.
    pub fn new_client_name(&self) -> Result<String, DatabaseError> {
        Ok(self.access.random_bytes()?.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

pub(crate) fn sha256_of(text: &str) -> FileHash {
    Sha256::digest(text).into()
}
