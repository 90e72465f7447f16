//! Which worktree is this, and where does its state live?
//!
//! Needs nothing but `lstat` and two small files of git's, so that the client can use it without gix.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the state dir inside the common dir of a repository.
const STATE_DIR: &str = "memo";

/// Name of the state dir in a directory outside git.
pub const PLAIN_STATE_DIR: &str = ".memo";

/// Name of the file that git's hooks append to.
pub const DOORBELL: &str = "doorbell";

/// An input/output error that knows its path.
#[derive(Debug, thiserror::Error)]
#[error("{action} {}: {source}", path.display())]
pub struct PathError {
    /// What was tried: `read`, `create directory`, …
    pub action: &'static str,
    /// On which path.
    pub path: PathBuf,
    /// What the operating system said.
    pub source: io::Error,
}

/// Adds action and path to an [`io::Error`].
pub trait IoContext<T> {
    /// Names what was tried on which path.
    ///
    /// # Errors
    /// The error it was called on, with its path.
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError> {
        self.map_err(|source| PathError { action, path: path.to_owned(), source })
    }
}

/// Why a directory cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// The directory cannot be read.
    #[error(transparent)]
    Io(#[from] PathError),
    /// It is a file.
    #[error("{}: not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// A bare repository, or the inside of a `.git`.
    #[error("{}: a git directory, not a worktree", .0.display())]
    GitDir(PathBuf),
    /// `.git` is there but leads nowhere.
    #[error("{}: {reason}", path.display())]
    BrokenGit {
        /// The `.git` or the file inside it.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Somebody else's.
    #[error("{}: owned by uid {owner}, not by us (uid {us})", path.display())]
    NotOwner {
        /// The git dir or the directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Our effective uid.
        us: u32,
    },
    /// The root of the file system or the home directory, outside git.
    #[error("{}: too wide to index outside a git repository", .0.display())]
    TooWide(PathBuf),
}

/// What the environment says about directories; read once at the edge and passed in.
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
    /// Effective user id; 0 where the platform has none.
    pub uid: u32,
}

impl Env {
    /// Reads the environment of this process.
    pub fn read() -> Self {
        let path = |name: &str| {
            let value: Option<OsString> = std::env::var_os(name);
            value.map(PathBuf::from).filter(|path| path.is_absolute())
        };
        Self {
            home: path("HOME").or_else(|| path("USERPROFILE")),
            runtime_dir: path("XDG_RUNTIME_DIR"),
            state_home: path("XDG_STATE_HOME"),
            tmp_dir: path("TMPDIR").or_else(|| path("TEMP")),
            uid: effective_uid(),
        }
    }

    fn state_home(&self) -> PathBuf {
        let home = || self.home.as_ref().map(|home| home.join(".local/state"));
        self.state_home.clone().or_else(home).unwrap_or_else(|| self.tmp_dir())
    }

    fn tmp_dir(&self) -> PathBuf {
        self.tmp_dir.clone().unwrap_or_else(std::env::temp_dir)
    }
}

/// One worktree, or one directory outside git, and where its state lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Top directory, canonical.
    pub root: PathBuf,
    /// Git dir of this worktree, canonical; none outside git.
    pub git_dir: Option<PathBuf>,
    /// Common dir of the repository, canonical; none outside git.
    pub common_dir: Option<PathBuf>,
    /// Directory of the databases, lock and endpoint. It may not exist yet.
    pub state_dir: PathBuf,
    /// 16 hex digits that name the repository in the socket's name.
    pub id: String,
}

impl Place {
    /// Finds the worktree around `start` by walking up to `.git`.
    ///
    /// Outside git the root is the nearest directory above with a `.memo` of ours, else `start`.
    ///
    /// # Errors
    /// When `start` cannot be served; nothing was created.
    pub fn locate(start: &Path, env: &Env) -> Result<Self, LocateError> {
        let start = canonical(start)?;
        if !fs::metadata(&start).at("look at", &start)?.is_dir() {
            return Err(LocateError::NotADirectory(start));
        }
        for dir in start.ancestors() {
            let dot_git = dir.join(".git");
            if let Some(meta) = look_at(&dot_git, |path| fs::symlink_metadata(path))? {
                let git_dir = if meta.is_dir() { dot_git } else { read_gitdir_file(&dot_git)? };
                if meta.is_dir() && !looks_like_git_dir(&git_dir)? {
                    check_unused(&git_dir)?;
                    continue; // as git does: an empty `.git` directory is no repository
                }
                return Self::in_git(dir, &git_dir, env);
            }
            if looks_like_git_dir(dir)? {
                return Err(LocateError::GitDir(dir.to_owned()));
            }
        }
        Self::outside_git(&start, env)
    }

