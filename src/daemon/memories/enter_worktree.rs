//! Binds each request to the memories that its worktree has.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use memod_base::paths::RepoLayout;
use memod_engine::disk_reads::{SLOW, TICK, not_answered};
use memod_engine::errors::RpcResult;
use memod_memory_db::repository_from;
use memod_proto::{AnswerPart, MemoryScope, Method};
use serde_json::{Value, json};
use tokio::spawn;
use tokio::time::timeout;

use super::file_edits::{take_edits, take_edits_of_others};
use super::file_look::worktree_key;
use crate::daemon::request::caveats;
use crate::daemon::request::{deadline, locate, looking, unanswered};
use crate::daemon::shared::Shared;

/// Types of results that have memories only if these are asked for.
const WITH_MEMORIES: [&str; 2] = ["RefsResult", "ReachResult"];

/// Returns the worktree in which a method runs, once the rows of its shared memories are as its files. Notes why they are not.
///
/// # Errors
/// When a method about memories alone is called, and the rows cannot be written.
pub(in crate::daemon) async fn enter(
    shared: &Arc<Shared>,
    method: &Method,
    params: &Value,
) -> RpcResult<i64> {
    let Some(cwd) = params["cwd"].as_str().filter(|_| is_made_of_memories(method, params)) else {
        return Ok(0);
    };
    let Ok(layout) = locate(shared, cwd, deadline(shared, None)).await else {
        return Ok(0); // the method says what is wrong
    };
    let is_of_memories = method.name.starts_with("memory.");
    if method.memories != MemoryScope::Worktree {
        look_at_others(shared, &layout).await;
    }
    if shared.memories.files.begins() {
        spawn(take_edits_of_others(Arc::clone(shared), layout.clone()));
    }
    let gone = shared.memories.find_gone_worktrees(&layout).await;
    let patience = Patience::of(method, params);
    let worktree = match look(shared, &layout, LookPurpose::Enter { gone }, patience).await {
        // Files and commits are found without memories.
        Err(error) if !is_of_memories => {
            tracing::warn!(error = error.message, "files of memories");
            caveats::note(AnswerPart::Memories, error.message);
            shared.memories.last_worktree(&layout)
        }
        looked => looked?,
    };
    Ok(match method.name {
        "memory.export" => repository_from(worktree),
        _ if method.memories == MemoryScope::Repository => 0,
        _ => worktree,
    })
}

/// Why a worktree is looked at.
enum LookPurpose {
    /// A request runs in it: links are those of its files, and what only worktrees had that are `gone` is archived.
    Enter { gone: Vec<i64> },
    /// A request from another worktree shows what it has.
    Show,
}

/// How long a request waits for one answer of the file system.
#[derive(Clone, Copy)]
struct Patience {
    limit: Duration,
    /// Whether it goes on without the answer then; what changes memories fails.
    goes_on: bool,
}

impl Patience {
    fn of(method: &Method, params: &Value) -> Self {
        let within = params["within_ms"].as_u64().map(Duration::from_millis);
        // What is left is for the answer.
        let limit = within.map_or(SLOW, |within| SLOW.min(within * 2 / 3));
        let goes_on =
            method.only_reads || !method.name.starts_with("memory.") || method.name == "memory.recall";
        Self { limit, goes_on }
    }
}

/// Makes the rows of a worktree equal to its files, and notes what could not be read; returns its number.
async fn look(
    shared: &Arc<Shared>,
    layout: &RepoLayout,
    purpose: LookPurpose,
    patience: Patience,
) -> RpcResult<i64> {
    let (files, key) = (&shared.memories.files, worktree_key(layout));
    let give_up = |place: &Path| {
        if !patience.goes_on {
            return Err(unanswered(place, patience.limit));
        }
        caveats::note(AnswerPart::Memories, not_answered(place));
        Ok(shared.memories.last_worktree(layout))
    };
    // A further thread would hang as well.
    if let Some(place) = files.unanswered_for(&key, patience.limit) {
        return give_up(&place);
    }
    let (progress, of_thread) = (files.begin_look(&key), layout.clone());
    let for_thread = Arc::clone(&progress);
    let look = move |shared: &Shared| {
        let (gone, links) = match &purpose {
            LookPurpose::Enter { gone } => (&gone[..], true),
            LookPurpose::Show => (&[][..], false),
        };
        shared.memories.look_at_files(&of_thread, gone, links, &for_thread)
    };
    let mut done = pin!(looking(shared, &layout.root, look));
    loop {
        if let Ok(looked) = timeout(TICK, &mut done).await {
            let (worktree, failure) = looked?;
            if let Some(why) = failure {
                caveats::note(AnswerPart::Memories, why);
            }
            if files.is_unwatched(&key, layout) {
                take_edits(shared, layout);
            }
            return Ok(worktree);
        }
        if let Some(place) = progress.unanswered_for(patience.limit) {
            return give_up(&place);
        }
    }
}

/// Looks at each other worktree that has memories, for methods that show what only one of them has.
async fn look_at_others(shared: &Arc<Shared>, layout: &RepoLayout) {
    let patience = Patience { limit: SLOW, goes_on: true };
    for other in shared.memories.find_others(layout, &shared.engine.env).await {
        let looked = match other {
            Ok(other) => {
                look(shared, &other, LookPurpose::Show, patience).await.map_err(|error| error.message)
            }
            Err(why) => Err(why),
        };
        if let Err(why) = looked {
            caveats::note(AnswerPart::Memories, why);
        }
    }
}

/// Returns whether the answer to a call has memories.
fn is_made_of_memories(method: &Method, params: &Value) -> bool {
    let is_asked = || params["with"].as_array().is_some_and(|with| with.contains(&json!("memories")));
    method.owes.parts().contains(&AnswerPart::Memories)
        && (!WITH_MEMORIES.contains(&method.result) || is_asked())
}
