//! Reads the files of shared memories before each request, and binds the request to the memories of its worktree.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use memod_base::paths::RepoLayout;
use memod_engine::errors::RpcResult;
use memod_engine::file_access::disk_reads::{SLOW, TICK, unanswered_reason};
use memod_memory_db::repository_from;
use memod_proto::{AnswerPart, MemoriesOf, Method};
use serde_json::{Value, json};
use tokio::spawn;
use tokio::time::timeout;

use super::take_edits::{take_edits, take_edits_of_others};
use crate::daemon::memories::rules::worktree_place::worktree_key;
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::reader_threads::{run_look, unanswered_error};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::worktree_location::locate_worktree;
use crate::daemon::shared::memory_scope::WHOLE_REPOSITORY;

/// Reads the shared memories of the caller's worktree from their files, and returns the number of the worktree in which the method
/// runs. Adds a caveat if the files cannot be read.
///
/// # Errors
/// When the name of the method begins with `memory.` and the files cannot be stored in the rows.
pub(in crate::daemon) async fn enter_worktree(
    request: &Arc<RequestContext>,
    method: &Method,
    params: &Value,
) -> RpcResult<i64> {
    let Some(cwd) = params["cwd"].as_str().filter(|_| answers_with_memories(method, params)) else {
        return Ok(WHOLE_REPOSITORY);
    };
    let Ok(layout) = locate_worktree(request, cwd, request_deadline(request, None)).await else {
        return Ok(WHOLE_REPOSITORY); // the method reports the error
    };
    let is_of_memories = method.name.starts_with("memory.");
    if method.memories != MemoriesOf::Worktree {
        look_at_others(request, &layout).await;
    }
    if request.shared.memories.files.is_first_request() {
        spawn(take_edits_of_others(Arc::clone(&request.shared), layout.clone()));
    }
    let gone = request.shared.memories.find_gone_worktrees(&layout).await;
    let patience = LookPatience::for_method(method, params);
    let worktree = match look_within(request, &layout, LookPurpose::Enter { gone }, patience).await {
        // Other methods work without memories.
        Err(error) if !is_of_memories => {
            tracing::warn!(error = error.message, "files of memories could not be read");
            request.caveats.note_caveat(AnswerPart::Memories, error.message);
            request.shared.memories.last_worktree(&layout)
        }
        looked => looked?,
    };
    Ok(match method.name {
        "memory.export" => repository_from(worktree),
        _ if method.memories == MemoriesOf::Repository => WHOLE_REPOSITORY,
        _ => worktree,
    })
}

/// Why the files of a worktree are read.
enum LookPurpose {
    /// A request runs in the worktree. Memories are linked as the files of the worktree say, and memories that only `gone`
    /// worktrees had are archived.
    Enter { gone: Vec<i64> },
    /// A request from another worktree shows the memories of this one.
    Show,
}

/// The time that a request waits for one answer of the file system.
#[derive(Clone, Copy)]
struct LookPatience {
    limit: Duration,
    /// Whether the request continues without the answer. A request that changes memories fails instead.
    goes_on: bool,
}

impl LookPatience {
    fn for_method(method: &Method, params: &Value) -> Self {
        let within = params["within_ms"].as_u64().map(Duration::from_millis);
        // A third of the time limit remains for the answer to the request.
        let limit = within.map_or(SLOW, |within| SLOW.min(within * 2 / 3));
        let goes_on =
            method.only_reads || !method.name.starts_with("memory.") || method.name == "memory.recall";
        Self { limit, goes_on }
    }
}

/// Reads the files of a worktree into its rows within a time limit, and returns the number of the worktree. Adds a caveat for files
/// that could not be read.
async fn look_within(
    request: &Arc<RequestContext>,
    layout: &RepoLayout,
    purpose: LookPurpose,
    patience: LookPatience,
) -> RpcResult<i64> {
    let (files, key) = (&request.shared.memories.files, worktree_key(layout));
    let give_up = |place: &Path| {
        if !patience.goes_on {
            return Err(unanswered_error(place, patience.limit));
        }
        request.caveats.note_caveat(AnswerPart::Memories, unanswered_reason(place));
        Ok(request.shared.memories.last_worktree(layout))
    };
    // Another thread would hang on the same file system.
    if let Some(place) = files.unanswered_for(&key, patience.limit) {
        return give_up(&place);
    }
    let (progress, of_thread) = (files.begin_look(&key), layout.clone());
    let for_thread = Arc::clone(&progress);
    let mut done = pin!(run_look(request, &layout.root, move |request: &RequestContext| {
        let (gone, links) = match &purpose {
            LookPurpose::Enter { gone } => (&gone[..], true),
            LookPurpose::Show => (&[][..], false),
        };
        request.shared.memories.look_at_files(&of_thread, gone, links, &for_thread)
    }));
    loop {
        if let Ok(looked) = timeout(TICK, &mut done).await {
            let (worktree, failure) = looked?;
            if let Some(why) = failure {
                request.caveats.note_caveat(AnswerPart::Memories, why);
            }
            if files.is_unwatched(&key, layout) {
                take_edits(&request.shared, layout);
            }
            return Ok(worktree);
        }
        if let Some(place) = progress.unanswered_for(patience.limit) {
            return give_up(&place);
        }
    }
}

/// Reads the files of every other worktree that has memories, for methods that show these memories too. Failures become caveats.
async fn look_at_others(request: &Arc<RequestContext>, layout: &RepoLayout) {
    let patience = LookPatience { limit: SLOW, goes_on: true };
    for other in request.shared.memories.find_others(layout, &request.shared.engine.env).await {
        let looked = match other {
            Ok(other) => {
                look_within(request, &other, LookPurpose::Show, patience).await.map_err(|error| error.message)
            }
            Err(why) => Err(why),
        };
        if let Err(why) = looked {
            request.caveats.note_caveat(AnswerPart::Memories, why);
        }
    }
}

/// Returns whether the answer of a method contains memories.
fn answers_with_memories(method: &Method, params: &Value) -> bool {
    method.owes.answer_parts().contains(&AnswerPart::Memories)
        && (!method.memories_on_request
            || params["with"].as_array().is_some_and(|with| with.contains(&json!("memories"))))
}
