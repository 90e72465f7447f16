//! Runs a request on a snapshot of its worktree that is as fresh as requested.

use std::sync::Arc;
use std::time::{Duration, Instant};

use memod_base::types::SourceKey;
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_engine::freshness::FreshnessRequest;
use memod_index_db::IndexReader;
use memod_proto::FreshnessLevel;

use crate::daemon::request::reader_threads::{run_blocking, run_reading_files};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::worktree_location::locate_worktree;

/// Maximum number of times that stale files are indexed and the request is repeated. After that, the answer leaves them out.
const RERUNS: usize = 2;
/// Maximum wait of a request for freshness.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// How long a question waits for the first index, unless its params say how long it may wait. An answer from a few of the files is
/// of little use, and in most repositories the index is built by then.
const FIRST_INDEX_WAIT: Duration = Duration::from_secs(5);

/// Waits until the files of the worktree around `cwd` are as fresh as requested, or until the deadline; returns how fresh they are.
pub(in crate::daemon) async fn wait_until_fresh(
    request: &Arc<RequestContext>,
    cwd: &str,
    level: FreshnessLevel,
    deadline: Instant,
) -> RpcResult<Freshness> {
    wait_until_fresh_with(request, cwd, level, deadline, Vec::new(), false).await
}

/// Like [`wait_until_fresh`]; also waits until the paths `dirty`, which were found to have changed, are indexed, and, if
/// `needs_commits`, the commits.
pub(in crate::daemon) async fn wait_until_fresh_with(
    request: &Arc<RequestContext>,
    cwd: &str,
    level: FreshnessLevel,
    deadline: Instant,
    dirty: Vec<SourceKey>,
    needs_commits: bool,
) -> RpcResult<Freshness> {
    let began = Instant::now();
    let layout = locate_worktree(request, cwd, deadline).await?;
    let ask = |deadline| {
        let (layout, dirty) = (layout.clone(), dirty.clone());
        request.shared.engine.wait_until_fresh(FreshnessRequest {
            layout,
            level,
            deadline,
            dirty,
            needs_commits,
        })
    };
    let mut at = ask(deadline).await?;
    let until = began + FIRST_INDEX_WAIT;
    if at.is_first_index
        && at.failed.is_none()
        && level != FreshnessLevel::None
        && request.waits_for_first_index()
        && until > Instant::now()
    {
        at = ask(until).await?;
    }
    let view = at.worktree;
    let unreadable = run_blocking(request, move |request| {
        Ok(request.shared.engine.with_reader(|reader| reader.list_unreadable(view))?)
    })
    .await;
    // An error is ignored here, because a caller that needs the index gets it again.
    request.caveats.note_snapshot(at.reason.clone().filter(|_| !at.fresh), unreadable.unwrap_or_default());
    Ok(at)
}

/// The snapshot that a request needs.
pub(in crate::daemon) struct SnapshotRequest {
    pub(in crate::daemon) cwd: String,
    pub(in crate::daemon) level: FreshnessLevel,
    pub(in crate::daemon) deadline: Instant,
    pub(in crate::daemon) needs_commits: bool,
}

/// Runs `run` on a snapshot that is as fresh as requested, and repeats it while the disk is newer. Returns the last value,
/// and why it may differ from the disk.
///
/// `run` gets whether it is repeated, and returns its value with the paths whose content on disk differs from the snapshot.
pub(in crate::daemon) async fn run_on_snapshot<T: Send + 'static>(
    request: &Arc<RequestContext>,
    ask: SnapshotRequest,
    run: impl Fn(&RequestContext, &Freshness, bool) -> RpcResult<(T, Vec<SourceKey>)>
    + Send
    + std::marker::Sync
    + 'static,
) -> RpcResult<(T, Option<String>)> {
    let SnapshotRequest { cwd, level, deadline, needs_commits } = ask;
    let run = Arc::new(run);
    let (mut stale, mut reruns) = (Vec::new(), 0);
    loop {
        let at = wait_until_fresh_with(request, &cwd, level, deadline, stale, needs_commits).await?;
        let run = Arc::clone(&run);
        let once = move |request: &RequestContext, at: &Freshness| {
            let (value, mut newer) = run(request, at, reruns > 0)?;
            newer.retain(|key| !at.disk.is_avoided(&at.layout.root.join(key.as_str())));
            Ok((value, newer, at.is_outdated()))
        };
        let (value, newer, has_moved) = run_reading_files(request, at, once).await?;
        let why_not_final = explain_not_final(&newer, has_moved, level);
        if why_not_final.is_none() || reruns == RERUNS {
            return Ok((value, why_not_final));
        }
        // The disk is newer than the index, even if the watcher has not noticed: index the paths and repeat.
        (stale, reruns) = (newer, reruns + 1);
    }
}

/// Returns why the value of a snapshot is not final, if it is not: paths are `stale`, or files have `moved` since the
/// freshness check.
fn explain_not_final(stale: &[SourceKey], has_moved: bool, level: FreshnessLevel) -> Option<String> {
    match stale.first() {
        Some(path) => Some(format!("{path} changed, or could not be read, while the answer was made")),
        None if has_moved && level != FreshnessLevel::None => {
            Some("files were removed while the answer was made".to_owned())
        }
        None => None,
    }
}

/// Returns the deadline of a request that may wait for `wait_ms`, or else for the time in the settings; ten minutes at most.
pub(in crate::daemon) fn request_deadline(request: &RequestContext, wait_ms: Option<u64>) -> Instant {
    let wait = Duration::from_millis(wait_ms.unwrap_or(request.shared.engine.config.search.wait_ms));
    Instant::now() + wait.min(MAX_WAIT)
}

/// Returns the deadline of a question about the repository, as [`request_deadline`] does. If its params do not say how long it may
/// wait, it also waits for the first index.
pub(in crate::daemon) fn question_deadline(request: &RequestContext, wait_ms: Option<u64>) -> Instant {
    if wait_ms.is_none() {
        request.wait_for_first_index();
    }
    request_deadline(request, wait_ms)
}

/// Returns the clock of a snapshot, `m1:<epoch>:<worktree>:<seq>`; empty if the worktree is not indexed.
pub(in crate::daemon) fn format_clock(reader: &IndexReader, at: &Freshness) -> Result<String, DatabaseError> {
    let row = reader.find_worktree(at.worktree)?;
    Ok(row.map_or_else(String::new, |row| format!("m1:{}:{}:{}", row.epoch, row.id.0, row.seq)))
}
