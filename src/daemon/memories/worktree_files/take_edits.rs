//! Stores edits of the files of memories in the database as they are saved.
//!
//! So the history has every edit that was saved in a worktree, even if the worktree is removed before the next request. The
//! directory of memories of every worktree is watched, whether or not the code of the worktree is indexed.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_base::threads::{catch_panic, pause};
use memod_base::types::{Stat, WorktreeId};
use memod_engine::errors::RpcResult;
use memod_engine::file_access::file_access_progress::FileAccessProgress;
use memod_engine::threads::spawn_thread;
use memod_memory::file;
use memod_scan::lstat;
use memod_watch::Role;

use crate::daemon::memories::rules::worktree_place::worktree_key;
use crate::daemon::shared::Shared;

/// Longest wait while git writes files.
const MAX_GIT_WRITE_WAIT: Duration = Duration::from_secs(10);
/// Time between the moment that git releases its lock and the update of the branch.
const BRANCH_UPDATE_WAIT: Duration = Duration::from_millis(50);
/// Interval between two checks for git's lock.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Starts a thread that stores saved edits in a worktree, because the file system may hang. Does not wait for the thread.
pub(in crate::daemon) fn start_storing_edits(shared: &Arc<Shared>, layout: &RepoLayout) {
    if !shared.memories.files.begin_storing_edits(&layout.root) {
        return; // the running thread starts over
    }
    let (for_thread, of_thread) = (Arc::clone(shared), layout.clone());
    if let Err(error) = spawn_thread("memory-files", move || store_edits_until_done(&for_thread, &of_thread))
    {
        tracing::warn!(error = format!("{error:#}"), "edits of memories are stored only at the next request");
        shared.memories.files.forget_storing_edits(&layout.root);
    }
}

/// Stores saved edits in a worktree until no more edits were saved meanwhile.
fn store_edits_until_done(shared: &Shared, layout: &RepoLayout) {
    loop {
        wait_for_git(layout);
        let began = Instant::now();
        // The next request meets the same failure, and reports it.
        let _ = catch_panic(|| store_edits_once(shared, layout));
        pause(began.elapsed()); // so that at most half of the time is spent on edits
        if shared.memories.files.end_storing_edits(&layout.root) {
            return;
        }
    }
}

/// Stores saved edits in the other worktrees that have memories, and starts watching their directories of memories.
pub(super) async fn start_storing_edits_elsewhere(shared: Arc<Shared>, layout: RepoLayout) {
    for other in
        shared.memories.locate_other_worktrees(&layout, &shared.engine.env).await.into_iter().flatten()
    {
        start_storing_edits(&shared, &other);
    }
}

/// Stores saved edits after a change in the directory of memories that is watched under the id `view`.
pub(in crate::daemon) fn start_storing_edits_in_dir(shared: &Arc<Shared>, view: WorktreeId, changed: &Path) {
    let layout = shared.memories.files.watched_files().find_changed_worktree(view, changed);
    layout.iter().for_each(|layout| start_storing_edits(shared, layout));
}

/// Stores saved edits in all watched directories of memories, for the case that events of the watcher were lost.
pub(in crate::daemon) fn start_storing_all_edits(shared: &Arc<Shared>) {
    let layouts = shared.memories.files.watched_files().watched_layouts();
    layouts.iter().for_each(|layout| start_storing_edits(shared, layout));
}

/// Watches the directory of memories, and stores saved edits. Reads all files of a worktree that is not known yet.
fn store_edits_once(shared: &Shared, layout: &RepoLayout) -> RpcResult<()> {
    watch_directory(shared, layout); // first, so that a save after the read is reported
    if !shared.memories.store_saved_files(layout)? {
        // The worktree is new, so no known file can be gone.
        shared.memories.update_rows_from_files(layout, &[], false, &FileAccessProgress::default())?;
    }
    Ok(())
}

/// Waits while git writes the files of a worktree. The branch has the commit, and so the author of the change, only afterwards.
fn wait_for_git(layout: &RepoLayout) {
    let Some(lock) = layout.git_dir.as_ref().map(|dir| dir.join("index.lock")) else { return };
    let end = Instant::now() + MAX_GIT_WRITE_WAIT;
    if !lock.exists() {
        return;
    }
    while lock.exists() && Instant::now() < end {
        pause(LOCK_POLL_INTERVAL);
    }
    pause(BRANCH_UPDATE_WAIT);
}

/// Starts watching the directory of memories of a worktree, unless it is watched already.
fn watch_directory(shared: &Shared, layout: &RepoLayout) {
    let dir = layout.root.join(file::DIR);
    let stat = lstat(&dir).ok().filter(Stat::is_dir);
    let files = &shared.memories.files;
    let Some(view) = files.watched_files().set_directory(&worktree_key(layout), layout, stat.as_ref()) else {
        return;
    };
    shared.engine.watch.remove_worktree(view);
    if stat.is_none() {
        return;
    }
    if let Err(error) = shared.engine.watch.add_dir(view, Role::Memories, &dir) {
        tracing::warn!(%error, "edits of memories are stored only at the next request");
    }
}
