//! Reads the stat signature of an open file on Windows.
//!
//! The change time and the index of a file come from calls of their own.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::path::Path;

use memod_base::types::Stat;
use winapi_util::file::information;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_BASIC_INFO, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES,
    FileBasicInfo, GetFileInformationByHandleEx,
};

use super::{DIRECTORY, FileKind, REGULAR, SYMLINK};

/// Number of steps of 100 ns between 1601, where Windows begins to count, and 1970.
const UNIX_EPOCH: i64 = 116_444_736_000_000_000;

/// Opens the attributes of a file or directory, without following a link. This works even if another program has the
/// file open exclusively, because nothing but the attributes is requested.
pub(super) fn open_attributes(path: &Path) -> io::Result<File> {
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    OpenOptions::new().access_mode(FILE_READ_ATTRIBUTES).custom_flags(flags).open(path)
}

/// Returns the signature of an open file. Its index is unique in its volume and survives renames, as an inode does.
pub(super) fn read_stat(file: &File) -> io::Result<Stat> {
    let (meta, known) = (file.metadata()?, information(file)?);
    let times = read_times(file)?;
    Ok(Stat {
        size: meta.len(),
        mtime_ns: unix_ns(times.LastWriteTime),
        ctime_ns: unix_ns(times.ChangeTime),
        inode: known.file_index(),
        dev: known.volume_serial_number(),
        mode: mode_bits(&meta),
    })
}

/// Returns the index of a regular file that has more than one name.
pub(super) fn shared_index(path: &Path) -> Option<u64> {
    let file = open_attributes(path).ok()?;
    let known = information(&file).ok()?;
    (file.metadata().ok()?.is_file() && known.number_of_links() > 1).then(|| known.file_index())
}

/// Reads the times of an open file, the change time included.
#[expect(unsafe_code, reason = "no crate that is here already gives the change time")]
fn read_times(file: &File) -> io::Result<FILE_BASIC_INFO> {
    let mut times = FILE_BASIC_INFO::default();
    let size = u32::try_from(size_of::<FILE_BASIC_INFO>()).expect("a few numbers");
    // SAFETY: the handle is open, and `times` has the type of this class and the size that is passed.
    let done = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileBasicInfo,
            std::ptr::from_mut(&mut times).cast(),
            size,
        )
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(times) }
}

fn unix_ns(time: i64) -> i64 {
    time.saturating_sub(UNIX_EPOCH).saturating_mul(100)
}

fn mode_bits(meta: &Metadata) -> u32 {
    match FileKind::from_file_type(meta.file_type()) {
        FileKind::Regular => REGULAR,
        FileKind::Directory => DIRECTORY,
        FileKind::Symlink => SYMLINK,
        FileKind::Special => 0,
    }
}
