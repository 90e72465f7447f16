//! Reads index.db in snapshots.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::vector_state::VECTOR_PENDING;
use memod_base::types::{ChunkId, ChunkKind, ReadRefusal, SourceKey, Stat, WorktreeId};
use memod_database::{DatabaseError, open_connection};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

/// A read-only connection, for one thread at a time.
pub struct IndexReader {
    pub(crate) conn: Connection,
    path: PathBuf,
}

/// One row of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    /// Signature of the file when it was read.
    pub stat: Stat,
    /// Whether an equal signature does not prove that the file is unchanged.
    pub racy: bool,
    /// blake3 of the file's bytes; `None` if the file is refused.
    pub hash: Option<[u8; 32]>,
    /// Why the file is refused, if it is.
    pub refusal: Option<ReadRefusal>,
    /// Version of the extractors that read the file; 0 if none has.
    pub extractor_version: i64,
}

/// A row of the table `view`, which has one for each worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeRow {
    /// Id of the worktree.
    pub id: WorktreeId,
    /// The content of HEAD.
    pub head: Option<String>,
    /// Creation time of the row, unix seconds; clocks of different epochs cannot be compared.
    pub epoch: i64,
    /// Sequence number, which every change of the manifest increments.
    pub seq: u64,
    /// Whether a full scan has ended since the index was last emptied.
    pub complete: bool,
}

/// A chunk that waits for its vector.
#[derive(Clone, Debug)]
pub struct PendingChunk {
    /// Id of the chunk.
    pub id: ChunkId,
    /// A worktree that has the content.
    pub root: String,
    /// The path in that worktree.
    pub key: SourceKey,
    /// blake3 of the file's bytes.
    pub hash: [u8; 32],
    /// Byte span.
    pub bytes: (usize, usize),
    /// Kind of the chunk.
    pub kind: ChunkKind,
    /// Names defined.
    pub symbol: Option<String>,
    /// Heading path or qualified name.
    pub title: Option<String>,
    /// Text of the chunk if it is not the byte span of a file.
    pub text: Option<String>,
    /// blake3 of the text that is embedded.
    pub text_hash: [u8; 32],
}

/// The query for rows that [`read_entry`] reads.
const SELECT_ENTRY: &str =
    "SELECT e.path, e.mode, e.size, e.mtime_ns, e.ctime_ns, e.inode, e.dev, e.racy, b.hash, e.refusal,
         coalesce(b.extractor_version, 0)
     FROM entry e LEFT JOIN blob b ON b.id = e.blob_id";

/// The columns that [`read_pending_chunk`] reads.
pub(crate) const PENDING_CHUNK_COLUMNS: &str =
    "c.id, v.root, e.path, b.hash, c.b0, c.b1, c.symbol, c.title, c.text, c.text_hash, c.kind";

/// Condition on an entry `e`: it is a file, not a commit ([`Stat::COMMIT_MODE`]).
pub(crate) const IS_FILE: &str = "e.mode != 0xe000";

/// Expression for the reason why an entry `e` with a blob `b` is not indexed; null if the entry is indexed.
pub(crate) const REFUSAL: &str =
    "coalesce(e.refusal, CASE WHEN b.kind IN ('opted-out', 'parse-failed', 'parse-aborted') THEN b.kind END)";

