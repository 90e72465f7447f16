//! Finds the memories about a location in the code.

use std::sync::Arc;
use std::time::Instant;

use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_memory_db::MemoryFilter;
use memod_proto::anchor::{Anchor, State};
use memod_proto::memory::Sort;
use memod_proto::{Sync, WhyMemory};

use super::show;
use super::states::anchored;
use super::transaction::read;
use crate::daemon::memories::anchors::{AnchorChecker, AnchorLocation, on_snapshot};
use crate::daemon::shared::Shared;

/// A file or directory, with those of its lines that are meant; none for all.
pub(in crate::daemon) type Place = (String, Vec<(u32, u32)>);

/// Returns the living memories about a file, some of its lines, or anything in a directory, in the order of the file; and
/// why their states may be out of date.
pub(in crate::daemon) async fn memories_for_path(
    shared: &Arc<Shared>,
    cwd: &str,
    path: &str,
    lines: &[(u32, u32)],
    until: Instant,
) -> RpcResult<(Vec<WhyMemory>, Option<String>)> {
    memories_for_places(shared, cwd, vec![(path.to_owned(), lines.to_vec())], until).await
}

/// As [`memories_for_path`], about any of several places; a memory about several of them is one.
pub(in crate::daemon) async fn memories_for_places(
    shared: &Arc<Shared>,
    cwd: &str,
    places: Vec<Place>,
    until: Instant,
) -> RpcResult<(Vec<WhyMemory>, Option<String>)> {
    let all = anchored(shared, |_| Ok(MemoryFilter::default()), Sort::default()).await?;
    if all.is_empty() {
        return Ok((Vec::new(), None));
    }
    let here = move |judge: &mut AnchorChecker<'_>| -> RpcResult<Vec<WhyMemory>> {
        let mut found = Vec::new();
        for (id, anchors) in &all {
            for (path, lines) in &places {
                if let Some(here) = of_memory(judge, id, anchors, path, lines)? {
                    found.push(here);
                    break;
                }
            }
        }
        Ok(found)
    };
    let mut judged = on_snapshot(shared, cwd, Sync::Fs, until, here).await?;
    judged.value.sort_by(|a, b| (&a.path, a.lines, &a.id).cmp(&(&b.path, b.lines, &b.id)));
    if judged.value.is_empty() {
        return Ok((Vec::new(), None)); // nothing that could be wrong
    }
    Ok((with_lines(shared, judged.value).await?, judged.reason))
}

/// Returns the first anchor of a memory that is at a location.
fn of_memory(
    judge: &mut AnchorChecker<'_>,
    id: &str,
    anchors: &[Anchor],
    path: &str,
    lines: &[(u32, u32)],
) -> Result<Option<WhyMemory>, DatabaseError> {
    for anchor in anchors {
        let mut anchor = anchor.clone();
        let location = judge.location(&mut anchor)?;
        let is_gone = anchor.state == Some(State::Orphaned);
        let now = location.filter(|_| !is_gone).unwrap_or_else(|| AnchorLocation::of(&anchor));
        let is_below = now.key.as_str().strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        let is_on = |(first, last): (u32, u32)| {
            !is_gone && lines.iter().any(|(from, to)| first <= *to && *from <= last)
        };
        if is_below || now.key.as_str() == path && (lines.is_empty() || now.lines.is_none_or(is_on)) {
            let about = anchor.now.clone().unwrap_or_else(|| anchor.to_string());
            let (path, lines) = (now.key.to_string(), now.lines);
            let (id, state, note) = (id.to_owned(), anchor.state, anchor.note);
            return Ok(Some(WhyMemory { id, about, path, lines, state, note, line: String::new() }));
        }
    }
    Ok(None)
}

/// Adds the line that represents each memory, and drops memories that are gone by now.
async fn with_lines(shared: &Arc<Shared>, found: Vec<WhyMemory>) -> RpcResult<Vec<WhyMemory>> {
    read(shared, move |rows| {
        let mut kept = Vec::new();
        for memory in &found {
            let record = rows.get(&memory.id)?;
            let line = record.map(|record| show::brief(&record).line);
            kept.extend(line.map(|line| WhyMemory { line, ..memory.clone() }));
        }
        Ok(kept)
    })
    .await
}
