//! Binds each request to the memories that its worktree has.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::daemon::error::RpcResult;
use crate::daemon::request::{deadline, locate, reading};
use crate::daemon::shared::Shared;

/// Methods that show or change memories, besides those of their own.
const METHODS: [&str; 9] =
    ["search", "brief", "advise", "why", "status", "doctor", "complete", "llm.compare", "llm.suggest"];
/// Methods about the memories of the whole repository, also those of other worktrees.
const OF_REPOSITORY: [&str; 5] =
    ["memory.export", "memory.import_keys", "memory.read_database", "memory.backup", "memory.restore_backup"];

/// Returns the worktree in which a method runs, once the rows of its shared memories are as its files.
///
/// # Errors
/// When a method about memories alone is called, and the rows cannot be written.
pub(in crate::daemon) async fn enter(shared: &Arc<Shared>, method: &str, params: &Value) -> RpcResult<i64> {
    let is_of_memories = method.starts_with("memory.");
    let is_beside = || params["with"].as_array().is_some_and(|with| with.contains(&json!("memories")));
    let is_asked = is_of_memories || METHODS.contains(&method) || is_beside();
    let Some(cwd) = params["cwd"].as_str().filter(|_| is_asked) else {
        return Ok(0);
    };
    let Ok(layout) = locate(shared, cwd, deadline(shared, None)).await else {
        return Ok(0); // the method says what is wrong
    };
    let root = layout.root.clone();
    let gone = shared.memories.find_gone_worktrees(&layout).await;
    let look = move |shared: &Shared| match shared.memories.look_at_files(&layout, &gone) {
        // Files and commits are found without memories, and the answer says what is wrong with those.
        Err(error) if !is_of_memories => {
            tracing::warn!(error = error.message, "files of memories");
            Ok(shared.memories.last_worktree(&layout))
        }
        looked => looked,
    };
    let worktree = reading(shared, &root, look).await?;
    Ok(if OF_REPOSITORY.contains(&method) { 0 } else { worktree })
}
