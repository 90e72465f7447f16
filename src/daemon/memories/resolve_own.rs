//! Ends the conflict between a memory of this user alone and what a file, or the team, has under its id.

use memod_base::types::memory_file;
use memod_memory::file::{self, MemoryFile};
use memod_memory::id;
use memod_memory_db::{Record, Rows};
use memod_proto::Caveats;
use memod_proto::memory::{ResolveFileParams, ResolveFileResult, SideName};

use super::file_form::file_of;
use super::file_write::text_on_disk;
use super::resolve_file::{no_own_side, nothing_chosen, text_of, write_outcome};
use super::rules::{Done, bad, find, refused};
use super::stamp::Stamp;
use super::{show, team_resolve, team_take};

pub(super) fn put(
    rows: &Rows<'_>,
    own: &Record,
    params: &ResolveFileParams,
    stamp: &Stamp,
) -> Done<ResolveFileResult> {
    let name = file::file_name(&own.id);
    let is_in_file = rows.file_rows()?.iter().any(|file| file.name == name && file.is_beside_own);
    match (params.side, is_in_file) {
        (Some(SideName::Both), _) if params.text.is_some() => Err(refused(
            "side, text: both sides hold, and a text in their place".to_owned(),
            "leave out one of --both and --text",
        )),
        (Some(SideName::Both), _) => keep_both(rows, own, is_in_file, stamp),
        (_, true) => choose_with_file(rows, own, params, stamp),
        (_, false) => choose_with_team(rows, own, params, stamp),
    }
}

/// Gives what is this user's alone an id of its own.
fn keep_both(rows: &Rows<'_>, own: &Record, is_in_file: bool, stamp: &Stamp) -> Done<ResolveFileResult> {
    let new_id = id::new_id(stamp.now_ms, rows.random()?);
    rows.move_own_to(&own.id, &new_id, &stamp.event("resolve"))?;
    team_take::show_again(rows, &own.id)?;
    if !stamp.is_agent() && rows.get(&own.id)?.is_some() {
        rows.trust(&own.id)?; // who keeps both has read both
    }
    let who = if is_in_file { "the file" } else { "the team" };
    Ok(ResolveFileResult {
        memory: show::memory(find(rows, &new_id)?, stamp.now_ms),
        path: String::new(),
        caveats: Caveats::of_notice(Some(format!("yours is {new_id} now; {} is what {who} says", own.id))),
    })
}

/// Makes the memory one of the worktree's files, which says the outcome.
fn choose_with_file(
    rows: &Rows<'_>,
    own: &Record,
    params: &ResolveFileParams,
    stamp: &Stamp,
) -> Done<ResolveFileResult> {
    let text = text_on_disk(stamp, &file::file_name(&own.id))?.unwrap_or_default();
    let theirs = MemoryFile::parse(&text).map_err(bad)?;
    let shared = Record { shared: true, ..own.clone() };
    let their_record = rows.their_side(&own.id)?;
    rows.share_disputed(&own.id)?;
    let ours = file_of(rows, &shared, Some(&theirs))?;
    let (mut outcome, is_changed) = match (params.side, &params.text) {
        (None, None) => return Err(nothing_chosen()),
        (Some(SideName::Both), _) => return Err(no_own_side(&own.id)),
        (Some(SideName::Theirs), text) => (theirs, text.is_some()),
        (Some(SideName::Ours), _) => (ours, true),
        (None, Some(_)) => (MemoryFile::of_sides(&ours.render(), &text).map_err(bad)?, true),
    };
    if let Some(text) = &params.text {
        outcome.content = text_of(text)?;
    }
    write_outcome(rows, &own.id, outcome, their_record.as_ref(), stamp)?;
    Ok(ResolveFileResult {
        memory: show::memory(find(rows, &own.id)?, stamp.now_ms),
        path: if is_changed { memory_file(&own.id) } else { String::new() },
        caveats: Caveats::default(),
    })
}

/// Makes the memory one of the team's, which says the outcome.
fn choose_with_team(
    rows: &Rows<'_>,
    own: &Record,
    params: &ResolveFileParams,
    stamp: &Stamp,
) -> Done<ResolveFileResult> {
    let theirs = rows.team_row(&own.id)?.unwrap_or_default().text;
    rows.begin_team(&own.id)?;
    let as_team = Record { team: true, ..own.clone() };
    let ours = file_of(rows, &as_team, MemoryFile::parse(&theirs).ok().as_ref())?.render();
    team_resolve::put_outcome(rows, &own.id, [&ours, &theirs], params, stamp)
}
