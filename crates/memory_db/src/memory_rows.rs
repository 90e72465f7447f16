//! Reads memories in one snapshot.

use std::cell::{Cell, RefCell};
use std::path::Path;

use memod_base::types::NotedChange;
use memod_database::DatabaseError;
use memod_proto::memory::{MemorySort, Tier};
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use serde_json::{Map, Value};

use super::anchor_rows::parse_anchors;
use super::memory_filter::IS_NO_COPY;
use super::sharing::Sharing;
use super::touched_rows::TouchedRows;
use super::worktree_scope::{IS_HERE, WorktreeScope};
use super::{FileSide, MemoryEvent, MemoryFilter, MemoryRecord, RecordFunctions};

/// A snapshot of the rows.
pub struct MemoryRows<'a> {
    pub(super) conn: &'a Connection,
    pub(super) path: &'a Path,
    pub(super) now_ms: i64,
    /// Memories that this transaction deleted for good.
    deleted: RefCell<Vec<NotedChange>>,
    pub(super) forms: Option<RecordFunctions>,
    scope: WorktreeScope,
    /// The rows that the connection has written; `None` if it only reads.
    pub(super) touched: Option<TouchedRows>,
    /// Whether files of worktrees must be read again, because they may show something else now.
    reads_files_again: Cell<bool>,
}

/// Writes out the columns of [`read_record`].
macro_rules! columns {
    ($last_access:literal, $access_count:literal, $state:literal) => {
        concat!(
            "m.id, m.content, m.title, m.container, m.tier, m.expires_at, m.priority, m.confidence, m.source, m.author,
             m.created, m.updated, ",
            $last_access,
            ", ",
            $access_count,
            ", m.metadata, m.archived_at, m.archived_why, m.key, m.agent,
             (SELECT json_group_array(tag) FROM (SELECT tag FROM tag WHERE memory = m.row ORDER BY tag)),
             (SELECT json_group_array(json(anchor) ORDER BY ord) FROM anchor WHERE memory = m.row)",
            $state
        )
    };
}

/// Columns of a memory itself, which an older file has too.
pub(super) const SAVED_COLUMNS: &str = columns!("m.last_access", "m.access_count", "");

/// Columns of a memory and of its file in the worktree. Recalls are counted at the main row.
pub(super) const COLUMNS: &str = columns!(
    "iif(m.main IS NULL, m.last_access, (SELECT last_access FROM memory WHERE row = m.main))",
    "iif(m.main IS NULL, m.access_count, (SELECT access_count FROM memory WHERE row = m.main))",
    ", m.shared,
     (m.version IS NOT NULL OR m.source IN ('repo', 'team')) AND NOT EXISTS (
         SELECT 1 FROM trusted_version t WHERE t.memory = coalesce(m.main, m.row) AND t.hash = m.version),
     CASE m.shared
         WHEN 1 THEN (SELECT max(f.side) FROM memory_file f WHERE f.memory = m.row AND f.worktree = memod_worktree())
         WHEN 3 THEN iif(m.main IS NULL, (SELECT t.theirs IS NOT NULL FROM team_memory t WHERE t.id = m.id),
             (SELECT iif(k.shared IN (0, 2) AND k.archived_at IS NOT NULL, 0, 2) FROM memory k WHERE k.row = m.main))
         ELSE m.archived_at IS NULL AND EXISTS (
             SELECT 1 FROM memory v LEFT JOIN memory_file f ON f.memory = v.row AND f.worktree = memod_worktree()
             WHERE v.main = m.row AND (f.side = 2 OR v.shared = 3))
     END,
     m.repository"
);

/// Number of [`SAVED_COLUMNS`].
const N_SAVED: usize = 21;

impl<'a> MemoryRows<'a> {
    pub(super) fn new(
        conn: &'a Connection,
        path: &'a Path,
        now_ms: i64,
        forms: Option<RecordFunctions>,
        scope: WorktreeScope,
    ) -> Self {
        Self {
            touched: None,
            conn,
            path,
            now_ms,
            deleted: RefCell::default(),
            forms,
            scope,
            reads_files_again: Cell::default(),
        }
    }

    /// Makes these the rows of a writing connection, which records written rows in `touched`.
    pub(super) fn with_touched(self, touched: &TouchedRows) -> Self {
        Self { touched: Some(touched.clone()), ..self }
    }

    /// Reads the memories of this worktree from now on.
    pub fn enter_worktree(&self, worktree: i64) {
        self.scope.set(worktree);
    }
}

