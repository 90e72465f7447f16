//! Ends the conflict of a memory in its file.

use std::collections::BTreeSet;

use serde_json::Value;

use super::file_form::{file_of, outcome};
use super::file_write::text_on_disk;
use super::rules::{Done, bad, find, refused};
use super::stamp::Stamp;
use super::transaction::Call;
use super::{show, team_resolve};
use crate::daemon::error::RpcResult;
use crate::memory::{fields, file};
use crate::proto::memory::{ResolveFileParams, ResolveFileResult, SideName};
use crate::store::{FileState, Rows, ShownBy};
use crate::types::memory_file;

/// Writes the outcome of a conflict; what git is told is for the user.
pub(super) async fn resolve(call: &Call<'_>) -> RpcResult<Value> {
    call.write(put).await
}

fn put(rows: &Rows<'_>, params: &ResolveFileParams, stamp: &Stamp) -> Done<ResolveFileResult> {
    let found = find(rows, &params.id)?;
    if found.team {
        return team_resolve::put(rows, &found, params, stamp);
    }
    let id = found.id;
    let name = file::name(&id);
    let text = text_on_disk(stamp, &name)?.unwrap_or_default();
    let mut parsed = match (file::sides(&text), params.side) {
        (Ok(None), _) => {
            return Err(refused(format!("id: {id} is not in conflict"), "`memo update` changes it"));
        }
        (Ok(Some([_, theirs])), Some(SideName::Theirs)) => file::MemoryFile::parse(&theirs).map_err(bad)?,
        (Ok(Some([ours, _])), Some(SideName::Ours)) => file::MemoryFile::parse(&ours).map_err(bad)?,
        (_, None) if params.text.is_none() => {
            return Err(refused(
                "side, text: neither is given".to_owned(),
                "take one side, or give the text",
            ));
        }
        // The text alone was chosen.
        (Ok(Some([ours, theirs])), None) => file::MemoryFile::of_sides(&ours, &theirs).map_err(bad)?,
        // With a text of its own, what is beside it is as it was before the conflict.
        (Err(_), None) => file_of(rows, &find(rows, &id)?, None)?,
        (Err(why), Some(_)) => {
            return Err(refused(
                format!("id: {id} is {why}"),
                "`memo resolve ID --text TEXT` says what holds",
            ));
        }
    };
    if let Some(text) = &params.text {
        parsed.content = fields::content(text, false).map_err(bad)?.text.replace("\r\n", "\n");
    }
    parsed.updated = stamp.now_ms.max(parsed.updated.min(stamp.now_ms) + 1);
    let version = outcome(&id, &parsed)?;
    stamp.set_resolved(&id, parsed);
    let whole = FileState { name: name.clone(), hash: version.hash, shown: ShownBy::Versions(vec![version]) };
    rows.take_files(&[whole], &BTreeSet::new())?;
    rows.note_change(&id, &stamp.event("resolve"))?;
    if !stamp.is_agent() {
        rows.trust(&id)?; // who chooses has read it
    }
    let record = find(rows, &id)?;
    let path = memory_file(&id);
    Ok(ResolveFileResult { memory: show::memory(record, stamp.now_ms), path, notice: None })
}
