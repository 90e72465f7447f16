//! Reads memories in one snapshot.

use std::cell::{Cell, RefCell};
use std::path::Path;

use memod_base::types::NotedChange;
use memod_database::DatabaseError;
use memod_proto::memory::{Sort, Tier};
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use serde_json::{Map, Value};

use super::anchors::anchors;
use super::memory_filter::IS_NO_COPY;
use super::shared_with::Sharing;
use super::touched_rows::Touched;
use super::worktree_scope::{IS_HERE, WorktreeScope};
use super::{Forms, MemoryEvent, MemoryFilter, Record, Side};

/// A snapshot of the rows.
pub struct Rows<'a> {
    pub(super) conn: &'a Connection,
    pub(super) path: &'a Path,
    pub(super) now_ms: i64,
    /// Memories that were deleted for good.
    deleted: RefCell<Vec<NotedChange>>,
    pub(super) forms: Option<Forms>,
    scope: WorktreeScope,
    /// The rows that its connection has written; `None` for one that only reads.
    pub(super) touched: Option<Touched>,
    /// Whether files of worktrees are to be read again, because they may show something else now.
    reads_files_again: Cell<bool>,
}

/// Writes out the columns of [`record`].
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

/// Columns of a memory, with what is known of its file in the worktree. Recalls are counted at the main row.
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

impl<'a> Rows<'a> {
    pub(super) fn new(
        conn: &'a Connection,
        path: &'a Path,
        now_ms: i64,
        forms: Option<Forms>,
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

    /// Makes it rows of a connection that writes, and says which in `touched`.
    pub(super) fn writing(self, touched: &Touched) -> Self {
        Self { touched: Some(touched.clone()), ..self }
    }

    /// Reads of this worktree from now on.
    pub fn enter_worktree(&self, worktree: i64) {
        self.scope.set(worktree);
    }
}

impl Rows<'_> {
    /// Returns whether this transaction deletes memories for good.
    pub fn has_deleted(&self) -> bool {
        !self.deleted.borrow().is_empty()
    }

    /// Returns whether files of worktrees are to be read again once this is committed.
    pub(super) fn reads_files_again(&self) -> bool {
        self.has_deleted() || self.reads_files_again.get()
    }

    /// Has files of worktrees read again once this is committed.
    pub(super) fn set_reads_files_again(&self) {
        self.reads_files_again.set(true);
    }

    /// Returns the memories that were deleted for good.
    pub(super) fn deleted(&self) -> Vec<NotedChange> {
        self.deleted.borrow().clone()
    }

