//! Writes memories in one transaction.

use memod_database::DatabaseError;
use rusqlite::{Connection, OptionalExtension, ToSql, params};
use serde_json::{Map, Value};

use super::anchor_rows::put_anchors;
use super::memory_rows::{COLUMNS, read_record};
use super::memory_words::put_words;
use super::restore_history::restored_at;
use super::sharing::Sharing;
use super::{DerivedData, FileSide, MemoryEvent, MemoryRecord, MemoryRows};

/// Time for which the answer to a named request is kept, ms; much longer than any client retries.
const REQUEST_MS: i64 = 3_600_000;

/// The state of a named request.
#[derive(Debug)]
pub enum EarlierRequest {
    /// The name is new.
    None,
    /// The request was answered before.
    Same(Value),
    /// The name belongs to another request.
    Other,
}

impl MemoryRows<'_> {
    /// Stores a new or changed memory, and the change in its history.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_memory(
        &self,
        record: &MemoryRecord,
        derived: &DerivedData,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        if self.is_team(&record.id)? {
            // A memory of the team has neither an expiry nor a key of an import.
            let record =
                MemoryRecord { team: true, shared: false, expires_at: None, key: None, ..record.clone() };
            return self.put_at(&record.id, &record, derived, Some(event));
        }
        let own = self.own_version_id(&record.id)?;
        if own.is_none() && !self.is_shared(&record.id)? {
            return self.put_at(&record.id, record, derived, Some(event));
        }
        // A file has neither an expiry nor a key of an import.
        let record = MemoryRecord { shared: true, expires_at: None, key: None, ..record.clone() };
        if own.is_none() {
            self.copy_for_other_worktrees(&record.id)?;
        }
        self.put_at(own.as_deref().unwrap_or(&record.id), &record, derived, Some(event))
    }

    /// Stores a memory in the row of an id, which may be a worktree's version row. Changes are noted at the main row.
    pub(super) fn put_at(
        &self,
        row_id: &str,
        record: &MemoryRecord,
        derived: &DerivedData,
        event: Option<&MemoryEvent>,
    ) -> Result<(), DatabaseError> {
        if record.archived_at.is_none() && !record.shared && !record.team {
            self.archive_expired_twins(record, &derived.hash)?;
        }
        self.run(|conn| {
            let row = put_row(conn, row_id, record, &derived.hash)?;
            conn.prepare_cached("DELETE FROM tag WHERE memory = ?1")?.execute([row])?;
            let mut tag = conn.prepare_cached("INSERT INTO tag(memory, tag) VALUES(?1, ?2)")?;
            record.tags.iter().try_for_each(|name| tag.execute(params![row, name]).map(drop))?;
            put_anchors(conn, row, &record.anchors)?;
            put_words(conn, row, &derived.words)?;
            event.map_or(Ok(()), |event| note_event(conn, row, event))
        })
    }

    /// Stores the recalls of a memory, and no other field.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_recall(&self, record: &MemoryRecord, event: &MemoryEvent) -> Result<(), DatabaseError> {
        self.run(|conn| {
            let row = conn
                .prepare_cached(
                    "UPDATE memory SET last_access = ?2, access_count = ?3 WHERE id = ?1 RETURNING row",
                )?
                .query_row(params![record.id, record.last_access, record.access_count], |row| row.get(0))?;
            note_event(conn, row, event)
        })
    }

    /// Stores the retention of a memory: tier, expiry, priority and recalls.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_retention(&self, record: &MemoryRecord, event: &MemoryEvent) -> Result<(), DatabaseError> {
        self.run(|conn| {
            let row = conn
                .prepare_cached(
                    "UPDATE memory SET tier = ?2, expires_at = ?3, priority = ?4, last_access = ?5, access_count = ?6,
                         updated = ?7 WHERE id = ?1 RETURNING row",
                )?
                .query_row(
                    params![
                        record.id,
                        record.tier.as_str(),
                        record.expires_at,
                        record.priority,
                        record.last_access,
                        record.access_count,
                        record.updated
                    ],
                    |row| row.get(0),
                )?;
            note_event(conn, row, event)
        })
    }

    /// Stores the history of a memory that comes from another database.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) fn put_history(&self, id: &str, events: &[MemoryEvent]) -> Result<(), DatabaseError> {
        self.run(|conn| {
            let row: i64 = conn.query_row("SELECT row FROM memory WHERE id = ?1", [id], |row| row.get(0))?;
            conn.execute("DELETE FROM history WHERE memory = ?1", [row])?;
            events.iter().try_for_each(|event| note_event(conn, row, event))
        })
    }

    /// Archives living memories. A shared one that other worktrees have too is only taken out of this one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn archive_memories(
        &self,
        records: &[MemoryRecord],
        why: &str,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        for record in records {
            match record.shared {
                true => self.take_out_of_worktree(record, why, event)?,
                false => self.set_archived(std::slice::from_ref(record), Some(why), event)?,
            }
        }
        Ok(())
    }

    /// Restores memories from the archive; one that had expired has no expiry any more.
    ///
    /// # Errors
    /// When the database cannot be written, also where a living memory has the same text.
    pub fn restore_memories(
        &self,
        records: &[MemoryRecord],
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        for record in records {
            let hash = self.run(|conn| {
                conn.query_row("SELECT hash FROM memory WHERE id = ?1", [&record.id], |row| row.get(0))
            })?;
            self.archive_expired_twins(record, &hash)?;
        }
        self.set_archived(records, None, event)
    }

    pub(super) fn set_archived(
        &self,
        records: &[MemoryRecord],
        why: Option<&str>,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        self.run(|conn| {
            let mut set = conn.prepare_cached(
                "UPDATE memory SET archived_at = iif(?2 IS NULL, NULL, coalesce(archived_at, ?3)), archived_why = ?2,
                     updated = max(?3, updated + 1), expires_at = iif(?2 IS NULL AND expires_at <= ?3, NULL, expires_at)
                 WHERE id = ?1 RETURNING row",
            )?;
            for record in records {
                let row = set.query_row(params![record.id, why, event.at], |row| row.get(0))?;
                note_event(conn, row, event)?;
            }
            Ok(())
        })
    }

    /// Archives memories that had expired at a time.
    pub(super) fn archive_expired(&self, at_ms: i64) -> Result<(), DatabaseError> {
        self.archive_where("expires_at <= ?1", &[&at_ms])
    }

    /// Archives memories that have expired by the clock and have the text of a living record, so that no text exists twice.
    pub(super) fn archive_expired_twins(
        &self,
        record: &MemoryRecord,
        hash: &[u8; 32],
    ) -> Result<(), DatabaseError> {
        let same =
            "expires_at <= ?1 AND container = ?2 AND hash = ?3 AND coalesce(key, '') = ?4 AND id != ?5";
        let key = record.key.as_deref().unwrap_or_default();
        self.archive_where(same, &[&self.now_ms, &record.container, hash, &key, &record.id])
    }

    fn archive_where(&self, condition: &str, values: &[&dyn ToSql]) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                "INSERT INTO history(memory, at, action, author, source, fields)
                 SELECT row, expires_at, 'expire', 'memod', 'daemon', '{{}}' FROM memory
                 WHERE archived_at IS NULL AND {condition}"
            ))?
            .execute(values)?;
            conn.prepare_cached(&format!(
                "UPDATE memory SET archived_at = expires_at, archived_why = 'expired',
                     updated = max(expires_at, updated + 1) WHERE archived_at IS NULL AND {condition}"
            ))?
            .execute(values)
            .map(drop)
        })
    }

    /// Deletes memories with all their data; the histories of linked memories record it. The file versions of a private memory
    /// become a memory of their own.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_memories(
        &self,
        records: &[MemoryRecord],
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        self.delete_keeping_files(records, event)?;
        self.forget_answers()
    }

    /// Deletes memories as [`Self::delete_memories`] does, and their file versions.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_with_files(
        &self,
        records: &[MemoryRecord],
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let (conflicting, others): (Vec<MemoryRecord>, Vec<MemoryRecord>) =
            records.iter().cloned().partition(|record| record.side == FileSide::Ours && !record.is_shared());
        self.delete_rows(&others, event)?;
        self.delete_keeping_files(&conflicting, event)?; // the versions of others stay
        self.forget_answers()
    }

    /// Deletes the stored answers, because they quote memories.
    fn forget_answers(&self) -> Result<(), DatabaseError> {
        self.run(|conn| conn.execute("DELETE FROM request", []).map(drop))
    }

    /// Deletes memories that had expired at a time, and stored answers that mention them. Archives those whose expiry was last set
    /// by an agent or an import, which may not delete for good.
    pub(super) fn purge_expired(&self, at_ms: i64) -> Result<(), DatabaseError> {
        let expired: Vec<MemoryRecord> = self.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m WHERE m.archived_at IS NULL AND m.expires_at <= ?1
                     AND coalesce((SELECT h.source FROM history h WHERE h.memory = m.row AND h.action != 'recall'
                         AND json_type(h.fields, '$.expires_at') IS NOT NULL ORDER BY h.row DESC LIMIT 1), '')
                     NOT IN ('agent', 'import')"
            ))?
            .query_map([at_ms], read_record)?
            .collect()
        })?;
        if !expired.is_empty() {
            self.delete_keeping_files(&expired, &MemoryEvent::of_daemon(self.now_ms(), "expire"))?;
            let ids = Value::from(expired.into_iter().map(|record| record.id).collect::<Vec<_>>());
            self.run(|conn| {
                conn.execute(
                    "DELETE FROM request WHERE EXISTS (SELECT 1 FROM json_each(?1) WHERE instr(answer, value))",
                    [ids.to_string()],
                )
                .map(drop)
            })?;
        }
        self.archive_expired(at_ms)
    }

    fn delete_keeping_files(
        &self,
        records: &[MemoryRecord],
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let heirs = self.detach_files(records)?;
        self.delete_rows(records, event)?;
        for (id, heir) in heirs {
            self.inherit_id(&id, heir)?;
        }
        Ok(())
    }

    fn delete_rows(&self, records: &[MemoryRecord], event: &MemoryEvent) -> Result<(), DatabaseError> {
        self.note_removed_links(records, event)?;
        self.note_deleted(records, &event.action);
        let restored =
            |record: &MemoryRecord| Ok::<_, DatabaseError>(restored_at(&self.list_history(&record.id)?));
        let restored: Vec<i64> = records.iter().map(restored).collect::<Result<_, _>>()?;
        self.run(|conn| {
            let mut words = conn.prepare_cached(
                "DELETE FROM memory_fts WHERE rowid = (SELECT row FROM memory WHERE id = ?1)",
            )?;
            let mut memory = conn.prepare_cached("DELETE FROM memory WHERE id = ?1")?;
            let mut versions = conn.prepare_cached(
                "DELETE FROM memory_fts WHERE rowid IN (
                     SELECT row FROM memory WHERE main = (SELECT row FROM memory WHERE id = ?1))",
            )?;
            for record in records {
                words.execute([&record.id])?;
                versions.execute([&record.id])?;
                memory.execute([&record.id])?;
            }
            // The full-text index still has the words until its segments are merged.
            conn.execute("INSERT INTO memory_fts(memory_fts) VALUES('optimize')", [])?;
            Ok(())
        })?;
        // A backup may have brought back a version that is older than those in other databases.
        let mut later = records.iter().zip(restored).filter(|(record, at)| *at > record.updated);
        later.try_for_each(|(record, at)| self.record_deletion(&record.id, at, at))
    }

    /// Returns the state of a named request; `digest` is the hash of its method and params.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_earlier_request(
        &self,
        name: &str,
        digest: &[u8; 32],
    ) -> Result<EarlierRequest, DatabaseError> {
        let stored: Option<(String, Option<[u8; 32]>)> = self.run(|conn| {
            conn.prepare_cached("SELECT answer, digest FROM request WHERE name = ?1")?
                .query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })?;
        Ok(match stored {
            None => EarlierRequest::None,
            Some((_, Some(other))) if other != *digest => EarlierRequest::Other,
            Some((answer, _)) => EarlierRequest::Same(serde_json::from_str(&answer).unwrap_or_default()),
        })
    }

    /// Stores the answer to a request for a while.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn store_answer(&self, name: &str, digest: &[u8; 32], answer: &Value) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("DELETE FROM request WHERE at < ?1")?
                .execute([self.now_ms() - REQUEST_MS])?;
            conn.prepare_cached("INSERT INTO request(name, at, answer, digest) VALUES(?1, ?2, ?3, ?4)")?
                .execute(params![name, self.now_ms(), answer.to_string(), digest])?;
            Ok(())
        })
    }

    /// Returns the value of a key in `meta`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn read_meta(&self, key: &str) -> Result<Option<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?
                .query_row([key], |row| row.get(0))
                .optional()
        })
    }

    /// Stores the value of a key in `meta`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) fn set_meta(&self, key: &str, value: &str) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)", [key, value]).map(drop)
        })
    }
}

