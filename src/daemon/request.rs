//! Provides what every method needs: params, a deadline, freshness, and a thread for blocking work.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::{timeout, timeout_at};

use super::error::{RpcResult, bad_params, busy, wrong_repository};
use super::event::{Ask, Event, Freshness};
use super::gates::Full;
use super::own_files;
use super::shared::Shared;
use crate::git;
use crate::paths::RepoLayout;
use crate::proto::{RpcError, Sync, code};
use crate::store::{Reader, StoreError};
use crate::types::SourceKey;

/// How often what proves stale is indexed and asked for again before it is dropped.
const RERUNS: usize = 2;
/// Longest time a request may wait for freshness.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// How long the file system of a directory may take at least until it is known which worktree is around it.
const LOCATE_WAIT: Duration = Duration::from_secs(1);
/// A request that has read a worktree for so long waits for its file system, most likely: another may have its turn …
const TURN: Duration = Duration::from_millis(500);
/// … and after so long it is given up; history is searched for ten seconds.
const READ_WAIT: Duration = Duration::from_secs(20);

tokio::task_local! {
    /// The connection that a request came over: it is gone once nobody holds it any more.
    pub(super) static CONNECTION: Weak<()>;
}

/// Parses the params of a method; none at all are an empty object.
pub(super) fn params_of<P: DeserializeOwned>(params: Value) -> RpcResult<P> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    // serde would take an array for the fields in the order of their declaration.
    if !params.is_object() {
        return Err(bad_params("params: an object is needed, each param by its name"));
    }
    serde_json::from_value(params).map_err(|error| bad_params(format!("params: {error}")))
}

/// Runs what blocks on a thread of its own. What reads a worktree does so by [`reading`].
pub(super) async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let _turn = shared.gates.turns.acquire().await;
    let shared = Arc::clone(shared);
    spawn_blocking(move || run(&shared)).await.map_err(|panic| panicked(&panic))?
}

/// Runs what reads files of a worktree on a thread of its own. One whose file system hangs keeps that thread, but not
/// the request, and nobody who asks about another worktree.
pub(super) async fn reading<T: Send + 'static>(
    shared: &Arc<Shared>,
    root: &Path,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let (began, until) = (Instant::now(), Instant::now() + READ_WAIT);
    let full = |full| not_let_in(full, root, began.elapsed());
    let place = shared.gates.enter_worktree(root, until).await.map_err(full)?;
    let turn = timeout_at(until.into(), shared.gates.turns.acquire()).await.map_err(|_| full(Full::Busy))?;
    let shared = Arc::clone(shared);
    let mut done = spawn_blocking(move || {
        let _place = place; // as long as the thread has it
        run(&shared)
    });
    let done = match timeout(TURN, &mut done).await {
        Ok(done) => done,
        Err(_) => {
            drop(turn);
            timeout(READ_WAIT - TURN, done).await.map_err(|_| unanswered(root, READ_WAIT))?
        }
    };
    done.map_err(|panic| panicked(&panic))?
}

/// Finds the worktree of this repository around a directory.
///
/// The disk is looked at after the request arrived, on a thread of its own: where the file system hangs, the request
/// fails at its deadline, but no sooner than after a second.
pub(super) async fn locate(shared: &Arc<Shared>, cwd: &str, deadline: Instant) -> RpcResult<RepoLayout> {
    let cwd = PathBuf::from(cwd);
    if !cwd.is_absolute() {
        return Err(bad_params("cwd: an absolute path is needed, to know which worktree is meant"));
    }
    let (began, until) = (Instant::now(), deadline.max(Instant::now() + LOCATE_WAIT));
    let places = shared.gates.enter_dir(&cwd, until).await;
    let places = places.map_err(|full| not_let_in(full, &cwd, began.elapsed()))?;
    let for_thread = Arc::clone(shared);
    let dir = cwd.clone();
    let look = move || {
        let _places = places; // as long as the thread has it
        look_around(&for_thread, &dir)
    };
    on_disk(&cwd, until, look).await?
}

/// Reads who signs commits in a worktree. Settings that cannot be read, or that hang, leave the author unknown: a memory is
/// worth more than its author's name.
pub(super) async fn author(shared: &Arc<Shared>, layout: &RepoLayout) -> RpcResult<Option<String>> {
    let (began, until) = (Instant::now(), Instant::now() + LOCATE_WAIT);
    let place = match shared.gates.enter_settings(&layout.root, until).await {
        Ok(place) => place,
        Err(Full::Stuck) => return Ok(None),
        Err(Full::Busy) => return Err(not_let_in(Full::Busy, &layout.root, began.elapsed())),
    };
    let (root, layout) = (layout.root.clone(), layout.clone());
    let read = move || {
        let _place = place; // as long as the thread has it
        git::author(&layout, &git::UserDirs::read()).ok().flatten()
    };
    Ok(on_disk(&root, until, read).await.unwrap_or_default())
}

/// Runs what looks at a file system on a thread of its own. It has until then, but at least [`LOCATE_WAIT`]: what was waited
/// for at our own gates does not count.
async fn on_disk<T: Send + 'static>(
    path: &Path,
    until: Instant,
    look: impl FnOnce() -> T + Send + 'static,
) -> RpcResult<T> {
    let limit = until.saturating_duration_since(Instant::now()).max(LOCATE_WAIT);
    let done = timeout(limit, spawn_blocking(look)).await.map_err(|_| unanswered(path, limit))?;
    done.map_err(|panic| panicked(&panic))
}

