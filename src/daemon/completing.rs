//! Answers `complete` with the possible completions of a word on a command line.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_proto::{Caveats, CompleteParams, CompleteResult, CompletionKind, FreshnessLevel};

use crate::daemon::request::fresh_snapshot::{request_deadline, wait_until_fresh};
use crate::daemon::request::reader_threads::run_reading;
use crate::daemon::request::request_context::RequestContext;

/// Maximum number of words in an answer; a longer list does not help at a prompt.
const MOST_WORDS: usize = 500;

/// Answers `complete` from the current snapshot, without waiting until files are fresh.
pub(super) async fn answer_complete(
    request: &Arc<RequestContext>,
    params: CompleteParams,
) -> RpcResult<CompleteResult> {
    let at =
        wait_until_fresh(request, &params.cwd, FreshnessLevel::None, request_deadline(request, None)).await?;
    let root = at.layout.root.clone();
    let caveats = Caveats { fresh: at.fresh, reason: at.reason.clone(), notice: None };
    Ok(CompleteResult {
        words: run_reading(request, &root, move |request| {
            let CompleteParams { what, dir, prefix, .. } = &params;
            Ok(request.shared.engine.with_reader(|reader| match what {
                CompletionKind::Path => reader.list_names_in(at.worktree, dir, prefix, MOST_WORDS),
                CompletionKind::Lang => reader.list_languages(prefix),
            })?)
        })
        .await?,
        caveats,
    })
}
