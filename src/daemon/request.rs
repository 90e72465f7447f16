//! Provides params, a deadline, freshness, and a thread for blocking work to every method.

pub(super) mod caveats;
pub(super) mod client_connection;
pub(super) mod commit_history;
pub(super) mod memory_scope;
pub(super) mod path_spec;
pub(super) mod request_errors;
pub(super) mod worktree_cache;

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_base::threads::lock;
use memod_base::types::SourceKey;
use memod_database::DatabaseError;
use memod_engine::FreshnessRequest;
use memod_engine::disk_reads::{SLOW, TICK, unanswered_reason};
use memod_engine::errors::{RpcResult, stopping_error};
use memod_engine::gates::{GateError, GatePass};
use memod_engine::loop_event::Freshness;
use memod_engine::own_files;
use memod_index_db::IndexReader;
use memod_proto::{AnswerPart, FreshnessLevel, RpcError, code};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::{timeout, timeout_at};

use crate::daemon::request::client_connection::ClientConnection;
use crate::daemon::request::request_errors::{bad_params_error, busy_error, wrong_repository_error};
use crate::daemon::shared::Shared;

/// Number of times that stale files are indexed and the request is repeated before they are dropped.
const RERUNS: usize = 2;
/// Maximum wait of a request for freshness.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// Minimum time that a file system gets to find the worktree around a directory.
const LOCATE_WAIT: Duration = Duration::from_secs(1);
/// Time after which a request that reads a worktree gives up its turn, because it probably waits for the file system.
const TURN: Duration = Duration::from_millis(500);
/// Time after which such a request fails; history is searched for ten seconds.
const READ_WAIT: Duration = Duration::from_secs(20);

/// Number of places that do not answer after which an answer is given up, one after the other.
const MOST_STUCK: u32 = 4;

tokio::task_local! {
    /// The connection of a request of the socket, which is gone once all references are dropped. Requests over HTTP, and
    /// what the daemon does for itself, have none.
    pub(super) static CONNECTION: Weak<ClientConnection>;
}

/// Parses the params of a method; absent params are an empty object.
pub(super) fn parse_params<P: DeserializeOwned>(params: Value) -> RpcResult<P> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    // serde would accept an array as the fields in order of declaration.
    if !params.is_object() {
        return Err(bad_params_error("params: an object is needed, each param by its name"));
    }
    serde_path_to_error::deserialize(params).map_err(|error| bad_params_error(format!("params: {error}")))
}

/// Runs blocking code on another thread. Use [`run_reading`] for code that reads a worktree.
pub(super) async fn run_blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let _turn = shared.gates.turns.acquire().await;
    let shared = Arc::clone(shared);
    let in_scope = carry_request(move || run(&shared));
    spawn_blocking(in_scope).await.map_err(|panic| panic_error(&panic))?
}

/// Returns code that runs on another thread as a part of the present request.
fn carry_request<T>(run: impl FnOnce() -> T) -> impl FnOnce() -> T {
    memory_scope::carry_worktree(caveats::carry_caveats(run))
}

/// Waits for a place to read files of a worktree. Requests of the socket go first.
async fn enter_worktree(
    shared: &Shared,
    root: &Path,
    until: Instant,
) -> RpcResult<(GatePass, Option<GatePass>)> {
    let began = Instant::now();
    let full = |full| admission_error(full, root, began.elapsed());
    let is_of_socket = CONNECTION.try_with(|_| ()).is_ok();
    let behind =
        if is_of_socket { None } else { Some(shared.gates.give_way(root, until).await.map_err(full)?) };
    Ok((shared.gates.enter_worktree(root, until).await.map_err(full)?, behind))
}

