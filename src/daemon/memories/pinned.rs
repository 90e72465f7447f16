//! Lists the memories that a brief begins with.

use std::collections::HashSet;

use memod_engine::errors::RpcResult;
use memod_memory_db::{MemoryFilter, Record};
use memod_proto::memory::{Memory, Sort};

use super::records::add_successors;
use super::show;
use super::transaction::read;
use crate::daemon::shared::Shared;

/// Tag of pinned memories.
const PINNED: &str = "pinned";
/// Lowest priority at which a memory is in every brief.
const HIGH: u8 = 7;
/// Most memories of each kind that are read.
const MOST: u64 = 200;

/// Returns the pinned memories and those of high priority, sorted by pinned, priority and age.
pub(in crate::daemon) async fn pinned(shared: &Shared) -> RpcResult<Vec<Memory>> {
    read(shared, |rows| {
        let tagged = MemoryFilter { tags: vec![PINNED.to_owned()], ..MemoryFilter::default() };
        let mut records = rows.list(&tagged, Sort::Priority, 0, Some(MOST))?.0;
        records.extend(rows.list(&MemoryFilter::default(), Sort::Priority, 0, Some(MOST))?.0);
        let mut seen = HashSet::new();
        let is_high =
            |record: &Record| record.priority >= HIGH || record.tags.iter().any(|tag| tag == PINNED);
        records.retain(|record| is_high(record) && seen.insert(record.id.clone()));
        let memory = |record| show::memory(record, rows.now_ms());
        let mut memories: Vec<Memory> = records.into_iter().map(memory).collect();
        add_successors(rows, &mut memories)?;
        Ok(memories)
    })
    .await
}
