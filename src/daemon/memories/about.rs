//! Resolves the targets of a memory to anchors, and merges anchors.

use std::time::Duration;

use memod_base::paths::RepoLayout;
use memod_engine::errors::RpcResult;
use memod_memory::anchor;
use memod_proto::Sync;
use memod_proto::anchor::Anchor;

use super::rules::{Done, bad, refused};
use super::transaction::Call;
use crate::daemon::memories::anchors::{AnchorChecker, named_by, on_snapshot, resolve};
use crate::daemon::request::deadline;

/// Time limit for indexing a file that a memory is about.
const PATIENCE: Duration = Duration::from_secs(10);

/// Resolves `targets` in the worktree of the caller, and replaces the given anchors.
pub(super) async fn resolve_into(
    anchors: &mut Vec<Anchor>,
    targets: &[String],
    call: &Call<'_>,
) -> RpcResult<()> {
    if targets.is_empty() {
        return Ok(());
    }
    let (targets, cwd) = (targets.to_vec(), call.caller.cwd.clone());
    let all = move |judge: &mut AnchorChecker<'_>| -> RpcResult<Vec<Anchor>> {
        targets.iter().map(|target| resolve(judge, target, &cwd)).collect()
    };
    let until = deadline(call.shared, Some(PATIENCE.as_millis() as u64));
    *anchors = on_snapshot(call.shared, &call.caller.cwd, Sync::Fs, until, all).await?.sure()?;
    Ok(())
}

/// Returns the anchors of a memory after removing some and adding others, one per location.
pub(super) fn united(
    before: &[Anchor],
    removed: &[String],
    added: &[Anchor],
    cwd: &str,
    layout: &RepoLayout,
) -> Done<Vec<Anchor>> {
    let mut anchors = before.to_vec();
    for target in removed {
        let Some(at) = named_by(&anchors, target, cwd, layout) else {
            let names: Vec<String> = anchors.iter().map(Anchor::to_string).collect();
            let has = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            return Err(refused(
                format!("about: it is not about {target}, but about {has}"),
                "name one of those as it is shown",
            ));
        };
        let place = anchors[at].to_string();
        anchors.retain(|anchor| anchor.to_string() != place);
    }
    for anchor in added {
        let place = anchor.to_string();
        let at = anchors.iter().position(|known| known.to_string() == place).unwrap_or(anchors.len());
        anchors.retain(|known| known.to_string() != place);
        anchors.insert(at, Anchor { state: None, now: None, note: None, ..anchor.clone() });
    }
    anchor::check_count(&anchors).map_err(bad)?;
    Ok(anchors)
}
