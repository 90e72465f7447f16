//! Finds the worktree around a directory.
//!
//! This needs only `lstat` and two small files of git, so that the client does not need gix.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::safe_directory::is_safe_directory;
use super::state_owner::{belongs_to_other_repository, dir_identity_text};
use super::{
    Env, IoContext, PLAIN_STATE_DIR, PathError, RepoLayout, STATE_DIR, STATE_GITIGNORE_TEXT,
    canonicalize_path, create_private_dir, is_read_only, owner_uid, read_file, read_regular,
};

/// Why a directory cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// The directory cannot be read.
    #[error(transparent)]
    Io(#[from] PathError),
    /// The path is a file.
    #[error("{}: not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// A bare repository, or the inside of a `.git`.
    #[error("{}: a git directory, not a worktree", .0.display())]
    GitDir(PathBuf),
    /// A broken repository: `.git` leads nowhere, or a part of the git dir is missing.
    #[error("{}: {reason}", path.display())]
    BrokenGit {
        /// The `.git`, or the git dir.
        path: PathBuf,
        /// The fault in it.
        reason: String,
    },
    /// The directory belongs to another user, and git's `safe.directory` does not name it.
    #[error("{}: owned by uid {owner}, not by us (uid {us})", path.display())]
    NotOwner {
        /// The git dir or the directory.
        path: PathBuf,
        /// The top of the worktree that `safe.directory` can name; `None` outside git.
        root: Option<PathBuf>,
        /// The uid of its owner.
        owner: u32,
        /// Our effective uid.
        us: u32,
    },
    /// Outside git, and no index was requested here.
    #[error("{}: not in a git repository, and not indexed", .0.display())]
    NotIndexed(PathBuf),
    /// A `.memo` directory that we did not create.
    #[error("{}: was not created by memo", .0.display())]
    ForeignStateDir(PathBuf),
    /// The root of the file system or the home directory, outside git.
    #[error("{}: too large to index outside a git repository", .0.display())]
    HomeOrRoot(PathBuf),
}

impl RepoLayout {
    /// Finds the worktree around `start`: the nearest directory with a `.git`.
    ///
    /// Outside git the root is the nearest directory for which `memo init` has requested an index.
    ///
    /// # Errors
    /// When `start` is in no worktree and no indexed directory, or cannot be read, or belongs to another user. Nothing was created.
    pub fn locate(start: &Path, env: &Env) -> Result<Self, LocateError> {
        Self::locate_git_or_else(&canonicalize_path(start)?, env, |start| {
            Self::find_layout_outside_git(start, env)
        })
    }

