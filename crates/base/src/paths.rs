//! Returns the paths of a repository's state, socket and log, and operates on files.

mod all_state;
mod caller_dir;
mod file_lock;
mod file_uri;
mod io_hint;
mod known_file;
mod locate;
mod other_states;
mod own_state;
mod path_spelling;
mod regular_file;
mod replace_file;
mod safe_directory;
#[cfg(windows)]
mod security_id;
mod state_owner;
mod swap_files;
mod transient_error;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use self::all_state::{
    find_files_to_keep, find_unused_path, may_have_memories, move_files, remove_state_dir,
};
pub use self::caller_dir::{CallerDir, OutsideError};
pub use self::file_lock::{lock_with_timeout, open_lock_file};
pub use self::io_hint::{io_error_hint, is_out_of_descriptors};
pub use self::known_file::{
    NOTES_LOCK_FILE_NAME, NOTES_NEW_SUFFIX, NOTES_SWAP_SUFFIX, hash_prefix, remove_if_exists,
    remove_unless_saved, replace_unless_saved, text_hash_prefix, was_renamed,
};
pub use self::locate::LocateError;
pub use self::other_states::{NOT_MERGED_NOTICE, OtherStateDir};
pub use self::path_spelling::{FS_FOLDS_NAMES, SpellingCache, composed_name};
pub use self::regular_file::{may_block_when_opened, open_regular, read_regular};
pub use self::replace_file::{open_private_file, rename_over, replace_private};
pub use self::safe_directory::is_git_settings_variable;
#[cfg(windows)]
pub use self::security_id::{access_list, owner_sid, user_sid};
pub use self::swap_files::{FORMER_FILE_SUFFIX, rename_without_overwrite, swap_files};
pub use self::transient_error::{is_transient, may_be_dir, none_if_unreadable};

/// Name of the state dir inside the common dir of a repository.
const STATE_DIR: &str = "memo";

/// Name of the state dir in a directory outside git.
pub const PLAIN_STATE_DIR: &str = ".memo";

/// Name of the file in the state dir that has the settings of the repository.
const CONFIG_FILE: &str = "config.toml";

/// Content of the `.gitignore` in a state dir outside git: git then ignores the whole state dir.
const STATE_GITIGNORE_TEXT: &[u8] = b"*\n";

/// Name of the file that git's hooks append to.
pub const DOORBELL_FILE_NAME: &str = "doorbell";

/// Returns the path with `suffix` appended to its file name, such as `-wal` for the log of an SQLite database.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// An input/output error with its path.
#[derive(Debug, thiserror::Error)]
#[error("{action} {}: {source}", path.display())]
pub struct PathError {
    /// The operation that failed: `read`, `create directory`, …
    pub action: &'static str,
    /// The path of the operation.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

impl PathError {
    /// Returns whether the path does not exist, or a component of it is not a directory.
    pub fn is_absent(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }

    /// Returns whether a retry of the operation may succeed; see [`is_transient`].
    pub fn is_transient(&self) -> bool {
        is_transient(&self.source)
    }
}

/// Adds an operation and its path to an [`io::Error`].
pub trait IoContext<T> {
    /// Adds the operation and its path to the error.
    ///
    /// # Errors
    /// The [`io::Error`] of `self`, as a [`PathError`] with this operation and path.
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError> {
        self.map_err(|source| PathError { action, path: path.to_owned(), source })
    }
}

/// The user id, and the directories that environment variables name. Read once at the start of a program and passed on.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// `$XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// `$XDG_STATE_HOME`.
    pub state_home: Option<PathBuf>,
    /// `$TMPDIR`.
    pub tmp_dir: Option<PathBuf>,
    /// `$XDG_CACHE_HOME`.
    pub cache_home: Option<PathBuf>,
    /// `$ORT_DYLIB_PATH`, the library of ONNX Runtime.
    pub onnx_runtime: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// `%APPDATA%`.
    pub app_data: Option<PathBuf>,
    /// `$CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<PathBuf>,
    /// `$CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
    /// The directories of `$PATH`.
    pub search_path: Vec<PathBuf>,
    /// Effective user id; 0 if the platform has none.
    pub uid: u32,
    /// `$SUDO_UID`, the user who called `sudo`.
    pub sudo_uid: Option<u32>,
}

