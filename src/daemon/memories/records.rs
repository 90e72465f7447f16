//! Reads memories for the modules outside this one.

use memod_database::DatabaseError;
use memod_engine::clock::now_ms;
use memod_engine::errors::RpcResult;
use memod_memory_db::{Record, Rows};
use memod_proto::memory::Memory;

use super::show;
use super::transaction::read;
use crate::daemon::shared::Shared;

/// Returns memories by their ids, in that order, without those that have gone.
pub(in crate::daemon) async fn records(shared: &Shared, ids: Vec<String>) -> RpcResult<Vec<Memory>> {
    read(shared, move |rows| {
        let mut found = Vec::new();
        for id in &ids {
            found.extend(rows.get(id)?.map(|record| show::memory(record, rows.now_ms())));
        }
        add_successors(rows, &mut found)?;
        Ok(found)
    })
    .await
}

/// Sets what supersedes each of these memories.
pub(super) fn add_successors(rows: &Rows<'_>, memories: &mut [Memory]) -> Result<(), DatabaseError> {
    for memory in memories {
        let row = rows.row(&memory.id)?;
        let facts = rows.facts(&Vec::from_iter(row))?;
        memory.superseded_by = facts.into_iter().flat_map(|facts| facts.successors).collect();
    }
    Ok(())
}

/// Returns a stored memory as in the protocol.
pub(in crate::daemon) fn shown(record: Record) -> Memory {
    show::memory(record, now_ms())
}
