//! Reads memories for the modules outside this one.

use memod_base::clock::now_ms;
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_memory_db::{MemoryRecord, MemoryRows};
use memod_proto::memory::Memory;

use crate::daemon::memories::calls::method_call::read;
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::request::request_context::RequestContext;

/// Returns the memories with these ids, in the order of the ids. Leaves out memories that no longer exist.
pub(in crate::daemon) async fn find_by_ids(
    request: &RequestContext,
    ids: Vec<String>,
) -> RpcResult<Vec<Memory>> {
    read(request, move |rows| {
        let mut found = Vec::new();
        for id in &ids {
            found.extend(
                rows.records()
                    .find_memory(id)?
                    .map(|record| protocol_values::to_memory(record, rows.now_ms())),
            );
        }
        add_successors(rows, &mut found)?;
        Ok(found)
    })
    .await
}

/// Sets `superseded_by` of each memory to the ids of the memories that supersede it.
pub(super) fn add_successors(rows: &MemoryRows<'_>, memories: &mut [Memory]) -> Result<(), DatabaseError> {
    for memory in memories {
        let row = rows.records().find_row(&memory.id)?;
        let facts = rows.search().ranking_facts(&Vec::from_iter(row))?;
        memory.superseded_by = facts.into_iter().flat_map(|facts| facts.successors).collect();
    }
    Ok(())
}

/// Converts a stored memory to the type of the protocol, as of now.
pub(in crate::daemon) fn to_memory_now(record: MemoryRecord) -> Memory {
    protocol_values::to_memory(record, now_ms())
}
