//! Lists the memories that a brief begins with.

use std::collections::HashSet;

use super::show;
use super::transaction::read;
use crate::daemon::error::RpcResult;
use crate::daemon::shared::Shared;
use crate::proto::memory::{Memory, Sort};
use crate::store::{MemoryFilter, Record};

/// What is tagged so is pinned, whatever its priority.
const PINNED: &str = "pinned";
/// From this priority on a memory is shown without being asked for.
const HIGH: u8 = 7;
/// Most that are looked at, of either sort.
const MOST: u64 = 200;

/// Returns the pinned memories and those of high priority: pinned ones first, then the highest, then the newest.
pub(in crate::daemon) async fn pinned(shared: &Shared) -> RpcResult<Vec<Memory>> {
    read(shared, |rows| {
        let tagged = MemoryFilter { tags: vec![PINNED.to_owned()], ..MemoryFilter::default() };
        let mut records = rows.list(&tagged, Sort::Priority, 0, Some(MOST))?.0;
        records.extend(rows.list(&MemoryFilter::default(), Sort::Priority, 0, Some(MOST))?.0);
        let mut seen = HashSet::new();
        let is_high =
            |record: &Record| record.priority >= HIGH || record.tags.iter().any(|tag| tag == PINNED);
        records.retain(|record| is_high(record) && seen.insert(record.id.clone()));
        Ok(records.into_iter().map(|record| show::memory(record, rows.now_ms())).collect())
    })
    .await
}
