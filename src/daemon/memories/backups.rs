//! Makes and restores backups on request.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::transaction::{Call, with_store};
use crate::daemon::error::{RpcResult, bad_params};
use crate::daemon::request::blocking;
use crate::proto::exchange::{BackupParams, RestoreParams};
use crate::proto::{RpcError, code};
use crate::store::{MemoryStore, RestoreError, StoreError};

pub(super) async fn back_up(call: &Call<'_>) -> RpcResult<Value> {
    let params: BackupParams = call.params()?;
    let path = absolute(params.path)?;
    let path = blocking(call.shared, move |shared| {
        let own = path.as_ref().and_then(|path| shared.layout.own_state(path, &shared.env));
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
    let job = move |store: &mut MemoryStore, now_ms| {
        let done = store.restore_backup(now_ms, path.as_deref(), params.dry_run).map(|done| json!(done));
        done.map_err(|error| match error {
            RestoreError::Store(error) => error.into(),
            RestoreError::Copy(error) => error.into(),
            RestoreError::None => RpcError::new(code::NOT_FOUND, error.to_string()),
        })
    };
    with_store(call.shared, job).await
}

fn absolute(path: Option<String>) -> RpcResult<Option<PathBuf>> {
    let path = path.map(PathBuf::from);
    match &path {
        Some(path) if !path.is_absolute() => Err(bad_params("path: an absolute one is needed")),
        _ => Ok(path),
    }
}

/// The caller may choose any path.
fn file_error(error: StoreError) -> RpcError {
    match error {
        StoreError::File { path, source } if source.kind() == std::io::ErrorKind::AlreadyExists => {
            bad_params(format!("{}: there is a file of that name; nothing was written", path.display()))
                .with_hint("name another file: a backup replaces none; remove that one first if it may go")
        }
        StoreError::File { .. } | StoreError::Sqlite { .. } => bad_params(error.to_string()),
        _ => error.into(),
    }
}
