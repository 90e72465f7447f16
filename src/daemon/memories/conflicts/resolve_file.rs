//! Resolves the conflict in the file of a memory.

use memod_base::types::memory_file_path;
use memod_engine::errors::RpcResult;
use memod_memory::file;
use memod_memory::file::MemoryFile;
use memod_memory_db::{JobError, MemoryRows};
use memod_proto::memory::{ResolveFileParams, ResolveFileResult, SideName};
use memod_proto::{Caveats, RpcError, code};
use serde_json::Value;

use super::resolve_own;
use super::resolve_team;
use crate::daemon::memories::calls::method_call::MethodCall;
use crate::daemon::memories::conflicts::conflict_outcome::no_outcome_chosen_error;
use crate::daemon::memories::conflicts::conflict_outcome::no_private_side_error;
use crate::daemon::memories::conflicts::conflict_outcome::validate_outcome;
use crate::daemon::memories::conflicts::conflict_outcome::write_outcome;
use crate::daemon::memories::memory_files::check_files::list_unmerged;
use crate::daemon::memories::memory_files::file_conversion::{
    build_shared_file, is_rebasing, read_remarks_file,
};
use crate::daemon::memories::memory_files::plan_files::text_on_disk;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{
    JobResult, field_error, find_memory, refused_error, unreadable_error,
};
use crate::daemon::memories::rules::protocol_values;

/// Answers `memory.resolve_file`: stores the outcome of a conflict. The user must still mark the file as resolved in git.
pub(in crate::daemon::memories) async fn resolve_conflict(call: &MethodCall<'_>) -> RpcResult<Value> {
    call.write(write_resolution).await
}

fn write_resolution(
    rows: &MemoryRows<'_>,
    params: &ResolveFileParams,
    stamp: &ChangeStamp,
) -> JobResult<ResolveFileResult> {
    let found = find_memory(rows, &params.id)?;
    if found.team {
        return resolve_team::resolve_team_conflict(rows, &found, params, stamp);
    }
    if rows.conflicts().has_other_version(&found.id)? {
        return resolve_own::resolve_private_conflict(rows, &found, params, stamp);
    }
    if let Some(why) = rows.files().why_file_hidden(&found.id)?.filter(|_| !found.shared) {
        return Err(unreadable_error(&found.id, &why)); // the outcome would conflict with the private memory
    }
    let id = found.id;
    let name = file::file_name(&id);
    let text = text_on_disk(stamp, &name)?.unwrap_or_default();
    let mut parsed = match (file::parse_own_side_first(&text, is_rebasing(&stamp.layout)), params.side) {
        (Ok(None), _) => return Err(not_in_conflict_error(&id, stamp)),
        (Ok(Some([_, theirs])), Some(SideName::Theirs)) => MemoryFile::parse(&theirs).map_err(field_error)?,
        (Ok(Some([ours, _])), Some(SideName::Ours)) => MemoryFile::parse(&ours).map_err(field_error)?,
        (_, Some(SideName::Both)) => return Err(no_private_side_error(&id)),
        (_, None) if params.text.is_none() => return Err(no_outcome_chosen_error()),
        // The caller gave a text and chose no side, so the other fields are combined from both sides.
        (Ok(Some([ours, theirs])), None) => MemoryFile::combine_sides(&ours, &theirs).map_err(field_error)?,
        // The sides cannot be read, so the fields besides the given text stay as they were before the conflict.
        (Err(_), None) => {
            build_shared_file(rows, &find_memory(rows, &id)?, Some(&read_remarks_file(rows, &id)?))?
        }
        (Err(why), Some(_)) => {
            return Err(refused_error(
                format!("id: {id} is {why}"),
                "give the text with `memo resolve ID --text TEXT`",
            ));
        }
    };
    if let Some(text) = &params.text {
        parsed.content = validate_outcome(text)?;
    }
    let theirs = rows.conflicts().find_their_side(&id)?;
    write_outcome(rows, &id, parsed, theirs.as_ref(), stamp)?;
    let record = find_memory(rows, &id)?;
    let path = memory_file_path(&id);
    Ok(ResolveFileResult {
        memory: protocol_values::to_memory(record, stamp.now_ms),
        path,
        caveats: Caveats::default(),
    })
}

/// Returns the error for a memory without two sides. Git may still list its file as unmerged, because one side removed the file.
fn not_in_conflict_error(id: &str, stamp: &ChangeStamp) -> JobError<RpcError> {
    let path = memory_file_path(id);
    match list_unmerged(&stamp.layout).unwrap_or_default().into_iter().find(|check| check.name == path) {
        None => refused_error(format!("id: {id} is not in conflict"), "change the memory with `memo update`"),
        Some(check) => {
            let error = RpcError::new(code::INVALID_PARAMS, format!("{path}: {}", check.detail));
            JobError::Refused(error.with_hint(check.hint.unwrap_or_default()))
        }
    }
}