impl MemoryRows<'_> {
    /// Returns whether this transaction deletes memories for good.
    pub fn has_deleted(&self) -> bool {
        !self.deleted.borrow().is_empty()
    }

    /// Returns whether files of worktrees must be read again after the commit.
    pub(super) fn reads_files_again(&self) -> bool {
        self.has_deleted() || self.reads_files_again.get()
    }

    /// Schedules another reading of the files of worktrees after the commit.
    pub(super) fn set_reads_files_again(&self) {
        self.reads_files_again.set(true);
    }

    /// Returns the memories that were deleted for good.
    pub(super) fn deleted_changes(&self) -> Vec<NotedChange> {
        self.deleted.borrow().clone()
    }

    /// Records that memories were deleted for good.
    pub(super) fn note_deleted(&self, records: &[MemoryRecord], action: &str) {
        let ids = records.iter().map(|record| record.id.clone()).collect();
        self.deleted.borrow_mut().push(NotedChange { action: action.to_owned(), ids });
    }

    /// Returns the time of the snapshot, unix ms.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    pub(super) fn run<T>(
        &self,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        run(self.conn).map_err(|error| DatabaseError::from_sqlite(self.path, error))
    }

    /// Returns ten random bytes.
    ///
    /// # Errors
    /// When the database fails.
    pub fn random_bytes(&self) -> Result<[u8; 10], DatabaseError> {
        self.run(|conn| conn.query_row("SELECT randomblob(10)", [], |row| row.get(0)))
    }

    /// Returns one memory, living or archived; of several under one id a living one, and our side of a conflict.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_memory(&self, id: &str) -> Result<Option<MemoryRecord>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m
                 WHERE (m.id = ?1 OR m.main = (SELECT row FROM memory WHERE id = ?1)) AND {IS_HERE}
                 ORDER BY m.archived_at IS NOT NULL, 24 LIMIT 1"
            ))?
            .query_row([id], read_record)
            .optional()
        })
    }

    /// Returns memories whose ids have this prefix, in order of their ids.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_with_prefix(
        &self,
        beginning: &str,
        at_most: usize,
    ) -> Result<Vec<MemoryRecord>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                // '~' sorts after every character of an id.
                "SELECT {COLUMNS} FROM memory m WHERE m.id >= ?1 AND m.id < ?1 || '~' AND {IS_HERE} ORDER BY m.id, 24 LIMIT ?2"
            ))?
            .query_map(params![beginning, at_most as i64], read_record)?
            .collect()
        })
    }

    /// Returns another living memory of a container with the text of this record. Imported memories are compared within their
    /// key, all others among those without a key.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_same_text(
        &self,
        of: &MemoryRecord,
        hash: &[u8; 32],
    ) -> Result<Option<MemoryRecord>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m WHERE m.container = ?1 AND m.hash = ?2 AND coalesce(m.key, '') = ?4
                 AND m.archived_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > ?3) AND {IS_HERE} AND {IS_NO_COPY}
                 AND coalesce(m.main, m.row) IS NOT (SELECT row FROM memory WHERE id = ?5)
                 ORDER BY m.row LIMIT 1"
            ))?
            .query_row(
                params![of.container, hash, self.now_ms, of.key.as_deref().unwrap_or_default(), of.id],
                read_record,
            )
            .optional()
        })
    }

    /// Returns a shared memory of a container with the text and the key of this record that only other worktrees or branches
    /// have.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_same_text_elsewhere(
        &self,
        record: &MemoryRecord,
        hash: &[u8; 32],
    ) -> Result<Option<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT k.id FROM memory m JOIN memory k ON k.row = coalesce(m.main, m.row)
                 WHERE m.container = ?1 AND m.hash = ?2 AND m.shared = 1 AND coalesce(k.key, '') = ?3
                     AND (k.archived_at IS NULL OR k.archived_why = 'file')
                     AND (k.expires_at IS NULL OR k.expires_at > ?4)
                     AND NOT EXISTS (SELECT 1 FROM memory_file f JOIN memory v ON v.row = f.memory
                         WHERE coalesce(v.main, v.row) = k.row AND f.worktree = memod_worktree())
                 ORDER BY k.row LIMIT 1",
            )?
            .query_row(
                params![record.container, hash, record.key.as_deref().unwrap_or_default(), self.now_ms],
                |row| row.get(0),
            )
            .optional()
        })
    }

    /// Returns whether another living memory has the text of this record.
    pub(super) fn has_twin(&self, record: &MemoryRecord, hash: &[u8; 32]) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory WHERE container = ?1 AND hash = ?2 AND coalesce(key, '') = ?3
                 AND archived_at IS NULL AND (expires_at IS NULL OR expires_at > ?5) AND id != ?4
                 AND shared NOT IN (1, 3, 4) AND main IS NULL",
            )?
            .exists(params![
                record.container,
                hash,
                record.key.as_deref().unwrap_or_default(),
                record.id,
                self.now_ms
            ])
        })
    }

    /// Returns a page of memories in a total order, and their total number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_page(
        &self,
        filter: &MemoryFilter,
        sort: MemorySort,
        offset: u64,
        at_most: Option<u64>,
    ) -> Result<(Vec<MemoryRecord>, u64), DatabaseError> {
        let (condition, values) = filter.sql_condition(self.now_ms);
        let order = order_clause(sort);
        let limit = at_most.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        self.run(|conn| {
            let count = format!("SELECT count(*) FROM memory m WHERE {condition}");
            let total = conn.prepare(&count)?.query_row(params_from_iter(&values), |row| row.get(0))?;
            let page = format!(
                "SELECT {COLUMNS} FROM memory m WHERE {condition} ORDER BY {order} LIMIT {limit} OFFSET {offset}"
            );
            let mut statement = conn.prepare(&page)?;
            let records = statement.query_map(params_from_iter(&values), read_record)?.collect::<Result<_, _>>()?;
            Ok((records, total))
        })
    }

    /// Returns the changes of a memory, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_history(&self, id: &str) -> Result<Vec<MemoryEvent>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT h.at, h.action, h.author, h.source, h.fields FROM history h
                 JOIN memory m ON m.row = h.memory WHERE m.id = ?1 ORDER BY h.row",
            )?
            .query_map([id], |row| {
                let (at, action, author, source) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(MemoryEvent {
                    at,
                    action,
                    author,
                    source,
                    fields: parse_object(&row.get::<_, String>(4)?),
                })
            })?
            .collect()
        })
    }
}

