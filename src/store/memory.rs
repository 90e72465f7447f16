//! How is memory.db read and written?
//!
//! One connection, used by one thread. What a transaction has committed is on the disk: `synchronous=FULL` syncs the
//! write-ahead log at each commit. Which file is open and what becomes of a damaged one is the matter of `memory_keep`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::types::Value as Sql;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Row, TransactionBehavior, params, params_from_iter,
};
use serde_json::{Map, Value};

use super::memory_schema::MEMORY;
use super::{StoreError, connect, schema};
use crate::proto::memory::{Sort, Tally, Tier};

/// Pages that are copied at once.
const PAGES_A_STEP: i32 = 10_000;

/// One memory as it is stored; times are unix milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::Memory`")]
pub struct Record {
    pub id: String,
    pub content: String,
    pub title: Option<String>,
    pub container: String,
    pub tags: Vec<String>,
    pub tier: Tier,
    pub expires_at: Option<i64>,
    pub priority: u8,
    pub confidence: f64,
    pub source: String,
    pub author: String,
    pub created: i64,
    pub updated: i64,
    pub last_access: Option<i64>,
    pub access_count: u64,
    pub metadata: Map<String, Value>,
    pub archived_at: Option<i64>,
    pub archived_why: Option<String>,
}

impl Record {
    /// Returns whether it is neither archived nor over.
    pub fn lives(&self, now_ms: i64) -> bool {
        self.archived_at.is_none() && self.expires_at.is_none_or(|at| at > now_ms)
    }
}

/// What is kept beside a record, computed from it.
#[derive(Clone, Debug)]
pub struct Derived {
    /// blake3 of the normalised content.
    pub hash: [u8; 32],
    /// Words of title, tags and content.
    pub words: [String; 3],
}

/// One row of `history`.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::Change`")]
pub struct Event {
    pub at: i64,
    pub action: String,
    pub author: String,
    pub source: String,
    pub fields: Map<String, Value>,
}

/// Which memories are meant; all that is given must hold.
#[derive(Clone, Debug, Default)]
pub struct Which {
    /// Whole ids; none: any.
    pub ids: Option<Vec<String>>,
    /// Normal form.
    pub container: Option<String>,
    /// All of them.
    pub tags: Vec<String>,
    /// This tier.
    pub tier: Option<Tier>,
    /// Added (in the archive: archived) before, unix ms.
    pub before: Option<i64>,
    /// An expression of FTS5.
    pub expression: Option<String>,
    /// The archive instead of the living.
    pub archived: bool,
}

/// Numbers about all memories.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::StatsResult`")]
pub struct Numbers {
    pub living: u64,
    pub archived: u64,
    pub content_bytes: u64,
    pub oldest: Option<i64>,
    pub newest: Option<i64>,
}

/// An open memory.db.
pub struct MemoryDb {
    conn: Connection,
    path: PathBuf,
}

