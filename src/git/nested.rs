//! Detects repositories and worktrees below a directory.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns whether `dir/.git` makes `dir` the top of a worktree, as git decides it: an empty `.git` or a `.git` file
/// that leads nowhere does not.
///
/// A `.git` that exists and cannot be read does: better to leave a repository alone than to mix it with another.
pub fn is_repository(dir: &Path) -> bool {
    let dot_git = dir.join(".git");
    let Ok(meta) = fs::symlink_metadata(&dot_git) else {
        return false;
    };
    if meta.is_file() {
        return gitfile_leads_to_git_dir(dir, &dot_git);
    }
    (meta.is_dir() || meta.is_symlink()) && is_git_dir(&dot_git)
}

/// Follows `gitdir: <path>`, see gitrepository-layout(5).
fn gitfile_leads_to_git_dir(dir: &Path, gitfile: &Path) -> bool {
    let Ok(bytes) = fs::read(gitfile) else {
        return true;
    };
    let text = String::from_utf8_lossy(&bytes);
    let target =
        text.strip_prefix("gitdir:").map(|rest| rest.trim_start_matches(' ').trim_end_matches(['\n', '\r']));
    target.is_some_and(|target| !target.is_empty() && is_git_dir(&dir.join(target)))
}

fn is_git_dir(dir: &Path) -> bool {
    let common_dir = common_dir(dir);
    let has_head = fs::symlink_metadata(dir.join("HEAD")).is_ok_and(|meta| !meta.is_dir());
    has_head && common_dir.join("objects").is_dir() && common_dir.join("refs").is_dir()
}

fn common_dir(git_dir: &Path) -> PathBuf {
    fs::read_to_string(git_dir.join("commondir"))
        .map_or_else(|_| git_dir.to_owned(), |text| git_dir.join(text.trim_end_matches(['\n', '\r'])))
}
