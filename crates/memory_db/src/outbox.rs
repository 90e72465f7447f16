//! Keeps what is to be sent to the team, in order.

use memod_database::DatabaseError;
use rusqlite::params;

use super::Rows;
use super::files::Hash;
use super::team_rows::sha256;

/// A change that is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its number, which grows.
    pub n: i64,
    /// Id of the memory.
    pub id: String,
    /// SHA-256 of what the team has before; `None`: nothing.
    pub former: Option<Hash>,
    /// The new text; empty: it is archived.
    pub text: String,
}

impl Rows<'_> {
    /// Stores that a change is to be sent.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn queue(&self, id: &str, text: &str) -> Result<(), DatabaseError> {
        self.run(|conn| {
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
            .execute(params![id, text, sha256(text)])
            .map(drop)
        })
    }

    /// Queues that a memory is archived for the team, in place of what is not sent yet of it. That follows what the team had before.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) fn withdraw(&self, id: &str) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "INSERT INTO outbox(id, former, text) SELECT ?1, iif(EXISTS (SELECT 1 FROM outbox WHERE id = ?1),
                     (SELECT former FROM outbox WHERE id = ?1 ORDER BY n LIMIT 1), hash), '' FROM team_memory WHERE id = ?1",
            )?
            .execute([id])?;
            conn.prepare_cached("DELETE FROM outbox WHERE id = ?1 AND n < (SELECT max(n) FROM outbox)")?.execute([id])?;
            conn.prepare_cached(
                "UPDATE team_memory SET base = coalesce(base, text), text = '', hash = ?2, theirs = NULL, why = NULL WHERE id = ?1",
            )?
            .execute(params![id, sha256("")])
            .map(drop)
        })
    }

    /// Replaces what is to be sent of a memory: from what the team has now to what this user has. Without `theirs` the server has
    /// forgotten it: then the changes began from what it had, or if there are none since, from this text.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn requeue(&self, id: &str, theirs: Option<&str>, text: &str) -> Result<(), DatabaseError> {
        self.drop_outgoing(id)?;
        self.run(|conn| {
            conn.prepare_cached("INSERT INTO outbox(id, former, text) VALUES(?1, ?2, ?3)")?
                .execute(params![id, theirs.map(sha256), text])?;
            conn.prepare_cached(
                "UPDATE team_memory SET base = coalesce(?2, nullif(base, ''), ?3), text = ?3, hash = ?4 WHERE id = ?1",
            )?
            .execute(params![id, theirs, text, sha256(text)])
            .map(drop)
        })
    }

    /// Records that the team has what this user has of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_changes(&self, id: &str) -> Result<(), DatabaseError> {
        self.end_conflict(id)?;
        self.drop_outgoing(id)?;
        self.run(|conn| {
            conn.prepare_cached("UPDATE team_memory SET base = NULL WHERE id = ?1")?.execute([id]).map(drop)
        })
    }

    /// Forgets what is to be sent of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn drop_outgoing(&self, id: &str) -> Result<(), DatabaseError> {
        self.run(|conn| conn.prepare_cached("DELETE FROM outbox WHERE id = ?1")?.execute([id]).map(drop))
    }

    /// Returns what is to be sent, in order: at most some changes, and no more bytes than given after the first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn outgoing(&self, at_most: usize, bytes: usize) -> Result<Vec<Outgoing>, DatabaseError> {
        self.run(|conn| {
            let mut statement =
                conn.prepare_cached("SELECT n, id, former, text FROM outbox ORDER BY n LIMIT ?1")?;
            let mut rows = statement.query([at_most as i64])?;
            let (mut found, mut size): (Vec<Outgoing>, _) = (Vec::new(), 0);
            while let Some(row) = rows.next()? {
                let change =
                    Outgoing { n: row.get(0)?, id: row.get(1)?, former: row.get(2)?, text: row.get(3)? };
                size += change.text.len();
                if !found.is_empty() && size > bytes {
                    break;
                }
                found.push(change);
            }
            Ok(found)
        })
    }

    /// Records that the team has all changes up to a number.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_outgoing(&self, up_to: i64) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "UPDATE team_memory SET base = NULL WHERE theirs IS NULL
                     AND id IN (SELECT id FROM outbox WHERE n <= ?1)
                     AND id NOT IN (SELECT id FROM outbox WHERE n > ?1)",
            )?
            .execute([up_to])?;
            // Of the others, the team has an earlier change now.
            conn.prepare_cached(
                "UPDATE team_memory SET base = (SELECT o.text FROM outbox o WHERE o.id = team_memory.id AND o.n <= ?1
                     ORDER BY o.n DESC LIMIT 1)
                 WHERE id IN (SELECT id FROM outbox WHERE n <= ?1) AND id IN (SELECT id FROM outbox WHERE n > ?1)",
            )?
            .execute([up_to])?;
            conn.prepare_cached("DELETE FROM outbox WHERE n <= ?1")?.execute([up_to]).map(drop)
        })
    }
}
