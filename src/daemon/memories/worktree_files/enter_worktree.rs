//! Reads the files of shared memories before each request, and binds the request to the memories of its worktree.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use memod_base::paths::RepoLayout;
use memod_engine::errors::RpcResult;
use memod_engine::file_access::disk_reads::{
    FILE_SYSTEM_CHECK_INTERVAL, FILE_SYSTEM_TIMEOUT, stuck_path_message,
};
use memod_memory_db::whole_repository_scope;
use memod_proto::{AnswerPart, MemoriesOf, Method};
use serde_json::{Value, json};
use tokio::spawn;
use tokio::time::timeout;

use super::take_edits::{start_storing_edits, start_storing_edits_elsewhere};
use crate::daemon::memories::rules::worktree_place::worktree_key;
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::reader_threads::{run_examining, unanswered_error};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::worktree_location::locate_worktree;
use crate::daemon::shared::memory_scope::WHOLE_REPOSITORY;

/// Reads the shared memories of the caller's worktree from their files, and returns the number of the worktree in which the method
/// runs. Adds a caveat if the files cannot be read.
///
/// # Errors
/// When the name of the method begins with `memory.` and the files cannot be stored in the rows.
pub(in crate::daemon) async fn prepare_worktree_scope(
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
        read_other_worktrees(request, &layout).await;
    }
    if request.shared.memories.files.mark_searched() {
        spawn(start_storing_edits_elsewhere(Arc::clone(&request.shared), layout.clone()));
    }
    let gone = request.shared.memories.find_gone_worktrees(&layout).await;
    let patience = ReadTimeout::for_method(method, params);
    let worktree = match read_files_within(request, &layout, ReadPurpose::Enter { gone }, patience).await {
        // Other methods work without memories.
        Err(error) if !is_of_memories => {
            tracing::warn!(error = error.message, "files of memories could not be read");
            request.caveats.note_caveat(AnswerPart::Memories, error.message);
            request.shared.memories.last_worktree(&layout)
        }
        looked => looked?,
    };
    Ok(match method.name {
        "memory.export" => whole_repository_scope(worktree),
        _ if method.memories == MemoriesOf::Repository => WHOLE_REPOSITORY,
        _ => worktree,
    })
}

/// Why the files of a worktree are read.
enum ReadPurpose {
    /// A request runs in the worktree. Memories are linked as the files of the worktree say, and memories that only `gone`
    /// worktrees had are archived.
    Enter { gone: Vec<i64> },
    /// A request from another worktree shows the memories of this one.
    Show,
}

/// The time that a request waits for one answer of the file system.
#[derive(Clone, Copy)]
struct ReadTimeout {
    limit: Duration,
    /// Whether the request continues without the answer. A request that changes memories fails instead.
    continues_on_timeout: bool,
}

impl ReadTimeout {
    fn for_method(method: &Method, params: &Value) -> Self {
        let within = params["within_ms"].as_u64().map(Duration::from_millis);
        // A third of the time limit remains for the answer to the request.
        let limit = within.map_or(FILE_SYSTEM_TIMEOUT, |within| FILE_SYSTEM_TIMEOUT.min(within * 2 / 3));
        let goes_on =
            method.only_reads || !method.name.starts_with("memory.") || method.name == "memory.recall";
        Self { limit, continues_on_timeout: goes_on }
    }
}

/// Reads the files of a worktree into its rows within a time limit, and returns the number of the worktree. Adds a caveat for files
/// that could not be read.
async fn read_files_within(
    request: &Arc<RequestContext>,
    layout: &RepoLayout,
    purpose: ReadPurpose,
    patience: ReadTimeout,
) -> RpcResult<i64> {
    let (files, key) = (&request.shared.memories.files, worktree_key(layout));
    let give_up = |place: &Path| {
        if !patience.continues_on_timeout {
            return Err(unanswered_error(place, patience.limit));
        }
        request.caveats.note_caveat(AnswerPart::Memories, stuck_path_message(place));
        Ok(request.shared.memories.last_worktree(layout))
    };
    // Another thread would hang on the same file system.
    if let Some(place) = files.unanswered_for(&key, patience.limit) {
        return give_up(&place);
    }
    let (progress, of_thread) = (files.begin_read(&key), layout.clone());
    let for_thread = Arc::clone(&progress);
    let mut done = pin!(run_examining(request, &layout.root, move |request: &RequestContext| {
        let (gone, links) = match &purpose {
            ReadPurpose::Enter { gone } => (&gone[..], true),
            ReadPurpose::Show => (&[][..], false),
        };
        request.shared.memories.update_rows_from_files(&of_thread, gone, links, &for_thread)
    }));
    loop {
        if let Ok(looked) = timeout(FILE_SYSTEM_CHECK_INTERVAL, &mut done).await {
            let (worktree, failure) = looked?;
            if let Some(why) = failure {
                request.caveats.note_caveat(AnswerPart::Memories, why);
            }
            if files.is_unwatched(&key, layout) {
                start_storing_edits(&request.shared, layout);
            }
            return Ok(worktree);
        }
        if let Some(place) = progress.find_stuck_path(patience.limit) {
            return give_up(&place);
        }
    }
}

/// Reads the files of every other worktree that has memories, for methods that show these memories too. Failures become caveats.
async fn read_other_worktrees(request: &Arc<RequestContext>, layout: &RepoLayout) {
    let patience = ReadTimeout { limit: FILE_SYSTEM_TIMEOUT, continues_on_timeout: true };
    for other in request.shared.memories.locate_other_worktrees(layout, &request.shared.engine.env).await {
        let looked = match other {
            Ok(other) => read_files_within(request, &other, ReadPurpose::Show, patience)
                .await
                .map_err(|error| error.message),
            Err(why) => Err(why),
        };
        if let Err(why) = looked {
            request.caveats.note_caveat(AnswerPart::Memories, why);
        }
    }
}

/// Returns whether the answer of a method contains memories.
fn answers_with_memories(method: &Method, params: &Value) -> bool {
    method.required_caveats.answer_parts().contains(&AnswerPart::Memories)
        && (!method.memories_on_request
            || params["with"].as_array().is_some_and(|with| with.contains(&json!("memories"))))
}
