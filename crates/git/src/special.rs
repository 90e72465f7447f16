//! Refuses special files, such as FIFOs, in the places of git's files before gix opens them.
//!
//! Opening a FIFO in the place of a ref, a pack or a list of alternates waits for a writer that may never come.

use std::fs;
use std::path::Path;

use memod_base::paths::may_block_when_opened;

use crate::git_error::GitError;

/// Places below a git directory where gix looks for a ref; `*` is the name of the ref. See gitrevisions(7).
const REF_PLACES: [&str; 6] =
    ["*", "refs/*", "refs/tags/*", "refs/heads/*", "refs/remotes/*", "refs/remotes/*/HEAD"];

/// Returns an error if opening a path may block, because it is a special file.
pub(super) fn refuse_special_file(path: &Path) -> Result<(), GitError> {
    if may_block_when_opened(path) { Err(GitError::NotAFile { path: path.to_owned() }) } else { Ok(()) }
}

/// Returns an error if a special file is where a ref of this name may be stored.
pub(super) fn refuse_special_ref(git_dir: &Path, common_dir: &Path, name: &str) -> Result<(), GitError> {
    let name = name.strip_prefix("main-worktree/").unwrap_or(name);
    for dir in [git_dir, common_dir] {
        for place in REF_PLACES {
            refuse_special_file(&dir.join(place.replace('*', name)))?;
        }
    }
    refuse_special_file(&common_dir.join("packed-refs"))
}

/// Returns an error if a special file is in the place of the second part of a split index.
pub(super) fn refuse_special_index(index: &Path) -> Result<(), GitError> {
    let dir = index.parent().unwrap_or(Path::new("/"));
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(is_shared_index).try_for_each(|entry| refuse_special_file(&entry.path()))
}

/// Returns whether a file is a part of a split index.
fn is_shared_index(entry: &fs::DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b"sharedindex.")
}