/// Returns the terms of a total order.
pub(super) fn order_clause(sort: MemorySort) -> &'static str {
    match sort {
        MemorySort::Created => "m.created DESC, m.row DESC",
        MemorySort::Updated => "m.updated DESC, m.row DESC",
        MemorySort::Priority => "m.priority DESC, m.created DESC, m.row DESC",
    }
}

/// Reads a row of [`COLUMNS`].
pub(super) fn read_record(row: &Row<'_>) -> rusqlite::Result<MemoryRecord> {
    let tier: String = row.get(4)?;
    let tags: String = row.get(19)?;
    // A saved row has the first columns only.
    let has_state = row.as_ref().column_count() > N_SAVED;
    let state = |column: usize| if has_state { row.get::<_, Option<i64>>(column) } else { Ok(None) };
    let id: String = row.get(0)?;
    Ok(MemoryRecord {
        // A version of a worktree has more than the id.
        id: id.split_once('#').map_or_else(|| id.clone(), |(id, _)| id.to_owned()),
        content: row.get(1)?,
        title: row.get(2)?,
        container: row.get(3)?,
        tier: Tier::parse(&tier).unwrap_or_default(),
        expires_at: row.get(5)?,
        priority: row.get(6)?,
        confidence: row.get(7)?,
        source: row.get(8)?,
        author: row.get(9)?,
        created: row.get(10)?,
        updated: row.get(11)?,
        last_access: row.get(12)?,
        access_count: row.get(13)?,
        metadata: parse_object(&row.get::<_, String>(14)?),
        archived_at: row.get(15)?,
        archived_why: row.get(16)?,
        key: row.get(17)?,
        agent: row.get(18)?,
        tags: serde_json::from_str(&tags).unwrap_or_default(),
        anchors: parse_anchors(&row.get::<_, String>(20)?),
        shared: state(N_SAVED)? == Some(Sharing::Repo as i64),
        team: state(N_SAVED)?.is_some_and(|n| n == Sharing::Team as i64 || n == Sharing::Followed as i64),
        is_unconfirmed: state(N_SAVED + 1)? == Some(1),
        side: FileSide::from_number(state(N_SAVED + 2)?),
        repository: if has_state { row.get(N_SAVED + 3)? } else { None },
    })
}

fn parse_object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}
