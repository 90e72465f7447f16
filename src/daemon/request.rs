//! Provides what every method needs: params, a deadline, freshness, and a thread for blocking work.

pub(super) mod caveats;
pub(super) mod commit_history;
pub(super) mod connection;
pub(super) mod error;
pub(super) mod memory_scope;
pub(super) mod path_spec;
pub(super) mod per_view;

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_base::threads::lock;
use memod_base::types::SourceKey;
use memod_database::DatabaseError;
use memod_engine::FreshnessRequest;
use memod_engine::disk_reads::{SLOW, TICK, not_answered};
use memod_engine::errors::{RpcResult, stopping};
use memod_engine::event::Freshness;
use memod_engine::gates::{Entered, Full};
use memod_engine::own_files;
use memod_index_db::Reader;
use memod_proto::{AnswerPart, RpcError, Sync, code};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::{timeout, timeout_at};

use crate::daemon::request::connection::Connection;
use crate::daemon::request::error::{bad_params, busy, wrong_repository};
use crate::daemon::shared::Shared;

/// Number of times that stale files are indexed and the request is repeated before they are dropped.
const RERUNS: usize = 2;
/// Maximum wait of a request for freshness.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// Minimum time that a file system gets to find the worktree around a directory.
const LOCATE_WAIT: Duration = Duration::from_secs(1);
/// Time after which a request that reads a worktree gives up its turn, because it probably waits for the file system …
const TURN: Duration = Duration::from_millis(500);
/// … and time after which it fails; history is searched for ten seconds.
const READ_WAIT: Duration = Duration::from_secs(20);

/// Number of places that do not answer after which an answer is given up, one after the other.
const MOST_STUCK: u32 = 4;

tokio::task_local! {
    /// The connection of a request of the socket, which is gone once all references are dropped. Requests over HTTP, and
    /// what the daemon does for itself, have none.
    pub(super) static CONNECTION: Weak<Connection>;
}

/// Parses the params of a method; absent params are an empty object.
pub(super) fn params_of<P: DeserializeOwned>(params: Value) -> RpcResult<P> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    // serde would accept an array as the fields in order of declaration.
    if !params.is_object() {
        return Err(bad_params("params: an object is needed, each param by its name"));
    }
    serde_path_to_error::deserialize(params).map_err(|error| bad_params(format!("params: {error}")))
}

/// Runs blocking code on another thread. Use [`reading`] for code that reads a worktree.
pub(super) async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let _turn = shared.gates.turns.acquire().await;
    let shared = Arc::clone(shared);
    let in_scope = in_request(move || run(&shared));
    spawn_blocking(in_scope).await.map_err(|panic| panicked(&panic))?
}

/// Returns code that runs on another thread as a part of the present request.
fn in_request<T>(run: impl FnOnce() -> T) -> impl FnOnce() -> T {
    memory_scope::carry(caveats::carry(run))
}

/// Waits for a place to read files of a worktree. Requests of the socket go first.
async fn enter_worktree(
    shared: &Shared,
    root: &Path,
    until: Instant,
) -> RpcResult<(Entered, Option<Entered>)> {
    let began = Instant::now();
    let full = |full| not_let_in(full, root, began.elapsed());
    let is_of_socket = CONNECTION.try_with(|_| ()).is_ok();
    let behind =
        if is_of_socket { None } else { Some(shared.gates.give_way(root, until).await.map_err(full)?) };
    Ok((shared.gates.enter_worktree(root, until).await.map_err(full)?, behind))
}

/// Runs code that looks at files of a worktree on another thread. It mostly waits for the file system, so it takes no turn: looks
/// that hang elsewhere are not in front of it.
pub(super) async fn looking<T: Send + 'static>(
    shared: &Arc<Shared>,
    root: &Path,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let until = Instant::now() + READ_WAIT;
    let places = enter_worktree(shared, root, until).await?;
    let shared = Arc::clone(shared);
    let done = spawn_blocking(in_request(move || {
        let _places = places; // as long as the thread has it
        run(&shared)
    }));
    let done = timeout_at(until.into(), done).await.map_err(|_| unanswered(root, READ_WAIT))?;
    done.map_err(|panic| panicked(&panic))?
}

/// The places of a thread that reads, until it ends or is given up.
type Places = Arc<Mutex<Option<(Entered, Option<Entered>)>>>;