    /// As [`Self::locate`], but outside git `start` itself is the root if no directory around it has an index.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn locate_or_assume_root(start: &Path, env: &Env) -> Result<Self, LocateError> {
        Self::locate_git_or_else(
            &canonicalize_path(start)?,
            env,
            |start| match Self::find_layout_outside_git(start, env) {
                Err(LocateError::NotIndexed(root)) => Self::layout_outside_git(&root, env),
                found => found,
            },
        )
    }

    /// Records that this directory outside git is to be indexed, and creates its state dir.
    ///
    /// # Errors
    /// When the directory has a `.memo` that we did not create, or a file cannot be written.
    pub fn request_index_outside_git(&self, env: &Env) -> Result<(), LocateError> {
        let request_file = request_file_of_id(&self.id, env);
        if !request_file.is_file() && is_foreign_state_dir(&self.state_dir)? {
            return Err(LocateError::ForeignStateDir(self.state_dir.clone()));
        }
        self.create_state_dir()?;
        let dir = request_file.parent().unwrap_or(Path::new("/"));
        create_private_dir(dir)?;
        let root = self.root.as_os_str().as_encoded_bytes();
        Ok(fs::write(&request_file, root).at("write", &request_file)?)
    }

    /// Returns the layout of the worktree around `start`, or what `outside` returns if `start` is outside git.
    fn locate_git_or_else(
        start: &Path,
        env: &Env,
        outside: impl FnOnce(&Path) -> Result<Self, LocateError>,
    ) -> Result<Self, LocateError> {
        if !fs::metadata(start).at("look at", start)?.is_dir() {
            return Err(LocateError::NotADirectory(start.to_owned()));
        }
        for dir in start.ancestors() {
            let dot_git = dir.join(".git");
            if let Some(meta) = stat_if_exists(&dot_git, |path| fs::symlink_metadata(path))? {
                // A link to a directory counts as well.
                let is_dir = meta.is_dir() || is_dir(&dot_git)?;
                let git_dir = if is_dir { dot_git } else { read_gitdir_file(&dot_git)? };
                if is_dir && !looks_like_git_dir(&git_dir)? {
                    check_not_broken_repo(&git_dir)?;
                    continue; // as git does: an empty `.git` directory is not a repository
                }
                return Self::layout_in_git(dir, &git_dir, env);
            }
            if looks_like_git_dir(dir)? {
                return Err(LocateError::GitDir(dir.to_owned()));
            }
        }
        outside(start)
    }

    /// Returns the layout of a worktree with these top directory and git dir.
    fn layout_in_git(root: &Path, git_dir: &Path, env: &Env) -> Result<Self, LocateError> {
        let git_dir = canonicalize_path(git_dir)?;
        let common_file = git_dir.join("commondir");
        let common_dir = match read_regular(&common_file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => git_dir.clone(),
            read => {
                let bytes = read.at("read", &common_file)?;
                let text = String::from_utf8_lossy(&bytes);
                canonicalize_path(&git_dir.join(text.trim_end_matches(['\n', '\r'])))?
            }
        };
        if !is_dir(&common_dir.join("objects"))? {
            let reason = "has no objects directory; the repository is broken or was moved".to_owned();
            return Err(LocateError::BrokenGit { path: common_dir, reason });
        }
        // As git does since 2.35.2: refuse a repository that belongs to another user, unless the user's settings call it safe.
        let owned =
            [root, &git_dir, &common_dir].into_iter().try_for_each(|dir| check_git_owner(dir, root, env));
        let home = env.home.as_deref();
        owned.or_else(|refused| if is_safe_directory(root, home) { Ok(()) } else { Err(refused) })?;
        let id = path_id(&common_dir);
        let state_dir = match check_owner(&common_dir, None, env) {
            Ok(()) => choose_state_dir(common_dir.join(STATE_DIR), (&id, &common_dir), env),
            // In the common dir of another user, that user could neither read nor remove our files.
            Err(_) => state_dir_in_home(&id, &common_dir, env),
        };
        let root = root.to_owned();
        Ok(Self { root, git_dir: Some(git_dir), common_dir: Some(common_dir), state_dir, id })
    }

    /// Returns the layout of the nearest indexed directory outside git.
    fn find_layout_outside_git(start: &Path, env: &Env) -> Result<Self, LocateError> {
        match start
            .ancestors()
            .find(|dir| !is_home_or_root(dir, env) && !list_state_dirs_of_plain_dir(dir, env).is_empty())
        {
            Some(root) => Self::layout_outside_git(root, env),
            None if is_home_or_root(start, env) => Err(LocateError::HomeOrRoot(start.to_owned())),
            None => Err(LocateError::NotIndexed(start.to_owned())),
        }
    }

    /// Returns the layout of a directory outside git, whether or not it is indexed.
    fn layout_outside_git(root: &Path, env: &Env) -> Result<Self, LocateError> {
        check_owner(root, None, env)?;
        let id = path_id(root);
        let state_dir = choose_state_dir(root.join(PLAIN_STATE_DIR), (&id, root), env);
        Ok(Self { root: root.to_owned(), git_dir: None, common_dir: None, state_dir, id })
    }
}

/// Returns the existing state dirs of a directory outside git; none if this user has not requested an index of it.
pub(super) fn list_state_dirs_of_plain_dir(dir: &Path, env: &Env) -> Vec<PathBuf> {
    let id = path_id(dir);
    if !request_file_of_id(&id, env).is_file() {
        return Vec::new(); // so most directories need only one system call
    }
    let mut states = vec![dir.join(PLAIN_STATE_DIR), state_dir_in_home(&id, dir, env)];
    states.retain(|state| fs::symlink_metadata(state).is_ok_and(|meta| meta.is_dir()));
    states
}

/// Returns the directories outside git for which this user has requested an index.
pub(super) fn requested_dirs_outside_git(env: &Env) -> Vec<PathBuf> {
    let files = fs::read_dir(request_file_of_id("", env)).into_iter().flatten().flatten();
    files.filter_map(|file| path_from_bytes(read_regular(&file.path()).ok()?)).collect()
}

/// Converts bytes that `as_encoded_bytes` returned into a path; `None` if they are not valid on this platform.
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
        .map(|path: std::ffi::OsString| path.into());
    #[cfg(not(unix))]
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Returns the file that records that an index of a directory outside git was requested. The file is in the user's state
/// directory, because a `.memo` in the directory itself may come from an archive or belong to another tool.
pub(super) fn request_file_of_dir(root: &Path, env: &Env) -> PathBuf {
    request_file_of_id(&path_id(root), env)
}

/// Returns the file that records the request of an index for the directory with this id.
fn request_file_of_id(id: &str, env: &Env) -> PathBuf {
    env.state_home().join("memod").join("asked-for").join(id)
}

/// Returns whether a state dir has files, but not our `.gitignore`.
fn is_foreign_state_dir(state_dir: &Path) -> Result<bool, PathError> {
    if stat_if_exists(state_dir, |path| fs::symlink_metadata(path))?.is_none() {
        return Ok(false);
    }
    let is_empty = fs::read_dir(state_dir).at("list", state_dir)?.next().is_none();
    let is_ours = read_file(&state_dir.join(".gitignore")).is_ok_and(|text| text == STATE_GITIGNORE_TEXT);
    Ok(!is_empty && !is_ours)
}

/// Returns whether a directory is the root of a file system or the home directory, which are too large to index.
fn is_home_or_root(dir: &Path, env: &Env) -> bool {
    let home = env.home.as_deref().and_then(|home| canonicalize_path(home).ok());
    dir.parent().is_none() || home.as_deref() == Some(dir)
}

