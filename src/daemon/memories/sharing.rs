//! Shares memories as files in the worktree, and takes them out again.

use serde_json::Value;

use super::file_write::{Before, in_conflict, share as share_one};
use super::rules::{Done, check_text, memory_filter, refused};
use super::show;
use super::transaction::{Call, Stamp};
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
    let mut memories = Vec::new();
    for record in rows.list(&filter, Default::default(), 0, None)?.0 {
        if record.shared == is_shared {
            continue;
        }
        match is_shared {
            true => drop(share_one(rows, &record, stamp)?),
            false => {
                if record.side != Side::Whole {
                    return Err(in_conflict(&record.id));
                }
                check_text(rows, &record)?;
                rows.unshare(&record.id, &stamp.event("unshare"))?;
            }
        }
        memories.push(show::brief(&record));
    }
    // What the caller's transaction is going to write.
    let changes = if params.dry_run { before.changes(rows, stamp)? } else { Vec::new() };
    let files = match params.dry_run {
        true => changes.into_iter().map(shown).collect(),
        false => memories.iter().map(|memory| SharedFile { text: None, ..of_id(&memory.id) }).collect(),
    };
    Ok(ShareResult { dry_run: params.dry_run, memories, files, notice: None })
}

fn of_id(id: &str) -> SharedFile {
    SharedFile { id: id.to_owned(), path: memory_file(id), text: None }
}

fn shown(file: PendingFile) -> SharedFile {
    SharedFile { text: file.text, ..of_id(file.name.trim_end_matches(".md")) }
}