/// Runs code that reads files of a worktree on another thread. A hanging file system blocks that thread, but neither the
/// request nor requests for other worktrees.
pub(super) async fn reading<T: Send + 'static>(
    shared: &Arc<Shared>,
    root: &Path,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    reading_at(shared, root, &Places::default(), run).await
}

/// Runs code that reads a snapshot and, through [`Freshness::disk`], files. Where one of these does not answer in time, the answer is
/// made without what is there, and says so; the thread that hangs is in nobody's way then.
pub(super) async fn reading_files<T: Send + 'static>(
    shared: &Arc<Shared>,
    mut at: Freshness,
    run: impl Fn(&Shared, &Freshness) -> RpcResult<T> + Send + std::marker::Sync + 'static,
) -> RpcResult<T> {
    let (run, root) = (Arc::new(run), at.layout.root.clone());
    for _ in 0..MOST_STUCK {
        at.disk = shared.disk_reads.begin(&root, &shared.gates);
        let (disk, run, at, places) = (Arc::clone(&at.disk), Arc::clone(&run), at.clone(), Places::default());
        let mut done = pin!(reading_at(shared, &root, &places, move |shared| run(shared, &at)));
        while disk.unanswered_for(SLOW).is_none() {
            let Ok(done) = timeout(TICK, &mut done).await else { continue };
            if let Some(place) = disk.missed() {
                caveats::note(AnswerPart::Code, not_answered(&place));
            }
            return done;
        }
        lock(&places).take();
    }
    Err(unanswered(&root, MOST_STUCK * SLOW))
}

/// Like [`reading`], with the places to hold while it reads.
async fn reading_at<T: Send + 'static>(
    shared: &Arc<Shared>,
    root: &Path,
    places: &Places,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let (began, until) = (Instant::now(), Instant::now() + READ_WAIT);
    let entered = enter_worktree(shared, root, until).await?;
    *lock(places) = Some(entered);
    let full = |_| not_let_in(Full::Busy, root, began.elapsed());
    let turn = timeout_at(until.into(), shared.gates.turns.acquire()).await.map_err(full)?;
    let (shared, places) = (Arc::clone(shared), Arc::clone(places));
    let mut done = spawn_blocking(in_request(move || {
        let done = run(&shared);
        lock(&places).take();
        done
    }));
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
/// The disk is examined after the request arrived, on another thread. If the file system hangs, the request fails at its
/// deadline, but not within the first second.
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

/// Reads the author of commits in a worktree, and the name of the repository. If the settings are unreadable or hang, both are
/// unknown, because storing a memory matters more than its author's name.
pub(super) async fn identity(shared: &Arc<Shared>, layout: &RepoLayout) -> RpcResult<memod_git::Identity> {
    let (began, until) = (Instant::now(), Instant::now() + LOCATE_WAIT);
    let place = match shared.gates.enter_settings(&layout.root, until).await {
        Ok(place) => place,
        Err(Full::Stuck) => return Ok(memod_git::Identity::default()),
        Err(Full::Busy) => return Err(not_let_in(Full::Busy, &layout.root, began.elapsed())),
    };
    let (root, layout) = (layout.root.clone(), layout.clone());
    let read = move || {
        let _place = place; // as long as the thread has it
        memod_git::identity(&layout, &memod_git::UserDirs::read())
    };
    Ok(on_disk(&root, until, read).await.unwrap_or_default())
}

/// Runs code that examines a file system on another thread, until the deadline but for at least [`LOCATE_WAIT`]. The wait at
/// our own gates does not count.
async fn on_disk<T: Send + 'static>(
    path: &Path,
    until: Instant,
    look: impl FnOnce() -> T + Send + 'static,
) -> RpcResult<T> {
    let limit = until.saturating_duration_since(Instant::now()).max(LOCATE_WAIT);
    let done = timeout(limit, spawn_blocking(look)).await.map_err(|_| unanswered(path, limit))?;
    done.map_err(|panic| panicked(&panic))
}

/// Returns the error for a request that was not admitted.
fn not_let_in(full: Full, path: &Path, waited: Duration) -> RpcError {
    match full {
        Full::Stuck => unanswered(path, waited),
        Full::Busy => {
            busy(format!("{}: too many requests wait for it, over {} ms", path.display(), waited.as_millis()))
        }
    }
}

