//! Finds the worktree around a directory.
//!
//! Needs only `lstat` and two small files of git, so that the client can use it without gix.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::state_owner::{identity_name, is_of_another};
use super::{
    Env, IoContext, PLAIN_STATE_DIR, PathError, RepoLayout, STATE_DIR, STATE_IGNORE, canonical,
    create_private_dir, is_read_only, owner, read_file, read_regular,
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
    /// `.git` exists but leads nowhere.
    #[error("{}: {reason}", path.display())]
    BrokenGit {
        /// The `.git` or the file inside it.
        path: PathBuf,
        /// The fault in it.
        reason: String,
    },
    /// The directory belongs to another user.
    #[error("{}: owned by uid {owner}, not by us (uid {us})", path.display())]
    NotOwner {
        /// The git dir or the directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Our effective uid.
        us: u32,
    },
    /// Outside git, and no index was requested here.
    #[error("{}: not in a git repository, and not indexed", .0.display())]
    NotIndexed(PathBuf),
    /// A directory of the name of ours that is not ours.
    #[error("{}: not made by memo", .0.display())]
    Foreign(PathBuf),
    /// The root of the file system or the home directory, outside git.
    #[error("{}: too large to index outside a git repository", .0.display())]
    TooWide(PathBuf),
}

impl RepoLayout {
    /// Finds the worktree around `start` by walking up to `.git`.
    ///
    /// Outside git the root is the nearest directory that has an index of its own, created by `memo init`.
    ///
    /// # Errors
    /// When `start` cannot be served; nothing was created.
    pub fn locate(start: &Path, env: &Env) -> Result<Self, LocateError> {
        Self::locate_around(&canonical(start)?, env, |start| Self::outside_git(start, env))
    }

    /// As [`Self::locate`], but outside git `start` itself is the root where no directory around it has an index.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn locate_new(start: &Path, env: &Env) -> Result<Self, LocateError> {
        Self::locate_around(&canonical(start)?, env, |start| match Self::outside_git(start, env) {
            Err(LocateError::NotIndexed(root)) => Self::outside_repository(&root, env),
            found => found,
        })
    }

    /// Remembers that a directory outside git is to be indexed, and creates its state dir.
    ///
    /// # Errors
    /// When a `.memo` of another tool is there, or a file cannot be written.
    pub fn begin_plain(&self, env: &Env) -> Result<(), LocateError> {
        let request_file = request_file(&self.id, env);
        if !request_file.is_file() && is_foreign(&self.state_dir)? {
            return Err(LocateError::Foreign(self.state_dir.clone()));
        }
        self.create_state_dir()?;
        let dir = request_file.parent().unwrap_or(Path::new("/"));
        create_private_dir(dir)?;
        let root = self.root.as_os_str().as_encoded_bytes();
        Ok(fs::write(&request_file, root).at("write", &request_file)?)
    }

    fn locate_around(
        start: &Path,
        env: &Env,
        outside: impl FnOnce(&Path) -> Result<Self, LocateError>,
    ) -> Result<Self, LocateError> {
        if !fs::metadata(start).at("look at", start)?.is_dir() {
            return Err(LocateError::NotADirectory(start.to_owned()));
        }
        for dir in start.ancestors() {
            let dot_git = dir.join(".git");
            if let Some(meta) = look_at(&dot_git, |path| fs::symlink_metadata(path))? {
                // Also a link to one.
                let is_dir = meta.is_dir() || is_dir(&dot_git)?;
                let git_dir = if is_dir { dot_git } else { read_gitdir_file(&dot_git)? };
                if is_dir && !looks_like_git_dir(&git_dir)? {
                    check_unused(&git_dir)?;
                    continue; // as git does: an empty `.git` directory is no repository
                }
                return Self::in_git(dir, &git_dir, env);
            }
            if looks_like_git_dir(dir)? {
                return Err(LocateError::GitDir(dir.to_owned()));
            }
        }
        outside(start)
    }

    fn in_git(root: &Path, git_dir: &Path, env: &Env) -> Result<Self, LocateError> {
        let git_dir = canonical(git_dir)?;
        let common_file = git_dir.join("commondir");
        let common_dir = match read_regular(&common_file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => git_dir.clone(),
            read => {
                let bytes = read.at("read", &common_file)?;
                let text = String::from_utf8_lossy(&bytes);
                canonical(&git_dir.join(text.trim_end_matches(['\n', '\r'])))?
            }
        };
        if !is_dir(&common_dir.join("objects"))? {
            let reason = "has no objects directory; the repository is broken or was moved".to_owned();
            return Err(LocateError::BrokenGit { path: common_dir, reason });
        }
        // Like git since 2.35.2: a worktree in another user's directory is not ours.
        for dir in [root, &git_dir, &common_dir] {
            check_owner(dir, env)?;
        }
        let id = place_id(&common_dir);
        let state_dir = usable_or_home(common_dir.join(STATE_DIR), (&id, &common_dir), env);
        let root = root.to_owned();
        Ok(Self { root, git_dir: Some(git_dir), common_dir: Some(common_dir), state_dir, id })
    }

    fn outside_git(start: &Path, env: &Env) -> Result<Self, LocateError> {
        match start.ancestors().find(|dir| !is_too_wide(dir, env) && !plain_states(dir, env).is_empty()) {
            Some(root) => Self::outside_repository(root, env),
            None if is_too_wide(start, env) => Err(LocateError::TooWide(start.to_owned())),
            None => Err(LocateError::NotIndexed(start.to_owned())),
        }
    }

    fn outside_repository(root: &Path, env: &Env) -> Result<Self, LocateError> {
        check_owner(root, env)?;
        let id = place_id(root);
        let state_dir = usable_or_home(root.join(PLAIN_STATE_DIR), (&id, root), env);
        Ok(Self { root: root.to_owned(), git_dir: None, common_dir: None, state_dir, id })
    }
}