impl MemoryRows<'_> {
    /// Deletes a key from `meta`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) fn unset_meta(&self, key: &str) -> Result<(), DatabaseError> {
        self.run(|conn| conn.execute("DELETE FROM meta WHERE key = ?1", [key]).map(drop))
    }
}

fn put_row(conn: &Connection, row_id: &str, record: &MemoryRecord, hash: &[u8; 32]) -> rusqlite::Result<i64> {
    conn.prepare_cached(
        "INSERT INTO memory(id, content, title, container, tier, expires_at, priority, confidence, source, author,
             created, updated, last_access, access_count, metadata, hash, archived_at, archived_why, key,
             agent, shared, main)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
             (SELECT row FROM memory WHERE id = ?22))
         ON CONFLICT(id) DO UPDATE SET content = ?2, title = ?3, container = ?4, tier = ?5, expires_at = ?6,
             priority = ?7, confidence = ?8, source = ?9, author = ?10, created = ?11, updated = ?12, last_access = ?13, access_count = ?14, metadata = ?15,
             hash = ?16, archived_at = ?17, archived_why = ?18, key = ?19, agent = ?20
         RETURNING row",
    )?
    .query_row(
        params![
            row_id,
            record.content,
            record.title,
            record.container,
            record.tier.as_str(),
            record.expires_at,
            record.priority,
            record.confidence,
            record.source,
            record.author,
            record.created,
            record.updated,
            record.last_access,
            record.access_count,
            to_json(&record.metadata),
            hash,
            record.archived_at,
            record.archived_why,
            record.key,
            record.agent,
            sharing_number(record),
            (row_id != record.id).then_some(&record.id),
        ],
        |row| row.get(0),
    )
}

