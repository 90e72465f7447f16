//! Confirms that a memory still holds, by anchoring it to the present code.

use memod_engine::errors::RpcResult;
use memod_memory::anchor;
use memod_memory_db::{MemoryEvent, Record, Rows, Stopped};
use memod_proto::anchor::{Anchor, State};
use memod_proto::memory::{ConfirmParams, UpdateResult};
use memod_proto::{RpcError, Sync, code};
use serde_json::Value;

use super::keeper::derive;
use super::rules::{Done, find, find_living};
use super::show;
use super::stamp::Stamp;
use super::transaction::{Call, read};
use crate::daemon::memories::anchors::{AnchorChecker, on_snapshot};
use crate::daemon::request::deadline;
use crate::daemon::request::error::bad_params;

/// Anchors a memory to the present code.
pub(super) async fn confirm(call: &Call<'_>) -> RpcResult<Value> {
    call.write_found(looked_at(call), put).await
}

/// Returns the memory with its present anchors.
async fn looked_at(call: &Call<'_>) -> RpcResult<(Record, Vec<Anchor>)> {
    let params: ConfirmParams = call.params()?;
    let record = read(call.shared, move |rows| find(rows, &params.id)).await?;
    let id = record.id.clone();
    let is_unconfirmed = record.is_unconfirmed;
    if is_unconfirmed && call.caller.is_agent() {
        let message = format!("id: {id} is of others, and only a person confirms what it says");
        return Err(
            bad_params(message).with_hint(format!("a person reads it with `memo get {id}` and confirms it"))
        );
    }
    if is_unconfirmed && record.anchors.is_empty() {
        return Ok((record, Vec::new()));
    }
    if record.anchors.is_empty() {
        let hint = format!("`memo update {id} --about PATH#SYMBOL` says what it is about");
        return Err(bad_params(format!("id: {id} is about nothing in the code")).with_hint(hint));
    }
    let anchors = record.anchors.clone();
    let anew = move |judge: &mut AnchorChecker<'_>| -> RpcResult<Vec<Anchor>> {
        anchors.iter().map(|anchor| as_it_is(judge, anchor, &id)).collect()
    };
    let until = deadline(call.shared, None);
    let anchors = on_snapshot(call.shared, &call.caller.cwd, Sync::Fs, until, anew).await?.sure()?;
    Ok((record, anchor::each_once(&anchors)))
}

/// Returns an anchor for the present state of its location.
fn as_it_is(judge: &mut AnchorChecker<'_>, anchor: &Anchor, id: &str) -> RpcResult<Anchor> {
    let mut judged = anchor.clone();
    let location = judge.location(&mut judged)?;
    let now = match location {
        Some(location) if judged.state != Some(State::Orphaned) => judge.anchor(&location)?,
        _ => None,
    };
    now.ok_or_else(|| {
        let note = judged.note.map_or(String::new(), |note| format!("; {note}"));
        let hint =
            format!("`memo update {id} --no-about {anchor} --about PATH#SYMBOL`, or `memo forget {id}`");
        bad_params(format!("about: {anchor} is gone{note}")).with_hint(hint)
    })
}

fn put(rows: &Rows<'_>, (seen, anchors): &(Record, Vec<Anchor>), stamp: &Stamp) -> Done<UpdateResult> {
    let before = find_living(rows, &seen.id, stamp.now_ms)?;
    if before.updated != seen.updated {
        let message = format!("id: {} was changed meanwhile; nothing was confirmed", seen.id);
        let hint = format!("`memo get {}` shows it as it is now; confirm that", seen.id);
        return Err(Stopped::Refused(RpcError::new(code::BUSY, message).with_hint(hint)));
    }
    let updated = stamp.now_ms.max(before.updated + 1);
    let after = Record { anchors: anchors.clone(), updated, is_unconfirmed: false, ..before.clone() };
    let fields = show::differences(&before, &after);
    let changed = fields.keys().cloned().collect();
    if before.is_unconfirmed {
        rows.trust(&before.id)?;
    }
    rows.put(&after, &derive(&after), &MemoryEvent { fields, ..stamp.event("confirm") })?;
    Ok(UpdateResult { changed, memory: show::memory(after, stamp.now_ms), ..UpdateResult::default() })
}
