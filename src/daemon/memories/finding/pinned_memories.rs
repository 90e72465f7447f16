//! Lists the pinned memories, with which a briefing begins.

use std::collections::HashSet;

use memod_engine::errors::RpcResult;
use memod_memory_db::{MemoryFilter, MemoryRecord};
use memod_proto::memory::{Memory, MemorySort};

use super::read_records::add_successors;
use crate::daemon::memories::calls::method_call::read;
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::request::request_context::RequestContext;

/// Tag of pinned memories.
const PINNED_TAG: &str = "pinned";
/// Lowest priority at which a memory is in every briefing.
const HIGH_PRIORITY: u8 = 7;
/// Maximum number of memories that are read for each list: the pinned ones, and those of high priority.
const MOST_READ: u64 = 200;

/// Returns the pinned memories, and then other memories of high priority, each sorted by priority.
pub(in crate::daemon) async fn list_pinned(request: &RequestContext) -> RpcResult<Vec<Memory>> {
    read(request, |rows| {
        let tagged = MemoryFilter { tags: vec![PINNED_TAG.to_owned()], ..MemoryFilter::default() };
        let mut records = rows.records().list_page(&tagged, MemorySort::Priority, 0, Some(MOST_READ))?.0;
        records.extend(
            rows.records().list_page(&MemoryFilter::default(), MemorySort::Priority, 0, Some(MOST_READ))?.0,
        );
        let mut seen = HashSet::new();
        records.retain(|record| is_pinned_or_high(record) && seen.insert(record.id.clone()));
        let mut memories: Vec<Memory> =
            records.into_iter().map(|record| protocol_values::to_memory(record, rows.now_ms())).collect();
        add_successors(rows, &mut memories)?;
        Ok(memories)
    })
    .await
}

fn is_pinned_or_high(record: &MemoryRecord) -> bool {
    record.priority >= HIGH_PRIORITY || record.tags.iter().any(|tag| tag == PINNED_TAG)
}
