//! Archives, restores and deletes memories.

use super::queries::{get, named};
use super::rules::{Done, check_expected, check_text, digest, memory_filter, not_found, refused};
use super::show;
use super::transaction::Stamp;
use crate::proto::memory::{IdsParams, MemoriesResult, RemoveParams, RemoveResult, Selection};
use crate::store::{Record, Rows};

pub(super) fn restore(rows: &Rows<'_>, params: &IdsParams, stamp: &Stamp) -> Done<MemoriesResult> {
    let records = named(rows, params)?;
    for record in &records {
        if record.lives(stamp.now_ms) {
            let message = format!("id: {} is not in the archive", record.id);
            return Err(not_found(message, "`memo list --archived` shows what is"));
        }
        check_text(rows, record)?;
        // One at a time, because two of them may have the same text.
        rows.restore(std::slice::from_ref(record), &stamp.event("restore"))?;
    }
    get(rows, params)
}

pub(super) fn forget(rows: &Rows<'_>, params: &RemoveParams, stamp: &Stamp) -> Done<RemoveResult> {
    if params.selection == Selection::default() {
        return Err(refused("nothing says which memories".to_owned(), "name ids, or --container, --tag, …"));
    }
    let records = selected(rows, params, false, stamp.now_ms)?;
    let result = removed(params, &records)?;
    if !params.dry_run {
        rows.archive(&records, "forgotten", &stamp.event("forget"))?;
    }
    Ok(result)
}

pub(super) fn purge(rows: &Rows<'_>, params: &RemoveParams, stamp: &Stamp) -> Done<RemoveResult> {
    let mut records = selected(rows, params, true, stamp.now_ms)?;
    let n_meant = records.len();
    if params.selection.ids.is_empty() {
        // The clock may be wrong, so an expired memory is archived only once the time has certainly passed.
        records.retain(|record| record.archived_at.is_some());
    }
    let mut result = removed(params, &records)?;
    if records.len() < n_meant {
        result.notice = Some(format!(
            "{} more are over by the clock, but so much time has not been seen to pass; name their ids to delete them",
            n_meant - records.len()
        ));
    }
    if !params.dry_run {
        rows.delete(&records, &stamp.event("purge"))?;
    }
    Ok(result)
}

fn selected(rows: &Rows<'_>, params: &RemoveParams, archived: bool, now_ms: i64) -> Done<Vec<Record>> {
    let filter = memory_filter(rows, &params.selection, archived, now_ms)?;
    Ok(rows.list(&filter, Default::default(), 0, None)?.0)
}

/// Returns the memories that would be removed; fails if they are not those that were shown before.
fn removed(params: &RemoveParams, records: &[Record]) -> Done<RemoveResult> {
    let digest = digest(records);
    check_expected(params.expect.as_ref(), &digest, "removed")?;
    let memories = records.iter().map(show::brief).collect();
    Ok(RemoveResult { dry_run: params.dry_run, memories, digest, notice: None })
}