impl Env {
    /// Reads the environment of this process.
    pub fn read() -> Self {
        Self {
            home: absolute_path_in("HOME").or_else(|| absolute_path_in("USERPROFILE")),
            runtime_dir: absolute_path_in("XDG_RUNTIME_DIR"),
            state_home: absolute_path_in("XDG_STATE_HOME"),
            tmp_dir: absolute_path_in("TMPDIR").or_else(|| absolute_path_in("TEMP")),
            cache_home: absolute_path_in("XDG_CACHE_HOME").or_else(|| absolute_path_in("LOCALAPPDATA")),
            onnx_runtime: absolute_path_in("ORT_DYLIB_PATH"),
            config_home: absolute_path_in("XDG_CONFIG_HOME"),
            app_data: absolute_path_in("APPDATA"),
            claude_config_dir: absolute_path_in("CLAUDE_CONFIG_DIR"),
            codex_home: absolute_path_in("CODEX_HOME"),
            search_path: std::env::var_os("PATH")
                .map(|dirs| std::env::split_paths(&dirs).collect())
                .unwrap_or_default(),
            uid: effective_uid(),
            sudo_uid: std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok()),
        }
    }

    /// Returns the directory in which programs keep their state: `$XDG_STATE_HOME`, or else `~/.local/state`, or else
    /// `$TMPDIR`.
    pub fn state_home(&self) -> PathBuf {
        let dir = self.state_home.clone().or_else(|| Some(self.home.as_ref()?.join(".local/state")));
        dir.unwrap_or_else(|| self.tmp_dir())
    }

    /// Returns memod's cache directory: in `$XDG_CACHE_HOME`, or else in `~/.cache`, or else in `$TMPDIR`.
    pub fn cache_dir(&self) -> PathBuf {
        let dir = self.cache_home.clone().or_else(|| Some(self.home.as_ref()?.join(".cache")));
        dir.unwrap_or_else(|| self.tmp_dir()).join("memod")
    }

    fn tmp_dir(&self) -> PathBuf {
        self.tmp_dir.clone().unwrap_or_else(std::env::temp_dir)
    }
}

/// Returns the value of an environment variable; `None` unless it is an absolute path.
fn absolute_path_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// A worktree, or a directory outside git, with the location of its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoLayout {
    /// Top directory of the worktree or of the directory outside git, canonical.
    pub root: PathBuf,
    /// Git dir of this worktree, canonical; `None` outside git.
    pub git_dir: Option<PathBuf>,
    /// Common dir of the repository, canonical; `None` outside git.
    pub common_dir: Option<PathBuf>,
    /// Directory of the databases, locks, log and endpoint. It may not exist yet.
    pub state_dir: PathBuf,
    /// 16 hex digits that identify the repository in the name of the socket.
    pub id: String,
}

impl RepoLayout {
    /// Returns the file to which the daemon writes the address of its socket.
    pub fn endpoint_file(&self) -> PathBuf {
        self.state_dir.join("endpoint")
    }

    /// Returns the file whose lock a client holds while it starts a daemon.
    pub fn spawn_lock_file(&self) -> PathBuf {
        self.state_dir.join("spawn.lock")
    }

    /// Returns the file whose lock the daemon holds while it runs.
    pub fn daemon_lock_file(&self) -> PathBuf {
        self.state_dir.join("daemon.lock")
    }

    /// Returns the log file of the daemon; the rotated log is `memod.log.1`.
    pub fn log_file(&self) -> PathBuf {
        self.state_dir.join("memod.log")
    }

    /// Returns the database file of the index; the file exists once an index was requested.
    pub fn index_file(&self) -> PathBuf {
        self.state_dir.join("index.db")
    }

