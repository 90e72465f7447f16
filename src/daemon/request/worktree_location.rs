//! Finds the worktree of a request, and the author of commits there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::RepoLayout;
use memod_engine::errors::{RpcResult, stopping_error};
use memod_engine::file_access::gates::GateError;
use memod_engine::own_files;

use crate::daemon::request::reader_threads::{LOCATE_WAIT, admission_error, run_with_time_limit};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::{bad_params_error, wrong_repository_error};
use crate::daemon::shared::Shared;

/// Finds the worktree of this repository around a directory. The request keeps the worktree of its first directory.
///
/// The disk is examined on another thread, and only after the request has arrived. If the file system hangs, the request fails at
/// its deadline, but not within the first second.
pub(in crate::daemon) async fn locate_worktree(
    request: &RequestContext,
    cwd: &str,
    deadline: Instant,
) -> RpcResult<RepoLayout> {
    let look = async {
        RpcResult::Ok((cwd.to_owned(), find_worktree_on_disk(&request.shared, cwd, deadline).await?))
    };
    match request.located.get_or_try_init(|| look).await? {
        (known, layout) if known == cwd => Ok(layout.clone()),
        _ => find_worktree_on_disk(&request.shared, cwd, deadline).await,
    }
}

async fn find_worktree_on_disk(shared: &Arc<Shared>, cwd: &str, deadline: Instant) -> RpcResult<RepoLayout> {
    let cwd = PathBuf::from(cwd);
    if !cwd.is_absolute() {
        return Err(bad_params_error("cwd: an absolute path is needed, which names the worktree"));
    }
    let (began, until) = (Instant::now(), deadline.max(Instant::now() + LOCATE_WAIT));
    let places = shared.gates.enter_dir(&cwd, until).await;
    let places = places.map_err(|full| admission_error(full, &cwd, began.elapsed()))?;
    let for_thread = Arc::clone(shared);
    let dir = cwd.clone();
    run_with_time_limit(&cwd, until, move || {
        let _places = places; // held until the thread ends
        locate_in_repository(&for_thread, &dir)
    })
    .await?
}

/// Returns the author of commits in a worktree, and the name of the repository. If git's settings cannot be read or their file
/// system hangs, both are unknown, because storing a memory matters more than the name of its author.
pub(in crate::daemon) async fn read_identity(
    shared: &Shared,
    layout: &RepoLayout,
) -> RpcResult<memod_git::Identity> {
    let (began, until) = (Instant::now(), Instant::now() + LOCATE_WAIT);
    let place = match shared.gates.enter_settings(&layout.root, until).await {
        Ok(place) => place,
        Err(GateError::Stuck) => return Ok(memod_git::Identity::default()),
        Err(GateError::Busy) => return Err(admission_error(GateError::Busy, &layout.root, began.elapsed())),
    };
    let (root, layout) = (layout.root.clone(), layout.clone());
    Ok(run_with_time_limit(&root, until, move || {
        let _place = place; // held until the thread ends
        memod_git::read_identity(&layout, &memod_git::UserDirs::read())
    })
    .await
    .unwrap_or_default())
}

fn locate_in_repository(shared: &Shared, cwd: &Path) -> RpcResult<RepoLayout> {
    let found = RepoLayout::locate(cwd, &shared.engine.env);
    if found.as_ref().is_ok_and(|layout| layout.state_dir == shared.engine.layout.state_dir) {
        return Ok(found?);
    }
    // The repository was moved while this daemon runs, or its state dir is elsewhere now, where clients look for a daemon.
    if !shared.engine.is_reachable() {
        shared.engine.stop(own_files::FILES_LOST_REASON);
        return Err(stopping_error());
    }
    found?;
    Err(wrong_repository_error(cwd, &shared.engine.layout))
}
