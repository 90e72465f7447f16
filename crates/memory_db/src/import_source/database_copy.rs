//! Copies a database and its log before it is read.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memod_base::paths::{canonicalize_path, create_dir_without_parents, with_suffix};
use memod_database::{DatabaseError, check_quickly, open_connection};
use memod_proto::{RpcError, code};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::source_table::SourceTable;

/// Number of attempts to copy a database that is being written.
const TRIES: usize = 5;
/// Largest database that is copied, bytes.
const MOST_BYTES: u64 = 4 << 30;
/// Suffixes of a database's write-ahead log and rollback journal.
const COMPANIONS: [&str; 2] = ["-wal", "-journal"];

/// The purpose of a copy, which determines its directory in the state dir.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CopyPurpose {
    /// To import memories.
    Import,
    /// To restore a backup.
    Restore,
    /// To merge the memories of another state dir.
    MergeOther,
}

impl CopyPurpose {
    const ALL: [Self; 3] = [Self::Import, Self::Restore, Self::MergeOther];

    /// Returns the path of the copy.
    fn copy_path_in(self, state_dir: &Path) -> PathBuf {
        let dir = match self {
            Self::Import => "import",
            Self::Restore => "restore",
            Self::MergeOther => "elsewhere",
        };
        state_dir.join(dir).join("copy.db")
    }
}

/// Removes the copies of databases that a killed daemon left in the state dir.
pub fn remove_leftover_copies(state_dir: &Path) {
    for copy in CopyPurpose::ALL.map(|purpose| purpose.copy_path_in(state_dir)) {
        remove_copy(&copy);
    }
}

/// Removes a copy and its directory.
fn remove_copy(copy: &Path) {
    for file in list_database_files(copy).into_iter().chain([with_suffix(copy, "-shm")]) {
        let _ = fs::remove_file(file); // a file that stays is removed with the next copy
    }
    let _ = copy.parent().map(fs::remove_dir);
}

/// Why a database cannot be copied or read.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A file cannot be read or copied.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The database is not of the expected kind.
    #[error("{}: {why}", path.display())]
    Unusable {
        /// Path of the database.
        path: PathBuf,
        /// The problem with the database.
        why: String,
        /// The remedy.
        hint: &'static str,
    },
}

impl CopyError {
    /// Returns a function that makes the error for the file at `path` from an error of the operating system.
    fn at_path(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }
}

impl From<CopyError> for RpcError {
    fn from(error: CopyError) -> Self {
        let rpc_error = Self::new(code::INVALID_PARAMS, error.to_string());
        match error {
            CopyError::Unusable { hint, .. } => rpc_error.with_hint(hint),
            CopyError::File { .. } => rpc_error,
        }
    }
}

/// A copy of a database in the state dir; dropping this value removes its files.
pub(crate) struct DatabaseCopy {
    /// Path of the original.
    path: PathBuf,
    /// Path of the copy.
    copy: PathBuf,
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        remove_copy(&self.copy);
    }
}

impl DatabaseCopy {
    /// Copies the database at `path`, with its log, into the state dir. `ours` are memod's own files, which are refused.
    ///
    /// # Errors
    /// When the database is one of `ours`, cannot be read, is too large, or changes during each attempt to copy it.
    pub(crate) fn copy_from(
        path: &Path,
        state_dir: &Path,
        purpose: CopyPurpose,
        ours: &[&Path],
    ) -> Result<Self, CopyError> {
        let meta = fs::metadata(path).map_err(CopyError::at_path(path))?;
        let copied = Self { path: path.to_owned(), copy: purpose.copy_path_in(state_dir) };
        let dir = copied.copy.parent().unwrap_or(state_dir);
        // Opening and closing our files here would drop SQLite's locks on them.
        if ours.iter().any(|own| is_same_file(own, path)) {
            return Err(
                copied.unusable_error("the memory.db of this repository".to_owned(), "name another database")
            );
        }
        if !meta.is_file() {
            return Err(copied.unusable_error("not a regular file".to_owned(), "name the database file"));
        }
        if meta.len() > MOST_BYTES {
            return Err(copied.unusable_error(format!("over {} GiB", MOST_BYTES >> 30), "import parts of it"));
        }
        create_dir_without_parents(dir).map_err(CopyError::at_path(dir))?;
        for _ in 0..TRIES {
            let before = read_stamps(path);
            for (from, to) in list_database_files(path).into_iter().zip(list_database_files(&copied.copy)) {
                let _ = fs::remove_file(&to);
                if fs::metadata(&from).is_ok_and(|meta| meta.is_file()) {
                    fs::copy(&from, &to).map_err(|error| match error.kind() {
                        ErrorKind::StorageFull => CopyError::at_path(&to)(error),
                        _ => CopyError::at_path(&from)(error),
                    })?;
                    make_private(&to).map_err(CopyError::at_path(&to))?;
                }
            }
            if read_stamps(path) == before {
                return Ok(copied);
            }
        }
        let why = format!("the database changed during each of {TRIES} attempts to copy it");
        Err(copied.unusable_error(why, "try again when no program writes to the database"))
    }