impl MemoryDb {
    /// Opens or creates the file and brings it to the newest schema; `before_migration` is called with an old one
    /// before it is changed. Returns whether it was empty before.
    ///
    /// # Errors
    /// When it is damaged, of a newer schema, or cannot be opened or written; it is as it was then.
    pub(super) fn open(
        path: &Path,
        before_migration: impl FnOnce(&Self, i64) -> Result<(), StoreError>,
    ) -> Result<(Self, bool), StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut db = Self::connect(path, flags)?;
        db.run(|conn| {
            conn.execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;",
            )
        })?;
        db.check_quickly()?;
        let version: i64 = db.run(|conn| conn.pragma_query_value(None, "user_version", |row| row.get(0)))?;
        if (1..MEMORY.len() as i64).contains(&version) {
            before_migration(&db, version)?;
        }
        schema::migrate(&mut db.conn, path, MEMORY)?;
        Ok((db, version == 0))
    }

    /// Opens what is there, for reading a copy or what is left of a damaged file. The log is not written back into it.
    pub(super) fn connect(path: &Path, flags: OpenFlags) -> Result<Self, StoreError> {
        let at = |error| StoreError::new(path, error);
        let conn = connect(path, flags).map_err(at)?;
        // Who closes a file that somebody else has spoiled must not write the log over the rest of it.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(at)?;
        Ok(Self { conn, path: path.to_owned() })
    }

    /// # Errors
    /// When a page that is reached is damaged.
    pub(super) fn check_quickly(&self) -> Result<(), StoreError> {
        let said =
            self.run(|conn| conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)))?;
        if said == "ok" { Ok(()) } else { Err(StoreError::corrupt(&self.path, said)) }
    }

    /// Runs SQLite's and FTS5's own checks; returns what they say.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn check(&self) -> Result<String, StoreError> {
        let said = self.run(|conn| conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)))?;
        self.run(|conn| {
            conn.execute_batch("INSERT INTO memory_fts(memory_fts, rank) VALUES('integrity-check', 0)")
        })?;
        Ok(said)
    }

    pub(super) fn run<T>(
        &self,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        run(&self.conn).map_err(|error| StoreError::new(&self.path, error))
    }

    /// Reads; nothing is changed.
    ///
    /// # Errors
    /// What `read` failed with.
    pub fn read<T, E>(&self, now_ms: i64, read: impl FnOnce(&Rows<'_>) -> Result<T, E>) -> Result<T, E> {
        read(&Rows { conn: &self.conn, path: &self.path, now_ms })
    }

    /// Writes in one transaction; what has expired is archived first. On the disk when it returns.
    ///
    /// # Errors
    /// What `write` or the commit failed with; nothing is changed then.
    pub fn write<T, E: From<StoreError>>(
        &mut self,
        now_ms: i64,
        write: impl FnOnce(&Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let path = &self.path;
        let at = |error| StoreError::new(path, error);
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(at)?;
        let rows = Rows { conn: &tx, path, now_ms };
        rows.archive_expired()?;
        let value = write(&rows)?;
        tx.commit().map_err(at)?;
        Ok(value)
    }

    /// Copies everything into a new file, as of one moment; there, all is in the one file.
    ///
    /// # Errors
    /// When there is no room, or a page cannot be read; what is at `to` is then of no use.
    pub(super) fn copy_to(&self, to: &Path) -> Result<(), StoreError> {
        let at = |error| StoreError::new(to, error);
        let mut copy =
            connect(to, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE).map_err(at)?;
        let all = |copy: &mut Connection| {
            Backup::new(&self.conn, copy)?.run_to_completion(PAGES_A_STEP, Duration::ZERO, None)
        };
        all(&mut copy).map_err(at)?;
        copy.execute_batch("PRAGMA journal_mode = DELETE").map_err(at)
    }

    /// Moves the write-ahead log into the file.
    pub(super) fn checkpoint(&self) -> Result<(), StoreError> {
        self.run(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
    }
}

/// The rows of one moment.
pub struct Rows<'a> {
    pub(super) conn: &'a Connection,
    pub(super) path: &'a Path,
    now_ms: i64,
}

/// Columns in the order of [`record`].
pub(super) const COLUMNS: &str =
    "m.id, m.content, m.title, m.container, m.tier, m.expires_at, m.priority, m.confidence, m.source, m.author,
     m.created, m.updated, m.last_access, m.access_count, m.metadata, m.archived_at, m.archived_why,
     (SELECT json_group_array(tag) FROM (SELECT tag FROM tag WHERE memory = m.row ORDER BY tag))";

impl Rows<'_> {
    /// Returns the moment, unix ms.
    pub(super) fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn run<T>(&self, run: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        run(self.conn).map_err(|error| StoreError::new(self.path, error))
    }

    /// Returns ten random bytes.
    ///
    /// # Errors
    /// When the database fails.
    pub fn random(&self) -> Result<[u8; 10], StoreError> {
        self.run(|conn| conn.query_row("SELECT randomblob(10)", [], |row| row.get(0)))
    }

    /// Returns one memory, living or archived.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn get(&self, id: &str) -> Result<Option<Record>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memory m WHERE m.id = ?1"))?
                .query_row([id], record)
                .optional()
        })
    }

    /// Returns memories whose ids begin so, in order of their ids.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn beginning(&self, beginning: &str, at_most: usize) -> Result<Vec<Record>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                // '~' is behind all that an id has.
                "SELECT {COLUMNS} FROM memory m WHERE m.id >= ?1 AND m.id < ?1 || '~' ORDER BY m.id LIMIT ?2"
            ))?
            .query_map(params![beginning, at_most as i64], record)?
            .collect()
        })
    }

    /// Returns the living memory of a container that has this text.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn same_text(&self, container: &str, hash: &[u8; 32]) -> Result<Option<Record>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m WHERE m.container = ?1 AND m.hash = ?2 AND m.archived_at IS NULL
                 AND (m.expires_at IS NULL OR m.expires_at > ?3)"
            ))?
            .query_row(params![container, hash, self.now_ms], record)
            .optional()
        })
    }

    /// Returns a page of memories in a total order, and how many there are in all.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list(
        &self,
        which: &Which,
        sort: Sort,
        offset: u64,
        at_most: Option<u64>,
    ) -> Result<(Vec<Record>, u64), StoreError> {
        let (condition, values) = which.condition(self.now_ms);
        let order = match sort {
            Sort::Created => "m.created DESC, m.row DESC",
            Sort::Updated => "m.updated DESC, m.row DESC",
            Sort::Priority => "m.priority DESC, m.created DESC, m.row DESC",
        };
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
    pub fn history(&self, id: &str) -> Result<Vec<Event>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT h.at, h.action, h.author, h.source, h.fields FROM history h
                 JOIN memory m ON m.row = h.memory WHERE m.id = ?1 ORDER BY h.row",
            )?
            .query_map([id], |row| {
                let (at, action, author, source) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(Event { at, action, author, source, fields: object(&row.get::<_, String>(4)?) })
            })?
            .collect()
        })
    }

    /// Returns how many of the living have each tag.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tags(&self) -> Result<Vec<Tally>, StoreError> {
        self.tally("SELECT t.tag, count(*) FROM tag t JOIN memory m ON m.row = t.memory")
    }

    /// Returns how many of the living are in each container.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn containers(&self) -> Result<Vec<Tally>, StoreError> {
        self.tally("SELECT m.container, count(*) FROM memory m")
    }

    /// Returns how many of the living are of each tier.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tiers(&self) -> Result<Vec<Tally>, StoreError> {
        self.tally("SELECT m.tier, count(*) FROM memory m")
    }

    fn tally(&self, select: &str) -> Result<Vec<Tally>, StoreError> {
        let (condition, values) = Which::default().condition(self.now_ms);
        self.run(|conn| {
            conn.prepare(&format!("{select} WHERE {condition} GROUP BY 1 ORDER BY 2 DESC, 1"))?
                .query_map(params_from_iter(values), |row| {
                    Ok(Tally { name: row.get(0)?, memories: row.get(1)? })
                })?
                .collect()
        })
    }

    /// Counts.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn numbers(&self) -> Result<Numbers, StoreError> {
        let (condition, values) = Which::default().condition(self.now_ms);
        self.run(|conn| {
            let (all, content_bytes): (u64, u64) = conn.query_row(
                "SELECT count(*), coalesce(sum(octet_length(content)), 0) FROM memory",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let living =
                format!("SELECT count(*), min(created), max(created) FROM memory m WHERE {condition}");
            conn.query_row(&living, params_from_iter(values), |row| {
                let living: u64 = row.get(0)?;
                let (oldest, newest) = (row.get(1)?, row.get(2)?);
                Ok(Numbers { living, archived: all - living, content_bytes, oldest, newest })
            })
        })
    }
}

