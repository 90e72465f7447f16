//! Makes and restores backups on request.

use std::path::PathBuf;
use std::sync::Arc;

use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::file_access::file_access_progress::FileAccessProgress;
use memod_memory_db::{MemoryRows, MemoryStore, RestoreError};
use memod_proto::exchange::{BackupParams, RestoreParams, RestoreResult};
use memod_proto::{AnswerPart, RpcError, code};
use serde_json::{Value, json};

use crate::daemon::memories::calls::method_call::{MethodCall, read, run_on_store};
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::reader_threads::{run_blocking, run_examining};
use crate::daemon::request::request_context::{RequestContext, RequestOrigin};
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::request::worktree_location::locate_worktree;

/// Answers `memory.backup`: makes a backup of all memories, at a path that the params may name.
pub(in crate::daemon::memories) async fn back_up(call: &MethodCall<'_>) -> RpcResult<Value> {
    let params: BackupParams = call.parse_params()?;
    let path = require_absolute(params.path)?;
    let path = run_blocking(call.request, move |request| {
        let own_state = path.as_ref().and_then(|path| {
            request.shared.engine.layout.find_own_state_dir(path, &request.shared.engine.env)
        });
        match (&path, own_state) {
            (Some(path), Some(dir)) => {
                let message =
                    format!("path: {} is part of memod's own state, {}", path.display(), dir.display());
                Err(bad_params_error(message)
                    .with_hint("name a file elsewhere, or no file to store the backup with memod's own"))
            }
            _ => Ok(path),
        }
    })
    .await?;
    let is_by_agent = call.caller.is_agent();
    run_on_store(call.request, move |store: &mut MemoryStore, now_ms| {
        let backup =
            store.make_requested_backup(now_ms, path.as_deref(), is_by_agent).map(|backup| json!(backup));
        backup.map_err(backup_error)
    })
    .await
}

/// Answers `memory.restore_backup`: replaces all memories by those of a backup, and writes the files of shared memories.
pub(in crate::daemon::memories) async fn restore_backup(call: &MethodCall<'_>) -> RpcResult<Value> {
    let params: RestoreParams = call.parse_params()?;
    let path = require_absolute(params.path)?;
    let (dry_run, cwd) = (params.dry_run, call.caller.cwd.clone());
    let named = call.named.clone().filter(|_| !dry_run);
    let answer =
        run_on_store(call.request, move |store: &mut MemoryStore, now_ms| -> Result<Value, RpcError> {
            if let Some(named) = &named
                && let Some(answer) = store.read(now_ms, |rows| named.find_answer(rows))?
            {
                return Ok(answer);
            }
            // If the daemon is killed, the client repeats the request; the stored answer prevents a second restore.
            let restored = store
                .restore_backup(
                    now_ms,
                    path.as_deref(),
                    dry_run,
                    |rows: &MemoryRows<'_>, restored: &RestoreResult| {
                        named.as_ref().map_or(Ok(()), |named| named.keep_answer(rows, &json!(restored)))
                    },
                )
                .map(|restored| json!(restored));
            restored.map_err(|error| match error {
                RestoreError::Database(error) => error.into(),
                RestoreError::Copy(error) => error.into(),
                RestoreError::NoBackup => RpcError::new(code::NOT_FOUND, error.to_string()),
            })
        })
        .await?;
    if !dry_run {
        write_restored_files(call.request, &cwd).await;
    }
    Ok(answer)
}

/// Writes the files of shared memories that a restored backup contains: those of the caller's worktree before the answer, and
/// those of other worktrees as soon as their file systems respond. A write that fails is tried again each time that a request
/// reads the files of the worktree.
async fn write_restored_files(request: &Arc<RequestContext>, cwd: &str) {
    update_rows_of_worktree(request, cwd, true).await;
    let Ok(worktrees) = read(request, |rows| Ok(rows.worktrees().list_worktrees()?)).await else { return };
    // The common dir of a bare repository is in no worktree.
    let common_dir = request.shared.engine.layout.common_dir.as_ref().filter(|dir| dir.ends_with(".git"));
    let main = common_dir.and_then(|dir| dir.parent()?.to_str().map(str::to_owned));
    for root in worktrees.into_iter().filter_map(|worktree| worktree.root).chain(main) {
        // The answer does not wait for the other worktrees, so it gets no caveats about them.
        let request = RequestContext::new(&request.shared, RequestOrigin::Other);
        tokio::spawn(async move { update_rows_of_worktree(&request, &root, false).await });
    }
}

/// Makes the rows equal to the files of a worktree, and writes pending files. Links the memories as the files say if `links`.
/// Failures become caveats or log lines.
async fn update_rows_of_worktree(request: &Arc<RequestContext>, dir: &str, links: bool) {
    let look = async {
        let layout = locate_worktree(request, dir, request_deadline(request, None)).await?;
        let root = layout.root.clone();
        let progress = FileAccessProgress::default();
        run_examining(request, &root, move |request: &RequestContext| {
            request.shared.memories.update_rows_from_files(&layout, &[], links, &progress)
        })
        .await
    };
    match look.await {
        Ok((_, Some(why))) => request.caveats.note_caveat(AnswerPart::Memories, why),
        Ok((_, None)) => {}
        Err(error) => {
            tracing::warn!(dir, error = error.message, "files of restored memories could not be written");
        }
    }
}

fn require_absolute(path: Option<String>) -> RpcResult<Option<PathBuf>> {
    let path = path.map(PathBuf::from);
    match &path {
        Some(path) if !path.is_absolute() => Err(bad_params_error("path: an absolute path is needed")),
        _ => Ok(path),
    }
}

/// Converts an error of a backup. An error of the file becomes one of the params, because the caller may have chosen the path.
fn backup_error(error: DatabaseError) -> RpcError {
    match error {
        DatabaseError::File { path, source } if source.kind() == std::io::ErrorKind::AlreadyExists => {
            bad_params_error(format!("{}: the file exists already; nothing was written", path.display()))
                .with_hint("name another file, or remove this one first: a backup replaces no file")
        }
        DatabaseError::File { .. } | DatabaseError::Sqlite { .. } => bad_params_error(error.to_string()),
        _ => error.into(),
    }
}
