//! Counts for subscribers what only the databases know: missing vectors, and memories whose code has changed.
//!
//! Each count rests four times as long as it took, so that listening costs a fifth of a processor at most. What is asked for
//! meanwhile is counted once afterwards.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_index_db::Reader;
use memod_proto::{IndexProgress, RpcError};
use tokio::time::sleep;

use crate::daemon::memories::states;
use crate::daemon::request::blocking;
use crate::daemon::shared::Shared;

/// How long a count rests, in times that it took.
const REST: u32 = 4;

/// Counts whenever somebody is to be told.
pub(in crate::daemon) async fn count(shared: Arc<Shared>) {
    tokio::join!(count_vectors(&shared), count_drift(&shared));
}

/// Counts missing vectors whenever the loop asks for it.
async fn count_vectors(shared: &Arc<Shared>) {
    loop {
        shared.engine.events.count_vectors.notified().await;
        let began = Instant::now();
        for (root, view, turn) in shared.engine.events.take_vectors() {
            let count = move |shared: &Shared| {
                shared.engine.read(|reader: &Reader| {
                    reader.snapshot(|reader| {
                        let n_pending = reader.pending_embeddings(view, u32::MAX)?;
                        let n_chunks = if n_pending > 0 { reader.n_chunks(view)? } else { 0 };
                        Ok::<_, RpcError>(IndexProgress::embedding(n_pending, n_chunks))
                    })
                })
            };
            // Why it cannot be read is told to who asks.
            if let Ok(Some(progress)) = blocking(shared, count).await {
                shared.engine.events.tell_vectors(&root, turn, progress);
            }
        }
        sleep(began.elapsed() * REST).await;
    }
}

/// Compares memories with the code whenever one of them has changed.
async fn count_drift(shared: &Arc<Shared>) {
    loop {
        shared.engine.events.count_drift.notified().await;
        let began = Instant::now();
        for root in shared.engine.events.take_drift() {
            tell_drift(shared, &root).await;
        }
        sleep(began.elapsed() * REST).await;
    }
}

/// Compares memories with the code of a worktree, and tells what is new. The first count is what later ones are compared
/// with.
pub(in crate::daemon) async fn tell_drift(shared: &Arc<Shared>, root: &Path) {
    let _turn = shared.engine.events.drift_turn.lock().await; // an older count must not be told after a newer one
    let Some(root_text) = root.to_str() else { return };
    // Why they cannot be compared is told to who asks.
    let Ok(judged) = states::judged_counts(shared, root_text).await else { return };
    let (counts, is_final) = (judged.value, judged.reason.is_none());
    // Files that change meanwhile are counted again once they are indexed.
    if counts.unknown == 0 || is_final {
        shared.engine.events.tell_drift(root, counts.drifted, counts.orphaned);
    }
}
