//! Resolves the conflict between a private memory and another memory that a file or the team has under the same id.

use memod_base::types::memory_file_path;
use memod_memory::file::{self, MemoryFile};
use memod_memory::id;
use memod_memory_db::{MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{ResolveFileParams, ResolveFileResult, SideName};

use super::resolve_team;
use crate::daemon::memories::conflicts::conflict_outcome::no_outcome_chosen_error;
use crate::daemon::memories::conflicts::conflict_outcome::no_private_side_error;
use crate::daemon::memories::conflicts::conflict_outcome::validate_outcome;
use crate::daemon::memories::conflicts::conflict_outcome::write_outcome;
use crate::daemon::memories::memory_files::file_conversion::build_shared_file;
use crate::daemon::memories::memory_files::plan_files::text_on_disk;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, field_error, find_memory, refused_error};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::team_memories::take_versions;

/// Resolves the conflict as the params say, and returns the resulting memory.
pub(super) fn resolve_private_conflict(
    rows: &MemoryRows<'_>,
    own: &MemoryRecord,
    params: &ResolveFileParams,
    stamp: &ChangeStamp,
) -> JobResult<ResolveFileResult> {
    let name = file::file_name(&own.id);
    let is_in_file =
        rows.files().list_file_rows()?.iter().any(|file| file.name == name && file.is_beside_own);
    match (params.side, is_in_file) {
        (Some(SideName::Both), _) if params.text.is_some() => Err(refused_error(
            "side, text: `both` keeps both sides, so no text can replace them".to_owned(),
            "leave out one of --both and --text",
        )),
        (Some(SideName::Both), _) => keep_both(rows, own, is_in_file, stamp),
        (_, true) => store_outcome_in_file(rows, own, params, stamp),
        (_, false) => store_outcome_for_team(rows, own, params, stamp),
    }
}

/// Keeps both memories, and gives the private one a new id.
fn keep_both(
    rows: &MemoryRows<'_>,
    own: &MemoryRecord,
    is_in_file: bool,
    stamp: &ChangeStamp,
) -> JobResult<ResolveFileResult> {
    let new_id = id::new_id(stamp.now_ms, rows.random_bytes()?);
    rows.private_memories().change_private_id(&own.id, &new_id, &stamp.new_event("resolve"))?;
    take_versions::retry_apply_text(rows, &own.id)?;
    if !stamp.is_agent() && rows.records().find_memory(&own.id)?.is_some() {
        rows.sharing().trust_memory(&own.id)?; // a person who keeps both has read both
    }
    let who = if is_in_file { "the file" } else { "the team" };
    Ok(ResolveFileResult {
        memory: protocol_values::to_memory(find_memory(rows, &new_id)?, stamp.now_ms),
        path: String::new(),
        caveats: Caveats::from_notice(Some(format!(
            "your memory has the new id {new_id}; {} is the version of {who}",
            own.id
        ))),
    })
}

/// Shares the private memory as a file of the worktree, with the outcome of the conflict.
fn store_outcome_in_file(
    rows: &MemoryRows<'_>,
    own: &MemoryRecord,
    params: &ResolveFileParams,
    stamp: &ChangeStamp,
) -> JobResult<ResolveFileResult> {
    let text = text_on_disk(stamp, &file::file_name(&own.id))?.unwrap_or_default();
    let theirs = MemoryFile::parse(&text).map_err(field_error)?;
    let shared = MemoryRecord { shared: true, ..own.clone() };
    let their_record = rows.conflicts().find_their_side(&own.id)?;
    rows.version_visibility().share_conflicting(&own.id)?;
    let ours = build_shared_file(rows, &shared, Some(&theirs))?;
    let (mut outcome, is_changed) = match (params.side, &params.text) {
        (None, None) => return Err(no_outcome_chosen_error()),
        (Some(SideName::Both), _) => return Err(no_private_side_error(&own.id)),
        (Some(SideName::Theirs), text) => (theirs, text.is_some()),
        (Some(SideName::Ours), _) => (ours, true),
        (None, Some(_)) => (MemoryFile::combine_sides(&ours.render(), &text).map_err(field_error)?, true),
    };
    if let Some(text) = &params.text {
        outcome.content = validate_outcome(text)?;
    }
    write_outcome(rows, &own.id, outcome, their_record.as_ref(), stamp)?;
    Ok(ResolveFileResult {
        memory: protocol_values::to_memory(find_memory(rows, &own.id)?, stamp.now_ms),
        path: if is_changed { memory_file_path(&own.id) } else { String::new() },
        caveats: Caveats::default(),
    })
}

/// Shares the private memory with the team, with the outcome of the conflict.
fn store_outcome_for_team(
    rows: &MemoryRows<'_>,
    own: &MemoryRecord,
    params: &ResolveFileParams,
    stamp: &ChangeStamp,
) -> JobResult<ResolveFileResult> {
    let theirs = rows.team_versions().find_team_row(&own.id)?.unwrap_or_default().text;
    rows.team().mark_team_memory(&own.id)?;
    let as_team = MemoryRecord { team: true, ..own.clone() };
    let ours = build_shared_file(rows, &as_team, MemoryFile::parse(&theirs).ok().as_ref())?.render();
    resolve_team::store_outcome(rows, &own.id, [&ours, &theirs], params, stamp)
}
