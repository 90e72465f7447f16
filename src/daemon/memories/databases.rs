//! Reads the database of another memory system, page by page.
//!
//! The copy that the first page made stays open until the last; who begins another import takes its place.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use serde_json::{Value, json};

use super::transaction::Call;
use crate::daemon::error::{RpcResult, bad_params};
use crate::daemon::request::blocking;
use crate::proto::exchange::DatabaseParams;
use crate::store::Foreign;

pub(super) async fn page(call: &Call<'_>) -> RpcResult<Value> {
    let params: DatabaseParams = call.params()?;
    blocking(call.shared, move |shared| {
        let path = PathBuf::from(&params.path);
        if !path.is_absolute() {
            return Err(bad_params("path: an absolute one is needed"));
        }
        let state_dir = &shared.layout.state_dir;
        let mut opened = shared.memories.foreign.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = opened.as_ref().is_some_and(|(of, system, _)| *of == path && *system == params.system);
        if params.after.is_none() || !is_open {
            *opened = None; // its files go before the next ones come
            let ours = [state_dir.join("memory.db"), shared.index_db.clone()];
            let ours: Vec<&Path> = ours.iter().map(PathBuf::as_path).collect();
            let foreign = Foreign::open(&path, &params.system, &state_dir.join("import"), &ours);
            *opened = Some((path, params.system.clone(), foreign?));
        }
        let (_, _, foreign) = opened.as_ref().expect("it was opened above");
        let page = foreign.page(params.after.as_deref())?;
        if page.next.is_none() {
            *opened = None;
        }
        Ok(json!(page))
    })
    .await
}