/// Says why nobody was let in.
fn not_let_in(full: Full, path: &Path, waited: Duration) -> RpcError {
    match full {
        Full::Stuck => unanswered(path, waited),
        Full::Busy => {
            busy(format!("{}: too many requests wait for it, over {} ms", path.display(), waited.as_millis()))
        }
    }
}

fn look_around(shared: &Shared, cwd: &Path) -> RpcResult<RepoLayout> {
    let layout = RepoLayout::locate(cwd, &shared.env)?;
    if layout.state_dir == shared.layout.state_dir {
        return Ok(layout);
    }
    // It moved, and this daemon with it, or its state may be written elsewhere by now, where others look for it.
    if !shared.is_found() {
        shared.send(Event::Stop(own_files::LOST));
        return Err(stopping());
    }
    Err(wrong_repository(cwd, &shared.layout))
}

fn unanswered(path: &Path, waited: Duration) -> RpcError {
    let message =
        format!("{}: its file system has not answered within {} ms", path.display(), waited.as_millis());
    RpcError::new(code::IO, message)
        .with_hint("look at what is mounted there; other worktrees are not affected")
}

fn panicked(panic: &tokio::task::JoinError) -> RpcError {
    RpcError::new(code::INTERNAL, panic.to_string())
}

pub(super) fn stopping() -> RpcError {
    RpcError::new(code::STOPPING, "the daemon is stopping")
}

/// Waits until the files of the view of `cwd` are as fresh as asked, or the time is over.
pub(super) async fn freshness(
    shared: &Arc<Shared>,
    cwd: &str,
    level: Sync,
    deadline: Instant,
) -> RpcResult<Freshness> {
    freshness_with(shared, cwd, level, deadline, Vec::new(), false).await
}

/// As [`freshness`], where these paths were found `dirty`, and perhaps with the commits.
pub(super) async fn freshness_with(
    shared: &Arc<Shared>,
    cwd: &str,
    level: Sync,
    deadline: Instant,
    dirty: Vec<SourceKey>,
    needs_commits: bool,
) -> RpcResult<Freshness> {
    let layout = locate(shared, cwd, deadline).await?;
    let (reply, answer) = oneshot::channel();
    let ask = Ask::new(layout, level, deadline, reply);
    shared.send(Event::Ask(Ask { dirty, needs_commits, ..ask }));
    answer.await.map_err(|_| stopping())?
}

/// The snapshot that a request wants to be answered from.
pub(super) struct SnapshotAsk {
    pub(super) cwd: String,
    pub(super) level: Sync,
    pub(super) deadline: Instant,
    pub(super) needs_commits: bool,
}

/// Runs `run` on a snapshot that is as fresh as asked, and again where the disk is newer than it. Returns the last value,
/// and why it may not be what the disk says.
///
/// `run` is told whether it runs again; beside its value it returns the paths that the disk has otherwise than the
/// snapshot.
pub(super) async fn on_snapshot<T: Send + 'static>(
    shared: &Arc<Shared>,
    ask: SnapshotAsk,
    run: impl Fn(&Shared, &Freshness, bool) -> RpcResult<(T, Vec<SourceKey>)> + Send + std::marker::Sync + 'static,
) -> RpcResult<(T, Option<String>)> {
    let SnapshotAsk { cwd, level, deadline, needs_commits } = ask;
    let run = Arc::new(run);
    let (mut stale, mut reruns) = (Vec::new(), 0);
    loop {
        let at = freshness_with(shared, &cwd, level, deadline, stale, needs_commits).await?;
        let (run, root) = (Arc::clone(&run), at.layout.root.clone());
        let once = move |shared: &Shared| {
            let (value, newer) = run(shared, &at, reruns > 0)?;
            Ok((value, newer, at.is_outdated()))
        };
        let (value, newer, has_moved) = reading(shared, &root, once).await?;
        let why_not = why_not(&newer, has_moved, level);
        if why_not.is_none() || reruns == RERUNS {
            return Ok((value, why_not));
        }
        // What the disk says is newer than the index, whatever the watcher thinks: index it, ask again.
        (stale, reruns) = (newer, reruns + 1);
    }
}

/// Returns why what was made of a snapshot is not the answer yet, if so: paths are `stale`, or files have `moved` since it
/// was said to be fresh.
fn why_not(stale: &[SourceKey], has_moved: bool, level: Sync) -> Option<String> {
    match stale.first() {
        Some(path) => Some(format!("{path} changed, or could not be read, while the answer was made")),
        None if has_moved && level != Sync::None => Some("files went while the answer was made".to_owned()),
        None => None,
    }
}

pub(super) fn deadline(shared: &Shared, wait_ms: Option<u64>) -> Instant {
    let wait = Duration::from_millis(wait_ms.unwrap_or(shared.config.search.wait_ms));
    Instant::now() + wait.min(MAX_WAIT)
}

/// Returns `m1:<epoch>:<view>:<seq>` of a snapshot.
pub(super) fn clock(reader: &Reader, at: &Freshness) -> Result<String, StoreError> {
    let row = reader.view(at.view)?;
    Ok(row.map_or_else(String::new, |row| format!("m1:{}:{}:{}", row.epoch, row.id.0, row.seq)))
}
