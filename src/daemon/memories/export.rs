//! Returns memories for an export, page by page.

use super::rules::{Done, memory_filter};
use super::show;
use crate::proto::exchange::{ExportParams, ExportResult};
use crate::store::Rows;

/// Size of a page, bytes: large enough to be fast, small enough not to delay other requests.
const PAGE_BYTES: usize = 1 << 20;

pub(super) fn export(rows: &Rows<'_>, params: &ExportParams) -> Done<ExportResult> {
    let now_ms = rows.now_ms();
    let filter = memory_filter(rows, &params.selection, params.archived, now_ms)?;
    let page = rows.behind(&filter, params.after, PAGE_BYTES)?;
    let next = page.last().map(|(row, _)| *row);
    let links = next.map_or(Ok(Vec::new()), |last| rows.links_from(params.after, last))?;
    let memories = page.into_iter().map(|(_, record)| show::memory(record, now_ms)).collect();
    Ok(ExportResult { memories, links: links.into_iter().map(Into::into).collect(), next, notice: None })
}