/// Runs code that looks at files of a worktree on another thread. It mostly waits for the file system, so it takes no turn: looks
/// that hang elsewhere are not in front of it.
pub(super) async fn run_look<T: Send + 'static>(
    shared: &Arc<Shared>,
    root: &Path,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let until = Instant::now() + READ_WAIT;
    let places = enter_worktree(shared, root, until).await?;
    let shared = Arc::clone(shared);
    let done = spawn_blocking(carry_request(move || {
        let _places = places; // as long as the thread has it
        run(&shared)
    }));
    let done = timeout_at(until.into(), done).await.map_err(|_| unanswered_error(root, READ_WAIT))?;
    done.map_err(|panic| panic_error(&panic))?
}

/// The places of a thread that reads, until it ends or is given up.
type ReaderPlaces = Arc<Mutex<Option<(GatePass, Option<GatePass>)>>>;

/// Runs code that reads files of a worktree on another thread. A hanging file system blocks that thread, but neither the
/// request nor requests for other worktrees.
pub(super) async fn run_reading<T: Send + 'static>(
    shared: &Arc<Shared>,
    root: &Path,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    run_reading_in(shared, root, &ReaderPlaces::default(), run).await
}

/// Runs code that reads a snapshot and, through [`Freshness::disk`], files. Where one of these does not answer in time, the answer is
/// made without what is there, and says so; the thread that hangs is in nobody's way then.
pub(super) async fn run_reading_files<T: Send + 'static>(
    shared: &Arc<Shared>,
    mut at: Freshness,
    run: impl Fn(&Shared, &Freshness) -> RpcResult<T> + Send + std::marker::Sync + 'static,
) -> RpcResult<T> {
    let (run, root) = (Arc::new(run), at.layout.root.clone());
    for _ in 0..MOST_STUCK {
        at.disk = shared.disk_reads.begin_attempt(&root, &shared.gates);
        let (disk, run, at, places) =
            (Arc::clone(&at.disk), Arc::clone(&run), at.clone(), ReaderPlaces::default());
        let mut done = pin!(run_reading_in(shared, &root, &places, move |shared| run(shared, &at)));
        while disk.unanswered_for(SLOW).is_none() {
            let Ok(done) = timeout(TICK, &mut done).await else { continue };
            if let Some(place) = disk.first_missed() {
                caveats::note_caveat(AnswerPart::Code, unanswered_reason(&place));
            }
            return done;
        }
        lock(&places).take();
    }
    Err(unanswered_error(&root, MOST_STUCK * SLOW))
}

/// Like [`run_reading`], with the places to hold while it reads.
async fn run_reading_in<T: Send + 'static>(
    shared: &Arc<Shared>,
    root: &Path,
    places: &ReaderPlaces,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let (began, until) = (Instant::now(), Instant::now() + READ_WAIT);
    let entered = enter_worktree(shared, root, until).await?;
    *lock(places) = Some(entered);
    let turn = timeout_at(until.into(), shared.gates.turns.acquire())
        .await
        .map_err(|_| admission_error(GateError::Busy, root, began.elapsed()))?;
    let (shared, places) = (Arc::clone(shared), Arc::clone(places));
    let mut done = spawn_blocking(carry_request(move || {
        let done = run(&shared);
        lock(&places).take();
        done
    }));
    let done = match timeout(TURN, &mut done).await {
        Ok(done) => done,
        Err(_) => {
            drop(turn);
            timeout(READ_WAIT - TURN, done).await.map_err(|_| unanswered_error(root, READ_WAIT))?
        }
    };
    done.map_err(|panic| panic_error(&panic))?
}

/// Finds the worktree of this repository around a directory.
///
/// The disk is examined after the request arrived, on another thread. If the file system hangs, the request fails at its
/// deadline, but not within the first second.
pub(super) async fn locate_worktree(
    shared: &Arc<Shared>,
    cwd: &str,
    deadline: Instant,
) -> RpcResult<RepoLayout> {
    let cwd = PathBuf::from(cwd);
    if !cwd.is_absolute() {
        return Err(bad_params_error("cwd: an absolute path is needed, to know which worktree is meant"));
    }
    let (began, until) = (Instant::now(), deadline.max(Instant::now() + LOCATE_WAIT));
    let places = shared.gates.enter_dir(&cwd, until).await;
    let places = places.map_err(|full| admission_error(full, &cwd, began.elapsed()))?;
    let for_thread = Arc::clone(shared);
    let dir = cwd.clone();
    run_on_disk(&cwd, until, move || {
        let _places = places; // as long as the thread has it
        locate_in_repository(&for_thread, &dir)
    })
    .await?
}

