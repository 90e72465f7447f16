//! Shares memories as files in the worktree, and takes them out again.

use serde_json::Value;

use super::file_write::{Before, in_conflict_of, share as share_one};
use super::rules::{Done, check_text, memory_filter, refused};
use super::stamp::Stamp;
use super::transaction::Call;
use super::{show, team_write};
use crate::daemon::error::RpcResult;
use crate::proto::memory::{Selection, ShareParams, ShareResult, SharedFile};
use crate::store::{PendingFile, Rows, Side};
use crate::types::memory_file;

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
    let (mut memories, mut files) = (Vec::new(), Vec::new());
    for record in rows.list(&filter, Default::default(), 0, None)?.0 {
        let is_done = match (is_shared, params.team) {
            (true, true) => record.team,
            (true, false) => record.shared,
            (false, _) => !record.shared && !record.team,
        };
        if is_done {
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
                rows.unshare(&record.id, &stamp.event("unshare"))?;
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
    Ok(ShareResult { dry_run: params.dry_run, memories, files, notice: None })
}

fn shown(file: PendingFile) -> SharedFile {
    let id = file.name.trim_end_matches(".md");
    SharedFile { id: id.to_owned(), path: memory_file(id), text: file.text }
}