impl IndexReader {
    /// Opens index.db, which the writer must have created.
    ///
    /// # Errors
    /// When index.db is absent or cannot be read.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        let conn = open_connection(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|error| DatabaseError::from_sqlite(path, error))?;
        Ok(Self { conn, path: path.to_owned() })
    }

    /// Runs `read` on one snapshot, which does not see later commits.
    ///
    /// # Errors
    /// When `read` or the snapshot itself fails.
    pub fn read_snapshot<T, E: From<DatabaseError>>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let tx = self.conn.unchecked_transaction().map_err(|error| self.database_error(error))?;
        let value = read(self)?;
        drop(tx);
        Ok(value)
    }

    pub(crate) fn database_error(&self, error: rusqlite::Error) -> DatabaseError {
        DatabaseError::from_sqlite(&self.path, error)
    }

    pub(crate) fn run_query<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        read(&self.conn).map_err(|error| self.database_error(error))
    }

    /// Returns the row of one worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_worktree(&self, view: WorktreeId) -> Result<Option<WorktreeRow>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached("SELECT id, head, epoch, seq, complete FROM view WHERE id = ?1")?
                .query_row([view.0], read_worktree_row)
                .optional()
        })
    }

    /// Returns the ids of all worktrees.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_worktrees(&self) -> Result<Vec<WorktreeId>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached("SELECT id FROM view ORDER BY id")?;
            statement.query_map([], |row| row.get(0).map(WorktreeId))?.collect()
        })
    }

    /// Returns the files in the manifest of a worktree; with `below`, a directory without its `/`, only those below it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_entries(
        &self,
        view: WorktreeId,
        below: Option<&SourceKey>,
    ) -> Result<HashMap<SourceKey, ManifestEntry>, DatabaseError> {
        // '0' is the character after '/': the range contains exactly the paths that start with `below/`.
        let (from, to) = match below {
            Some(dir) => (format!("{dir}/"), format!("{dir}0")),
            None => (String::new(), "\u{10FFFF}".to_owned()),
        };
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "{SELECT_ENTRY} WHERE e.view_id = ?1 AND e.path >= ?2 AND e.path < ?3 AND {IS_FILE}"
            ))?;
            let rows = statement.query_map(params![view.0, from, to], |row| {
                Ok((SourceKey::new(row.get::<_, String>(0)?), read_entry(row)?))
            })?;
            rows.collect()
        })
    }

    /// Returns one row of a manifest.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_entry(
        &self,
        view: WorktreeId,
        key: &SourceKey,
    ) -> Result<Option<ManifestEntry>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(&format!("{SELECT_ENTRY} WHERE e.view_id = ?1 AND e.path = ?2"))?
                .query_row(params![view.0, key.as_str()], read_entry)
                .optional()
        })
    }

    /// Returns the paths of a worktree that had one of these inodes when they were read.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_paths_by_inode(
        &self,
        view: WorktreeId,
        inodes: &[u64],
    ) -> Result<Vec<SourceKey>, DatabaseError> {
        let inodes: Vec<i64> = inodes.iter().map(|inode| inode.cast_signed()).collect();
        let json = serde_json::json!(inodes).to_string();
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT path FROM entry
                 WHERE view_id = ?1 AND inode IN (SELECT value FROM json_each(?2))",
            )?;
            statement
                .query_map(params![view.0, json], |row| Ok(SourceKey::new(row.get::<_, String>(0)?)))?
                .collect()
        })
    }

    /// Returns whether this content was extracted by this version of the extractors. `path_part` is the part of the path on which
    /// extraction depends.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_blob(
        &self,
        hash: &[u8; 32],
        lang: &str,
        path_part: &str,
        extractor_version: i64,
    ) -> Result<bool, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM blob
                 WHERE hash = ?1 AND lang = ?2 AND path_part = ?3 AND extractor_version = ?4",
            )?
            .exists(params![hash, lang, path_part, extractor_version])
        })
    }

    /// Returns up to `limit` chunks that wait for a vector and belong to some worktree, with ids above `after`, ids ascending.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn chunks_to_embed(&self, after: ChunkId, limit: usize) -> Result<Vec<PendingChunk>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT {PENDING_CHUNK_COLUMNS}
                 FROM chunk c INDEXED BY chunk_to_embed
                 JOIN blob b ON b.id = c.blob_id
                 JOIN entry e ON e.blob_id = c.blob_id
                 JOIN view v ON v.id = e.view_id
                 WHERE c.vec_state = {VECTOR_PENDING} AND c.id > ?1 GROUP BY c.id ORDER BY c.id LIMIT ?2"
            ))?;
            statement.query_map(params![after.0, limit as i64], read_pending_chunk)?.collect()
        })
    }

    /// Returns the files in all worktrees whose bytes have this hash, each as root and path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_files_with_content(
        &self,
        hash: &[u8; 32],
    ) -> Result<Vec<(String, SourceKey)>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT v.root, e.path FROM blob b JOIN entry e ON e.blob_id = b.id JOIN view v ON v.id = e.view_id
                 WHERE b.hash = ?1 ORDER BY v.id, e.path",
            )?;
            let rows = statement.query_map([hash], |row| Ok((row.get(0)?, SourceKey::new(row.get::<_, String>(1)?))))?;
            rows.collect()
        })
    }

    /// Returns up to `limit` paths that wait for a vector, with their ids.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn paths_to_embed(&self, limit: usize) -> Result<Vec<(i64, String)>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT id, path FROM path WHERE vec_state = {VECTOR_PENDING} LIMIT ?1"
            ))?;
            statement.query_map([limit as i64], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Returns the paths of a worktree in order, each with the reason why it is not indexed, if so.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_paths(&self, view: WorktreeId) -> Result<Vec<(String, Option<String>)>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT e.path, {REFUSAL} FROM entry e LEFT JOIN blob b ON b.id = e.blob_id
                 WHERE e.view_id = ?1 AND {IS_FILE} ORDER BY e.path"
            ))?;
            statement.query_map([view.0], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Returns the keys of the commits of a worktree, each with whether its changed paths are still unknown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_commits(&self, view: WorktreeId) -> Result<HashMap<SourceKey, bool>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT e.path, e.racy FROM entry e WHERE e.view_id = ?1 AND NOT {IS_FILE}"
            ))?;
            let rows = statement
                .query_map([view.0], |row| Ok((SourceKey::new(row.get::<_, String>(0)?), row.get(1)?)))?;
            rows.collect()
        })
    }

    /// Returns the text that is stored for a chunk; `None` for a chunk whose text is a part of a file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_own_text(&self, chunk: ChunkId) -> Result<Option<String>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached("SELECT text FROM chunk WHERE id = ?1")?
                .query_row([chunk.0], |row| row.get(0))
                .optional()
                .map(Option::flatten)
        })
    }

    /// Runs SQLite's own check of the database; returns the problems that it finds, at most 20.
    ///
    /// # Errors
    /// When the database cannot be read at all.
    pub fn check_integrity(&self) -> Result<Vec<String>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare("PRAGMA integrity_check(20)")?;
            let lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(lines.into_iter().filter(|line| line != "ok").collect())
        })
    }
}