/// Reads the author of commits in a worktree, and the name of the repository. If the settings are unreadable or hang, both are
/// unknown, because storing a memory matters more than its author's name.
pub(super) async fn read_identity(
    shared: &Arc<Shared>,
    layout: &RepoLayout,
) -> RpcResult<memod_git::Identity> {
    let (began, until) = (Instant::now(), Instant::now() + LOCATE_WAIT);
    let place = match shared.gates.enter_settings(&layout.root, until).await {
        Ok(place) => place,
        Err(GateError::Stuck) => return Ok(memod_git::Identity::default()),
        Err(GateError::Busy) => return Err(admission_error(GateError::Busy, &layout.root, began.elapsed())),
    };
    let (root, layout) = (layout.root.clone(), layout.clone());
    Ok(run_on_disk(&root, until, move || {
        let _place = place; // as long as the thread has it
        memod_git::identity(&layout, &memod_git::UserDirs::read())
    })
    .await
    .unwrap_or_default())
}

/// Runs code that examines a file system on another thread, until the deadline but for at least [`LOCATE_WAIT`]. The wait at
/// our own gates does not count.
async fn run_on_disk<T: Send + 'static>(
    path: &Path,
    until: Instant,
    examine: impl FnOnce() -> T + Send + 'static,
) -> RpcResult<T> {
    let limit = until.saturating_duration_since(Instant::now()).max(LOCATE_WAIT);
    let done = timeout(limit, spawn_blocking(examine)).await.map_err(|_| unanswered_error(path, limit))?;
    done.map_err(|panic| panic_error(&panic))
}

/// Returns the error for a request that was not admitted.
fn admission_error(full: GateError, path: &Path, waited: Duration) -> RpcError {
    match full {
        GateError::Stuck => unanswered_error(path, waited),
        GateError::Busy => busy_error(format!(
            "{}: too many requests wait for it, over {} ms",
            path.display(),
            waited.as_millis()
        )),
    }
}

fn locate_in_repository(shared: &Shared, cwd: &Path) -> RpcResult<RepoLayout> {
    let found = RepoLayout::locate(cwd, &shared.engine.env);
    if found.as_ref().is_ok_and(|layout| layout.state_dir == shared.engine.layout.state_dir) {
        return Ok(found?);
    }
    // The repository has moved with this daemon, or its state is written elsewhere now, where clients look for it.
    if !shared.engine.is_reachable() {
        shared.engine.stop(own_files::LOST);
        return Err(stopping_error());
    }
    found?;
    Err(wrong_repository_error(cwd, &shared.engine.layout))
}

/// Returns the error for a file system that does not answer.
pub(super) fn unanswered_error(path: &Path, waited: Duration) -> RpcError {
    let message =
        format!("{}: its file system has not answered within {} ms", path.display(), waited.as_millis());
    RpcError::new(code::IO, message)
        .with_hint("look at what is mounted there; other worktrees are not affected")
}

fn panic_error(panic: &tokio::task::JoinError) -> RpcError {
    RpcError::new(code::INTERNAL, panic.to_string())
}

/// Waits until the files of the worktree around `cwd` are as fresh as requested, or the deadline.
pub(super) async fn wait_until_fresh(
    shared: &Arc<Shared>,
    cwd: &str,
    level: FreshnessLevel,
    deadline: Instant,
) -> RpcResult<Freshness> {
    wait_until_fresh_with(shared, cwd, level, deadline, Vec::new(), false).await
}

