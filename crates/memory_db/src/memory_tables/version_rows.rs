//! Writes the main rows of memories, and the rows of their versions in worktrees.
//!
//! A version row is for a worktree whose file differs from the main row. Its id is the id of the memory, `#` and the worktree's
//! number.

use memod_database::DatabaseError;
use memod_proto::anchor::Anchor;
use rusqlite::{Connection, OptionalExtension, params};

use crate::access::row_access::row_handle;
use crate::memory_tables::archive_rows::ArchiveRows;
use crate::memory_tables::note_event::{record_event, to_json};
use crate::memory_tables::record_rows::RecordRows;
use crate::records::file_version::{FileHash, FileMemory, FileVersion, version_id};
use crate::records::memory_event::MemoryEvent;
use crate::records::memory_record::{FileSide, MemoryRecord, with_local_fields};
use crate::records::record_functions::HashAndWords;
use crate::records::sharing::Sharing;

row_handle! {
    /// The main rows of memories, and the rows of their versions in worktrees.
    pub struct VersionRows { records: RecordRows, archive: ArchiveRows }
}

/// The main row of a memory.
pub(crate) struct MainRow {
    /// Number of the row.
    pub(crate) row: i64,
    /// Whether the memory is shared through a file.
    pub(crate) is_shared_by_file: bool,
    /// Whether this user has stopped sharing the memory, with files or with the team.
    pub(crate) is_unshared: bool,
    /// Whether the team has the memory.
    pub(crate) is_team_memory: bool,
    /// Hash of the file, or of the team's text, that the row equals.
    pub(crate) version: Option<FileHash>,
    /// Whether the memory is archived.
    pub(crate) is_archived: bool,
}

impl MainRow {
    /// Returns whether the memory is private.
    pub(crate) fn is_private(&self) -> bool {
        !self.is_shared_by_file && !self.is_team_memory
    }

    /// Returns whether the memory is private and archived.
    pub(crate) fn is_archived_private(&self) -> bool {
        self.is_private() && self.is_archived
    }
}

