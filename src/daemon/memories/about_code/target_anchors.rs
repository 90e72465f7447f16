//! Resolves the targets of a memory to anchors, and merges anchors.

use std::time::Duration;

use memod_base::paths::RepoLayout;
use memod_engine::errors::RpcResult;
use memod_memory::anchor;
use memod_proto::FreshnessLevel;
use memod_proto::anchor::Anchor;

use crate::daemon::memories::anchors::{find_named_anchor, resolve_target, run_anchor_check};
use crate::daemon::memories::calls::method_call::MethodCall;
use crate::daemon::memories::rules::memory_rules::{JobResult, field_error, refused_error};
use crate::daemon::request::fresh_snapshot::request_deadline;

/// Time limit for indexing a file that a memory is about.
const INDEX_TIMEOUT: Duration = Duration::from_secs(10);

/// Resolves `targets` in the caller's worktree, and replaces `anchors` with the result. Does nothing without targets.
pub(in crate::daemon::memories) async fn replace_with_target_anchors(
    anchors: &mut Vec<Anchor>,
    targets: &[String],
    call: &MethodCall<'_>,
) -> RpcResult<()> {
    if targets.is_empty() {
        return Ok(());
    }
    let (targets, cwd) = (targets.to_vec(), call.caller.cwd.clone());
    let until = request_deadline(call.request, Some(INDEX_TIMEOUT.as_millis() as u64));
    *anchors = run_anchor_check(
        call.request,
        &call.caller.cwd,
        FreshnessLevel::Fs,
        until,
        move |checker| -> RpcResult<Vec<Anchor>> {
            targets.iter().map(|target| resolve_target(checker, target, &cwd)).collect()
        },
    )
    .await?
    .require_certain_value()?;

    Ok(())
}

/// Returns the anchors of a memory without the `removed` ones and with the `added` ones. Each location has one anchor.
pub(in crate::daemon::memories) fn unite_anchors(
    before: &[Anchor],
    removed: &[String],
    added: &[Anchor],
    cwd: &str,
    layout: &RepoLayout,
) -> JobResult<Vec<Anchor>> {
    let mut anchors = before.to_vec();
    for target in removed {
        let Some(at) = find_named_anchor(&anchors, target, cwd, layout) else {
            let names: Vec<String> = anchors.iter().map(Anchor::to_string).collect();
            let has = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            return Err(refused_error(
                format!("about: the memory is not about {target}; it is about {has}"),
                "name one of these exactly as shown",
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
    anchor::check_anchor_count(&anchors).map_err(field_error)?;
    Ok(anchors)
}
