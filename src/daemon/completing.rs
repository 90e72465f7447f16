//! Answers `complete` with the possible completions of a word on a command line.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_proto::{Caveats, CompleteParams, CompleteResult, CompletionKind, FreshnessLevel};

use crate::daemon::request::{request_deadline, run_reading, wait_until_fresh};
use crate::daemon::shared::Shared;

/// Most words of an answer; more help nobody at a prompt.
const MOST_WORDS: usize = 500;

/// Answers `complete` from the present snapshot.
pub(super) async fn answer_complete(
    shared: &Arc<Shared>,
    params: CompleteParams,
) -> RpcResult<CompleteResult> {
    let at =
        wait_until_fresh(shared, &params.cwd, FreshnessLevel::None, request_deadline(shared, None)).await?;
    let root = at.layout.root.clone();
    let caveats = Caveats { fresh: at.fresh, reason: at.reason.clone(), notice: None };
    Ok(CompleteResult {
        words: run_reading(shared, &root, move |shared| {
            let CompleteParams { what, dir, prefix, .. } = &params;
            Ok(shared.engine.read(|reader| match what {
                CompletionKind::Path => reader.list_names_in(at.worktree, dir, prefix, MOST_WORDS),
                CompletionKind::Lang => reader.list_languages(prefix),
            })?)
        })
        .await?,
        caveats,
    })
}