impl Which {
    /// Returns the condition on `memory m`, and the values of its parameters.
    fn condition(&self, now_ms: i64) -> (String, Vec<Sql>) {
        let mut values = vec![Sql::from(now_ms)];
        let living = "m.archived_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > ?1)";
        let (mut condition, date) = match self.archived {
            false => (living.to_owned(), "m.created"),
            true => (format!("NOT ({living})"), "coalesce(m.archived_at, m.expires_at)"),
        };
        let mut and = |sql: &str, value: Sql| {
            values.push(value);
            condition += &format!(" AND {}", sql.replace("?n", &format!("?{}", values.len())));
        };
        if let Some(ids) = &self.ids {
            and(
                "m.id IN (SELECT value FROM json_each(?n))",
                Sql::from(Value::from(ids.as_slice()).to_string()),
            );
        }
        if let Some(container) = &self.container {
            and("m.container = ?n", Sql::from(container.clone()));
        }
        for tag in &self.tags {
            and("EXISTS (SELECT 1 FROM tag t WHERE t.memory = m.row AND t.tag = ?n)", Sql::from(tag.clone()));
        }
        if let Some(tier) = self.tier {
            and("m.tier = ?n", Sql::from(tier.as_str().to_owned()));
        }
        if let Some(before) = self.before {
            and(&format!("{date} < ?n"), Sql::from(before));
        }
        if let Some(expression) = &self.expression {
            and(
                "m.row IN (SELECT rowid FROM memory_fts WHERE memory_fts MATCH ?n)",
                Sql::from(expression.clone()),
            );
        }
        (condition, values)
    }
}

/// Reads a row of [`COLUMNS`].
pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let tier: String = row.get(4)?;
    let tags: String = row.get(17)?;
    Ok(Record {
        id: row.get(0)?,
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
        tags: serde_json::from_str(&tags).unwrap_or_default(),
    })
}

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}