    fn in_git(root: &Path, git_dir: &Path, env: &Env) -> Result<Self, LocateError> {
        let git_dir = canonical(git_dir)?;
        let common_file = git_dir.join("commondir");
        let common_dir = match fs::read_to_string(&common_file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => git_dir.clone(),
            read => {
                let text = read.at("read", &common_file)?;
                canonical(&git_dir.join(text.trim_end_matches(['\n', '\r'])))?
            }
        };
        if !is_dir(&common_dir.join("objects"))? {
            let reason = "has no objects directory; the repository is broken or was moved".to_owned();
            return Err(LocateError::BrokenGit { path: common_dir, reason });
        }
        // As git since 2.35.2: with a directory of somebody else's around it, it is not our worktree.
        for dir in [root, &git_dir, &common_dir] {
            check_owner(dir, env)?;
        }
        let id = place_id(&common_dir);
        let state_dir = writable_or_home(common_dir.join(STATE_DIR), &id, env);
        let root = root.to_owned();
        Ok(Self { root, git_dir: Some(git_dir), common_dir: Some(common_dir), state_dir, id })
    }

    fn outside_git(start: &Path, env: &Env) -> Result<Self, LocateError> {
        let ours = |dir: &&Path| {
            fs::symlink_metadata(dir.join(PLAIN_STATE_DIR))
                .is_ok_and(|meta| meta.is_dir() && owner(&meta).is_none_or(|owner| owner == env.uid))
        };
        let root = start.ancestors().find(ours).unwrap_or(start);
        let home = env.home.as_deref().and_then(|home| canonical(home).ok());
        if root.parent().is_none() || home.as_deref() == Some(root) {
            return Err(LocateError::TooWide(root.to_owned()));
        }
        check_owner(root, env)?;
        let id = place_id(root);
        let state_dir = writable_or_home(root.join(PLAIN_STATE_DIR), &id, env);
        Ok(Self { root: root.to_owned(), git_dir: None, common_dir: None, state_dir, id })
    }

    /// Returns the file that publishes the socket's address.
    pub fn endpoint_file(&self) -> PathBuf {
        self.state_dir.join("endpoint")
    }

    /// Returns the file whose lock a client holds while it starts a daemon.
    pub fn spawn_lock_file(&self) -> PathBuf {
        self.state_dir.join("spawn.lock")
    }

    /// Returns the file whose lock the daemon holds for life.
    pub fn daemon_lock_file(&self) -> PathBuf {
        self.state_dir.join("daemon.lock")
    }

    /// Returns the daemon's log; the older half is `memod.log.1`.
    pub fn log_file(&self) -> PathBuf {
        self.state_dir.join("memod.log")
    }

    /// Returns the repository's own settings.
    pub fn config_file(&self) -> PathBuf {
        self.state_dir.join("config.toml")
    }

    /// Returns the directory of freshness cookies of this worktree.
    pub fn cookie_dir(&self) -> PathBuf {
        match &self.git_dir {
            Some(git_dir) if self.state_dir.starts_with(self.common_dir.as_ref().unwrap_or(git_dir)) => {
                git_dir.join(STATE_DIR).join("cookies")
            }
            _ => self.state_dir.join("cookies"),
        }
    }

    /// Returns the file that git's hooks append to; none where the state lies outside the repository, because a
    /// hook finds it from nothing but its git dir.
    ///
    /// It is beside the cookies: that directory is watched, the state dir, with its databases, is not.
    pub fn doorbell_file(&self) -> Option<PathBuf> {
        let cookie_dir = self.cookie_dir();
        self.git_dir.as_ref().filter(|git_dir| cookie_dir.starts_with(git_dir))?;
        Some(cookie_dir.join(DOORBELL))
    }

    /// Returns the directory that the daemon's socket goes into: `$XDG_RUNTIME_DIR/memod`, else under
    /// `/run/user`, else `$TMPDIR/memod-<uid>`.
    pub fn socket_dir(env: &Env) -> PathBuf {
        if let Some(dir) = &env.runtime_dir
            && dir.is_dir()
        {
            return dir.join("memod");
        }
        let run_user = PathBuf::from(format!("/run/user/{}", env.uid));
        if fs::metadata(&run_user).is_ok_and(|meta| owner(&meta) == Some(env.uid)) {
            return run_user.join("memod");
        }
        env.tmp_dir().join(format!("memod-{}", env.uid))
    }

    /// Creates the state dir, mode 0700, outside git with a `.gitignore` of `*`.
    ///
    /// # Errors
    /// When it cannot be created, or is not a directory of ours.
    pub fn create_state_dir(&self) -> Result<(), PathError> {
        create_private_dir(&self.state_dir)?;
        if self.git_dir.is_none() {
            let ignore = self.state_dir.join(".gitignore");
            if !ignore.exists() {
                fs::write(&ignore, "*\n").at("write", &ignore)?;
            }
        }
        Ok(())
    }
}

