//! Runs code that blocks on separate threads, so that a hanging file system delays no other request.

use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memod_base::threads::lock;
use memod_engine::errors::RpcResult;
use memod_engine::errors::busy_error;
use memod_engine::file_access::disk_reads::{
    FILE_SYSTEM_CHECK_INTERVAL, FILE_SYSTEM_TIMEOUT, stuck_path_message,
};
use memod_engine::file_access::gates::{GateError, GatePass};
use memod_engine::freshness::Freshness;
use memod_proto::{AnswerPart, RpcError, code};
use tokio::task::spawn_blocking;
use tokio::time::{timeout, timeout_at};

use crate::daemon::request::request_context::RequestContext;

/// Minimum time that a file system gets to find the worktree around a directory.
pub(super) const LOCATE_WAIT: Duration = Duration::from_secs(1);
/// Time after which a request that reads a worktree no longer counts as working, because it probably waits for the file system.
const TURN_LIMIT: Duration = Duration::from_millis(500);
/// Time after which such a request fails; it is longer than the ten seconds for which history is searched.
const READ_WAIT: Duration = Duration::from_secs(20);
/// Number of files that do not answer, one after the other, after which a request fails.
const MAX_UNANSWERED_FILES: u32 = 4;
/// The places in the gates that a reading thread holds until it ends, or until its request no longer waits for it.
type ReaderPlaces = Arc<Mutex<Option<(GatePass, Option<GatePass>)>>>;

/// Returns the error for an answer about a worktree that is late, given how long it was waited for.
type LateError = fn(&Path, Duration) -> RpcError;

/// Runs blocking code on another thread. Use [`run_reading`] for code that reads a worktree.
pub(in crate::daemon) async fn run_blocking<T: Send + 'static>(
    request: &Arc<RequestContext>,
    run: impl FnOnce(&RequestContext) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let _turn = request.shared.gates.thread_permits.acquire().await;
    let request = Arc::clone(request);
    spawn_blocking(move || run(&request)).await.map_err(|panic| panic_error(&panic))?
}

/// Waits for a place to read files of a worktree. Requests from the socket go first.
async fn wait_for_places(
    request: &RequestContext,
    root: &Path,
    until: Instant,
) -> RpcResult<(GatePass, Option<GatePass>)> {
    let began = Instant::now();
    let full = |full| admission_error(full, root, began.elapsed());
    let gates = &request.shared.gates;
    let behind = match request.is_of_socket() {
        true => None,
        false => Some(gates.enter_low_priority(root, until).await.map_err(full)?),
    };
    Ok((gates.enter_worktree(root, until).await.map_err(full)?, behind))
}

/// Runs code that examines files of a worktree on another thread. Such code mostly waits for the file system, so it does not count
/// against the number of working threads, and examinations that hang in other worktrees do not delay it.
pub(in crate::daemon) async fn run_examining<T: Send + 'static>(
    request: &Arc<RequestContext>,
    root: &Path,
    run: impl FnOnce(&RequestContext) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let until = Instant::now() + READ_WAIT;
    let places = wait_for_places(request, root, until).await?;
    let request = Arc::clone(request);
    let done = spawn_blocking(move || {
        let _places = places; // held until the thread ends
        run(&request)
    });
    let done = timeout_at(until.into(), done).await.map_err(|_| unanswered_error(root, READ_WAIT))?;
    done.map_err(|panic| panic_error(&panic))?
}

/// Runs code that reads files of a worktree on another thread. A hanging file system blocks that thread, but neither the
/// request nor requests for other worktrees.
pub(in crate::daemon) async fn run_reading<T: Send + 'static>(
    request: &Arc<RequestContext>,
    root: &Path,
    run: impl FnOnce(&RequestContext) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    run_reading_in(request, root, (&ReaderPlaces::default(), unanswered_error), run).await
}

