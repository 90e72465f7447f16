//! Returns memories for an export, page by page.

use std::io::Write;
use std::path::Path;

use anyhow::anyhow;
use memod_base::clock;
use memod_base::paths::{Env, RepoLayout};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_memory::text;
use memod_memory_db::{JobError, MemoryDb, MemoryRecord, MemoryRows};
use memod_proto::exchange::{ExportParams, ExportResult};
use memod_proto::memory::{Memory, StoredVector};
use serde_json::{Value, json};

use crate::daemon::memories::calls::method_call::{MethodCall, read_model_id};
use crate::daemon::memories::finding::queries::unreadable_caveats;
use crate::daemon::memories::rules::memory_rules::{JobResult, parse_selection};
use crate::daemon::memories::rules::protocol_values;

/// Size of a page, bytes: large enough to be fast, small enough not to delay other requests.
const PAGE_BYTES: usize = 1 << 20;

/// Answers `memory.export`: returns one page of memories and links.
pub(in crate::daemon::memories) async fn export_memories(call: &MethodCall<'_>) -> RpcResult<Value> {
    let model = read_model_id(call.request).await?;
    call.read(move |rows, params| read_page(rows, params, &model)).await
}

/// Writes all memories of the repository that contains `root` to `out`: one JSON line for each page, living memories first. The
/// caller must have locked out the daemons of the repository.
///
/// # Errors
/// When the memories cannot be read, or `out` cannot be written.
pub fn print_memories(root: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let layout = RepoLayout::locate(root, &Env::read())?;
    let db = MemoryDb::open_to_read(&layout.state_dir.join("memory.db"))?;
    let now_ms = clock::now_ms();
    for archived in [false, true] {
        let mut params = ExportParams { archived, ..ExportParams::default() };
        loop {
            let page =
                db.read(now_ms, |rows| read_page(rows, &params, "")).map_err(|stopped| match stopped {
                    JobError::Database(error) => error.into(),
                    JobError::Refused(refused) => anyhow!(refused.message),
                })?;
            writeln!(out, "{}", json!({ "Ok": page }))?;
            match page.next {
                Some(next) => params.after = next,
                None => break,
            }
        }
    }
    Ok(())
}

fn read_page(rows: &MemoryRows<'_>, params: &ExportParams, model: &str) -> JobResult<ExportResult> {
    let now_ms = rows.now_ms();
    let filter = parse_selection(rows, &params.selection, params.archived, now_ms)?;
    let page = rows.records().list_after_row(&filter, params.after, PAGE_BYTES)?;
    let next = page.last().map(|(row, _)| *row);
    let links = next.map_or(Ok(Vec::new()), |last| rows.links().links_from(params.after, last))?;
    let mut memories = Vec::new();
    for (row, record) in page {
        let vector = if params.include_vectors { read_vector(rows, row, &record, model)? } else { None };
        memories.push(Memory { vector, ..protocol_values::to_memory(record, now_ms) });
    }
    let is_first = params.after == 0 && !params.archived;
    let unreadable = if is_first { rows.files().list_unreadable_files(None)? } else { Vec::new() };
    Ok(ExportResult {
        memories,
        links: links.into_iter().map(Into::into).collect(),
        next,
        caveats: unreadable_caveats(&unreadable, "left out"),
    })
}

/// Returns the vector of a memory, with the hash of the text of the memory; `None` if the model has computed no vector yet.
fn read_vector(
    rows: &MemoryRows<'_>,
    row: i64,
    record: &MemoryRecord,
    model: &str,
) -> Result<Option<StoredVector>, DatabaseError> {
    Ok(rows.vectors().find_vector(row, model)?.map(|int8| StoredVector {
        model: model.to_owned(),
        text_hash: text::hash_vector_text(record.title.as_deref(), &record.content),
        int8,
    }))
}
