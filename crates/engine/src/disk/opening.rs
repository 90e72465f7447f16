//! Opens a worktree.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, sync_channel};

use memod_base::paths::{
    IoContext as _, LocateError, PathError, RepoLayout, create_private_dir_without_parents,
};
use memod_git::{Refs, UserDirs, UserFilesSnapshot};
use memod_index_db::{WorktreeKey, WorktreeRow};
use memod_proto::{RpcError, code};
use memod_watch::unreliable_file_system;

use super::git_watch::{GitDirs, watch_git_and_cookie_dirs};
use super::{WorktreeDisk, doorbell, reconcile};
use crate::engine::Engine;
use crate::errors::{RpcResult, stopping_error};
use crate::messages::disk_task::{OpenedWorktree, ThreadNumber};
use crate::messages::writer_job::WriterJob;

/// Opens a worktree: finds or creates its row, creates its doorbell and its directory of cookies, watches git's directories and
/// starts its reconcile thread.
///
/// # Errors
/// When the repository is bare, git's settings cannot be read, the row cannot be written or no thread can be started.
pub(super) fn open_worktree(
    engine: &Arc<Engine>,
    jobs: &Sender<WriterJob>,
    thread: ThreadNumber,
    layout: RepoLayout,
    mounts: &[PathBuf],
) -> RpcResult<(WorktreeDisk, OpenedWorktree)> {
    let dirs = UserDirs::read();
    let settings = memod_git::Settings::read_or_default(&layout, &dirs)?;
    if settings.is_bare {
        return Err(bare_repository_error(&layout));
    }
    let row = find_or_add_row(jobs, thread, &layout)?;
    let below = mounts.iter().filter(|place| place.starts_with(&layout.root)).map(PathBuf::as_path);
    let silent = std::iter::once(layout.root.as_path()).chain(below).find_map(unreliable_events_reason);
    if let Err(error) = create_cookie_dir(&layout) {
        tracing::warn!(%error, "cannot create the directory of cookies");
    }
    doorbell::create_doorbell(&layout, engine.config.hooks.autostart);
    // The row may belong to a worktree that has moved and is watched under its old path.
    engine.watch.remove_worktree(row.id);
    let unwatched =
        watch_git_and_cookie_dirs(engine, row.id, &GitDirs { layout: &layout, exclude_files: &[] }).err();
    let walker =
        reconcile::start_reconcile_thread(engine, jobs, thread, &layout, row.id).map_err(|error| {
            let busy = RpcError::new(code::BUSY, format!("{}: {error:#}", layout.root.display()));
            busy.with_hint("`ulimit -u` or `ulimit -v` may be too low")
        })?;
    let mut disk = WorktreeDisk {
        engine: Arc::clone(engine),
        worktree: row.id,
        refs: Refs::new(&layout, settings.object_hash),
        user_rules: UserFilesSnapshot::default(),
        exclude_files: Vec::new(),
        layout,
    };
    let mut settings = disk.read_settings(false); // read them again, because changes are reported only from now on
    settings.unwatched = unwatched.or(settings.unwatched);
    let opened = OpenedWorktree {
        layout: disk.layout.clone(),
        row,
        reconciler: walker,
        settings,
        unreliable_events: silent,
    };
    Ok((disk, opened))
}

/// Creates the directory of the cookies. A linked worktree has its cookies in its git dir and its state elsewhere, so the parent
/// of that directory is created first.
fn create_cookie_dir(layout: &RepoLayout) -> Result<(), PathError> {
    let cookie_dir = layout.cookie_dir();
    match cookie_dir.parent() {
        Some(around) if around != layout.state_dir => create_private_dir_without_parents(around)?,
        _ => {}
    }
    create_private_dir_without_parents(&cookie_dir)
}

/// Asks the writer for the row of a worktree.
fn find_or_add_row(
    jobs: &Sender<WriterJob>,
    thread: ThreadNumber,
    layout: &RepoLayout,
) -> RpcResult<WorktreeRow> {
    let git_dir = layout.git_dir.as_ref().unwrap_or(&layout.root);
    // A wrong inode would look like another worktree under this name, whose new row replaces the manifest of this one.
    let inode = memod_scan::lstat(git_dir).at("look at", git_dir).map_err(LocateError::Io)?.inode;
    let key = WorktreeKey {
        git_dir: git_dir.display().to_string(),
        inode,
        root: layout.root.display().to_string(),
    };
    let (reply, row) = sync_channel(1);
    jobs.send(WriterJob::OpenRow { key, thread, reply }).map_err(|_| stopping_error())?;
    let row = row.recv().map_err(|_| {
        RpcError::new(code::INTERNAL, "the worktree cannot be opened; `memo daemon logs` says why")
    })?;
    row.map_err(|error| {
        tracing::error!(root = %layout.root.display(), %error, "cannot read or write the row of the worktree");
        error.into()
    })
}

/// Returns the error for a worktree whose git settings have `core.bare`: git refuses to work in it, too.
fn bare_repository_error(layout: &RepoLayout) -> RpcError {
    let root = layout.root.display();
    RpcError::new(code::WRONG_REPOSITORY, format!("{root}: core.bare is true, so there is no worktree here"))
        .with_hint(
            "`git worktree list` lists the worktrees; `git config core.bare false` makes this directory one",
        )
}

/// Returns why events may not report every change in a directory, and the fallback; `None` if they report all.
pub(super) fn unreliable_events_reason(dir: &Path) -> Option<String> {
    let name = unreliable_file_system(dir)?;
    Some(format!(
        "{}: {name} does not report every change; every query compares the worktree with the index",
        dir.display()
    ))
}