/// Like [`wait_until_fresh`], with paths that were found `dirty`, and optionally with the commits.
pub(super) async fn wait_until_fresh_with(
    shared: &Arc<Shared>,
    cwd: &str,
    level: FreshnessLevel,
    deadline: Instant,
    dirty: Vec<SourceKey>,
    needs_commits: bool,
) -> RpcResult<Freshness> {
    let layout = locate_worktree(shared, cwd, deadline).await?;
    let at = shared
        .engine
        .wait_until_fresh(FreshnessRequest { layout, level, deadline, dirty, needs_commits })
        .await?;
    let view = at.worktree;
    let unreadable =
        run_blocking(shared, move |shared| Ok(shared.engine.read(|reader| reader.list_unreadable(view))?))
            .await;
    // A caller that needs the index gets the error itself.
    caveats::note_snapshot(at.reason.clone().filter(|_| !at.fresh), unreadable.unwrap_or_default());
    Ok(at)
}

/// The required snapshot of a request.
pub(super) struct SnapshotAsk {
    pub(super) cwd: String,
    pub(super) level: FreshnessLevel,
    pub(super) deadline: Instant,
    pub(super) needs_commits: bool,
}

/// Runs `run` on a snapshot that is as fresh as requested, and repeats it while the disk is newer. Returns the last value,
/// and why it may differ from the disk.
///
/// `run` gets whether it is repeated, and returns its value with the paths whose content on disk differs from the snapshot.
pub(super) async fn run_on_snapshot<T: Send + 'static>(
    shared: &Arc<Shared>,
    ask: SnapshotAsk,
    run: impl Fn(&Shared, &Freshness, bool) -> RpcResult<(T, Vec<SourceKey>)> + Send + std::marker::Sync + 'static,
) -> RpcResult<(T, Option<String>)> {
    let SnapshotAsk { cwd, level, deadline, needs_commits } = ask;
    let run = Arc::new(run);
    let (mut stale, mut reruns) = (Vec::new(), 0);
    loop {
        let at = wait_until_fresh_with(shared, &cwd, level, deadline, stale, needs_commits).await?;
        let run = Arc::clone(&run);
        let once = move |shared: &Shared, at: &Freshness| {
            let (value, mut newer) = run(shared, at, reruns > 0)?;
            newer.retain(|key| !at.disk.is_avoided(&at.layout.root.join(key.as_str())));
            Ok((value, newer, at.is_outdated()))
        };
        let (value, newer, has_moved) = run_reading_files(shared, at, once).await?;
        let why_not = why_not_final(&newer, has_moved, level);
        if why_not.is_none() || reruns == RERUNS {
            return Ok((value, why_not));
        }
        // The disk is newer than the index, even if the watcher has not noticed: index the paths and repeat.
        (stale, reruns) = (newer, reruns + 1);
    }
}

/// Returns why the value of a snapshot is not final, if it is not: paths are `stale`, or files have `moved` since the
/// freshness check.
fn why_not_final(stale: &[SourceKey], has_moved: bool, level: FreshnessLevel) -> Option<String> {
    match stale.first() {
        Some(path) => Some(format!("{path} changed, or could not be read, while the answer was made")),
        None if has_moved && level != FreshnessLevel::None => {
            Some("files went while the answer was made".to_owned())
        }
        None => None,
    }
}

pub(super) fn request_deadline(shared: &Shared, wait_ms: Option<u64>) -> Instant {
    let wait = Duration::from_millis(wait_ms.unwrap_or(shared.engine.config.search.wait_ms));
    Instant::now() + wait.min(MAX_WAIT)
}

/// Returns `m1:<epoch>:<view>:<seq>` of a snapshot.
pub(super) fn format_clock(reader: &IndexReader, at: &Freshness) -> Result<String, DatabaseError> {
    let row = reader.find_view(at.worktree)?;
    Ok(row.map_or_else(String::new, |row| format!("m1:{}:{}:{}", row.epoch, row.id.0, row.seq)))
}
