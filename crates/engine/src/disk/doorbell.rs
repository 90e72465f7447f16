//! Creates and checks the doorbell: the file to which git hooks append after git has changed something.
//!
//! The doorbell says only that git changed something, not what. Hooks append to it only if it exists, so they do nothing in a
//! worktree that no daemon has served.

use std::fs::{File, metadata, remove_file};
use std::path::Path;

use memod_base::paths::RepoLayout;
use memod_base::paths::open_private_file;

/// Creates the doorbell of a worktree. With `autostart` also creates the marker next to it that allows hooks to start a daemon;
/// otherwise removes that marker.
pub(super) fn create_doorbell(layout: &RepoLayout, autostart: bool) {
    let Some(doorbell) = layout.doorbell_file() else { return };
    let mark = doorbell.with_file_name("autostart");
    let hung = open_private_file(&doorbell)
        .and_then(|_| if autostart { open_private_file(&mark).map(drop) } else { Ok(()) });
    if !autostart {
        let _ = remove_file(&mark); // the marker rarely exists
    }
    match hung {
        Ok(()) => drop(take_doorbell_ring(&doorbell)),
        Err(error) => {
            tracing::warn!(path = %doorbell.display(), %error, "cannot create the doorbell for git's hooks");
        }
    }
}

/// Returns whether a hook has appended to the doorbell, and truncates the file so that it does not grow.
///
/// Truncating and closing the file cause change events too, but the next check finds the file empty. If a hook appends between
/// reading and truncating, the reconcile that this call causes begins later and covers that change.
pub(super) fn take_doorbell_ring(doorbell: &Path) -> bool {
    let rung = metadata(doorbell).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    if rung && let Err(error) = File::options().write(true).truncate(true).open(doorbell) {
        tracing::warn!(path = %doorbell.display(), %error, "cannot truncate the doorbell");
    }
    rung
}
