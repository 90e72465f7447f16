//! Reads the database of another memory system, page by page.
//!
//! The first page makes a copy, which stays open until the last page or until its connection ends. Another import replaces
//! it.

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
use crate::daemon::shared::memory_thread::OpenForeign;

pub(in crate::daemon::memories) async fn read_page(call: &MethodCall<'_>) -> RpcResult<Value> {
    let params: DatabaseParams = call.parse_params()?;
    let connection = call.request.connection();
    run_blocking(call.request, move |request| {
        let path = PathBuf::from(&params.path);
        if !path.is_absolute() {
            return Err(bad_params_error("path: an absolute one is needed"));
        }
        let state_dir = &request.shared.engine.layout.state_dir;
        let mut opened = lock(&request.shared.memories.foreign);
        let is_open = opened.as_ref().is_some_and(|open| open.path == path && open.system == params.system);
        if params.after.is_none() || !is_open {
            *opened = None; // its files go before the next ones come
            let ours = [state_dir.join("memory.db"), request.shared.engine.index_db.clone()];
            let ours: Vec<&Path> = ours.iter().map(PathBuf::as_path).collect();
            let copy = ImportSource::open(&path, &params.system, state_dir, &ours)?;
            *opened = Some(OpenForeign { path, system: params.system.clone(), connection, copy });
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

/// Removes the copy of a connection that has ended.
pub(in crate::daemon) fn close_abandoned(shared: &Arc<Shared>) {
    match shared.memories.foreign.try_lock() {
        Ok(open) if !is_abandoned(open.as_ref()) => return,
        Ok(_) | Err(TryLockError::Poisoned(_)) => {}
        // A page is being read; its reader checks afterwards whether the connection still exists.
        Err(TryLockError::WouldBlock) => return,
    }
    let shared = Arc::clone(shared);
    tokio::task::spawn_blocking(move || {
        let mut open = lock(&shared.memories.foreign);
        if is_abandoned(open.as_ref()) {
            *open = None;
        }
    });
}

/// Returns whether the connection that opened a database has ended.
fn is_abandoned(open: Option<&OpenForeign>) -> bool {
    open.is_some_and(|open| open.connection.strong_count() == 0)
}
