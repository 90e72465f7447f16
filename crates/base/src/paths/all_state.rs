//! Finds and removes all state that memod has stored for a repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::locate::request_file_of_dir;
use super::{
    DOORBELL_FILE_NAME, Env, IoContext, PathError, RepoLayout, STATE_DIR, create_private_dir, read_regular,
    sync_file,
};

/// Name of the database of memories. It is removed after the backups from which it could be restored.
const MEMORY_DB_NAME: &str = "memory.db";
/// Name of the directory with the backups of memory.db.
const BACKUPS_DIR_NAME: &str = "backups";
/// Prefix of the names of damaged databases of memories.
const DAMAGED_DB_PREFIX: &str = "memory.db.damaged-";

impl RepoLayout {
    /// Returns the existing directories with state of this repository, including those of linked worktrees.
    pub fn all_state_dirs(&self, env: &Env) -> Vec<PathBuf> {
        if self.git_dir.is_none() && self.existing_request_file(env).is_none() {
            return Vec::new(); // no index was requested, so a `.memo` in it is not ours
        }
        let mut dirs = vec![self.state_dir.clone()];
        dirs.extend(self.other_state_dirs(env).into_iter().map(|other| other.dir));
        dirs.extend(self.linked_git_dirs().map(|git_dir| git_dir.join(STATE_DIR)));
        dirs.retain(|dir| is_dir(dir));
        dirs
    }

    /// Returns the top directories of the repository's worktrees that exist.
    pub fn existing_worktree_roots(&self) -> Vec<PathBuf> {
        let main = self.common_dir.as_ref().filter(|dir| dir.ends_with(".git")).and_then(|dir| dir.parent());
        let linked = self.linked_git_dirs().filter_map(|git_dir| {
            let dot_git = read_regular(&git_dir.join("gitdir")).ok()?;
            let dot_git = String::from_utf8(dot_git).ok()?;
            Path::new(dot_git.trim_end_matches(['\n', '\r'])).parent().map(Path::to_owned)
        });
        main.map(Path::to_owned).into_iter().chain(linked).filter(|root| root.is_dir()).collect()
    }

    /// Returns the file that records that an index of this directory was requested while it was outside git; `None` if there is
    /// no such file.
    pub fn existing_request_file(&self, env: &Env) -> Option<PathBuf> {
        Some(request_file_of_dir(&self.root, env)).filter(|file| file.is_file())
    }

    /// Returns the git hooks and the git configuration file of this repository that name our doorbell file. Hooks in another
    /// directory (`core.hooksPath`) are not found.
    pub fn find_doorbell_users(&self) -> Vec<PathBuf> {
        let Some(common_dir) = &self.common_dir else { return Vec::new() };
        let files = list_entries(&common_dir.join("hooks")).chain([common_dir.join("config")]);
        let doorbell = format!("{STATE_DIR}/cookies/{DOORBELL_FILE_NAME}");
        let names_it = |text: Vec<u8>| text.windows(doorbell.len()).any(|part| part == doorbell.as_bytes());
        files.filter(|file| read_regular(file).is_ok_and(names_it)).collect()
    }

    /// Returns the git dirs of the linked worktrees.
    fn linked_git_dirs(&self) -> impl Iterator<Item = PathBuf> + use<> {
        self.common_dir.as_ref().map(|dir| list_entries(&dir.join("worktrees"))).into_iter().flatten()
    }
}

/// Returns the paths of the entries of a directory; none if the directory cannot be read.
fn list_entries(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Returns whether the path is a directory, and not a link to a directory.
fn is_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// Returns the first path that does not exist.
///
/// # Panics
/// When all paths exist; callers pass an endless iterator.
pub fn find_unused_path(mut paths: impl Iterator<Item = PathBuf>) -> PathBuf {
    paths.find(|path| fs::symlink_metadata(path).is_err()).expect("endless numbers have a free one")
}

/// Returns whether a state dir has a database of memories, or backups from which one could be restored.
pub fn may_have_memories(state_dir: &Path) -> bool {
    state_dir.join(MEMORY_DB_NAME).exists() || state_dir.join(BACKUPS_DIR_NAME).is_dir()
}

/// Returns the files of a state dir that may have memories which an export lacks: damaged databases, backups that somebody
/// requested, and backups of databases that were replaced or reset.
pub fn find_files_to_keep(state_dir: &Path) -> Vec<PathBuf> {
    let mut files = list_matching_files(state_dir, |name| name.starts_with(DAMAGED_DB_PREFIX));
    files.extend(list_matching_files(&state_dir.join(BACKUPS_DIR_NAME), |name| {
        ["-asked", "-agent", "-replaced", "-reset"].iter().any(|label| name.contains(label))
    }));
    files
}

/// Returns the entries of a directory whose name `is_wanted` accepts, sorted.
fn list_matching_files(dir: &Path, is_wanted: fn(&str) -> bool) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = list_entries(dir)
        .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_wanted))
        .collect();
    files.sort();
    files
}

/// Moves files into a directory, which is created with mode 0700 if it is missing. Copies a file that cannot be renamed, such as
/// one on another file system. A file whose name is taken gets a number before its name.
///
/// # Errors
/// When the directory cannot be created or a file cannot be moved; the files before it are moved then.
pub fn move_files(files: &[PathBuf], dir: &Path) -> Result<(), PathError> {
    create_private_dir(dir)?;
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let to = find_unused_path((0..).map(|number: u32| match number {
            0 => dir.join(&*name),
            number => dir.join(format!("{number}-{name}")),
        }));
        let moved = fs::rename(file, &to).or_else(|_| fs::copy(file, &to).and_then(|_| sync_file(&to)));
        moved.at("move", file)?;
    }
    Ok(())
}

/// Removes a state dir. The database of memories is removed after its backups, so that it can still be read if the process is
/// killed in between. The locks are removed last, because a daemon can start without them; what such a daemon creates stays.
///
/// # Errors
/// When the directory cannot be listed, or something in it cannot be removed.
pub fn remove_state_dir(dir: &Path) -> Result<(), PathError> {
    let entries = fs::read_dir(dir).at("list", dir)?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    // The database goes before its write-ahead log: the log is useless alone, but the database is incomplete without it.
    paths.sort_by_key(|path| match path.file_name().and_then(|name| name.to_str()) {
        Some(MEMORY_DB_NAME) => 1,
        Some(name) if name.starts_with(MEMORY_DB_NAME) => 2,
        Some(name) if name.ends_with(".lock") => 3,
        _ => 0,
    });
    for path in &paths {
        let removed = if is_dir(path) { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        ignore_not_found(removed).at("remove", path)?;
    }
    match fs::remove_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => ignore_not_found(removed).at("remove", dir),
    }
}

/// Turns the error of a missing file into success.
fn ignore_not_found(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_dir_goes_with_all_that_is_in_it() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("memo");
        for name in ["backups/2", "cookies"] {
            fs::create_dir_all(dir.join(name)).unwrap();
        }
        for name in ["memory.db", "memory.db-wal", "index.db", "backups/2/memory.db", ".gitignore"] {
            fs::write(dir.join(name), "").unwrap();
        }
        assert!(may_have_memories(&dir));
        remove_state_dir(&dir).unwrap();
        assert!(!dir.exists() && !may_have_memories(&dir));
        assert!(remove_state_dir(&dir).unwrap_err().is_absent());
    }
}
