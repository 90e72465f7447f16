//! Finds the memories about a location in the code.

use std::sync::Arc;
use std::time::Instant;

use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_memory_db::{AnchoredMemory, MemoryFilter};
use memod_proto::anchor::{Anchor, AnchorState};
use memod_proto::memory::MemorySort;
use memod_proto::{FreshnessLevel, WhyMemory};

use super::anchor_states::read_memory_anchors;
use crate::daemon::memories::anchors::{AnchorChecker, AnchorLocation, run_anchor_check};
use crate::daemon::memories::calls::method_call::read;
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::request::request_context::RequestContext;

/// A file or directory, and ranges of lines in the file, first and last. Without a range, all lines count.
pub(in crate::daemon) type PathLines = (String, Vec<(u32, u32)>);

/// Returns the living memories about a file, some lines of a file, or anything in a directory, sorted by path and line. The second
/// value is the reason why the states of these memories may be out of date.
pub(in crate::daemon) async fn memories_for_path(
    request: &Arc<RequestContext>,
    cwd: &str,
    path: &str,
    lines: &[(u32, u32)],
    until: Instant,
) -> RpcResult<(Vec<WhyMemory>, Option<String>)> {
    memories_for_places(request, cwd, vec![(path.to_owned(), lines.to_vec())], until).await
}

/// Like [`memories_for_path`], for several locations. A memory about several of them is returned once.
pub(in crate::daemon) async fn memories_for_places(
    request: &Arc<RequestContext>,
    cwd: &str,
    places: Vec<PathLines>,
    until: Instant,
) -> RpcResult<(Vec<WhyMemory>, Option<String>)> {
    let all = read_memory_anchors(request, |_| Ok(MemoryFilter::default()), MemorySort::default()).await?;
    if all.is_empty() {
        return Ok((Vec::new(), None));
    }
    let mut checked = run_anchor_check(request, cwd, FreshnessLevel::Fs, until, move |checker| {
        Ok(find_memories_at(checker, &all, &places)?)
    })
    .await?;
    checked.value.sort_by(|a, b| (&a.path, a.lines, &a.id).cmp(&(&b.path, b.lines, &b.id)));
    if checked.value.is_empty() {
        return Ok((Vec::new(), None)); // no memory has a state that could be wrong
    }
    Ok((add_lines(request, checked.value).await?, checked.reason))
}

/// Returns the memories that are about one of several locations.
fn find_memories_at(
    checker: &mut AnchorChecker<'_>,
    memories: &[AnchoredMemory],
    places: &[PathLines],
) -> Result<Vec<WhyMemory>, DatabaseError> {
    let mut found = Vec::new();
    for (id, anchors) in memories {
        for (path, lines) in places {
            if let Some(memory) = find_memory_at(checker, id, anchors, path, lines)? {
                found.push(memory);
                break;
            }
        }
    }
    Ok(found)
}

/// Returns a memory with its first anchor at a location; `None` if no anchor of the memory is there.
fn find_memory_at(
    checker: &mut AnchorChecker<'_>,
    id: &str,
    anchors: &[Anchor],
    path: &str,
    lines: &[(u32, u32)],
) -> Result<Option<WhyMemory>, DatabaseError> {
    for anchor in anchors {
        let mut anchor = anchor.clone();
        let location = checker.check_anchor(&mut anchor)?;
        let is_gone = anchor.state == Some(AnchorState::Orphaned);
        let now = location.filter(|_| !is_gone).unwrap_or_else(|| AnchorLocation::from_anchor(&anchor));
        let is_below = now.key.as_str().strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        let is_on_lines = lines.is_empty()
            || now.lines.is_none_or(|(first, last)| {
                !is_gone && lines.iter().any(|(from, to)| first <= *to && *from <= last)
            });
        if is_below || now.key.as_str() == path && is_on_lines {
            let about = anchor.now.clone().unwrap_or_else(|| anchor.to_string());
            let (path, lines) = (now.key.to_string(), now.lines);
            let (id, state, note) = (id.to_owned(), anchor.state, anchor.note);
            return Ok(Some(WhyMemory { id, about, path, lines, state, note, line: String::new() }));
        }
    }
    Ok(None)
}

/// Adds the summary line of each memory, and drops memories that were deleted meanwhile.
async fn add_lines(request: &Arc<RequestContext>, memories: Vec<WhyMemory>) -> RpcResult<Vec<WhyMemory>> {
    read(request, move |rows| {
        let mut with_line = Vec::new();
        for memory in &memories {
            let record = rows.records().find_memory(&memory.id)?;
            let line = record.map(|record| protocol_values::to_brief(&record).line);
            with_line.extend(line.map(|line| WhyMemory { line, ..memory.clone() }));
        }
        Ok(with_line)
    })
    .await
}
