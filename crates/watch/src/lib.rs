//! Watches directories and reports which names changed.
//!
//! Events carry only names: they mark paths as dirty, and the state is read from disk afterwards. No loss is silent: it
//! becomes [`WatchEvent::Lost`], which causes a rescan.

mod debounce;
#[cfg(target_os = "linux")]
mod inotify;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(not(target_os = "linux"))]
mod no_mounts;
#[cfg(not(target_os = "linux"))]
mod notify;

use std::io;
use std::path::{Path, PathBuf};

pub use debounce::Debouncer;

#[cfg(target_os = "linux")]
pub use inotify::Watch;
#[cfg(target_os = "linux")]
pub use mounts::MountTable;
#[cfg(not(target_os = "linux"))]
pub use no_mounts::MountTable;
#[cfg(not(target_os = "linux"))]
pub use notify::Watch;

use memod_base::paths;
use memod_base::types::WorktreeId;

/// Number of cookies that must come back before all earlier changes were reported. Each is made once the event of the one before
/// has come back.
///
/// Windows collects the changes of each watched directory separately and returns them when it is asked again, so the event of a
/// cookie can overtake an earlier change in another directory: 562 of 4,500 did under wine. When that event is back, the other
/// directories have been asked again, and the event of a second cookie comes after their changes: 0 of 4,500 overtook.
pub const N_COOKIES: u32 = if cfg!(windows) { 2 } else { 1 };

/// Why a directory is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The directory has files that may be indexed.
    Worktree,
    /// The directory is a part of the git dir or common dir: HEAD, index, info/exclude.
    Git,
    /// The directory has the cookies and the doorbell.
    Cookies,
    /// The directory has the files of memories.
    Memories,
}

/// A path that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsChange {
    /// The worktree for which the directory is watched.
    pub worktree: WorktreeId,
    /// Why that directory is watched.
    pub role: Role,
    /// The changed path, absolute.
    pub path: PathBuf,
}

/// An event of the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// Paths that changed, in order.
    Changed(Vec<FsChange>),
    /// Events were lost; everything may have changed.
    Lost,
}

/// Why a directory could not be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// No watches or instances are left; uncovered directories must be polled.
    #[error("{}: not watched, a limit of inotify is reached: {source}", path.display())]
    Exhausted {
        /// The directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The directory is gone, or is not a directory any more; the events of its parent report the change.
    #[error("{}: gone", .0.display())]
    Gone(PathBuf),
    /// The directory is not accessible; events of its parents show when it is.
    #[error("{}: cannot be listed", .0.display())]
    NotAccessible(PathBuf),
    /// Anything else.
    #[error("cannot watch {}: {source}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl WatchError {
    /// Returns the remedy, if it is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Exhausted { source, .. } if paths::is_out_of_descriptors(source) => {
                Some("raise the limit with `sysctl fs.inotify.max_user_instances=1024`, or raise `ulimit -n`")
            }
            Self::Exhausted { .. } => {
                Some("raise the limit with `sysctl fs.inotify.max_user_watches=524288`")
            }
            Self::Gone(_) => None,
            Self::NotAccessible(_) => Some("check the owner and the permissions of that path"),
            Self::Io { source, .. } => paths::io_error_hint(source),
        }
    }

    /// Classifies an error of the operating system for the watch of a path.
    pub fn new(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Gone(path),
            io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidFilename => Self::NotAccessible(path),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Exhausted { path, source },
            _ => Self::Io { path, source },
        }
    }
}

/// Returns the name of the directory's file system if it does not report every change; `None` if it does. Changes on another
/// machine, or below an overlay, cause no events, so such a worktree is compared with the index at each query.
#[cfg(target_os = "linux")]
pub fn unreliable_file_system(dir: &Path) -> Option<&'static str> {
    let magic = rustix::fs::statfs(dir).ok()?.f_type;
    UNRELIABLE_FILE_SYSTEMS
        .iter()
        .find(|(known, _)| i128::from(*known) == i128::from(magic))
        .map(|(_, name)| *name)
}

/// Returns `None`: on this platform the watcher of the operating system is trusted.
#[cfg(not(target_os = "linux"))]
pub fn unreliable_file_system(_: &Path) -> Option<&'static str> {
    None
}

/// File systems that do not report every change: `f_type` of statfs(2), from linux/magic.h and their sources, and a name.
#[cfg(target_os = "linux")]
const UNRELIABLE_FILE_SYSTEMS: [(u32, &str); 7] = [
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x6573_5546, "fuse"), // virtiofs as well
    (0x0102_1997, "9p"),
    (0x794c_7630, "overlay"),
];