/// Returns the number of a new memory's sharing.
fn sharing_number(record: &MemoryRecord) -> i64 {
    match () {
        () if record.team => Sharing::Team as i64,
        () if record.shared => Sharing::Repo as i64,
        () => 0,
    }
}

/// The field that marks the change of a file in conflict with a private memory. The change is in the history of that memory until
/// the conflict ends.
pub(super) const BESIDE: &str = "beside";

/// Adds a row to the history of a memory. For a shared memory it names the worktree, unless the change applies to all
/// worktrees.
pub(super) fn note_event(conn: &Connection, row: i64, event: &MemoryEvent) -> rusqlite::Result<()> {
    conn.prepare_cached(&format!(
        "INSERT INTO history(memory, at, action, author, source, fields)
         SELECT main, ?2, ?3, ?4, ?5, iif(
             is_beside_own, json_set(fields, '$.{BESIDE}', json_array(NULL, 'file')), fields)
         FROM (
             SELECT coalesce(m.main, m.row) main, o.shared IN (0, 2) is_beside_own, iif(
                 m.shared = 1 AND ?6 != '{{}}' AND ?3 NOT IN ('recall', 'link', 'unlink')
                     AND memod_worktree() > 0 AND (SELECT count(*) FROM worktree) > 1,
                 json_set(?6, '$.worktree', json_array(NULL, (
                     SELECT coalesce(root, nullif(git_dir, ''), 'main') FROM worktree WHERE id = memod_worktree()))),
                 ?6) fields
             FROM memory m LEFT JOIN memory o ON o.row = m.main WHERE m.row = ?1)",
    ))?
    .execute(params![row, event.at, event.action, event.author, event.source, to_json(&event.fields)])
    .map(drop)
}

fn to_json(object: &Map<String, Value>) -> String {
    serde_json::to_string(object).expect("an object of JSON has string keys")
}
