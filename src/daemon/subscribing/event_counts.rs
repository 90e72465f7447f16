//! Counts missing vectors, and memories whose code has changed, for the events of subscribers.
//!
//! After each count, counting pauses for four times as long as the count took, so that subscribers cost at most a fifth of a
//! processor. All requests for a count that arrive during the pause are answered by one count afterwards.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_index_db::IndexReader;
use memod_proto::{IndexProgress, Method, RpcError};
use serde_json::json;
use tokio::time::sleep;

use crate::daemon::memories::about_code::anchor_states;
use crate::daemon::memories::worktree_files::enter_worktree::prepare_worktree_scope;
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::{RequestContext, RequestOrigin};
use crate::daemon::shared::Shared;

/// Pause after a count, in multiples of the time that the count took.
const PAUSE_FACTOR: u32 = 4;

/// Counts whenever a subscriber needs a count.
pub(in crate::daemon) async fn run_counts(shared: Arc<Shared>) {
    tokio::join!(count_vectors(&shared), count_drift(&shared));
}

/// Counts missing vectors whenever the engine requests it.
async fn count_vectors(shared: &Arc<Shared>) {
    loop {
        shared.engine.events.vector_count_requested.notified().await;
        let began = Instant::now();
        for (root, view, turn) in shared.engine.events.take_vector_count_requests() {
            // An error is ignored here: a request that reads the index gets it too.
            let work = RequestContext::new(shared, RequestOrigin::Other);
            if let Ok(Some(progress)) = run_blocking(&work, move |work| {
                work.shared.engine.with_reader(|reader: &IndexReader| {
                    reader.read_snapshot(|reader| {
                        let n_pending = reader.count_pending_embeddings(view, u32::MAX)?;
                        let n_chunks = if n_pending > 0 { reader.n_chunks(view)? } else { 0 };
                        Ok::<_, RpcError>(IndexProgress::embedding(n_pending, n_chunks))
                    })
                })
            })
            .await
            {
                shared.engine.events.publish_missing_vectors(&root, turn, progress);
            }
        }
        sleep(began.elapsed() * PAUSE_FACTOR).await;
    }
}

/// Compares memories with the code whenever memories or code have changed.
async fn count_drift(shared: &Arc<Shared>) {
    loop {
        shared.engine.events.drift_count_requested.notified().await;
        let began = Instant::now();
        for root in shared.engine.events.take_drift_count_requests() {
            publish_drift(shared, &root).await;
        }
        sleep(began.elapsed() * PAUSE_FACTOR).await;
    }
}

/// Counts the memories of a worktree whose code has changed or is gone, as `status` does, and sends an event if the numbers differ
/// from those of the last count.
pub(in crate::daemon) async fn publish_drift(shared: &Arc<Shared>, root: &Path) {
    let events = &shared.engine.events;
    let _turn = events.drift_lock.lock().await; // an older count must not be published after a newer one
    let Some(root_text) = root.to_str() else { return };
    let work = RequestContext::new(shared, RequestOrigin::Other);
    let status = Method::find_method("status").expect("each daemon has it");
    let Ok(worktree) = prepare_worktree_scope(&work, status, &json!({ "cwd": root_text })).await else {
        return;
    };
    work.set_worktree(worktree);
    // An error is ignored here: a request that compares memories with the code gets it too.
    let Ok(judged) = anchor_states::count_memories_by_state_with_reason(&work, root_text).await else {
        return;
    };
    let (counts, is_final) = (judged.value, judged.reason.is_none());
    // Files that change meanwhile are counted again once they are indexed.
    if counts.unknown == 0 || is_final {
        events.publish_drift(root, counts.drifted, counts.orphaned);
    }
}
