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
const GIT_WRITES: Duration = Duration::from_secs(10);
/// Time between the moment that git releases its lock and the update of the branch.
const SETTLE: Duration = Duration::from_millis(50);
/// Interval between two checks for git's lock.
const TICK: Duration = Duration::from_millis(5);

/// Starts a thread that stores saved edits in a worktree, because the file system may hang. Does not wait for the thread.
pub(in crate::daemon) fn take_edits(shared: &Arc<Shared>, layout: &RepoLayout) {
    if !shared.memories.files.begin_taking(&layout.root) {
        return; // the running thread starts over
    }
    let (for_thread, of_thread) = (Arc::clone(shared), layout.clone());
    if let Err(error) = spawn_thread("memory-files", move || take_edits_until_done(&for_thread, &of_thread)) {
        tracing::warn!(error = format!("{error:#}"), "edits of memories are stored only at the next request");
        shared.memories.files.forget_taking(&layout.root);
    }
}

/// Stores saved edits in a worktree until no more edits were saved meanwhile.
fn take_edits_until_done(shared: &Shared, layout: &RepoLayout) {
    loop {
        wait_for_git(layout);
        let began = Instant::now();
        // The next request meets the same failure, and reports it.
        let _ = catch_panic(|| take_edits_once(shared, layout));
        pause(began.elapsed()); // so that at most half of the time is spent on edits
        if shared.memories.files.end_taking(&layout.root) {
            return;
        }
    }
}

/// Stores saved edits in the other worktrees that have memories, and starts watching their directories of memories.
pub(super) async fn take_edits_of_others(shared: Arc<Shared>, layout: RepoLayout) {
    for other in shared.memories.find_others(&layout, &shared.engine.env).await.into_iter().flatten() {
        take_edits(&shared, &other);
    }
}

/// Stores saved edits after a change in the directory of memories that is watched under the id `view`.
pub(in crate::daemon) fn take_changed_directory(shared: &Arc<Shared>, view: WorktreeId, changed: &Path) {
    let layout = shared.memories.files.watched_files().layout_of_change(view, changed);
    layout.iter().for_each(|layout| take_edits(shared, layout));
}

/// Stores saved edits in all watched directories of memories, for the case that events of the watcher were lost.
pub(in crate::daemon) fn take_all_edits(shared: &Arc<Shared>) {
    let layouts = shared.memories.files.watched_files().watched_layouts();
    layouts.iter().for_each(|layout| take_edits(shared, layout));
}

/// Watches the directory of memories, and stores saved edits. Reads all files of a worktree that is not known yet.
fn take_edits_once(shared: &Shared, layout: &RepoLayout) -> RpcResult<()> {
    watch_directory(shared, layout); // first, so that a save after the read is reported
    if !shared.memories.take_saved(layout)? {
        // The worktree is new, so no known file can be gone.
        shared.memories.look_at_files(layout, &[], false, &FileAccessProgress::default())?;
    }
    Ok(())
}

/// Waits while git writes the files of a worktree. The branch has the commit, and so the author of the change, only afterwards.
fn wait_for_git(layout: &RepoLayout) {
    let Some(lock) = layout.git_dir.as_ref().map(|dir| dir.join("index.lock")) else { return };
    let end = Instant::now() + GIT_WRITES;
    if !lock.exists() {
        return;
    }
    while lock.exists() && Instant::now() < end {
        pause(TICK);
    }
    pause(SETTLE);
}

/// Starts watching the directory of memories of a worktree, unless it is watched already.
fn watch_directory(shared: &Shared, layout: &RepoLayout) {
    let dir = layout.root.join(file::DIR);
    let stat = lstat(&dir).ok().filter(Stat::is_dir);
    let files = &shared.memories.files;
    let Some(view) = files.watched_files().set_directory(&worktree_key(layout), layout, stat.as_ref()) else {
        return;
    };
    shared.engine.watch.remove_view(view);
    if stat.is_none() {
        return;
    }
    if let Err(error) = shared.engine.watch.add_dir(view, Role::Memories, &dir) {
        tracing::warn!(%error, "edits of memories are stored only at the next request");
    }
}
