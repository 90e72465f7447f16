//! Determines whether a path leads into a state dir of ours, into which no command may write.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Env, RepoLayout, STATE_DIR, canonicalize_path};

/// Depth to which the files of a state dir are compared: the state dir, `backups` or `hooks`, and their subdirectories.
const MAX_DEPTH: usize = 3;

impl RepoLayout {
    /// Returns the state dir of ours into which a path leads, also through symbolic and hard links; `None` if it leads into none.
    pub fn find_own_state_dir(&self, path: &Path, env: &Env) -> Option<PathBuf> {
        let in_git_dir = self.git_dir.iter().map(|git_dir| git_dir.join(STATE_DIR));
        let others = self.other_state_dirs(env).into_iter().map(|other| other.dir);
        let dirs = [self.state_dir.clone()].into_iter().chain(others).chain(in_git_dir);
        let mut dirs = dirs.filter_map(|dir| canonicalize_path(&dir).ok());
        let real = canonicalize_path(path).ok().or_else(|| {
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(canonicalize_path(dir).ok()?.join(path.file_name()?))
        })?;
        let file = linked_file_identity(&real);
        dirs.find(|dir| real.starts_with(dir) || file.is_some_and(|file| has_hard_link(dir, file, MAX_DEPTH)))
    }
}

/// Returns whether a directory has a hard link to the file with this device and inode, up to `depth` levels deep.
fn has_hard_link(dir: &Path, file: (u64, u64), depth: usize) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => depth > 1 && has_hard_link(&entry.path(), file, depth - 1),
        Ok(kind) => kind.is_file() && linked_file_identity(&entry.path()) == Some(file),
        Err(_) => false,
    })
}

/// Returns the device and inode of a file with several hard links. `None` for any other file, which has no second name.
fn linked_file_identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let meta = fs::symlink_metadata(path).ok()?;
        (meta.is_file() && meta.nlink() > 1).then(|| (meta.dev(), meta.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}
