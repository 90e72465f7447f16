//! Defines the error of a database, and the hint for each.

use std::path::{Path, PathBuf};

use memod_base::paths;
use memod_proto::{RpcError, code};
use rusqlite::ErrorCode;

/// An error of a database.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The schema is newer than this program.
    #[error("{}: written by a newer memod (schema {found}, this memod knows {known})", path.display())]
    Newer {
        /// Path of the database.
        path: PathBuf,
        /// Version of the database's schema.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The file is damaged, or not a database.
    #[error("{}: damaged: {source}", path.display())]
    Corrupt {
        /// Path of the database.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The disk is full.
    #[error("{}: the disk is full", path.display())]
    Full {
        /// Path of the database, or of a file next to it.
        path: PathBuf,
    },
    /// A file or directory next to the database cannot be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Any other error of SQLite.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// Path of the database.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

impl DatabaseError {
    /// Returns the hint for the user: what to do about the error.
    pub fn hint(&self) -> &'static str {
        let usual = "`memo doctor` checks the disk and the databases";
        match self {
            Self::Newer { path, .. } if path.ends_with("index.db") => {
                "install the version of memod that wrote the file, or a later one; or delete the file: it has no memories, and memod builds a new one"
            }
            Self::Newer { .. } => "install the version of memod that wrote it, or a later one",
            Self::Corrupt { .. } => usual,
            Self::Full { .. } => {
                "free some space on that file system (`df` shows it); acknowledged changes are kept"
            }
            Self::File { source, .. } => paths::io_error_hint(source).unwrap_or(usual),
            Self::Sqlite { path, source } => match source.sqlite_error_code() {
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen)
                    if cfg!(windows) =>
                {
                    "close the program that has the file open, or check the permissions of the file and its directory"
                }
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                    "check the owner and the permissions of that file and of its directory"
                }
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    "another program has locked the database: end that program, or try again"
                }
                Some(ErrorCode::SystemIoFailure) if path.ends_with("index.db") => {
                    "check that file system and its disk, and the system log for details; index.db may be \
                     deleted, and memod then builds it again"
                }
                Some(ErrorCode::SystemIoFailure) => {
                    "check that file system and its disk, and the system log for details; a backup that \
                     cannot be read may be moved elsewhere"
                }
                Some(ErrorCode::OutOfMemory) => "free some memory, or raise its limit (`ulimit -v`)",
                _ => usual,
            },
        }
    }

    /// Returns whether the error may pass without a change of the database: the disk failed, a resource ran out, or the database is
    /// locked.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Newer { .. } | Self::Corrupt { .. } => false,
            Self::Full { .. } => true,
            Self::File { source, .. } => paths::is_transient(source),
            Self::Sqlite { path, source } => match source.sqlite_error_code() {
                Some(ErrorCode::CannotOpen) => may_open_later(path),
                Some(
                    ErrorCode::SystemIoFailure
                    | ErrorCode::OutOfMemory
                    | ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked,
                ) => true,
                _ => false,
            },
        }
    }

    /// Returns the error for a file or directory next to the database that cannot be used.
    pub fn from_io(path: &Path, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::StorageFull => Self::Full { path: path.to_owned() },
            _ => Self::File { path: path.to_owned(), source },
        }
    }

    /// Returns a function that makes the error of the database at `path` from an error of SQLite.
    pub fn at_path(path: &Path) -> impl Fn(rusqlite::Error) -> Self + Copy {
        move |source| Self::from_sqlite(path, source)
    }

    /// Returns the error of the database at `path` for an error of SQLite.
    pub fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { path, source },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::SystemIoFailure) if is_shm_too_short(&source) => Self::Full { path },
            Some(ErrorCode::SystemIoFailure) => Self::Sqlite { path, source: to_disk_error(source) },
            // SQLite has no error code for a damaged header.
            _ if source.to_string().contains("unsupported file format") => Self::Corrupt { path, source },
            _ => Self::Sqlite { path, source },
        }
    }
}

impl From<DatabaseError> for RpcError {
    fn from(error: DatabaseError) -> Self {
        Self::new(code::STORE, error.to_string()).with_hint(error.hint())
    }
}

/// Returns whether an error of SQLite means that the disk has no room for the `-shm` file, without which nothing can be read.
pub(crate) fn is_shm_too_short(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// Replaces the message of an error by `disk I/O error`: SQLite's message names what the statement did, such as the constructor of
/// a table.
fn to_disk_error(error: rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqliteFailure(error, _) => {
            rusqlite::Error::SqliteFailure(error, Some("disk I/O error".to_owned()))
        }
        error => error,
    }
}

/// Returns whether the directory of a database cannot be opened at the moment, because SQLite does not report why it could not open
/// the database. The database file itself is not opened, because closing it would drop SQLite's locks.
fn may_open_later(path: &Path) -> bool {
    path.parent().is_some_and(|dir| std::fs::File::open(dir).is_err_and(|error| paths::is_transient(&error)))
}