    /// Records that memories were deleted for good.
    pub(super) fn note_deleted(&self, records: &[Record], action: &str) {
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
    pub fn random(&self) -> Result<[u8; 10], DatabaseError> {
        self.run(|conn| conn.query_row("SELECT randomblob(10)", [], |row| row.get(0)))
    }

    /// Returns one memory, living or archived; of several under one id a living one, and our side of a conflict.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn get(&self, id: &str) -> Result<Option<Record>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m
                 WHERE (m.id = ?1 OR m.main = (SELECT row FROM memory WHERE id = ?1)) AND {IS_HERE}
                 ORDER BY m.archived_at IS NOT NULL, 24 LIMIT 1"
            ))?
            .query_row([id], record)
            .optional()
        })
    }

    /// Returns memories whose ids have this prefix, in order of their ids.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn beginning(&self, beginning: &str, at_most: usize) -> Result<Vec<Record>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                // '~' sorts after every character of an id.
                "SELECT {COLUMNS} FROM memory m WHERE m.id >= ?1 AND m.id < ?1 || '~' AND {IS_HERE} ORDER BY m.id, 24 LIMIT ?2"
            ))?
            .query_map(params![beginning, at_most as i64], record)?
            .collect()
        })
    }

    /// Returns another living memory of a container with the text of this record. Imported memories are compared within their
    /// key, all others among those without a key.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn same_text(&self, of: &Record, hash: &[u8; 32]) -> Result<Option<Record>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m WHERE m.container = ?1 AND m.hash = ?2 AND coalesce(m.key, '') = ?4
                 AND m.archived_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > ?3) AND {IS_HERE} AND {IS_NO_COPY}
                 AND coalesce(m.main, m.row) IS NOT (SELECT row FROM memory WHERE id = ?5)
                 ORDER BY m.row LIMIT 1"
            ))?
            .query_row(
                params![of.container, hash, self.now_ms, of.key.as_deref().unwrap_or_default(), of.id],
                record,
            )
            .optional()
        })
    }

    /// Returns a shared memory of a container with the text and the key of this record that worktrees or branches have, but not this
    /// one: it has no file of that memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn same_text_elsewhere(&self, of: &Record, hash: &[u8; 32]) -> Result<Option<String>, DatabaseError> {
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
                params![of.container, hash, of.key.as_deref().unwrap_or_default(), self.now_ms],
                |row| row.get(0),
            )
            .optional()
        })
    }

    /// Returns whether another living memory has the text of this record.
    pub(super) fn has_twin(&self, of: &Record, hash: &[u8; 32]) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory WHERE container = ?1 AND hash = ?2 AND coalesce(key, '') = ?3
                 AND archived_at IS NULL AND (expires_at IS NULL OR expires_at > ?5) AND id != ?4
                 AND shared NOT IN (1, 3, 4) AND main IS NULL",
            )?
            .exists(params![
                of.container,
                hash,
                of.key.as_deref().unwrap_or_default(),
                of.id,
                self.now_ms
            ])
        })
    }

    /// Returns a page of memories in a total order, and their total number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list(
        &self,
        filter: &MemoryFilter,
        sort: Sort,
        offset: u64,
        at_most: Option<u64>,
    ) -> Result<(Vec<Record>, u64), DatabaseError> {
        let (condition, values) = filter.condition(self.now_ms);
        let order = order(sort);
        let limit = at_most.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        self.run(|conn| {
            let count = format!("SELECT count(*) FROM memory m WHERE {condition}");
            let total = conn.prepare(&count)?.query_row(params_from_iter(&values), |row| row.get(0))?;
            let page = format!(
                "SELECT {COLUMNS} FROM memory m WHERE {condition} ORDER BY {order} LIMIT {limit} OFFSET {offset}"
            );
            let mut statement = conn.prepare(&page)?;
            let records = statement.query_map(params_from_iter(&values), record)?.collect::<Result<_, _>>()?;
            Ok((records, total))
        })
    }

    /// Returns the changes of a memory, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn history(&self, id: &str) -> Result<Vec<MemoryEvent>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT h.at, h.action, h.author, h.source, h.fields FROM history h
                 JOIN memory m ON m.row = h.memory WHERE m.id = ?1 ORDER BY h.row",
            )?
            .query_map([id], |row| {
                let (at, action, author, source) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(MemoryEvent { at, action, author, source, fields: object(&row.get::<_, String>(4)?) })
            })?
            .collect()
        })
    }
}

/// Returns the terms of a total order.
pub(super) fn order(sort: Sort) -> &'static str {
    match sort {
        Sort::Created => "m.created DESC, m.row DESC",
        Sort::Updated => "m.updated DESC, m.row DESC",
        Sort::Priority => "m.priority DESC, m.created DESC, m.row DESC",
    }
}

/// Reads a row of [`COLUMNS`].
pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let tier: String = row.get(4)?;
    let tags: String = row.get(19)?;
    // A saved row has the first columns only.
    let has_state = row.as_ref().column_count() > N_SAVED;
    let state = |column: usize| if has_state { row.get::<_, Option<i64>>(column) } else { Ok(None) };
    let id: String = row.get(0)?;
    Ok(Record {
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
        metadata: object(&row.get::<_, String>(14)?),
        archived_at: row.get(15)?,
        archived_why: row.get(16)?,
        key: row.get(17)?,
        agent: row.get(18)?,
        tags: serde_json::from_str(&tags).unwrap_or_default(),
        anchors: anchors(&row.get::<_, String>(20)?),
        shared: state(N_SAVED)? == Some(Sharing::Repo as i64),
        team: state(N_SAVED)?.is_some_and(|n| n == Sharing::Team as i64 || n == Sharing::Followed as i64),
        is_unconfirmed: state(N_SAVED + 1)? == Some(1),
        side: Side::of(state(N_SAVED + 2)?),
        repository: if has_state { row.get(N_SAVED + 3)? } else { None },
    })
}

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}