fn read_worktree_row(row: &Row<'_>) -> rusqlite::Result<WorktreeRow> {
    Ok(WorktreeRow {
        id: WorktreeId(row.get(0)?),
        head: row.get(1)?,
        epoch: row.get(2)?,
        seq: row.get(3)?,
        complete: row.get(4)?,
    })
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<ManifestEntry> {
    let stat = Stat {
        mode: row.get(1)?,
        size: row.get::<_, i64>(2)? as u64,
        mtime_ns: row.get(3)?,
        ctime_ns: row.get(4)?,
        inode: row.get::<_, i64>(5)? as u64,
        dev: row.get::<_, i64>(6)? as u64,
    };
    Ok(ManifestEntry {
        stat,
        racy: row.get(7)?,
        hash: row.get(8)?,
        refusal: row.get::<_, Option<String>>(9)?.and_then(|word| ReadRefusal::parse(&word)),
        extractor_version: row.get(10)?,
    })
}

pub(crate) fn read_pending_chunk(row: &Row<'_>) -> rusqlite::Result<PendingChunk> {
    Ok(PendingChunk {
        id: ChunkId(row.get(0)?),
        root: row.get(1)?,
        key: SourceKey::new(row.get::<_, String>(2)?),
        hash: row.get(3)?,
        bytes: (row.get::<_, i64>(4)? as usize, row.get::<_, i64>(5)? as usize),
        symbol: row.get(6)?,
        title: row.get(7)?,
        text: row.get(8)?,
        text_hash: row.get(9)?,
        kind: ChunkKind::parse(&row.get::<_, String>(10)?).unwrap_or(ChunkKind::Text),
    })
}
