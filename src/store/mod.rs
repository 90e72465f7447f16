//! Stores everything in index.db and memory.db; the SQL of both is here, that of a team's server in `team`.
//!
//! Only SQL lives here. Nothing but SQLite may open or close the database files: on POSIX systems a
//! `close` of the same file elsewhere in the process drops SQLite's locks
//! (<https://www.sqlite.org/howtocorrupt.html>, 2.2).

mod blob_rows;
mod contents;
mod counts;
mod definitions;
mod foreign;
mod lexical;
mod members;
mod memory;
mod model_switch;
mod names;
mod new_rows;
mod postings;
mod purge;
mod reader;
mod reads;
mod schema;
mod source_files;
mod vector_rows;
mod vector_table;
mod versions;
mod writer;

use std::path::{Path, PathBuf};

use memod_base::paths;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

pub use contents::{Content, ContentChunk, Place};
pub use foreign::{Foreign, ForeignError, remove_left_copies};
pub use memory::{
    Anchored, Checked, Derived, EMBED_STEP, Earlier, FROM_FILE, FROM_TEAM, Facts, FileRow, FileState,
    FileVersion, Followed, Forms, Link, Linked, MemoryDb, MemoryEvent, MemoryFilter, MemoryReader,
    MemoryStore, NotedChange, Numbers, Outgoing, PendingFile, Preparing, Record, RestoreError, Rows,
    SaidByFile, ShownBy, Side, Stopped, TeamCounts, TeamRow, TeamTrouble, UnreadableFile, Uptime,
    VectorChanges, VectorModel, WorktreeRow, remove_unfinished, repository_from,
};
pub use new_rows::{Change, Embedded, NewBlob, NewChunk, NewVector, ViewKey};
pub use postings::Postings;
pub use reader::{Entry, PendingChunk, Reader, ViewRow};
pub use source_files::SourceFile;
pub use vector_table::VectorTable;
pub use versions::{check_index, check_memory};
pub use writer::Writer;

/// An error of a database.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The schema is newer than this program.
    #[error("{}: written by a newer memod (schema {found}, we know {known})", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its `user_version`.
        found: i64,
        /// The newest that this program can read.
        known: i64,
    },
    /// Not a database, or damaged.
    #[error("{}: damaged: {source}", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The disk is full.
    #[error("{}: the disk is full", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// A file or directory next to the database.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Anything else.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Returns the remedy.
    pub fn hint(&self) -> &'static str {
        let usual = "`memo doctor` checks the disk and the databases";
        match self {
            Self::Newer { path, .. } if path.ends_with("index.db") => {
                "install the version of memod that wrote it, or a later one; or delete it: it is built anew, and no memory is in it"
            }
            Self::Newer { .. } => "install the version of memod that wrote it, or a later one",
            Self::Corrupt { .. } => usual,
            Self::Full { .. } => {
                "free some space on that file system (`df` shows it); what was acknowledged is kept"
            }
            Self::File { source, .. } => paths::io_hint(source).unwrap_or(usual),
            Self::Sqlite { path, source } => match source.sqlite_error_code() {
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen)
                    if cfg!(windows) =>
                {
                    "end what has that file open, or check the permissions of it and of its directory"
                }
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                    "check the owner and the permissions of that file and of its directory"
                }
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    "another program holds it open: end that, or try again"
                }
                Some(ErrorCode::SystemIoFailure) if path.ends_with("index.db") => {
                    "look at that file system and its disk; the system's log may say more; index.db may be deleted, \
                     and is built again then"
                }
                Some(ErrorCode::SystemIoFailure) => {
                    "look at that file system and its disk; the system's log may say more; a backup that \
                     cannot be read may be moved elsewhere"
                }
                Some(ErrorCode::OutOfMemory) => "free some memory, or raise the limit of it (`ulimit -v`)",
                _ => usual,
            },
        }
    }

    /// Returns whether it says nothing of what is in the database, only of this moment: the disk failed, or there is too
    /// little of something.
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

    /// Returns the error for a file next to the database.
    fn file(path: &Path, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::StorageFull => Self::Full { path: path.to_owned() },
            _ => Self::File { path: path.to_owned(), source },
        }
    }

    fn new(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { path, source },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::SystemIoFailure) if is_shm_too_short(&source) => Self::Full { path },
            Some(ErrorCode::SystemIoFailure) => Self::Sqlite { path, source: of_disk(source) },
            // A damaged header has no code of its own.
            _ if source.to_string().contains("unsupported file format") => Self::Corrupt { path, source },
            _ => Self::Sqlite { path, source },
        }
    }
}

