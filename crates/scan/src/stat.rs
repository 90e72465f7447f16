//! Reads the stat signature of a path.

use std::fs::File;
use std::io;
use std::path::Path;

use memod_base::types::Stat;

#[cfg(windows)]
mod windows;

/// A file that was written within this time before it was read may be written again without a change of its times, which have
/// steps of up to 2 s in some file systems (FAT).
const RACY_NS: u64 = 2_000_000_000;

/// Bits of `st_mode` that hold the type, and their values, as in inode(7).
const TYPE_MASK: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;
const SYMLINK: u32 = 0o120_000;

/// The type of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device.
    Special,
}

impl FileKind {
    /// Returns the kind in the type bits of a [`Stat`].
    pub(super) fn from_stat(stat: &Stat) -> Self {
        match stat.mode & TYPE_MASK {
            REGULAR => Self::Regular,
            DIRECTORY => Self::Directory,
            SYMLINK => Self::Symlink,
            _ => Self::Special,
        }
    }

    pub(super) fn from_file_type(kind: std::fs::FileType) -> Self {
        if kind.is_file() {
            Self::Regular
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_symlink() {
            Self::Symlink
        } else {
            Self::Special
        }
    }
}

/// Returns the signature of a path; for a symbolic link, that of the link itself. On a network file system or FUSE the signature
/// comes from the server, not from the local cache, which stays out of date for seconds after a write elsewhere.
///
/// # Errors
/// See lstat(2).
#[cfg(target_os = "linux")]
pub fn lstat(path: &Path) -> io::Result<Stat> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_FORCE_SYNC;
    let found = match statx(CWD, path, flags, StatxFlags::BASIC_STATS) {
        Err(rustix::io::Errno::NOSYS) => return stat_from_symlink_metadata(path),
        found => found?,
    };
    Ok(Stat {
        size: found.stx_size,
        mtime_ns: statx_ns(found.stx_mtime),
        ctime_ns: statx_ns(found.stx_ctime),
        inode: found.stx_ino,
        dev: makedev(found.stx_dev_major, found.stx_dev_minor),
        mode: u32::from(found.stx_mode),
    })
}

/// Returns the signature of a path; for a symbolic link, that of the link itself.
///
/// # Errors
/// See lstat(2).
#[cfg(all(unix, not(target_os = "linux")))]
pub fn lstat(path: &Path) -> io::Result<Stat> {
    stat_from_symlink_metadata(path)
}

/// Returns the signature of a path; for a symbolic link or a junction, that of the link itself.
///
/// # Errors
/// See lstat(2).
#[cfg(windows)]
pub fn lstat(path: &Path) -> io::Result<Stat> {
    fstat(&windows::open_attributes(path)?)
}

#[cfg(unix)]
fn stat_from_symlink_metadata(path: &Path) -> io::Result<Stat> {
    std::fs::symlink_metadata(path).map(|meta| stat_from_metadata(&meta))
}

/// Returns the signature of an open file.
///
/// # Errors
/// See fstat(2).
pub(super) fn fstat(file: &File) -> io::Result<Stat> {
    #[cfg(unix)]
    return file.metadata().map(|meta| stat_from_metadata(&meta));
    #[cfg(windows)]
    windows::read_stat(file)
}

/// Returns the inode of a regular file that has more than one name, in this worktree or elsewhere; `None` for any other path.
pub fn shared_inode(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::symlink_metadata(path).ok()?;
        (meta.is_file() && meta.nlink() > 1).then(|| meta.ino())
    }
    #[cfg(windows)]
    windows::shared_index(path)
}

/// Returns whether a file read at `read_at_ns` may have changed since although its signature has not.
pub fn is_racy(stat: &Stat, read_at_ns: i64) -> bool {
    stat.mtime_ns.abs_diff(read_at_ns) <= RACY_NS
}

/// Converts seconds and nanoseconds to nanoseconds.
#[cfg(unix)]
fn to_ns(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// Returns the nanoseconds of a time of statx(2).
#[cfg(target_os = "linux")]
fn statx_ns(time: rustix::fs::StatxTimestamp) -> i64 {
    to_ns(time.tv_sec, i64::from(time.tv_nsec))
}

#[cfg(unix)]
fn stat_from_metadata(meta: &std::fs::Metadata) -> Stat {
    use std::os::unix::fs::MetadataExt;
    Stat {
        size: meta.size(),
        mtime_ns: to_ns(meta.mtime(), meta.mtime_nsec()),
        ctime_ns: to_ns(meta.ctime(), meta.ctime_nsec()),
        inode: meta.ino(),
        dev: meta.dev(),
        mode: meta.mode(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_its_open_file_have_one_signature() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(lstat(file.path()).unwrap(), fstat(file.as_file()).unwrap());
    }

    #[test]
    fn racy_within_two_seconds_either_way() {
        let check = |mtime_ns: i64, read_at_ns: i64, expected: bool| {
            let stat = Stat { size: 0, mtime_ns, ctime_ns: 0, inode: 0, dev: 0, mode: REGULAR };
            assert_eq!(is_racy(&stat, read_at_ns), expected, "{mtime_ns} read at {read_at_ns}");
        };
        let second = 1_000_000_000;
        check(10 * second, 10 * second, true);
        check(10 * second, 12 * second, true);
        check(10 * second, 12 * second + 1, false);
        check(10 * second, 9 * second, true);
        check(i64::MAX, 0, false);
        check(i64::MIN, i64::MAX, false);
    }

    #[test]
    fn kind_comes_from_the_type_bits() {
        let check = |mode: u32, expected: FileKind| {
            let stat = Stat { size: 0, mtime_ns: 0, ctime_ns: 0, inode: 0, dev: 0, mode };
            assert_eq!(FileKind::from_stat(&stat), expected, "{mode:o}");
        };
        check(0o100_644, FileKind::Regular);
        check(0o040_755, FileKind::Directory);
        check(0o120_777, FileKind::Symlink);
        check(0o010_644, FileKind::Special);
        check(0o140_755, FileKind::Special);
        check(0o060_660, FileKind::Special);
        check(0, FileKind::Special);
    }
}
