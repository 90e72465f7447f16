//! Returns memories for an export, page by page.

use std::io::Write;
use std::path::Path;

use anyhow::anyhow;
use memod_base::paths::{Env, RepoLayout};
use memod_database::DatabaseError;
use memod_engine::clock;
use memod_engine::errors::RpcResult;
use memod_memory::text;
use memod_memory_db::{MemoryDb, Record, Rows, Stopped};
use memod_proto::exchange::{ExportParams, ExportResult};
use memod_proto::memory::{Memory, StoredVector};
use serde_json::{Value, json};

use super::queries::of_unreadable;
use super::rules::{Done, memory_filter};
use super::show;
use super::transaction::{Call, model_id};

/// Size of a page, bytes: large enough to be fast, small enough not to delay other requests.
const PAGE_BYTES: usize = 1 << 20;

pub(super) async fn export(call: &Call<'_>) -> RpcResult<Value> {
    let model = model_id(call.shared).await?;
    call.read(move |rows, params| page(rows, params, &model)).await
}

/// Writes all memories of the repository around `root`, whose daemons are locked out: a line for each page, with the living
/// ones first.
///
/// # Errors
/// When they cannot be read or written.
pub fn print_memories(root: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let layout = RepoLayout::locate(root, &Env::read())?;
    let db = MemoryDb::open_to_read(&layout.state_dir.join("memory.db"))?;
    let now_ms = clock::now_ms();
    for archived in [false, true] {
        let mut params = ExportParams { archived, ..ExportParams::default() };
        loop {
            let page = db.read(now_ms, |rows| page(rows, &params, "")).map_err(|stopped| match stopped {
                Stopped::Database(error) => error.into(),
                Stopped::Refused(refused) => anyhow!(refused.message),
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

fn page(rows: &Rows<'_>, params: &ExportParams, model: &str) -> Done<ExportResult> {
    let now_ms = rows.now_ms();
    let filter = memory_filter(rows, &params.selection, params.archived, now_ms)?;
    let page = rows.behind(&filter, params.after, PAGE_BYTES)?;
    let next = page.last().map(|(row, _)| *row);
    let links = next.map_or(Ok(Vec::new()), |last| rows.links_from(params.after, last))?;
    let whole = |(row, record): (i64, Record)| -> Result<Memory, DatabaseError> {
        let vector = if params.include_vectors { rows.vector_of(row, model)? } else { None };
        let text_hash = || text::vector_hash(record.title.as_deref(), &record.content);
        let vector =
            vector.map(|int8| StoredVector { model: model.to_owned(), text_hash: text_hash(), int8 });
        Ok(Memory { vector, ..show::memory(record, now_ms) })
    };
    let memories = page.into_iter().map(whole).collect::<Result<_, _>>()?;
    let is_first = params.after == 0 && !params.archived;
    let unreadable = if is_first { rows.unreadable_files(None)? } else { Vec::new() };
    Ok(ExportResult {
        memories,
        links: links.into_iter().map(Into::into).collect(),
        next,
        caveats: of_unreadable(&unreadable, "left out"),
    })
}
