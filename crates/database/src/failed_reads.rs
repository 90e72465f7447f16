//! Makes SQLite report a failed read as an I/O error, not as a damaged database.
//!
//! SQLite reports `SQLITE_CORRUPT` when a read fails with `EIO`, `ENXIO` or `ERANGE`, which it takes for signs of a damaged file
//! system (`unixRead` in os_unix.c, `abort_due_to_error` in vdbe.c). But the database may be sound, and memod would replace it.
//! The function here that replaces `pread` fails with `EBADF` instead, which SQLite reports as `SQLITE_IOERR`.

use std::ffi::{c_int, c_void};
use std::io;
use std::sync::OnceLock;

use rusqlite::ffi;

/// `pread(2)` as SQLite calls it, with an offset of 64 bits.
type Pread = unsafe extern "C" fn(c_int, *mut c_void, usize, i64) -> isize;

/// The `pread` that SQLite called originally.
static PREAD: OnceLock<Pread> = OnceLock::new();

/// Replaces SQLite's `pread` by [`pread`], on systems where SQLite calls it.
#[expect(unsafe_code, reason = "rusqlite has no safe way to replace a system call of the library")]
pub(super) fn report_failed_reads() {
    let name = c"pread".as_ptr();
    // SAFETY: this is called once, before this process makes a connection. `sqlite3_vfs_find` returns null or a VFS that lives as
    // long as the process, and a VFS of version 3 or later has the two functions. SQLite casts the function under this name to
    // `Pread` before calling it.
    unsafe {
        let vfs = ffi::sqlite3_vfs_find(std::ptr::null());
        let Some(calls) = vfs.as_ref().filter(|calls| calls.iVersion >= 3) else { return };
        let (Some(get), Some(set)) = (calls.xGetSystemCall, calls.xSetSystemCall) else { return };
        let Some(original) = get(vfs, name) else { return };
        PREAD.get_or_init(|| std::mem::transmute::<unsafe extern "C" fn(), Pread>(original));
        set(vfs, name, Some(std::mem::transmute::<Pread, unsafe extern "C" fn()>(pread)));
    }
}

/// Reads like the original `pread`, but fails with `EBADF` on every error except an interruption, after which SQLite retries.
#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn pread(file: c_int, buffer: *mut c_void, n_bytes: usize, offset: i64) -> isize {
    let Some(original) = PREAD.get() else { return -1 };
    // SAFETY: the arguments are SQLite's. -1 is not a file, so the second call reads nothing and fails with `EBADF`.
    unsafe {
        let n_read = original(file, buffer, n_bytes, offset);
        if n_read >= 0 || io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            return n_read;
        }
        original(-1, buffer, n_bytes, offset)
    }
}
