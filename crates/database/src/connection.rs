//! Opens connections to SQLite databases, and checks databases for damage.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::database_error::is_shm_too_short;
use crate::failed_reads;

/// Time that a connection waits until another releases its lock.
pub const BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Opens a connection with the settings that every connection needs.
///
/// `flags` decide whether the file may be created or changed.
pub fn open_connection(path: &Path, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
    let conn = open_without_waiting(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;
         PRAGMA trusted_schema = OFF;",
    )?;
    conn.set_prepared_statement_cache_capacity(64);
    // Without this, SQLite compiles a statement again for each value of a bound LIMIT.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(conn)
}

/// Opens a connection that does not wait for locks.
///
/// If the disk has no room for the `-shm` file, its content is in the memory of this process, and no other process can open the
/// database until the connection is closed (<https://www.sqlite.org/vfs.html>, 2.1).
pub(crate) fn open_without_waiting(path: &Path, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
    set_up_sqlite();
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(std::time::Duration::ZERO)?;
    match conn.pragma_query_value(None, "schema_version", |_| Ok(())) {
        Err(error) if cfg!(unix) && is_shm_too_short(&error) => {
            drop(conn);
            tracing::warn!(path = %path.display(), "no room for the -shm file; opened for this process only");
            Connection::open_with_flags_and_vfs(path, flags, "unix-excl")
        }
        _ => Ok(conn), // the first use of the connection reports another error
    }
}

/// Reads every reachable page, with SQLite's `quick_check`.
///
/// # Errors
/// When a page is damaged or cannot be read.
pub fn check_quickly(conn: &Connection) -> rusqlite::Result<()> {
    let message: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match unreadable_page_code(&message) {
        _ if message == "ok" => Ok(()),
        Some(code) => Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)),
        None => Err(corruption_error(message)),
    }
}

/// Returns SQLite's error code if a message of `quick_check` is about a page that could not be read. The check lists such a page
/// like a damaged one (`checkTreePage` and `checkList` in SQLite's btree.c).
fn unreadable_page_code(message: &str) -> Option<i32> {
    use rusqlite::ffi::{SQLITE_CORRUPT, SQLITE_IOERR};
    if message.contains("failed to get page") {
        return Some(SQLITE_IOERR);
    }
    let (_, code) = message.split_once("unable to get the page. error code=")?;
    let code: i32 = code.lines().next()?.trim().parse().ok()?;
    (code & 0xff != SQLITE_CORRUPT).then_some(code)
}

/// Returns the error for damage that a check has found.
pub fn corruption_error(message: String) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), Some(message))
}

/// Configures SQLite for the process before its first connection. Turns memory statistics off, because they take a global lock at
/// each allocation; makes a failed read not count as damage; and loads sqlite-vec into each connection.
#[expect(unsafe_code, reason = "rusqlite has no safe way to configure the library as a whole")]
fn set_up_sqlite() {
    use rusqlite::ffi;
    type Init = unsafe extern "C" fn(
        *mut ffi::sqlite3,
        *mut *mut std::ffi::c_char,
        *const ffi::sqlite3_api_routines,
    ) -> std::ffi::c_int;
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: this is called once, before this process makes a connection. `SQLITE_CONFIG_MEMSTATUS` takes one int. The crate of
    // sqlite-vec declares its entry point without parameters, but the function has the parameters of every extension.
    ONCE.call_once(|| {
        unsafe {
            ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0);
            let init = sqlite_vec::sqlite3_vec_init as *const ();
            ffi::sqlite3_auto_extension(Some(std::mem::transmute::<*const (), Init>(init)));
        }
        failed_reads::report_failed_reads();
    });
}
