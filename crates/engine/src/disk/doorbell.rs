//! Reads the file that git hooks append to.
//!
//! The doorbell says only that git changed something, not what. Hooks append to the file if it exists, so a worktree that
//! no daemon has served needs none.

use std::fs::{File, metadata, remove_file};
use std::path::Path;

use memod_base::paths::RepoLayout;
use memod_base::paths::open_private_file;

/// Creates the doorbell of a worktree, and next to it the marker that allows hooks to start a daemon.
pub(super) fn create_doorbell(layout: &RepoLayout, autostart: bool) {
    let Some(doorbell) = layout.doorbell_file() else { return };
    let mark = doorbell.with_file_name("autostart");
    let hung = open_private_file(&doorbell)
        .and_then(|_| if autostart { open_private_file(&mark).map(drop) } else { Ok(()) });
    if !autostart {
        let _ = remove_file(&mark); // it is seldom there
    }
    match hung {
        Ok(()) => drop(has_rung(&doorbell)),
        Err(error) => tracing::warn!(path = %doorbell.display(), %error, "git's hooks cannot ring"),
    }
}

/// Returns whether a hook has rung, and truncates the file so that it does not grow.
///
/// Truncating and closing the file are change events too, after which it is empty. If a hook appends between reading and
/// truncating, the reconcile that this call causes begins later and covers it.
pub(super) fn has_rung(doorbell: &Path) -> bool {
    let rung = metadata(doorbell).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    if rung && let Err(error) = File::options().write(true).truncate(true).open(doorbell) {
        tracing::warn!(path = %doorbell.display(), %error, "the doorbell cannot be emptied");
    }
    rung
}