/// Returns whether the `-shm` file, without which nothing is read, could not be made long enough: there is no room.
fn is_shm_too_short(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// Says that the disk failed, and not what the statement was at, such as the constructor of a table.
fn of_disk(error: rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqliteFailure(error, _) => {
            rusqlite::Error::SqliteFailure(error, Some("disk I/O error".to_owned()))
        }
        error => error,
    }
}

/// Returns whether nothing can be opened at the moment where a database is; for SQLite does not say why it could not. The
/// database itself is not tried: closing it would drop SQLite's locks.
fn may_open_later(path: &Path) -> bool {
    path.parent().is_some_and(|dir| std::fs::File::open(dir).is_err_and(|error| paths::is_transient(&error)))
}

/// Time that a connection waits for a lock of another one.
const BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Opens a connection with the settings that every connection needs.
///
/// The write connection creates the file; readers must find it and cannot change it.
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
    let conn = open(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;
         PRAGMA trusted_schema = OFF;",
    )?;
    conn.set_prepared_statement_cache_capacity(64);
    // Otherwise every bound LIMIT compiles its statement again.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(conn)
}

/// Opens a connection that does not wait for locks.
///
/// Where the disk has no room for the `-shm` file, SQLite keeps its content in the memory of this process, and no other
/// process can open the database until it is closed (<https://www.sqlite.org/vfs.html>, 2.1).
fn open(path: &Path, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
    set_up_sqlite();
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(std::time::Duration::ZERO)?;
    match conn.pragma_query_value(None, "schema_version", |_| Ok(())) {
        Err(error) if cfg!(unix) && is_shm_too_short(&error) => {
            drop(conn);
            tracing::warn!(path = %path.display(), "no room for the -shm file; opened for this process alone");
            Connection::open_with_flags_and_vfs(path, flags, "unix-excl")
        }
        _ => Ok(conn), // whoever uses it sees what is wrong
    }
}

/// Reads every reachable page.
///
/// # Errors
/// When one is damaged.
fn check_quickly(conn: &Connection) -> rusqlite::Result<()> {
    let said: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match unread_page(&said) {
        _ if said == "ok" => Ok(()),
        Some(code) => Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)),
        None => Err(corrupt(said)),
    }
}

/// Returns why a page could not be read, where that is what the check says: it lists it like a damage (`checkTreePage` and
/// `checkList` in SQLite's btree.c).
fn unread_page(said: &str) -> Option<i32> {
    use rusqlite::ffi::{SQLITE_CORRUPT, SQLITE_IOERR};
    if said.contains("failed to get page") {
        return Some(SQLITE_IOERR);
    }
    let (_, code) = said.split_once("unable to get the page. error code=")?;
    let code: i32 = code.lines().next()?.trim().parse().ok()?;
    (code & 0xff != SQLITE_CORRUPT).then_some(code)
}

/// Returns the error for damage that a check has found.
fn corrupt(said: String) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), Some(said))
}

/// Converts an int8 vector to its stored form.
fn as_bytes(vec: &[i8]) -> Vec<u8> {
    vec.iter().map(|value| value.cast_unsigned()).collect()
}

/// Converts a stored vector.
fn as_vector(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

/// Configures SQLite for the process before its first connection: memory statistics are off, because they take a global
/// lock at each allocation, a read that fails is not reported as damage, and each connection has sqlite-vec.
#[expect(unsafe_code, reason = "rusqlite has no safe way to configure the library as a whole")]
fn set_up_sqlite() {
    use rusqlite::ffi;
    type Init = unsafe extern "C" fn(
        *mut ffi::sqlite3,
        *mut *mut std::ffi::c_char,
        *const ffi::sqlite3_api_routines,
    ) -> std::ffi::c_int;
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: called once, before this process makes a connection, with the one int that MEMSTATUS takes. The entry point of
    // sqlite-vec, which its crate declares without parameters, has those of every extension.
    ONCE.call_once(|| {
        unsafe {
            ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0);
            let init = sqlite_vec::sqlite3_vec_init as *const ();
            ffi::sqlite3_auto_extension(Some(std::mem::transmute::<*const (), Init>(init)));
        }
        reads::report_failed_reads();
    });
}

#[cfg(test)]
pub(crate) mod test_rows;
#[cfg(test)]
mod tests;
