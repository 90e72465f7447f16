//! Reads the database of another memory system, page by page.
//!
//! The read of the first page copies the database. The copy stays open until the last page is read, or until the client's
//! connection ends. Another import replaces the copy.

use std::path::{Path, PathBuf};
use std::sync::{Arc, TryLockError};

use memod_base::threads::lock;
use memod_engine::errors::RpcResult;
use memod_memory_db::ImportSource;
use memod_proto::exchange::DatabaseParams;
use serde_json::{Value, json};

use crate::daemon::memories::calls::method_call::MethodCall;
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::shared::Shared;
use crate::daemon::shared::memory_thread::OpenForeignDatabase;

/// Answers `memory.read_database`: returns one page of the database of another memory system.
pub(in crate::daemon::memories) async fn read_page(call: &MethodCall<'_>) -> RpcResult<Value> {
    let params: DatabaseParams = call.parse_params()?;
    let connection = call.request.connection();
    run_blocking(call.request, move |request| {
        let path = PathBuf::from(&params.path);
        if !path.is_absolute() {
            return Err(bad_params_error("path: an absolute path is needed"));
        }
        let state_dir = &request.shared.engine.layout.state_dir;
        let mut opened = lock(&request.shared.memories.foreign_database);
        let is_open = opened.as_ref().is_some_and(|open| open.path == path && open.system == params.system);
        if params.after.is_none() || !is_open {
            *opened = None; // removes the files of the former copy before the next copy is made
            let ours = [state_dir.join("memory.db"), request.shared.engine.index_db.clone()];
            let ours: Vec<&Path> = ours.iter().map(PathBuf::as_path).collect();
            let copy = ImportSource::open(&path, &params.system, state_dir, &ours)?;
            *opened = Some(OpenForeignDatabase { path, system: params.system.clone(), connection, copy });
        }
        let open = opened.as_ref().expect("it was opened above");
        let page = open.copy.read_page(params.after.as_deref())?;
        if page.next.is_none() || open.connection.strong_count() == 0 {
            *opened = None;
        }
        Ok(json!(page))
    })
    .await
}

/// Removes the open copy of a database if the connection that opened it has ended.
pub(in crate::daemon) fn close_abandoned(shared: &Arc<Shared>) {
    match shared.memories.foreign_database.try_lock() {
        Ok(open) if !is_abandoned(open.as_ref()) => return,
        Ok(_) | Err(TryLockError::Poisoned(_)) => {}
        // A page is being read; its reader checks afterwards whether the connection still exists.
        Err(TryLockError::WouldBlock) => return,
    }
    let shared = Arc::clone(shared);
    tokio::task::spawn_blocking(move || {
        let mut open = lock(&shared.memories.foreign_database);
        if is_abandoned(open.as_ref()) {
            *open = None;
        }
    });
}

/// Returns whether the connection that opened a database has ended.
fn is_abandoned(open: Option<&OpenForeignDatabase>) -> bool {
    open.is_some_and(|open| open.connection.strong_count() == 0)
}
