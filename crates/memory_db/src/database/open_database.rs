//! Opens, checks and copies one memory.db.
//!
//! `memory_store` decides which file is open, and replaces a damaged file.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fs, io};

use memod_base::types::{MachineUptime, MemoryChange};
use memod_database::{DatabaseError, check_quickly, migrations, open_connection};
use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::access::row_access::RowAccess;
use crate::access::touched_rows::{AddedHistory, TouchedRows};
use crate::access::worktree_scope::WorktreeScope;
use crate::database::schema::MEMORY_SCHEMA;
use crate::memory_rows::MemoryRows;
use crate::records::record_functions::RecordFunctions;

/// Number of pages that a backup copies at a time.
const PAGES_A_STEP: i32 = 10_000;

/// An open memory.db.
pub struct MemoryDb {
    pub(crate) conn: Connection,
    pub(crate) path: PathBuf,
    /// Rows of `memory` that were written through this connection.
    pub(crate) touched: TouchedRows,
    /// Rows that the current transaction has added to `history`.
    pub(crate) added_history: AddedHistory,
    /// Memories that committed transactions have changed; collected only while changes are watched.
    pub(crate) changes: Vec<MemoryChange>,
    /// Whether the next write deletes expired memories instead of archiving them.
    pub(crate) purges_expired: bool,
    /// Reads the uptime of the machine; without it no memory is archived or deleted on expiry.
    pub(crate) uptime: Option<fn() -> MachineUptime>,
    /// The worktree whose memories are read.
    pub(crate) scope: WorktreeScope,
    /// The functions that compute data from records; without them, versions of worktrees are not kept apart.
    pub(crate) functions: Option<RecordFunctions>,
    /// See [`MemoryStore::file_generation`](crate::MemoryStore::file_generation).
    pub(crate) generation: u64,
}

impl MemoryDb {
    /// Opens or creates the file, and migrates it to the newest schema. Calls `before_migration` with the database and its schema
    /// version before an older schema is changed. Returns the database, and whether the file was empty before.
    ///
    /// # Errors
    /// When the file is damaged, has a newer schema, or cannot be opened or written; the file is unchanged then.
    pub(crate) fn open(
        path: &Path,
        before_migration: impl FnOnce(&Self, i64) -> Result<(), DatabaseError>,
    ) -> Result<(Self, bool), DatabaseError> {
        Self::open_with_journal("WAL", path, before_migration)
    }

