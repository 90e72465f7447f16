//! Makes and restores backups on request.

use std::path::PathBuf;
use std::sync::Arc;

use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::look_progress::LookProgress;
use memod_memory_db::{MemoryStore, RestoreError, Rows};
use memod_proto::exchange::{BackupParams, RestoreParams, RestoreResult};
use memod_proto::{AnswerPart, RpcError, code};
use serde_json::{Value, json};

use super::transaction::{Call, read, with_store};
use crate::daemon::request::caveats;
use crate::daemon::request::error::bad_params;
use crate::daemon::request::{blocking, deadline, locate, looking};
use crate::daemon::shared::Shared;

pub(super) async fn back_up(call: &Call<'_>) -> RpcResult<Value> {
    let params: BackupParams = call.params()?;
    let path = absolute(params.path)?;
    let path = blocking(call.shared, move |shared| {
        let own = path.as_ref().and_then(|path| shared.engine.layout.own_state(path, &shared.engine.env));
        match (&path, own) {
            (Some(path), Some(dir)) => {
                let message =
                    format!("path: {} is part of memod's own state, {}", path.display(), dir.display());
                Err(bad_params(message)
                    .with_hint("name a file elsewhere; without a path it goes among memod's own copies"))
            }
            _ => Ok(path),
        }
    })
    .await?;
    let is_by_agent = call.caller.is_agent();
    let job = move |store: &mut MemoryStore, now_ms| {
        let made = store.back_up_to(now_ms, path.as_deref(), is_by_agent).map(|made| json!(made));
        made.map_err(file_error)
    };
    with_store(call.shared, job).await
}

pub(super) async fn restore(call: &Call<'_>) -> RpcResult<Value> {
    let params: RestoreParams = call.params()?;
    let path = absolute(params.path)?;
    let (dry_run, cwd) = (params.dry_run, call.caller.cwd.clone());
    let request = call.request.clone().filter(|_| !dry_run);
    let job = move |store: &mut MemoryStore, now_ms| -> Result<Value, RpcError> {
        if let Some(request) = &request
            && let Some(answer) = store.read(now_ms, |rows| request.answered(rows))?
        {
            return Ok(answer);
        }
        // The client asks again where the daemon was killed: then that is not carried out on what is restored.
        let note = |rows: &Rows<'_>, done: &RestoreResult| {
            request.as_ref().map_or(Ok(()), |request| request.keep(rows, &json!(done)))
        };
        let done = store.restore_backup(now_ms, path.as_deref(), dry_run, note).map(|done| json!(done));
        done.map_err(|error| match error {
            RestoreError::Database(error) => error.into(),
            RestoreError::Copy(error) => error.into(),
            RestoreError::None => RpcError::new(code::NOT_FOUND, error.to_string()),
        })
    };
    let answer = with_store(call.shared, job).await?;
    if !dry_run {
        write_files(call.shared, &cwd).await;
    }
    Ok(answer)
}

/// Writes the files that a restored backup asks for: those of the caller's worktree before it is answered, and those of others as soon
/// as their file systems let it. What cannot be written is tried again with each look at the worktree.
async fn write_files(shared: &Arc<Shared>, cwd: &str) {
    look_at_worktree(shared, cwd, true).await;
    let Ok(worktrees) = read(shared, |rows| Ok(rows.worktrees()?)).await else { return };
    // That of a bare repository is in no worktree.
    let common_dir = shared.engine.layout.common_dir.as_ref().filter(|dir| dir.ends_with(".git"));
    let main = common_dir.and_then(|dir| dir.parent()?.to_str().map(str::to_owned));
    for root in worktrees.into_iter().filter_map(|worktree| worktree.root).chain(main) {
        let shared = Arc::clone(shared);
        tokio::spawn(async move { look_at_worktree(&shared, &root, false).await });
    }
}

/// Makes the files of a worktree and the rows agree, and links these if it `links`. Failures are noted for the caller, or logged.
async fn look_at_worktree(shared: &Arc<Shared>, dir: &str, links: bool) {
    let looked = async {
        let layout = locate(shared, dir, deadline(shared, None)).await?;
        let root = layout.root.clone();
        let progress = LookProgress::default();
        let look = move |shared: &Shared| shared.memories.look_at_files(&layout, &[], links, &progress);
        looking(shared, &root, look).await
    };
    match looked.await {
        Ok((_, Some(why))) => caveats::note(AnswerPart::Memories, why),
        Ok((_, None)) => {}
        Err(error) => tracing::warn!(dir, error = error.message, "files of memories that came back"),
    }
}

fn absolute(path: Option<String>) -> RpcResult<Option<PathBuf>> {
    let path = path.map(PathBuf::from);
    match &path {
        Some(path) if !path.is_absolute() => Err(bad_params("path: an absolute one is needed")),
        _ => Ok(path),
    }
}

/// The caller may choose any path.
fn file_error(error: DatabaseError) -> RpcError {
    match error {
        DatabaseError::File { path, source } if source.kind() == std::io::ErrorKind::AlreadyExists => {
            bad_params(format!("{}: there is a file of that name; nothing was written", path.display()))
                .with_hint("name another file: a backup replaces none; remove that one first if it may go")
        }
        DatabaseError::File { .. } | DatabaseError::Sqlite { .. } => bad_params(error.to_string()),
        _ => error.into(),
    }
}