fn look_around(shared: &Shared, cwd: &Path) -> RpcResult<RepoLayout> {
    let found = RepoLayout::locate(cwd, &shared.engine.env);
    if found.as_ref().is_ok_and(|layout| layout.state_dir == shared.engine.layout.state_dir) {
        return Ok(found?);
    }
    // The repository has moved with this daemon, or its state is written elsewhere now, where clients look for it.
    if !shared.engine.is_found() {
        shared.engine.stop(own_files::LOST);
        return Err(stopping());
    }
    found?;
    Err(wrong_repository(cwd, &shared.engine.layout))
}

/// Returns the error for a file system that does not answer.
pub(super) fn unanswered(path: &Path, waited: Duration) -> RpcError {
    let message =
        format!("{}: its file system has not answered within {} ms", path.display(), waited.as_millis());
    RpcError::new(code::IO, message)
        .with_hint("look at what is mounted there; other worktrees are not affected")
}

fn panicked(panic: &tokio::task::JoinError) -> RpcError {
    RpcError::new(code::INTERNAL, panic.to_string())
}

/// Waits until the files of the view of `cwd` are as fresh as requested, or the deadline.
pub(super) async fn freshness(
    shared: &Arc<Shared>,
    cwd: &str,
    level: Sync,
    deadline: Instant,
) -> RpcResult<Freshness> {
    freshness_with(shared, cwd, level, deadline, Vec::new(), false).await
}

/// Like [`freshness`], with paths that were found `dirty`, and optionally with the commits.
pub(super) async fn freshness_with(
    shared: &Arc<Shared>,
    cwd: &str,
    level: Sync,
    deadline: Instant,
    dirty: Vec<SourceKey>,
    needs_commits: bool,
) -> RpcResult<Freshness> {
    let layout = locate(shared, cwd, deadline).await?;
    let at = shared
        .engine
        .wait_until_fresh(FreshnessRequest { layout, level, deadline, dirty, needs_commits })
        .await?;
    let view = at.view;
    let unreadable =
        blocking(shared, move |shared| Ok(shared.engine.read(|reader| reader.unreadable(view))?)).await;
    // Who needs the index finds out by himself that it cannot be read.
    caveats::note_snapshot(at.reason.clone().filter(|_| !at.fresh), unreadable.unwrap_or_default());
    Ok(at)
}

/// The required snapshot of a request.
pub(super) struct SnapshotAsk {
    pub(super) cwd: String,
    pub(super) level: Sync,
    pub(super) deadline: Instant,
    pub(super) needs_commits: bool,
}

/// Runs `run` on a snapshot that is as fresh as requested, and repeats it while the disk is newer. Returns the last value,
/// and why it may differ from the disk.
///
/// `run` gets whether it is repeated, and returns its value with the paths whose content on disk differs from the snapshot.
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
        let run = Arc::clone(&run);
        let once = move |shared: &Shared, at: &Freshness| {
            let (value, mut newer) = run(shared, at, reruns > 0)?;
            newer.retain(|key| !at.disk.avoids(&at.layout.root.join(key.as_str())));
            Ok((value, newer, at.is_outdated()))
        };
        let (value, newer, has_moved) = reading_files(shared, at, once).await?;
        let why_not = why_not(&newer, has_moved, level);
        if why_not.is_none() || reruns == RERUNS {
            return Ok((value, why_not));
        }
        // The disk is newer than the index, even if the watcher has not noticed: index the paths and repeat.
        (stale, reruns) = (newer, reruns + 1);
    }
}

/// Returns why the value of a snapshot is not final, if it is not: paths are `stale`, or files have `moved` since the
/// freshness check.
fn why_not(stale: &[SourceKey], has_moved: bool, level: Sync) -> Option<String> {
    match stale.first() {
        Some(path) => Some(format!("{path} changed, or could not be read, while the answer was made")),
        None if has_moved && level != Sync::None => Some("files went while the answer was made".to_owned()),
        None => None,
    }
}

pub(super) fn deadline(shared: &Shared, wait_ms: Option<u64>) -> Instant {
    let wait = Duration::from_millis(wait_ms.unwrap_or(shared.engine.config.search.wait_ms));
    Instant::now() + wait.min(MAX_WAIT)
}

/// Returns `m1:<epoch>:<view>:<seq>` of a snapshot.
pub(super) fn clock(reader: &Reader, at: &Freshness) -> Result<String, DatabaseError> {
    let row = reader.view(at.view)?;
    Ok(row.map_or_else(String::new, |row| format!("m1:{}:{}:{}", row.epoch, row.id.0, row.seq)))
}
