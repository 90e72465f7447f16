//! Shares memories as files in the worktree, and takes them out again.

use std::fs;

use memod_base::paths::RepoLayout;
use memod_base::types::memory_file;
use memod_engine::errors::RpcResult;
use memod_memory_db::{PendingFile, Rows, Side};
use memod_proto::Caveats;
use memod_proto::memory::{Brief, Selection, ShareParams, ShareResult, SharedFile};
use serde_json::Value;

use super::file_write::{Before, in_conflict_of, share as share_one};
use super::rules::{Done, check_text, joined, memory_filter, part_from_archived, refused};
use super::stamp::Stamp;
use super::transaction::Call;
use super::{show, team_write};

pub(super) async fn share(call: &Call<'_>) -> RpcResult<Value> {
    call.write_or_rehearse(|rows, params, stamp| set(rows, params, stamp, true)).await
}

pub(super) async fn unshare(call: &Call<'_>) -> RpcResult<Value> {
    call.write_or_rehearse(|rows, params, stamp| set(rows, params, stamp, false)).await
}

fn set(rows: &Rows<'_>, params: &ShareParams, stamp: &Stamp, is_shared: bool) -> Done<ShareResult> {
    if params.selection == Selection::default() {
        return Err(refused("nothing says which memories".to_owned(), "name ids, or --container, --tag, …"));
    }
    let before = Before::of(rows)?;
    let filter = memory_filter(rows, &params.selection, false, stamp.now_ms)?;
    let (mut memories, mut files, mut parted, mut already) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for record in rows.list(&filter, Default::default(), 0, None)?.0 {
        let is_done = match (is_shared, params.team) {
            (true, true) => record.team,
            (true, false) => record.shared,
            (false, _) => !record.shared && !record.team,
        };
        if is_done {
            already += 1;
            continue;
        }
        match is_shared {
            true if record.side != Side::Whole => return Err(in_conflict_of(&record)),
            true if params.team => drop(team_write::share(rows, &record, stamp)?),
            true if record.team => {
                let message = format!("{} is the team's", record.id);
                return Err(refused(message, "`memo unshare` takes it out of the team first"));
            }
            true => drop(share_one(rows, &record, stamp)?),
            false if record.team => {
                check_text(rows, &record)?;
                team_write::unshare(rows, &record, stamp)?;
            }
            false => {
                if record.side != Side::Whole {
                    return Err(in_conflict_of(&record));
                }
                check_text(rows, &record)?;
                let event = stamp.event("unshare");
                parted.extend(part_from_archived(rows, &record.id, &event, params.dry_run)?);
                rows.unshare(&record.id, &event)?;
            }
        }
        let path = if params.team || record.team { String::new() } else { memory_file(&record.id) };
        files.push(SharedFile { id: record.id.clone(), path, text: None });
        memories.push(show::brief(&record));
    }
    if params.dry_run {
        // What the caller's transaction is going to send and write.
        team_write::queue(rows, before.last_change, stamp)?;
        for file in &mut files {
            file.text =
                rows.team_row(&file.id)?.filter(|_| file.path.is_empty() && is_shared).map(|row| row.text);
        }
        files.retain(|file| file.path.is_empty());
        files.extend(before.changes(rows, stamp)?.into_iter().map(shown));
    }
    let notice =
        if is_shared && !params.team { hidden_elsewhere(&stamp.layout, &memories) } else { joined(&parted) };
    Ok(ShareResult { dry_run: params.dry_run, memories, files, already, caveats: Caveats::of_notice(notice) })
}

/// Returns a notice where memories are a file of this worktree from now on, and others had them before.
fn hidden_elsewhere(layout: &RepoLayout, shared: &[Brief]) -> Option<String> {
    let worktrees = layout.common_dir.as_ref().map(|dir| dir.join("worktrees"));
    let has_others =
        worktrees.is_some_and(|dir| fs::read_dir(dir).is_ok_and(|mut dirs| dirs.next().is_some()));
    (has_others && !shared.is_empty()).then(|| {
        "a shared memory is a file of this worktree: other worktrees have it once their branches have the file".to_owned()
    })
}

fn shown(file: PendingFile) -> SharedFile {
    let id = file.name.trim_end_matches(".md");
    SharedFile { id: id.to_owned(), path: memory_file(id), text: file.text }
}
