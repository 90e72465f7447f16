//! Confirms that a memory is still true, by anchoring the memory to the present code.

use memod_engine::errors::RpcResult;
use memod_memory::anchor;
use memod_memory_db::{JobError, MemoryEvent, MemoryRecord, MemoryRows};
use memod_proto::anchor::{Anchor, AnchorState};
use memod_proto::memory::{ConfirmParams, UpdateResult};
use memod_proto::{FreshnessLevel, RpcError, code};
use serde_json::Value;

use crate::daemon::memories::anchors::{AnchorChecker, run_anchor_check};
use crate::daemon::memories::calls::method_call::{MethodCall, read};
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, find_living, find_memory};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::record_functions::derive_data;
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::request_errors::bad_params_error;

/// Answers `memory.confirm`: anchors a memory to the present code, and trusts a memory that others wrote.
pub(in crate::daemon::memories) async fn confirm_memory(call: &MethodCall<'_>) -> RpcResult<Value> {
    call.write_with_found(build_confirmed_anchors(call), store_confirmed).await
}

/// Returns the memory to confirm, and new anchors for the present code at its locations.
async fn build_confirmed_anchors(call: &MethodCall<'_>) -> RpcResult<(MemoryRecord, Vec<Anchor>)> {
    let params: ConfirmParams = call.parse_params()?;
    let record = read(call.request, move |rows| find_memory(rows, &params.id)).await?;
    let id = record.id.clone();
    let is_unconfirmed = record.is_unconfirmed;
    if is_unconfirmed && call.caller.is_agent() {
        let message = format!("id: {id} was written by others, and only a person can confirm it");
        return Err(bad_params_error(message)
            .with_hint(format!("ask a person to read it with `memo get {id}` and to confirm it")));
    }
    if is_unconfirmed && record.anchors.is_empty() {
        return Ok((record, Vec::new()));
    }
    if record.anchors.is_empty() {
        let hint = format!("name the code with `memo update {id} --about PATH#SYMBOL`");
        return Err(bad_params_error(format!("id: {id} has no code to be compared with")).with_hint(hint));
    }
    let anchors = record.anchors.clone();
    let until = request_deadline(call.request, None);
    let anchors = run_anchor_check(
        call.request,
        &call.caller.cwd,
        FreshnessLevel::Fs,
        until,
        move |checker| -> RpcResult<Vec<Anchor>> {
            anchors.iter().map(|anchor| anchor_present_code(checker, anchor, &id)).collect()
        },
    )
    .await?
    .require_certain_value()?;

    Ok((record, anchor::without_duplicate_anchors(&anchors)))
}

/// Returns a new anchor for the present code at the location of an anchor. Fails if that code is gone.
fn anchor_present_code(checker: &mut AnchorChecker<'_>, anchor: &Anchor, id: &str) -> RpcResult<Anchor> {
    let mut checked = anchor.clone();
    let location = checker.check_anchor(&mut checked)?;
    let now = match location {
        Some(location) if checked.state != Some(AnchorState::Orphaned) => checker.build_anchor(&location)?,
        _ => None,
    };
    now.ok_or_else(|| {
        let note = checked.note.map_or(String::new(), |note| format!("; {note}"));
        let hint = format!(
            "name the new place with `memo update {id} --no-about {anchor} --about PATH#SYMBOL`, or archive the memory with `memo forget {id}`"
        );
        bad_params_error(format!("about: {anchor} is gone{note}")).with_hint(hint)
    })
}

fn store_confirmed(
    rows: &MemoryRows<'_>,
    (seen, anchors): &(MemoryRecord, Vec<Anchor>),
    stamp: &ChangeStamp,
) -> JobResult<UpdateResult> {
    let before = find_living(rows, &seen.id, stamp.now_ms)?;
    if before.updated != seen.updated {
        let message = format!("id: {} was changed during the check; nothing was confirmed", seen.id);
        let hint = format!("read the new version with `memo get {}`, then confirm it", seen.id);
        return Err(JobError::Refused(RpcError::new(code::BUSY, message).with_hint(hint)));
    }
    let updated = stamp.now_ms.max(before.updated + 1);
    let after = MemoryRecord { anchors: anchors.clone(), updated, is_unconfirmed: false, ..before.clone() };
    let fields = protocol_values::diff_fields(&before, &after);
    let changed = fields.keys().cloned().collect();
    if before.is_unconfirmed {
        rows.sharing().trust_memory(&before.id)?;
    }
    rows.put_memory(&after, &derive_data(&after), &MemoryEvent { fields, ..stamp.new_event("confirm") })?;
    Ok(UpdateResult {
        changed,
        memory: protocol_values::to_memory(after, stamp.now_ms),
        ..UpdateResult::default()
    })
}