/// Runs code that reads a snapshot and, through [`Freshness::disk`], files. If a file does not answer in time, the code runs again
/// without that file, and a caveat is noted; the thread that hangs delays no other request.
pub(in crate::daemon) async fn run_reading_files<T: Send + 'static>(
    request: &Arc<RequestContext>,
    mut at: Freshness,
    run: impl Fn(&RequestContext, &Freshness) -> RpcResult<T> + Send + std::marker::Sync + 'static,
) -> RpcResult<T> {
    let (run, root) = (Arc::new(run), at.layout.root.clone());
    for _ in 0..MAX_UNANSWERED_FILES {
        at.disk = request.shared.disk_reads.begin_attempt(&root, &request.shared.gates);
        let (disk, run, at, places) =
            (Arc::clone(&at.disk), Arc::clone(&run), at.clone(), ReaderPlaces::default());
        let late = (&places, late_answer_error as LateError);
        let mut done = pin!(run_reading_in(request, &root, late, move |request| run(request, &at)));
        while disk.find_stuck_path(FILE_SYSTEM_TIMEOUT).is_none() {
            let Ok(done) = timeout(FILE_SYSTEM_CHECK_INTERVAL, &mut done).await else { continue };
            if let Some(place) = disk.first_missed() {
                request.caveats.note_caveat(AnswerPart::Code, stuck_path_message(&place));
            }
            return done;
        }
        lock(&places).take();
    }
    Err(unanswered_error(&root, MAX_UNANSWERED_FILES * FILE_SYSTEM_TIMEOUT))
}

/// Like [`run_reading`]; puts the places that the thread holds into `places`, so that the caller can release them early, and makes the
/// error for an answer that is late with `late_error`.
async fn run_reading_in<T: Send + 'static>(
    request: &Arc<RequestContext>,
    root: &Path,
    (places, late_error): (&ReaderPlaces, LateError),
    run: impl FnOnce(&RequestContext) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let (began, until) = (Instant::now(), Instant::now() + READ_WAIT);
    let entered = wait_for_places(request, root, until).await?;
    *lock(places) = Some(entered);
    let turn = timeout_at(until.into(), request.shared.gates.thread_permits.acquire())
        .await
        .map_err(|_| admission_error(GateError::Busy, root, began.elapsed()))?;
    let (request, places) = (Arc::clone(request), Arc::clone(places));
    let mut done = spawn_blocking(move || {
        let done = run(&request);
        lock(&places).take();
        done
    });
    let done = match timeout(TURN_LIMIT, &mut done).await {
        Ok(done) => done,
        Err(_) => {
            drop(turn);
            timeout(READ_WAIT - TURN_LIMIT, done).await.map_err(|_| late_error(root, READ_WAIT))?
        }
    };
    done.map_err(|panic| panic_error(&panic))?
}

/// Runs code that examines a file system on another thread, and waits for the result until the deadline, but at least for
/// [`LOCATE_WAIT`], because the request may have waited at the gates until now.
pub(super) async fn run_with_time_limit<T: Send + 'static>(
    path: &Path,
    until: Instant,
    examine: impl FnOnce() -> T + Send + 'static,
) -> RpcResult<T> {
    let limit = until.saturating_duration_since(Instant::now()).max(LOCATE_WAIT);
    let done = timeout(limit, spawn_blocking(examine)).await.map_err(|_| unanswered_error(path, limit))?;
    done.map_err(|panic| panic_error(&panic))
}

/// Returns the error for a request that was not admitted.
pub(super) fn admission_error(full: GateError, path: &Path, waited: Duration) -> RpcError {
    match full {
        GateError::Stuck => unanswered_error(path, waited),
        GateError::Busy => busy_error(format!(
            "{}: too many requests wait for this worktree; gave up after {} ms",
            path.display(),
            waited.as_millis()
        )),
    }
}

/// Returns the error for a file system that does not answer.
pub(in crate::daemon) fn unanswered_error(path: &Path, waited: Duration) -> RpcError {
    let message =
        format!("{}: its file system has not answered within {} ms", path.display(), waited.as_millis());
    RpcError::new(code::IO, message)
        .with_hint("check the mounted file system; other worktrees are not affected")
}

/// Returns the error for an answer that is late though no file was slow to read.
fn late_answer_error(path: &Path, waited: Duration) -> RpcError {
    let message = format!("{}: the answer was not ready within {} ms", path.display(), waited.as_millis());
    let hint = "its files were read in time, so it is too much work, or the machine is busy: ask about one definition, as PATH#NAME";
    RpcError::new(code::IO, message).with_hint(hint)
}

fn panic_error(panic: &tokio::task::JoinError) -> RpcError {
    RpcError::new(code::INTERNAL, panic.to_string())
}
