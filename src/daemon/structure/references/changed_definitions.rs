//! Finds which definitions have changed since a revision.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_proto::{ChangedParams, ReachParams};

use crate::daemon::history::changed;
use crate::daemon::request::caveats;
use crate::daemon::shared::Shared;

/// Files with the qualified names of their definitions.
pub(super) type Names = Vec<(String, Vec<String>)>;

/// What has changed since a revision.
pub(super) struct Changes {
    /// Definitions that were changed or added.
    pub(super) present: Names,
    /// Definitions that were removed.
    pub(super) removed: Names,
    /// Old and new paths of renamed files; all of their definitions count as changed.
    pub(super) renamed: Vec<(String, String)>,
    pub(super) why_not_fresh: Option<String>,
    /// Why some changes may lack.
    pub(super) cut: Option<String>,
}

impl Changes {
    /// Returns the paths of files that are gone, or had definitions that are.
    pub(super) fn old_paths(&self) -> Vec<String> {
        let renamed = self.renamed.iter().map(|(old, _)| old);
        self.removed.iter().map(|(path, _)| path).chain(renamed).cloned().collect()
    }
}

/// Returns what has changed since the revision that is asked for.
pub(super) async fn changes(shared: &Arc<Shared>, params: &ReachParams) -> RpcResult<Changes> {
    let ask = ChangedParams {
        cwd: params.cwd.clone(),
        since: params.since.clone(),
        sync: params.sync,
        wait_ms: params.wait_ms,
        ..ChangedParams::default()
    };
    let result = changed::changed(shared, ask).await?;
    caveats::needs_only(|_| true); // what uses the changed definitions may be anywhere
    let cut = (result.left_out > 0).then(|| format!("{} changed files are left out", result.left_out));
    let why_not_fresh = (!result.fresh).then(|| result.reason.unwrap_or_default());
    let (mut present, mut removed, mut renamed) = (Names::new(), Names::new(), Vec::new());
    for file in result.files {
        renamed.extend(file.from.clone().map(|from| (from, file.path.clone())));
        let Some(symbols) = file.symbols else { continue };
        present.push((file.path.clone(), symbols.changed.into_iter().chain(symbols.added).collect()));
        removed.push((file.path, symbols.removed));
    }
    present.retain(|(_, names)| !names.is_empty());
    removed.retain(|(_, names)| !names.is_empty());
    Ok(Changes { present, removed, renamed, why_not_fresh, cut })
}