/// Creates a directory that only we can enter, and its parents.
///
/// # Errors
/// When it cannot be created, or what is there is a link or somebody else's.
pub fn create_private_dir(dir: &Path) -> Result<(), PathError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).at("create directory", dir)?;
    let meta = fs::symlink_metadata(dir).at("look at", dir)?;
    let foreign = owner(&meta).is_some_and(|owner| owner != effective_uid());
    if !meta.is_dir() || foreign {
        let refused = io::Error::other("not a directory of ours; remove it or choose another");
        return Err(refused).at("use", dir);
    }
    Ok(())
}

/// Resolves links and `..`.
///
/// # Errors
/// When the path does not exist or cannot be read; names it.
#[expect(clippy::disallowed_methods, reason = "this is the one place that adds the path")]
pub fn canonical(path: &Path) -> Result<PathBuf, PathError> {
    fs::canonicalize(path).at("open", path)
}

/// Returns our effective user id; 0 where the platform has none.
pub fn effective_uid() -> u32 {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    return 0;
}

/// Returns the owner of a file, where the platform has owners.
pub fn owner(meta: &fs::Metadata) -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::MetadataExt::uid(meta));
    #[cfg(not(unix))]
    {
        let _ = meta;
        None
    }
}

fn check_owner(path: &Path, env: &Env) -> Result<(), LocateError> {
    let meta = fs::metadata(path).at("look at", path)?;
    match owner(&meta) {
        Some(owner) if owner != env.uid => {
            Err(LocateError::NotOwner { path: path.to_owned(), owner, us: env.uid })
        }
        _ => Ok(()),
    }
}

/// Returns what `stat` says of a path; `None` only where it is known that nothing is there.
fn look_at(
    path: &Path,
    stat: impl FnOnce(&Path) -> io::Result<fs::Metadata>,
) -> Result<Option<fs::Metadata>, PathError> {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    match stat(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory | InvalidFilename) => Ok(None),
        Err(error) => Err(error).at("look at", path),
    }
}

fn is_dir(path: &Path) -> Result<bool, PathError> {
    Ok(look_at(path, |path| fs::metadata(path))?.is_some_and(|meta| meta.is_dir()))
}

/// What every git dir of a main worktree has.
const GIT_DIR_PARTS: [&str; 3] = ["HEAD", "objects", "refs"];

fn looks_like_git_dir(dir: &Path) -> Result<bool, PathError> {
    let is_there = |name: &str| Ok(look_at(&dir.join(name), |path| fs::symlink_metadata(path))?.is_some());
    Ok(is_there("HEAD")?
        && (is_there("commondir")? || (is_dir(&dir.join("objects"))? && is_dir(&dir.join("refs"))?)))
}

/// Refuses what was a repository once: its files would count as if they were outside git.
fn check_unused(git_dir: &Path) -> Result<(), LocateError> {
    let [here, missing]: [Vec<_>; 2] = [true, false]
        .map(|there| GIT_DIR_PARTS.into_iter().filter(|part| git_dir.join(part).exists() == there).collect());
    if here.is_empty() {
        return Ok(());
    }
    let reason = format!("a broken git directory, without {}", missing.join(" and "));
    Err(LocateError::BrokenGit { path: git_dir.to_owned(), reason })
}

/// Reads `gitdir: <path>`, as gitrepository-layout(5) has it.
fn read_gitdir_file(dot_git: &Path) -> Result<PathBuf, LocateError> {
    let broken = |reason: String| LocateError::BrokenGit { path: dot_git.to_owned(), reason };
    let text = fs::read_to_string(dot_git).at("read", dot_git)?;
    let target = text
        .strip_prefix("gitdir: ")
        .map(|rest| rest.trim_end_matches(['\n', '\r']))
        .ok_or_else(|| broken("not a git directory and not a `gitdir:` file".to_owned()))?;
    let git_dir = dot_git.parent().unwrap_or(Path::new("/")).join(target);
    if !git_dir.is_dir() {
        return Err(broken(format!("leads to {}, which does not exist", git_dir.display())));
    }
    Ok(git_dir)
}

fn place_id(path: &Path) -> String {
    let hash = blake3::hash(path.as_os_str().as_encoded_bytes());
    hash.to_hex()[..16].to_owned()
}

/// Returns `preferred`, or the user's state directory where that cannot be written.
fn writable_or_home(preferred: PathBuf, id: &str, env: &Env) -> PathBuf {
    let probe = if preferred.exists() { Some(preferred.as_path()) } else { preferred.parent() };
    if probe.is_some_and(may_write) { preferred } else { env.state_home().join("memod").join(id) }
}

/// Returns whether something may be made in a directory.
pub fn may_write(dir: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    return fs::metadata(dir).is_ok_and(|meta| !meta.permissions().readonly());
}