    /// Returns the file to which the settings of the repository are written.
    pub fn config_file(&self) -> PathBuf {
        self.state_dir.join(CONFIG_FILE)
    }

    /// Returns the settings files of the repository, sorted by modification time: a later file overrides an earlier one. The file
    /// inside the repository also applies while the repository is read-only and its state is elsewhere.
    pub fn config_files(&self) -> Vec<PathBuf> {
        let mut dirs = vec![self.state_dir_in_repository(), self.state_dir.clone()];
        dirs.dedup();
        let mut files: Vec<PathBuf> = dirs.into_iter().map(|dir| dir.join(CONFIG_FILE)).collect();
        files.sort_by_key(|file| fs::metadata(file).and_then(|meta| meta.modified()).ok());
        files
    }

    /// Returns the directory of this worktree's cookies: files that are created to learn whether the watcher has reported all
    /// earlier changes.
    pub fn cookie_dir(&self) -> PathBuf {
        match &self.git_dir {
            Some(git_dir) if self.state_dir.starts_with(self.common_dir.as_ref().unwrap_or(git_dir)) => {
                git_dir.join(STATE_DIR).join("cookies")
            }
            _ => self.state_dir.join("cookies"),
        }
    }

    /// Returns the file that git's hooks append to in order to wake the daemon; `None` if the state is outside the repository,
    /// because a hook knows only its git dir.
    ///
    /// The file is in the directory of the cookies, because the daemon watches that directory and not the state dir.
    pub fn doorbell_file(&self) -> Option<PathBuf> {
        let cookie_dir = self.cookie_dir();
        self.git_dir.as_ref().filter(|git_dir| cookie_dir.starts_with(git_dir))?;
        Some(cookie_dir.join(DOORBELL_FILE_NAME))
    }

    /// Returns the directory of the daemons' sockets: `$XDG_RUNTIME_DIR/memod`, or else `/run/user/<uid>/memod`, or else
    /// `$TMPDIR/memod-<uid>`.
    pub fn socket_dir(env: &Env) -> PathBuf {
        if let Some(dir) = &env.runtime_dir
            && dir.is_dir()
        {
            return dir.join("memod");
        }
        let run_user = PathBuf::from(format!("/run/user/{}", env.uid));
        if fs::metadata(&run_user).is_ok_and(|meta| owner_uid(&meta) == Some(env.uid)) {
            return run_user.join("memod");
        }
        env.tmp_dir().join(format!("memod-{}", env.uid))
    }

    /// Returns the path of the daemon's socket, or the name of its pipe on Windows.
    pub fn socket_path(&self, env: &Env) -> PathBuf {
        match cfg!(windows) {
            true => PathBuf::from(format!(r"\\.\pipe\memod-{}", self.id)),
            false => Self::socket_dir(env).join(&self.id),
        }
    }

    /// Creates the state dir with mode 0700, and outside git a `.gitignore` with `*` in it.
    ///
    /// # Errors
    /// When the directory or a file in it cannot be created, or a link, a file or another user's directory is in its place.
    pub fn create_state_dir(&self) -> Result<(), PathError> {
        create_private_dir(&self.state_dir)?;
        if self.git_dir.is_none() {
            let ignore = self.state_dir.join(".gitignore");
            if !ignore.exists() {
                fs::write(&ignore, STATE_GITIGNORE_TEXT).at("write", &ignore)?;
            }
        }
        self.write_state_owner()
    }
}

/// Creates a directory with mode 0700, and its missing parents. An existing directory of this user stays as it is.
///
/// # Errors
/// When the directory cannot be created, or a link, a file or another user's directory is in its place.
pub fn create_private_dir(dir: &Path) -> Result<(), PathError> {
    match private_dir_builder().recursive(true).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {} // not a directory: `check_own_dir` returns the error
        created => created.at("create directory", dir)?,
    }
    check_own_dir(dir)
}

