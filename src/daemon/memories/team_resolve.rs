//! Ends the conflict between what this user has of a memory and what the team has.

use memod_memory::file::MemoryFile;
use memod_memory_db::{Record, Rows, Side};
use memod_proto::Caveats;
use memod_proto::memory::{ResolveFileParams, ResolveFileResult, SideName};

use super::resolve_file::{no_own_side, nothing_chosen, text_of};
use super::rules::{Done, archived_beside, bad, find, refused};
use super::stamp::Stamp;
use super::{file_form, show};

/// Makes the outcome what this user has, and queues it as what follows the team's side.
pub(super) fn put(
    rows: &Rows<'_>,
    record: &Record,
    params: &ResolveFileParams,
    stamp: &Stamp,
) -> Done<ResolveFileResult> {
    let id = &record.id;
    if rows.archived_beside(record)?.is_some() {
        return Err(archived_beside(id));
    }
    let known = rows.team_row(id)?.unwrap_or_default();
    let Some(theirs) = known.theirs else {
        return Err(refused(format!("id: {id} is not in conflict"), "`memo update` changes it"));
    };
    put_outcome(rows, id, [&known.text, &theirs], params, stamp)
}

/// Makes the outcome of two sides, ours and theirs, what this user has, and queues it as what follows theirs.
pub(super) fn put_outcome(
    rows: &Rows<'_>,
    id: &str,
    [ours, theirs]: [&str; 2],
    params: &ResolveFileParams,
    stamp: &Stamp,
) -> Done<ResolveFileResult> {
    let mut outcome = match (params.side, &params.text) {
        (None, None) => return Err(nothing_chosen()),
        (Some(SideName::Both), _) => return Err(no_own_side(id)),
        (Some(SideName::Theirs), _) => MemoryFile::parse(theirs).map_err(bad)?,
        (Some(SideName::Ours), _) => MemoryFile::parse(ours).map_err(bad)?,
        // The text alone was chosen.
        (None, Some(_)) => MemoryFile::of_sides(ours, theirs).map_err(bad)?,
    };
    if let Some(text) = &params.text {
        outcome.content = text_of(text)?;
    }
    let is_theirs = MemoryFile::parse(theirs).is_ok_and(|theirs| theirs.says_same(&outcome));
    let text = if is_theirs {
        theirs.to_owned()
    } else {
        // Later than both, whatever the clocks of who wrote them said.
        let sides = [ours, theirs].map(MemoryFile::parse);
        let latest = sides.into_iter().flatten().map(|side| side.updated).max();
        outcome.updated = stamp.now_ms.max(latest.unwrap_or_default() + 1);
        outcome.render()
    };
    let version = file_form::outcome(id, &MemoryFile::parse(&text).map_err(bad)?)?;
    rows.take_from_team(id, &text, Ok(&version), &stamp.author)?;
    if !is_theirs {
        rows.requeue(id, Some(theirs), &text)?;
    }
    rows.link_files()?;
    let theirs =
        MemoryFile::parse(theirs).ok().map(|theirs| file_form::version_of(id, Side::Whole, theirs).record);
    rows.note_their_side(theirs.as_ref(), &find(rows, id)?, &stamp.event("resolve"))?;
    rows.set_team_version(&version, !stamp.is_agent())?; // who chooses has read it
    rows.set_equal_to_team(id)?;
    let record = find(rows, id)?;
    Ok(ResolveFileResult {
        memory: show::memory(record, stamp.now_ms),
        path: String::new(),
        caveats: Caveats::default(),
    })
}
