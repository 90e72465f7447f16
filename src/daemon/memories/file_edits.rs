//! Takes edits of the files of memories as they happen.
//!
//! So the history has what was saved in a worktree, even if the worktree is removed before the next request. The directory of memories
//! is watched for that in each worktree that has one, whether or not its code was ever asked about.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_base::threads::{caught, pause};
use memod_base::types::{Stat, ViewId};
use memod_engine::errors::RpcResult;
use memod_engine::look_progress::LookProgress;
use memod_engine::threads::spawn;
use memod_memory::file;
use memod_scan::lstat;
use memod_watch::Role;

use super::file_look::worktree_key;
use crate::daemon::shared::Shared;

/// Longest wait while git writes files, as elsewhere (design 5).
const GIT_WRITES: Duration = Duration::from_secs(10);
/// Time from the end of that until the branch says what was written.
const SETTLE: Duration = Duration::from_millis(50);
/// Interval at which git's lock is looked for.
const TICK: Duration = Duration::from_millis(5);

/// Takes what was saved in a worktree, on a thread of its own: its file system may hang. Does not wait for it.
pub(in crate::daemon) fn take_edits(shared: &Arc<Shared>, layout: &RepoLayout) {
    if !shared.memories.files.begin_taking(&layout.root) {
        return; // who takes them begins again
    }
    let (for_thread, of_thread) = (Arc::clone(shared), layout.clone());
    let run = move || {
        loop {
            wait_for_git(&of_thread);
            let began = Instant::now();
            // The next request finds out why it fails, and says so.
            let _ = caught(|| take_once(&for_thread, &of_thread));
            pause(began.elapsed()); // at most half of the time is for this
            if for_thread.memories.files.end_taking(&of_thread.root) {
                return;
            }
        }
    };
    if let Err(error) = spawn("memory-files", run) {
        tracing::warn!(error = format!("{error:#}"), "edits of memories are taken at the next request");
        shared.memories.files.forget_taking(&layout.root);
    }
}

/// Takes what was saved in the other worktrees that have memories, and watches these from now on.
pub(super) async fn take_edits_of_others(shared: Arc<Shared>, layout: RepoLayout) {
    for other in shared.memories.find_others(&layout, &shared.engine.env).await.into_iter().flatten() {
        take_edits(&shared, &other);
    }
}

/// Takes what was saved after a change in a directory of memories that is watched as this view.
pub(in crate::daemon) fn take_change(shared: &Arc<Shared>, view: ViewId, changed: &Path) {
    let layout = shared.memories.files.watched().of_change(view, changed);
    layout.iter().for_each(|layout| take_edits(shared, layout));
}

/// Takes what was saved in any directory of memories that is watched, after events were lost.
pub(in crate::daemon) fn take_all(shared: &Arc<Shared>) {
    let layouts = shared.memories.files.watched().layouts();
    layouts.iter().for_each(|layout| take_edits(shared, layout));
}

fn take_once(shared: &Shared, layout: &RepoLayout) -> RpcResult<()> {
    watch(shared, layout); // first: what is saved after it was read is reported
    if !shared.memories.take_saved(layout)? {
        // Nothing is known that could be gone.
        shared.memories.look_at_files(layout, &[], false, &LookProgress::default())?;
    }
    Ok(())
}

/// Waits while git writes the files of a worktree, as it does before the branch has the commit that says who has changed them.
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

/// Watches the directory of memories of a worktree, unless it is watched.
fn watch(shared: &Shared, layout: &RepoLayout) {
    let dir = layout.root.join(file::DIR);
    let stat = lstat(&dir).ok().filter(Stat::is_dir);
    let files = &shared.memories.files;
    let Some(view) = files.watched().set(&worktree_key(layout), layout, stat.as_ref()) else { return };
    shared.engine.watch.remove_view(view);
    if stat.is_none() {
        return;
    }
    if let Err(error) = shared.engine.watch.add_dir(view, Role::Memories, &dir) {
        tracing::warn!(%error, "edits of memories are taken at the next request");
    }
}