    /// Opens the copy with its log, and checks that the database has these tables.
    ///
    /// # Errors
    /// When the copy is damaged, or lacks a table or a column.
    pub(super) fn open_tables(&self, tables: &[SourceTable]) -> Result<Connection, CopyError> {
        let conn = self.open_connection().map_err(|error| self.sqlite_error(error))?;
        for table in tables {
            self.check_table(&conn, table.name, table.required_columns, table.may_be_absent)?;
        }
        Ok(conn)
    }

    /// Opens the copy with its log and without views and triggers, and checks it for damage.
    pub(super) fn open_connection(&self) -> rusqlite::Result<Connection> {
        let conn = open_connection(&self.copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        conn.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
        check_quickly(&conn)?;
        Ok(conn)
    }

    /// Returns the path of the copy.
    pub(crate) fn copy_path(&self) -> &Path {
        &self.copy
    }

    /// Checks that `table` is a real table with the columns `needed`, which must not be computed. An absent table passes if
    /// `may_lack`.
    ///
    /// # Errors
    /// When the table is absent, or a view or a virtual table, or lacks a column.
    pub(super) fn check_table(
        &self,
        conn: &Connection,
        table: &str,
        needed: &[&str],
        may_lack: bool,
    ) -> Result<(), CopyError> {
        let kind = self.table_kind(conn, table)?;
        match kind.as_deref() {
            None if may_lack => return Ok(()),
            None => return Err(self.wrong_system_error(format!("has no table {table}"))),
            Some("table") => {}
            Some(kind) => return Err(self.wrong_system_error(format!("{table} is a {kind}, not a table"))),
        }
        let columns =
            super::source_row::list_columns(conn, table).map_err(|error| self.sqlite_error(error))?;
        match needed.iter().find(|name| !columns.iter().any(|column| column == *name)) {
            Some(name) => Err(self.wrong_system_error(format!("the table {table} has no column {name}"))),
            None => Ok(()),
        }
    }

    /// Returns the error for a database of a system other than the one named with `--from`.
    fn wrong_system_error(&self, why: String) -> CopyError {
        self.unusable_error(why, "name the system that wrote it with --from; `memo import --help` lists them")
    }

    /// Returns `table`, `view` or `virtual table`; `None` if there is neither a table nor a view with this name.
    fn table_kind(&self, conn: &Connection, name: &str) -> Result<Option<String>, CopyError> {
        let select = "SELECT iif(sql LIKE 'CREATE VIRTUAL%', 'virtual table', type) FROM sqlite_schema
                      WHERE name = ?1 AND type IN ('table', 'view')";
        conn.query_row(select, [name], |row| row.get(0)).optional().map_err(|error| self.sqlite_error(error))
    }

    /// Returns a note for the user if the version `found` of the schema is newer than `known`, the newest that this program knows.
    pub(super) fn version_note(&self, found: i64, known: i64) -> Option<String> {
        let path = self.path.display();
        (found > known).then(|| {
            format!(
                "{path}: its schema is version {found}, newer than {known}, the newest that memod knows; the known parts are imported"
            )
        })
    }

    /// Returns the error for a database with the problem `why`.
    pub(crate) fn unusable_error(&self, why: String, hint: &'static str) -> CopyError {
        CopyError::Unusable { path: self.path.clone(), why, hint }
    }

    /// Returns the error of the database for an error of SQLite.
    pub(super) fn sqlite_error(&self, error: rusqlite::Error) -> CopyError {
        self.database_error(DatabaseError::from_sqlite(&self.path, error))
    }

    /// Returns the error of the database for an error of its copy.
    pub(super) fn database_error(&self, error: DatabaseError) -> CopyError {
        match error {
            DatabaseError::Corrupt { source, .. } => self.unusable_error(
                format!("not a database of SQLite, or damaged ({source})"),
                "name an undamaged database",
            ),
            DatabaseError::Newer { found, known, .. } => self.unusable_error(
                format!("written by a newer memod (schema {found}, this memod knows {known})"),
                "install a newer memod, or export the memories with the newer memod",
            ),
            DatabaseError::Sqlite { source, .. } => {
                self.unusable_error(source.to_string(), "check that --from names the system that wrote it")
            }
            DatabaseError::File { source, path } => CopyError::File { path, source },
            DatabaseError::Full { path } => {
                CopyError::File { path, source: std::io::ErrorKind::StorageFull.into() }
            }
        }
    }
}

/// Returns the paths of a database, its write-ahead log and its rollback journal.
fn list_database_files(path: &Path) -> Vec<PathBuf> {
    [path.to_owned()].into_iter().chain(COMPANIONS.map(|suffix| with_suffix(path, suffix))).collect()
}

/// Size and modification time of each file of a database, `None` for an absent file. Every write changes them.
pub(crate) type FileStamps = Vec<Option<(u64, Option<SystemTime>)>>;

/// Returns the sizes and modification times of the files of a database.
pub(crate) fn read_stamps(path: &Path) -> FileStamps {
    list_database_files(path)
        .iter()
        .map(|path| fs::metadata(path).ok().map(|meta| (meta.len(), meta.modified().ok())))
        .collect()
}

/// Makes a file readable and writable only for its owner.
fn make_private(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    #[cfg(not(unix))]
    let permissions = fs::metadata(path)?.permissions();
    fs::set_permissions(path, permissions)
}

/// Returns whether two paths lead to the same file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt as _;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    canonicalize_path(one).is_ok_and(|one| canonicalize_path(other).is_ok_and(|other| one == other))
}
