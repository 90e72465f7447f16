//! Reads the file that git hooks append to.
//!
//! The doorbell only says that git changed something, never what. It is a file that hooks append to, which they do
//! only where it is; so a worktree that no daemon has served has none.

use std::fs::{File, metadata, remove_file};
use std::path::Path;

use super::lock::private_file;
use crate::paths::RepoLayout;

/// Makes the doorbell of a worktree, and beside it the mark without which no hook starts a daemon.
pub(super) fn hang(layout: &RepoLayout, autostart: bool) {
    let Some(doorbell) = layout.doorbell_file() else { return };
    let mark = doorbell.with_file_name("autostart");
    let hung =
        private_file(&doorbell).and_then(|_| if autostart { private_file(&mark).map(drop) } else { Ok(()) });
    if !autostart {
        let _ = remove_file(&mark); // it is seldom there
    }
    match hung {
        Ok(()) => drop(has_rung(&doorbell)),
        Err(error) => tracing::warn!(path = %doorbell.display(), %error, "git's hooks cannot ring"),
    }
}

/// Returns whether somebody rang, and empties the file, so that it does not grow for ever.
///
/// Emptying it is a change as well, and so is closing it; then nobody rang. A hook that appends between the look and
/// the emptying is served by the reconcile that this call leads to, which begins later.
pub(super) fn has_rung(doorbell: &Path) -> bool {
    let rung = metadata(doorbell).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    if rung && let Err(error) = File::options().write(true).truncate(true).open(doorbell) {
        tracing::warn!(path = %doorbell.display(), %error, "the doorbell cannot be emptied");
    }
    rung
}
