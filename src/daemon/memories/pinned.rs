//! Which memories should be known before any question?

use std::collections::HashSet;
use std::sync::Arc;

use super::{now_ms, show};
use crate::daemon::error::Outcome;
use crate::daemon::shared::Shared;
use crate::proto::RpcError;
use crate::proto::memory::{Memory, Sort};
use crate::store::{MemoryKeeper, Record, Which};

/// What is tagged so is pinned, whatever its priority.
const PINNED: &str = "pinned";
/// From this priority on a memory is shown without being asked for.
const HIGH: u8 = 7;
/// Most that are looked at, of either sort.
const MOST: u64 = 200;

/// Returns the pinned memories and those of high priority: pinned ones first, then the highest, then the newest.
pub(in crate::daemon) async fn pinned(shared: &Arc<Shared>) -> Outcome<Vec<Memory>> {
    let job = |keeper: &mut MemoryKeeper| {
        let now_ms = now_ms();
        keeper.read::<_, RpcError>(now_ms, |rows| {
            let tagged = Which { tags: vec![PINNED.to_owned()], ..Which::default() };
            let mut records = rows.list(&tagged, Sort::Priority, 0, Some(MOST))?.0;
            records.extend(rows.list(&Which::default(), Sort::Priority, 0, Some(MOST))?.0);
            let mut seen = HashSet::new();
            let is_high =
                |record: &Record| record.priority >= HIGH || record.tags.iter().any(|tag| tag == PINNED);
            records.retain(|record| is_high(record) && seen.insert(record.id.clone()));
            Ok(records.into_iter().map(|record| show::memory(record, now_ms)).collect::<Vec<_>>())
        })
    };
    Ok(shared.memories.ask(job).await??)
}