impl VersionRows<'_> {
    /// Returns the main row of a memory; `None` if there is no such memory.
    pub(crate) fn main_row(&self, id: &str) -> Result<Option<MainRow>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT row, shared, version, archived_at IS NOT NULL FROM memory WHERE id = ?1",
            )?
            .query_row([id], |row| {
                let (shared, version, is_archived): (i64, _, _) = (row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(MainRow {
                    row: row.get(0)?,
                    is_shared_by_file: shared == Sharing::Repo as i64,
                    is_unshared: shared == Sharing::Never as i64,
                    is_team_memory: shared == Sharing::Team as i64,
                    version,
                    is_archived,
                })
            })
            .optional()
        })
    }

    /// Returns the number of the row with an id: the main row of a memory, or a version row.
    pub(crate) fn find_row_number(&self, row_id: &str) -> Result<i64, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT row FROM memory WHERE id = ?1")?.query_row([row_id], |row| row.get(0))
        })
    }

    /// Stores a memory with its tags, anchors and words in the row with the id `row_id`: the main row, or a worktree's version row.
    /// Adds `event` to the history of the memory.
    pub(crate) fn store_record_at(
        &self,
        row_id: &str,
        record: &MemoryRecord,
        derived: &HashAndWords,
        event: Option<&MemoryEvent>,
    ) -> Result<(), DatabaseError> {
        if record.archived_at.is_none() && !record.shared && !record.team {
            self.archive().archive_expired_duplicates(record, &derived.hash)?;
        }
        self.access.run(|conn| {
            let row = put_row(conn, row_id, record, &derived.hash)?;
            conn.prepare_cached("DELETE FROM tag WHERE memory = ?1")?.execute([row])?;
            let mut tag = conn.prepare_cached("INSERT INTO tag(memory, tag) VALUES(?1, ?2)")?;
            record.tags.iter().try_for_each(|name| tag.execute(params![row, name]).map(drop))?;
            put_anchors(conn, row, &record.anchors)?;
            put_words(conn, row, &derived.words)?;
            event.map_or(Ok(()), |event| record_event(conn, row, event))
        })
    }

    /// Returns the id in this worktree's version row of a memory; `None` if the worktree's file shows the main row, or no file
    /// shows the memory.
    pub(crate) fn worktree_version_id(&self, id: &str) -> Result<Option<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                // Usually a memory has no version rows; in this order of tables, no file row is read then.
                "SELECT v.id FROM memory m CROSS JOIN memory v ON v.main = m.row CROSS JOIN memory_file f ON f.memory = v.row
                 WHERE m.id = ?1 AND f.worktree = memod_worktree() AND f.side < 2",
            )?
            .query_row([id], |row| row.get(0))
            .optional()
        })
    }

    /// Copies the columns about the file from one row to another, both given by their numbers.
    pub(crate) fn copy_file_columns(&self, from: i64, to: i64) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "UPDATE memory SET (version, file_links, remarks) =
                     (SELECT version, file_links, remarks FROM memory WHERE row = ?1)
                 WHERE row = ?2",
            )?
            .execute([from, to])
            .map(drop)
        })
    }

    /// Gives the other worktrees that show the main row of a memory version rows of their own, before the main row changes.
    pub(crate) fn copy_for_other_worktrees(&self, id: &str) -> Result<(), DatabaseError> {
        let (Some(main), Some(forms)) = (self.main_row(id)?, self.access.functions) else { return Ok(()) };
        let others: Vec<(i64, i64)> = self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT worktree, side FROM memory_file WHERE memory = ?1 AND worktree != memod_worktree()",
            )?
            .query_map([main.row], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })?;
        for (worktree, side) in others {
            let known = self.records().record_at(id)?;
            let row_id = version_id(id, worktree, FileSide::Whole);
            self.store_record_at(&row_id, &known, &(forms.compute_hash_and_words)(&known), None)?;
            self.copy_file_columns(main.row, self.find_row_number(&row_id)?)?;
            self.access.run(|conn| {
                conn.prepare_cached(
                    "UPDATE memory_file SET memory = (SELECT row FROM memory WHERE id = ?1)
                     WHERE +worktree = ?2 AND side = ?3 AND memory = ?4",
                )?
                .execute(params![row_id, worktree, side, main.row])
                .map(drop)
            })?;
        }
        Ok(())
    }

    /// Returns the remarks in the row with an id; `None` if they are not stored.
    pub(crate) fn remarks_at(&self, row_id: &str) -> Result<Option<String>, DatabaseError> {
        let remarks = self.access.run(|conn| {
            conn.prepare_cached("SELECT remarks FROM memory WHERE id = ?1")?
                .query_row([row_id], |row| row.get(0))
                .optional()
        });
        Ok(remarks?.flatten())
    }

    /// Stores the remarks of the main row of a memory, and the links of its file as JSON.
    pub(crate) fn set_remarks(
        &self,
        id: &str,
        remarks: &str,
        file_links: Option<&String>,
    ) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE memory SET remarks = ?2, file_links = ?3 WHERE id = ?1")?
                .execute(params![id, remarks, file_links])
                .map(drop)
        })
    }

    /// Stores the columns about the file in the row with an id: the hash, the links and the remarks of `version`.
    pub(crate) fn set_file_columns(&self, row_id: &str, version: &FileVersion) -> Result<(), DatabaseError> {
        let FileVersion { hash, links, remarks, .. } = version;
        let json = (!links.is_empty()).then(|| serde_json::json!(links).to_string());
        self.access.run(|conn| {
            let sql = "UPDATE memory SET version = ?2, file_links = ?3, remarks = ?4 WHERE id = ?1";
            conn.prepare_cached(sql)?.execute(params![row_id, hash, json, remarks]).map(drop)
        })
    }

    /// Stores a version of a shared memory in the row with the id `row_id`, with the columns about the file.
    pub(crate) fn put_version_row(
        &self,
        row_id: &str,
        record: &MemoryRecord,
        version: &FileVersion,
        event: Option<&MemoryEvent>,
    ) -> Result<(), DatabaseError> {
        let record = MemoryRecord { shared: true, key: None, expires_at: None, ..record.clone() };
        self.store_record_at(row_id, &record, &self.access.compute_hash_and_words(&record), event)?;
        self.set_file_columns(row_id, version)
    }

    /// Returns the content of the file that shows the row with this number, or showed it last.
    pub(crate) fn read_file_memory(&self, row: i64) -> Result<FileMemory, DatabaseError> {
        let (id, links, remarks): (String, Option<String>, Option<String>) = self.access.run(|conn| {
            conn.prepare_cached("SELECT id, file_links, remarks FROM memory WHERE row = ?1")?
                .query_row([row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        })?;
        let links = links.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        Ok(FileMemory { record: self.records().record_at(&id)?, links, remarks: remarks.unwrap_or_default() })
    }

    /// Returns the content of a memory's file in the worktree, or of the memory's last file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read_worktree_file_memory(&self, id: &str) -> Result<FileMemory, DatabaseError> {
        let row_id = self.worktree_version_id(id)?.unwrap_or_else(|| id.to_owned());
        self.read_file_memory(self.find_row_number(&row_id)?)
    }

    /// Returns whether two records are equal in the fields that a file or the team stores, ignoring the form of line ends.
    pub(crate) fn has_same_content(&self, known: &MemoryRecord, other: &MemoryRecord) -> bool {
        let [known, other] = [known, &with_local_fields(known, other)]
            .map(|record| MemoryRecord { content: record.content.replace("\r\n", "\n"), ..record.clone() });
        self.access.diff_records(&known, &other).is_empty()
    }
}

/// Replaces the anchors of the memory in a row. The present states of the anchors are not stored.
pub(crate) fn put_anchors(conn: &Connection, row: i64, anchors: &[Anchor]) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM anchor WHERE memory = ?1")?.execute([row])?;
    let mut put = conn.prepare_cached("INSERT INTO anchor(memory, ord, anchor) VALUES(?1, ?2, ?3)")?;
    for (ord, anchor) in anchors.iter().enumerate() {
        let stored = Anchor { state: None, now: None, note: None, ..anchor.clone() };
        let json = serde_json::to_string(&stored).expect("strings and numbers are JSON");
        put.execute(params![row, ord as i64, json])?;
    }
    Ok(())
}

/// Replaces the full-text words of the memory in a row: those of title, tags and content.
pub(crate) fn put_words(conn: &Connection, row: i64, words: &[String; 3]) -> rusqlite::Result<()> {
    let [title, tags, body] = words;
    conn.prepare_cached("INSERT OR REPLACE INTO memory_fts(rowid, title, tags, body) VALUES(?1, ?2, ?3, ?4)")?
        .execute(params![row, title, tags, body])
        .map(drop)
}

/// Stores the columns of a memory in the row with the id `row_id`, and returns the number of the row.
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

/// Returns the value of `memory.shared` for a new row.
fn sharing_number(record: &MemoryRecord) -> i64 {
    match () {
        () if record.team => Sharing::Team as i64,
        () if record.shared => Sharing::Repo as i64,
        () => 0,
    }
}
