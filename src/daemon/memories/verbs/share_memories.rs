//! Shares memories as files of the worktree or with a team, and makes them private again.

use std::fs;

use memod_base::paths::RepoLayout;
use memod_base::types::memory_file_path;
use memod_engine::errors::RpcResult;
use memod_memory_db::{FileSide, MemoryRows, PendingFile};
use memod_proto::Caveats;
use memod_proto::memory::{Brief, Selection, ShareParams, ShareResult, SharedFile};
use serde_json::Value;

use crate::daemon::memories::calls::method_call::MethodCall;
use crate::daemon::memories::memory_files::plan_files::{FilesBefore, conflict_error, share_as_file};
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{
    JobResult, check_unique_text, join_notices, move_archived_to_new_id, parse_selection, refused_error,
};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::team_memories::queue_changes;

/// Answers `memory.share`: shares memories as files of the worktree, or with the team.
pub(in crate::daemon::memories) async fn share_memories(call: &MethodCall<'_>) -> RpcResult<Value> {
    call.write_or_dry_run(|rows, params, stamp| set_sharing(rows, params, stamp, true)).await
}

/// Answers `memory.unshare`: makes shared memories private.
pub(in crate::daemon::memories) async fn unshare_memories(call: &MethodCall<'_>) -> RpcResult<Value> {
    call.write_or_dry_run(|rows, params, stamp| set_sharing(rows, params, stamp, false)).await
}

/// Shares or unshares the selected memories. In a dry run, the result has the texts of the files that would be written or sent.
fn set_sharing(
    rows: &MemoryRows<'_>,
    params: &ShareParams,
    stamp: &ChangeStamp,
    is_shared: bool,
) -> JobResult<ShareResult> {
    if params.selection == Selection::default() {
        return Err(refused_error(
            "no memories are selected".to_owned(),
            "name ids, or conditions such as --container and --tag",
        ));
    }
    let before = FilesBefore::read_rows(rows)?;
    let filter = parse_selection(rows, &params.selection, false, stamp.now_ms)?;
    let (mut memories, mut files, mut parted, mut already) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for record in rows.records().list_page(&filter, Default::default(), 0, None)?.0 {
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
            true if record.side != FileSide::Whole => return Err(conflict_error(&record)),
            true if params.team => drop(queue_changes::share_with_team(rows, &record, stamp)?),
            true if record.team => {
                let message = format!("{} is the team's", record.id);
                return Err(refused_error(message, "`memo share remove` takes it out of the team first"));
            }
            true => drop(share_as_file(rows, &record, stamp)?),
            false if record.team => {
                check_unique_text(rows, &record)?;
                queue_changes::unshare_from_team(rows, &record, stamp)?;
            }
            false => {
                if record.side != FileSide::Whole {
                    return Err(conflict_error(&record));
                }
                check_unique_text(rows, &record)?;
                let event = stamp.new_event("unshare");
                parted.extend(move_archived_to_new_id(rows, &record.id, &event, params.dry_run)?);
                rows.shared().unshare_memory(&record.id, &event)?;
            }
        }
        let path = if params.team || record.team { String::new() } else { memory_file_path(&record.id) };
        files.push(SharedFile { id: record.id.clone(), path, text: None });
        memories.push(protocol_values::to_brief(&record));
    }
    if params.dry_run {
        // The result shows the texts that the transaction would send and write.
        queue_changes::queue_changed_memories(rows, before.last_change, stamp)?;
        for file in &mut files {
            file.text = rows
                .team_versions()
                .find_team_row(&file.id)?
                .filter(|_| file.path.is_empty() && is_shared)
                .map(|row| row.text);
        }
        files.retain(|file| file.path.is_empty());
        files.extend(before.plan_changes(rows, stamp)?.into_iter().map(to_shared_file));
    }
    let notice = if is_shared && !params.team {
        other_worktrees_notice(&stamp.layout, &memories)
    } else {
        join_notices(&parted)
    };
    Ok(ShareResult {
        dry_run: params.dry_run,
        memories,
        files,
        already,
        caveats: Caveats::from_notice(notice),
    })
}

/// Returns a notice if memories become files of this worktree, because other worktrees no longer have these memories then.
fn other_worktrees_notice(layout: &RepoLayout, shared: &[Brief]) -> Option<String> {
    let worktrees = layout.common_dir.as_ref().map(|dir| dir.join("worktrees"));
    let has_others =
        worktrees.is_some_and(|dir| fs::read_dir(dir).is_ok_and(|mut dirs| dirs.next().is_some()));
    (has_others && !shared.is_empty()).then(|| {
        "a shared memory is a file of this worktree: other worktrees have it once their branches have the file".to_owned()
    })
}

fn to_shared_file(file: PendingFile) -> SharedFile {
    let id = file.name.trim_end_matches(".md");
    SharedFile { id: id.to_owned(), path: memory_file_path(id), text: file.text }
}