/// Creates a directory as [`create_private_dir`] does, but none of its parents.
///
/// # Errors
/// As [`create_private_dir`], and when the parent directory does not exist.
pub fn create_private_dir_without_parents(dir: &Path) -> Result<(), PathError> {
    create_dir_without_parents(dir).at("create directory", dir)?;
    check_own_dir(dir)
}

/// Creates a directory with mode 0700, but none of its parents: so a state dir that was deleted or moved away is not created
/// again. Does nothing if the directory exists.
///
/// # Errors
/// When the directory cannot be created.
pub fn create_dir_without_parents(dir: &Path) -> io::Result<()> {
    match private_dir_builder().create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

fn private_dir_builder() -> fs::DirBuilder {
    #[allow(unused_mut, reason = "only Unix has modes")]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// The message of the error when a link, a file or another user's directory is in the place of one of our directories.
pub const NOT_OUR_DIR_MESSAGE: &str = "not a directory that this user owns; remove it or choose another";

/// Returns an error unless the path is a directory that this user owns, and not a link.
fn check_own_dir(dir: &Path) -> Result<(), PathError> {
    let meta = fs::symlink_metadata(dir).at("look at", dir)?;
    let foreign = owner_uid(&meta).is_some_and(|owner| owner != effective_uid());
    if !meta.is_dir() || foreign {
        return Err(io::Error::other(NOT_OUR_DIR_MESSAGE)).at("use", dir);
    }
    Ok(())
}

/// Reads one of our files. Anything but a regular file is an error, because reading a FIFO might block forever.
///
/// # Errors
/// When the file cannot be read, or is not a regular file.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() {
        fs::read(path)
    } else {
        Err(io::Error::other("not a regular file; remove it"))
    }
}

/// Flushes the data of a file to the disk (`fsync`). The file is opened for writing, because Windows requires that.
///
/// # Errors
/// When the file cannot be opened or flushed.
pub fn sync_file(path: &Path) -> io::Result<()> {
    fs::File::options().write(true).open(path)?.sync_all()
}

/// Returns the absolute path with symbolic links and `..` resolved.
///
/// # Errors
/// When the path does not exist or cannot be read.
pub fn canonicalize_path(path: &Path) -> Result<PathBuf, PathError> {
    // `dunce` omits the prefix `\\?\` on Windows, which people do not write and git does not understand.
    dunce::canonicalize(path).at("open", path)
}

/// Returns the effective user id of this process; 0 if the platform has none.
pub fn effective_uid() -> u32 {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    return 0;
}

/// Returns whether two paths lead to the same directory; false if one of them cannot be read.
pub fn is_same_dir(one: &Path, other: &Path) -> bool {
    file_identity(one).is_some_and(|one| file_identity(other) == Some(one))
}

/// Returns the device and inode of the file or directory that a path leads to; on Windows its volume and file index.
fn file_identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok()
    }
    #[cfg(windows)]
    {
        let handle = winapi_util::Handle::from_path_any(path).ok()?;
        let known = winapi_util::file::information(&handle).ok()?;
        Some((known.volume_serial_number(), known.file_index()))
    }
}

/// Returns the user id of a file's owner; `None` if the platform has no user ids.
pub fn owner_uid(meta: &fs::Metadata) -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::MetadataExt::uid(meta));
    #[cfg(not(unix))]
    {
        let _ = meta;
        None
    }
}

/// Returns whether an existing directory is certainly not writable. After a transient failure the answer is false, so that the
/// state is not moved elsewhere.
fn is_read_only(dir: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_err_and(
        |error| {
            matches!(error, rustix::io::Errno::ACCESS | rustix::io::Errno::ROFS | rustix::io::Errno::PERM)
        },
    );
    #[cfg(not(unix))]
    return fs::metadata(dir).is_ok_and(|meta| meta.permissions().readonly());
}

/// Returns whether files can be created in a directory.
pub fn is_writable_dir(dir: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    return fs::metadata(dir).is_ok_and(|meta| !meta.permissions().readonly());
}
