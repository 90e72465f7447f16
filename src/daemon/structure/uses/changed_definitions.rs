//! Finds which definitions have changed since a revision.

use std::sync::Arc;

use memod_base::types::last_typed_part;
use memod_engine::errors::RpcResult;
use memod_proto::{ChangedParams, ReachParams, RpcError, code};

use crate::daemon::history::changed;
use crate::daemon::request::request_context::RequestContext;

/// Paths of files, with the qualified names of definitions in them.
pub(super) type DefinitionsByFile = Vec<(String, Vec<String>)>;

/// The changes since a revision.
pub(super) struct ChangedDefinitions {
    /// Definitions that were changed or added.
    pub(super) present: DefinitionsByFile,
    /// Definitions that were removed.
    pub(super) removed: DefinitionsByFile,
    /// Old and new paths of renamed files; all of their definitions count as changed.
    pub(super) renamed: Vec<(String, String)>,
    pub(super) why_not_fresh: Option<String>,
    /// Why some changes may be missing.
    pub(super) cut: Option<String>,
}

impl ChangedDefinitions {
    /// Returns the old paths of renamed files, and the paths of files with removed definitions.
    pub(super) fn old_paths(&self) -> Vec<String> {
        let renamed = self.renamed.iter().map(|(old, _)| old);
        self.removed.iter().map(|(path, _)| path).chain(renamed).cloned().collect()
    }
}

/// Returns the definitions that changed since the requested revision.
pub(super) async fn find_changed_definitions(
    request: &Arc<RequestContext>,
    params: &ReachParams,
) -> RpcResult<ChangedDefinitions> {
    let ask = ChangedParams {
        cwd: params.cwd.clone(),
        since: params.since.clone(),
        sync: params.sync,
        wait_ms: params.wait_ms,
        ..ChangedParams::default()
    };
    let result = changed::answer_changed(request, ask).await?;
    request.caveats.note_needed_files(|_| true); // a changed definition may be used in any file
    let cut = (result.left_out > 0).then(|| format!("{} changed files are left out", result.left_out));
    let why_not_fresh = (!result.fresh).then(|| result.reason.unwrap_or_default());
    let (mut present, mut removed, mut renamed) =
        (DefinitionsByFile::new(), DefinitionsByFile::new(), Vec::new());
    for file in result.files {
        renamed.extend(file.from.clone().map(|from| (from, file.path.clone())));
        let Some(symbols) = file.symbols else { continue };
        present.push((file.path.clone(), symbols.changed.into_iter().chain(symbols.added).collect()));
        removed.push((file.path, symbols.removed));
    }
    present.retain(|(_, names)| !names.is_empty());
    removed.retain(|(_, names)| !names.is_empty());
    Ok(ChangedDefinitions { present, removed, renamed, why_not_fresh, cut })
}

/// Returns the error for a name that is not defined, with the command that answers if the name was removed or renamed since the last
/// commit. The error is returned as it is if changes cannot be read.
pub(super) async fn explain_removed_name(
    request: &Arc<RequestContext>,
    params: &ReachParams,
    error: RpcError,
) -> RpcError {
    let target = params.target.as_deref().unwrap_or_default();
    let name = last_typed_part(target.rsplit('#').next().unwrap_or(target));
    if error.code != code::NOT_FOUND || name.is_empty() {
        return error;
    }
    let since_head = ReachParams { since: Some("HEAD".to_owned()), ..params.clone() };
    let Ok(changes) = find_changed_definitions(request, &since_head).await else { return error };
    let is_name = |title: &&String| last_typed_part(title) == name;
    let removed =
        changes.removed.iter().find_map(|(path, titles)| Some((path, titles.iter().find(is_name)?)));
    let Some((path, title)) = removed else { return error };
    let hint =
        format!("{path}#{title} was removed since HEAD: `memo impact --since HEAD` shows what used it");
    error.with_hint(hint)
}
