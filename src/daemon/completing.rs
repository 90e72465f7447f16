//! Answers `complete`: what the rest of a word on a command line may be.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_index_db::Reader;
use memod_proto::{Caveats, CompleteParams, CompleteResult, CompletionKind, Sync};

use crate::daemon::request::{deadline, freshness, reading};
use crate::daemon::shared::Shared;

/// Most words of an answer; more help nobody at a prompt.
const MOST_WORDS: usize = 500;

/// Answers `complete` from the present snapshot.
pub(super) async fn complete(shared: &Arc<Shared>, params: CompleteParams) -> RpcResult<CompleteResult> {
    let at = freshness(shared, &params.cwd, Sync::None, deadline(shared, None)).await?;
    let root = at.layout.root.clone();
    let caveats = Caveats { fresh: at.fresh, reason: at.reason.clone(), notice: None };
    let words = move |shared: &Shared| {
        let CompleteParams { what, dir, prefix, .. } = &params;
        let read = |reader: &Reader| match what {
            CompletionKind::Path => reader.names_in(at.view, dir, prefix, MOST_WORDS),
            CompletionKind::Lang => reader.languages(prefix),
        };
        Ok(shared.engine.read(read)?)
    };
    Ok(CompleteResult { words: reading(shared, &root, words).await?, caveats })
}
