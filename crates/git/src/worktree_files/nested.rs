//! Detects repositories and worktrees below a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memod_base::paths::{none_if_unreadable, read_regular};

/// Returns whether `dir/.git` makes `dir` the top of a worktree, by git's rules: an empty `.git` or a `.git` file that leads
/// nowhere does not.
///
/// An unreadable `.git` counts too, because leaving out a repository is better than mixing it with another.
///
/// # Errors
/// When a file cannot be read at the moment.
pub fn is_repository(dir: &Path) -> io::Result<bool> {
    let dot_git = dir.join(".git");
    let Some(meta) = none_if_unreadable(fs::symlink_metadata(&dot_git))? else {
        return Ok(false);
    };
    if meta.is_file() {
        return gitfile_leads_to_git_dir(dir, &dot_git);
    }
    Ok((meta.is_dir() || meta.is_symlink()) && is_git_dir(&dot_git)?)
}

/// Returns whether a `.git` file leads to a git directory by its line `gitdir: <path>`; see gitrepository-layout(5).
fn gitfile_leads_to_git_dir(dir: &Path, gitfile: &Path) -> io::Result<bool> {
    let Some(bytes) = none_if_unreadable(read_regular(gitfile))? else {
        return Ok(true);
    };
    let text = String::from_utf8_lossy(&bytes);
    let target =
        text.strip_prefix("gitdir:").map(|rest| rest.trim_start_matches(' ').trim_end_matches(['\n', '\r']));
    match target {
        Some(target) if !target.is_empty() => is_git_dir(&dir.join(target)),
        _ => Ok(false),
    }
}

fn is_git_dir(dir: &Path) -> io::Result<bool> {
    let common_dir = find_common_dir(dir)?;
    let has_head =
        none_if_unreadable(fs::symlink_metadata(dir.join("HEAD")))?.is_some_and(|meta| !meta.is_dir());
    Ok(has_head && is_dir(&common_dir.join("objects"))? && is_dir(&common_dir.join("refs"))?)
}

/// Returns whether there is a directory at a path.
fn is_dir(path: &Path) -> io::Result<bool> {
    Ok(none_if_unreadable(fs::metadata(path))?.is_some_and(|meta| meta.is_dir()))
}

/// Returns the directory that the worktrees of a repository share.
fn find_common_dir(git_dir: &Path) -> io::Result<PathBuf> {
    let bytes = none_if_unreadable(read_regular(&git_dir.join("commondir")))?;
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(text.map_or_else(|| git_dir.to_owned(), |text| git_dir.join(text.trim_end_matches(['\n', '\r']))))
}