    /// Opens the file like [`Self::open`], with a journal mode of SQLite.
    fn open_with_journal(
        journal: &str,
        path: &Path,
        before_migration: impl FnOnce(&Self, i64) -> Result<(), DatabaseError>,
    ) -> Result<(Self, bool), DatabaseError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut db = Self::open_unmigrated(path, flags)?;
        db.run(|conn| {
            conn.execute_batch(&format!(
                "PRAGMA journal_mode = {journal}; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
            ))
        })?;
        db.check_quickly()?;
        let version = db.run(migrations::read_version)?;
        if let Some(versions) = usize::try_from(version).ok().and_then(|version| MEMORY_SCHEMA.get(..version))
            && !versions.is_empty()
        {
            db.run(|conn| migrations::check_tables(conn, versions))?;
        }
        if (1..MEMORY_SCHEMA.len() as i64).contains(&version) {
            before_migration(&db, version)?;
        }
        migrations::migrate_schema(&mut db.conn, path, MEMORY_SCHEMA)?;
        db.run(|conn| db.touched.watch_writes(conn, &db.added_history))?;
        Ok((db, version == 0))
    }

    /// Returns whether a file can be read and still has this schema version.
    pub(crate) fn has_schema_version(path: &Path, version: i64) -> bool {
        let found = Self::open_unmigrated(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .and_then(|db| db.run(migrations::read_version));
        found.is_ok_and(|found| found == version)
    }

    /// Opens a private copy like [`Self::open`], without preserving its older schema.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub(crate) fn open_copy(path: &Path) -> Result<Self, DatabaseError> {
        Self::open(path, |_, _| Ok(())).map(|(db, _)| db)
    }

    /// Opens a copy that is read and then removed, like [`Self::open_copy`], but without creating a file next to it, as
    /// [`Self::copy_to`] does.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub(crate) fn open_temporary_copy(path: &Path) -> Result<Self, DatabaseError> {
        Self::open_with_journal("MEMORY", path, |_, _| Ok(())).map(|(db, _)| db)
    }

    /// Opens a file for reading that has the newest schema and that no other process uses.
    ///
    /// # Errors
    /// When the file is absent or damaged, or cannot be opened.
    pub fn open_to_read(path: &Path) -> Result<Self, DatabaseError> {
        let db = Self::open_unmigrated(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        db.check_quickly()?;
        Ok(db)
    }

    /// Opens a file without migrating it, to read a copy or a damaged file. The log is not moved into the file on close.
    pub(crate) fn open_unmigrated(path: &Path, flags: OpenFlags) -> Result<Self, DatabaseError> {
        let conn = open_connection(path, flags).map_err(DatabaseError::at_path(path))?;
        // Closing a damaged file must not write the log over the rest of it.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(DatabaseError::at_path(path))?;
        let scope = WorktreeScope::default();
        scope.install_function(&conn).map_err(DatabaseError::at_path(path))?;
        Ok(Self {
            conn,
            path: path.to_owned(),
            touched: TouchedRows::default(),
            added_history: AddedHistory::default(),
            changes: Vec::new(),
            purges_expired: false,
            uptime: None,
            scope,
            functions: None,
            generation: next_generation(),
        })
    }

    /// Runs SQLite's `quick_check`.
    ///
    /// # Errors
    /// When a reachable page is damaged.
    pub(crate) fn check_quickly(&self) -> Result<(), DatabaseError> {
        self.run(check_quickly)
    }

    /// Calls `run` with the connection, and returns its result, with the path of the database in an error.
    pub(crate) fn run<T>(
        &self,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        run(&self.conn).map_err(|error| DatabaseError::from_sqlite(&self.path, error))
    }

    /// Calls `read` with the rows of the database, and returns its result. Nothing is changed.
    ///
    /// # Errors
    /// When `read` fails.
    pub fn read<T, E>(
        &self,
        now_ms: i64,
        read: impl FnOnce(&MemoryRows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        read(&MemoryRows::new(RowAccess::new(
            &self.conn,
            &self.path,
            now_ms,
            self.functions,
            self.scope.clone(),
        )))
    }

    /// Calls `write` in one transaction, and returns its result. Memories that have certainly expired are archived or deleted
    /// first. The data is on disk on return.
    ///
    /// # Errors
    /// When `write` or the commit fails; nothing is changed then.
    pub(crate) fn write<T, E: From<DatabaseError>>(
        &mut self,
        now_ms: i64,
        write: impl FnOnce(&MemoryRows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run_transaction(now_ms, write, true)
    }

    /// Calls `write` like [`Self::write`], but rolls the transaction back.
    ///
    /// # Errors
    /// When `write` fails.
    pub(crate) fn write_dry_run<T, E: From<DatabaseError>>(
        &mut self,
        now_ms: i64,
        write: impl FnOnce(&MemoryRows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run_transaction(now_ms, write, false)
    }

    /// Calls `write` in one transaction, which is committed if `stays`, and rolled back otherwise.
    fn run_transaction<T, E: From<DatabaseError>>(
        &mut self,
        now_ms: i64,
        write: impl FnOnce(&MemoryRows<'_>) -> Result<T, E>,
        stays: bool,
    ) -> Result<T, E> {
        let path = &self.path;
        let to_error = DatabaseError::at_path(path);
        drop(self.added_history.take_rows()); // rows of an earlier transaction that was rolled back
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(to_error)?;
        let access = RowAccess::new(&tx, path, now_ms, self.functions, self.scope.clone());
        let rows = MemoryRows::new(access.with_touched(&self.touched));
        if let Some(uptime) = self.uptime {
            let passed = rows.wall_clock().advance_clock_state(&uptime())?;
            match self.purges_expired {
                true => rows.deletions().purge_expired(passed)?,
                false => rows.archive().archive_expired(passed)?,
            }
        }
        let value = write(&rows)?;
        rows.version_visibility().update_shown_versions()?;
        rows.lineage().increment_write_count()?;
        let (has_deleted, reads_files_again) = (rows.has_deleted(), rows.access.must_reread_files());
        let added = self.added_history.take_rows().filter(|_| stays);
        let changes = added.map(|added| rows.history().list_transaction_changes(&added)).transpose()?;
        if stays { tx.commit() } else { tx.rollback() }.map_err(to_error)?;
        self.changes.extend(changes.into_iter().flatten());
        if stays && reads_files_again {
            self.generation = next_generation();
        }
        if stays && has_deleted {
            // Until the log is moved into the file, both still have old pages with the deleted text. The deletion itself is
            // already on disk.
            let _ = self
                .checkpoint_log()
                .inspect_err(|error| tracing::warn!(%error, "cannot move the log into memory.db"));
        }
        Ok(value)
    }

    /// Copies a snapshot into a new file, which needs no log, and syncs the file.
    ///
    /// No other file is created next to the copy: Windows keeps the name of a deleted journal while another process has the
    /// journal open, and SQLite would then take the copy for an incomplete database.
    ///
    /// # Errors
    /// When the disk is full, or a page cannot be read; the file at `to` is useless then.
    pub(crate) fn copy_to(&self, to: &Path) -> Result<(), DatabaseError> {
        let to_error = DatabaseError::at_path(to);
        let mut copy = open_connection(to, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
            .map_err(to_error)?;
        copy.execute_batch("PRAGMA journal_mode = MEMORY").map_err(to_error)?;
        copy_all(&self.conn, &mut copy).map_err(to_error)?;
        copy.close().map_err(|(_, error)| to_error(error))?;
        mark_without_log(to).map_err(|error| DatabaseError::from_io(to, error))
    }

    /// Replaces all contents with those of another database, in one transaction.
    pub(crate) fn replace_contents_by(&mut self, other: &Self) -> Result<(), DatabaseError> {
        copy_all(&other.conn, &mut self.conn).map_err(|error| DatabaseError::from_sqlite(&self.path, error))
    }

    /// Moves the write-ahead log into the file.
    pub(crate) fn checkpoint_log(&self) -> Result<(), DatabaseError> {
        self.run(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
    }
}

/// Returns a number that this function has not returned before in this process.
pub(crate) fn next_generation() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Marks a closed database as having no write-ahead log, and syncs the file. `PRAGMA journal_mode = DELETE` would do the same, but
/// open the log first.
fn mark_without_log(database: &Path) -> io::Result<()> {
    // Offset of the two format versions, for writers and readers: <https://sqlite.org/fileformat.html>, 1.3.3.
    const VERSIONS: u64 = 18;
    let mut file = fs::File::options().write(true).open(database)?;
    if file.metadata()?.len() > VERSIONS {
        file.seek(SeekFrom::Start(VERSIONS))?;
        file.write_all(&[1, 1])?;
    }
    file.sync_all()
}

/// Copies all pages of one database into another.
fn copy_all(from: &Connection, to: &mut Connection) -> rusqlite::Result<()> {
    Backup::new(from, to)?.run_to_completion(PAGES_A_STEP, Duration::ZERO, None)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    #[test]
    fn a_copy_is_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let (db, _) = MemoryDb::open(&dir.path().join("memory.db"), |_, _| Ok(())).unwrap();
        let to = dir.path().join("to");
        fs::create_dir(&to).unwrap();
        let path = |number: u32| to.join(format!("{number}.db"));
        let is_done = AtomicBool::new(false);
        let look = || {
            let mut seen = BTreeSet::new();
            while !is_done.load(Ordering::SeqCst) {
                seen.extend(fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().path()));
            }
            seen
        };
        let seen = thread::scope(|scope| {
            let looking = scope.spawn(look);
            for number in 0..20 {
                db.copy_to(&path(number)).unwrap();
                MemoryDb::open_temporary_copy(&path(number)).unwrap();
            }
            is_done.store(true, Ordering::SeqCst);
            looking.join().unwrap()
        });
        assert!(seen.iter().all(|path| path.extension().is_some_and(|end| end == "db")), "{seen:?}");
        let copy = MemoryDb::open_unmigrated(&path(0), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        assert_eq!(copy.n_memories().unwrap(), 0);
        let mode: String = copy.conn.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(mode, "delete");
    }
}
