//! Resolves the conflict between the user's version of a memory and that of the team.

use memod_memory::file::MemoryFile;
use memod_memory_db::{FileSide, MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{ResolveFileParams, ResolveFileResult, SideName};

use crate::daemon::memories::conflicts::conflict_outcome::no_outcome_chosen_error;
use crate::daemon::memories::conflicts::conflict_outcome::no_private_side_error;
use crate::daemon::memories::conflicts::conflict_outcome::validate_outcome;
use crate::daemon::memories::memory_files::file_conversion;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{
    JobResult, archived_private_error, field_error, find_memory, refused_error,
};
use crate::daemon::memories::rules::protocol_values;

/// Stores the outcome of a conflict with the team, and queues the outcome to be sent as the next version after the team's side.
pub(super) fn resolve_team_conflict(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
    params: &ResolveFileParams,
    stamp: &ChangeStamp,
) -> JobResult<ResolveFileResult> {
    let id = &record.id;
    if rows.team().find_archived_private(record)?.is_some() {
        return Err(archived_private_error(id));
    }
    let known = rows.team_versions().find_team_row(id)?.unwrap_or_default();
    let Some(theirs) = known.theirs else {
        return Err(refused_error(
            format!("id: {id} is not in conflict"),
            "change the memory with `memo update`",
        ));
    };
    store_outcome(rows, id, [&known.text, &theirs], params, stamp)
}

/// Stores the outcome of a conflict between two texts, ours and theirs. Queues the outcome to be sent as the next version after
/// theirs, unless it equals theirs.
pub(super) fn store_outcome(
    rows: &MemoryRows<'_>,
    id: &str,
    [ours, theirs]: [&str; 2],
    params: &ResolveFileParams,
    stamp: &ChangeStamp,
) -> JobResult<ResolveFileResult> {
    let mut outcome = match (params.side, &params.text) {
        (None, None) => return Err(no_outcome_chosen_error()),
        (Some(SideName::Both), _) => return Err(no_private_side_error(id)),
        (Some(SideName::Theirs), _) => MemoryFile::parse(theirs).map_err(field_error)?,
        (Some(SideName::Ours), _) => MemoryFile::parse(ours).map_err(field_error)?,
        // The caller gave a text and chose no side, so the other fields are combined from both sides.
        (None, Some(_)) => MemoryFile::combine_sides(ours, theirs).map_err(field_error)?,
    };
    if let Some(text) = &params.text {
        outcome.content = validate_outcome(text)?;
    }
    let is_theirs = MemoryFile::parse(theirs).is_ok_and(|theirs| theirs.equals_except_updated(&outcome));
    let text = if is_theirs {
        theirs.to_owned()
    } else {
        // The outcome must be later than both sides, even if their clocks were ahead.
        let sides = [ours, theirs].map(MemoryFile::parse);
        let latest = sides.into_iter().flatten().map(|side| side.updated).max();
        outcome.updated = stamp.now_ms.max(latest.unwrap_or_default() + 1);
        outcome.render()
    };
    let version = file_conversion::to_outcome_version(id, &MemoryFile::parse(&text).map_err(field_error)?)?;
    rows.team_versions().apply_team_text(id, &text, Ok(&version), &stamp.author)?;
    if !is_theirs {
        rows.outbox().requeue_change(id, Some(theirs), &text)?;
    }
    rows.file_links().update_file_links()?;
    let theirs = MemoryFile::parse(theirs)
        .ok()
        .map(|theirs| file_conversion::to_version(id, FileSide::Whole, theirs).record);
    rows.conflicts().record_their_side(
        theirs.as_ref(),
        &find_memory(rows, id)?,
        &stamp.new_event("resolve"),
    )?;
    rows.team_versions().set_team_version(&version, !stamp.is_agent())?; // a person who chooses has read it
    rows.team().mark_equal_to_team(id)?;
    let record = find_memory(rows, id)?;
    Ok(ResolveFileResult {
        memory: protocol_values::to_memory(record, stamp.now_ms),
        path: String::new(),
        caveats: Caveats::default(),
    })
}