/// Returns an error if a path of the repository around `root` belongs to another user. For root that is not the user who called
/// `sudo`, as for git.
fn check_git_owner(path: &Path, root: &Path, env: &Env) -> Result<(), LocateError> {
    match check_owner(path, Some(root), env) {
        Err(LocateError::NotOwner { owner, us: 0, .. }) if env.sudo_uid == Some(owner) => Ok(()),
        checked => checked,
    }
}

/// Returns an error if a path belongs to another user.
fn check_owner(path: &Path, root: Option<&Path>, env: &Env) -> Result<(), LocateError> {
    let meta = fs::metadata(path).at("look at", path)?;
    match owner_uid(&meta) {
        Some(owner) if owner != env.uid => {
            let (path, root) = (path.to_owned(), root.map(Path::to_owned));
            Err(LocateError::NotOwner { path, root, owner, us: env.uid })
        }
        _ => Ok(()),
    }
}

/// Returns the metadata that `stat` reads; `None` only if the path certainly does not exist.
fn stat_if_exists(
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
    Ok(stat_if_exists(path, |path| fs::metadata(path))?.is_some_and(|meta| meta.is_dir()))
}

/// Returns whether something is at the path, be it a broken link.
fn path_exists(path: &Path) -> Result<bool, PathError> {
    Ok(stat_if_exists(path, |path| fs::symlink_metadata(path))?.is_some())
}

/// The entries that the git dir of every main worktree has.
const GIT_DIR_ENTRIES: [&str; 3] = ["HEAD", "objects", "refs"];

fn looks_like_git_dir(dir: &Path) -> Result<bool, PathError> {
    Ok(path_exists(&dir.join("HEAD"))?
        && (path_exists(&dir.join("commondir"))?
            || (is_dir(&dir.join("objects"))? && is_dir(&dir.join("refs"))?)))
}

/// Returns an error if a `.git` directory is a broken repository and not an empty directory, because its worktree would otherwise
/// count as outside git.
fn check_not_broken_repo(git_dir: &Path) -> Result<(), LocateError> {
    let [here, missing]: [Vec<_>; 2] = [true, false].map(|there| {
        GIT_DIR_ENTRIES.into_iter().filter(|part| git_dir.join(part).exists() == there).collect()
    });
    if here.is_empty() {
        return Ok(());
    }
    let reason = format!("a broken git directory, without {}", missing.join(" and "));
    Err(LocateError::BrokenGit { path: git_dir.to_owned(), reason })
}

/// Returns the git dir that a `.git` file names as `gitdir: <path>`, see gitrepository-layout(5).
fn read_gitdir_file(dot_git: &Path) -> Result<PathBuf, LocateError> {
    let bytes = read_regular(dot_git).at("read", dot_git)?;
    let text = String::from_utf8(bytes).unwrap_or_default();
    let target =
        text.strip_prefix("gitdir: ").map(|rest| rest.trim_end_matches(['\n', '\r'])).ok_or_else(|| {
            broken_git_error(dot_git, "not a git directory and not a `gitdir:` file".to_owned())
        })?;
    let git_dir = dot_git.parent().unwrap_or(Path::new("/")).join(target);
    if !git_dir.is_dir() {
        return Err(broken_git_error(
            dot_git,
            format!("leads to {}, which does not exist", git_dir.display()),
        ));
    }
    Ok(git_dir)
}

fn broken_git_error(dot_git: &Path, reason: String) -> LocateError {
    LocateError::BrokenGit { path: dot_git.to_owned(), reason }
}

/// Returns 16 hex digits that identify a path.
fn path_id(path: &Path) -> String {
    let hash = blake3::hash(path.as_os_str().as_encoded_bytes());
    hash.to_hex()[..16].to_owned()
}

/// Longest path of a state dir, bytes: SQLite opens no path of more than 512, and the longest name in the state dir has some 60.
const MAX_STATE_DIR: usize = 440;

/// Returns `preferred`, or else a state dir in the user's state directory if `preferred` is not writable or too long a path for
/// SQLite.
fn choose_state_dir(preferred: PathBuf, (id, top): (&str, &Path), env: &Env) -> PathBuf {
    // A file or link in the place of `preferred` does not move the state elsewhere: creating the directory fails then.
    let probe = if preferred.is_dir() { Some(preferred.as_path()) } else { preferred.parent() };
    if preferred.as_os_str().len() <= MAX_STATE_DIR && !probe.is_some_and(is_read_only) {
        preferred
    } else {
        state_dir_in_home(id, top, env)
    }
}

/// Returns the state dir in the user's state directory. Its name is the id of the path `top`. If that state dir belongs to another
/// repository, which had this path before, the name also has the inode and creation time of `top`.
fn state_dir_in_home(id: &str, top: &Path, env: &Env) -> PathBuf {
    let homes = env.state_home().join("memod");
    let of_path = homes.join(id);
    match dir_identity_text(top).filter(|_| belongs_to_other_repository(&of_path, top)) {
        Some(identity) => homes.join(format!("{id}-{identity}")),
        None => of_path,
    }
}