/// Returns the state dirs of a directory outside git that are there; none if this user has not requested an index of it.
pub(super) fn plain_states(dir: &Path, env: &Env) -> Vec<PathBuf> {
    let id = place_id(dir);
    if !request_file(&id, env).is_file() {
        return Vec::new(); // most directories need no further look
    }
    let mut states = vec![dir.join(PLAIN_STATE_DIR), state_in_home(&id, dir, env)];
    states.retain(|state| fs::symlink_metadata(state).is_ok_and(|meta| meta.is_dir()));
    states
}

/// Returns the directories outside git that this user has requested an index of.
pub(super) fn all_asked_for(env: &Env) -> Vec<PathBuf> {
    let files = fs::read_dir(request_file("", env)).into_iter().flatten().flatten();
    files.filter_map(|file| path_from(read_regular(&file.path()).ok()?)).collect()
}

/// Returns the path with these encoded bytes.
fn path_from(bytes: Vec<u8>) -> Option<PathBuf> {
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
        .map(|path: std::ffi::OsString| path.into());
    #[cfg(not(unix))]
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Returns the file that remembers that a directory outside git is to be indexed. It is not in that directory, because a
/// `.memo` may come with an archive, or belong to another tool.
pub(super) fn asked_for_file(root: &Path, env: &Env) -> PathBuf {
    request_file(&place_id(root), env)
}

fn request_file(id: &str, env: &Env) -> PathBuf {
    env.state_home().join("memod").join("asked-for").join(id)
}

/// Returns whether a state dir has files, but none that identifies it as ours.
fn is_foreign(state_dir: &Path) -> Result<bool, PathError> {
    if look_at(state_dir, |path| fs::symlink_metadata(path))?.is_none() {
        return Ok(false);
    }
    let is_empty = fs::read_dir(state_dir).at("list", state_dir)?.next().is_none();
    let is_ours = read_file(&state_dir.join(".gitignore")).is_ok_and(|text| text == STATE_IGNORE);
    Ok(!is_empty && !is_ours)
}

fn is_too_wide(dir: &Path, env: &Env) -> bool {
    let home = env.home.as_deref().and_then(|home| canonical(home).ok());
    dir.parent().is_none() || home.as_deref() == Some(dir)
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

/// Returns the result of `stat`; `None` only if the path certainly does not exist.
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

fn is_present(path: &Path) -> Result<bool, PathError> {
    Ok(look_at(path, |path| fs::symlink_metadata(path))?.is_some())
}

/// The entries that every git dir of a main worktree has.
const GIT_DIR_PARTS: [&str; 3] = ["HEAD", "objects", "refs"];

fn looks_like_git_dir(dir: &Path) -> Result<bool, PathError> {
    Ok(is_present(&dir.join("HEAD"))?
        && (is_present(&dir.join("commondir"))?
            || (is_dir(&dir.join("objects"))? && is_dir(&dir.join("refs"))?)))
}

/// Refuses a broken repository, whose files would count as being outside git.
fn check_unused(git_dir: &Path) -> Result<(), LocateError> {
    let [here, missing]: [Vec<_>; 2] = [true, false]
        .map(|there| GIT_DIR_PARTS.into_iter().filter(|part| git_dir.join(part).exists() == there).collect());
    if here.is_empty() {
        return Ok(());
    }
    let reason = format!("a broken git directory, without {}", missing.join(" and "));
    Err(LocateError::BrokenGit { path: git_dir.to_owned(), reason })
}

/// Reads `gitdir: <path>`, see gitrepository-layout(5).
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

fn place_id(path: &Path) -> String {
    let hash = blake3::hash(path.as_os_str().as_encoded_bytes());
    hash.to_hex()[..16].to_owned()
}

/// Longest state dir, bytes: SQLite opens no path of more than 512, and the longest name in it has some 60.
const MAX_STATE_DIR: usize = 440;

/// Returns `preferred`, or the user's state directory if `preferred` is not writable or too long for a database.
fn usable_or_home(preferred: PathBuf, (id, top): (&str, &Path), env: &Env) -> PathBuf {
    // Anything else in its place is no reason to keep the state elsewhere, but refused when the directory is created.
    let probe = if preferred.is_dir() { Some(preferred.as_path()) } else { preferred.parent() };
    if preferred.as_os_str().len() <= MAX_STATE_DIR && !probe.is_some_and(is_read_only) {
        preferred
    } else {
        state_in_home(id, top, env)
    }
}

/// Returns the state dir in the user's state directory. Its name comes from the path of `top`, and also from the identity of that
/// directory if the state dir of the path belongs to another repository.
fn state_in_home(id: &str, top: &Path, env: &Env) -> PathBuf {
    let homes = env.state_home().join("memod");
    let of_path = homes.join(id);
    match identity_name(top).filter(|_| is_of_another(&of_path, top)) {
        Some(identity) => homes.join(format!("{id}-{identity}")),
        None => of_path,
    }
}
