//! Links and unlinks memories.

use std::collections::{BTreeSet, HashSet};

use memod_base::types::format_rfc3339;
use memod_memory_db::{MemoryLink, MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{
    Edge, LinkKind, LinkParams, LinkResult, LinksParams, LinksResult, Node, ResolveParams, ResolveResult,
};

use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_links::put_link;
use crate::daemon::memories::rules::memory_rules::{JobResult, check_living, find_memory, refused_error};
use crate::daemon::memories::rules::protocol_values;

/// Maximum number of links between the first memory and a linked one.
const MAX_DEPTH: u64 = 10;
/// Most linked memories that are shown.
const MOST_LINKED: usize = 200;
/// Maximum confidence of the memory that loses a contradiction.
const LOSER_CONFIDENCE: f64 = 0.1;
/// The priority of the memory that loses a contradiction.
const LOSER_PRIORITY: u8 = 1;

/// Answers `memory.link`: links two living memories.
pub(in crate::daemon::memories) fn link_memories(
    rows: &MemoryRows<'_>,
    params: &LinkParams,
    stamp: &ChangeStamp,
) -> JobResult<LinkResult> {
    let (from, to) = find_two(rows, &params.from, &params.to)?;
    for end in [&from, &to] {
        check_living(end, stamp.now_ms)?;
    }
    let kind = params.kind.unwrap_or_default();
    let changed = if put_link(rows, &from, &to, kind, stamp)? { vec![kind] } else { Vec::new() };
    Ok(LinkResult {
        from: protocol_values::to_brief(&from),
        to: protocol_values::to_brief(&to),
        changed,
        caveats: Caveats::default(),
    })
}

/// Answers `memory.unlink`: removes the links of one kind, or of all kinds, between two memories.
pub(in crate::daemon::memories) fn unlink_memories(
    rows: &MemoryRows<'_>,
    params: &LinkParams,
    stamp: &ChangeStamp,
) -> JobResult<LinkResult> {
    let (from, to) = find_two(rows, &params.from, &params.to)?;
    let kinds = params.kind.map_or(LinkKind::ALL.to_vec(), |kind| vec![kind]);
    let mut changed = Vec::new();
    for kind in kinds {
        if rows.links().remove_link(&from.id, &to.id, kind, &stamp.new_event("unlink"))? {
            changed.push(kind);
        }
    }
    Ok(LinkResult {
        from: protocol_values::to_brief(&from),
        to: protocol_values::to_brief(&to),
        changed,
        caveats: Caveats::default(),
    })
}

/// Answers `memory.resolve`: resolves a contradiction. The winner is linked to the loser, which stays but gets a lower rank.
pub(in crate::daemon::memories) fn resolve_contradiction(
    rows: &MemoryRows<'_>,
    params: &ResolveParams,
    stamp: &ChangeStamp,
) -> JobResult<ResolveResult> {
    let (winner, before) = find_two(rows, &params.winner, &params.loser)?;
    for end in [&winner, &before] {
        check_living(end, stamp.now_ms)?;
    }
    let mut linked = Vec::new();
    for kind in [LinkKind::Contradicts, LinkKind::Supersedes] {
        if put_link(rows, &winner, &before, kind, stamp)? {
            linked.push(kind);
        }
    }
    let confidence = before.confidence.min(LOSER_CONFIDENCE);
    let loser = MemoryRecord { priority: LOSER_PRIORITY, confidence, ..before.clone() };
    let (loser, changed) = stamp.store_if_changed(rows, "resolve", &before, loser)?;
    let (winner, loser) = (protocol_values::to_brief(&winner), protocol_values::to_brief(&loser));
    Ok(ResolveResult { winner, loser, linked, changed, caveats: Caveats::default() })
}

fn find_two(rows: &MemoryRows<'_>, first: &str, second: &str) -> JobResult<(MemoryRecord, MemoryRecord)> {
    let (first, second) = (find_memory(rows, first)?, find_memory(rows, second)?);
    if first.id == second.id {
        return Err(refused_error(format!("id: {} is named twice", first.id), "name two memories"));
    }
    Ok((first, second))
}

/// Answers `memory.links`: follows the links from one memory, breadth first, and returns the memories and the links.
pub(in crate::daemon::memories) fn follow_links(
    rows: &MemoryRows<'_>,
    params: &LinksParams,
) -> JobResult<LinksResult> {
    let now_ms = rows.now_ms();
    let depth = params.depth.unwrap_or(1);
    if !(1..=MAX_DEPTH).contains(&depth) {
        let message = format!("depth: {depth} is not between 1 and {MAX_DEPTH}");
        return Err(refused_error(message, "omit the depth for the direct links of this memory"));
    }
    let first = find_memory(rows, &params.id)?;
    let mut known = HashSet::from([first.id.clone()]);
    let mut memories = vec![build_node(&first, 0, now_ms)];
    let (mut links, mut more) = (BTreeSet::new(), false);
    for nth in 0.. {
        let Some(node) = memories.get(nth).filter(|node| node.depth < depth) else { break };
        let (id, next) = (node.memory.id.clone(), node.depth + 1);
        for link in rows.links().list_links(&id)? {
            let other = if link.from == id { &link.to } else { &link.from };
            if !known.contains(other) {
                let Some(record) =
                    rows.records().find_memory(other)?.filter(|_| memories.len() < MOST_LINKED)
                else {
                    more = true;
                    continue;
                };
                known.insert(record.id.clone());
                memories.push(build_node(&record, next, now_ms));
            }
            links.insert(link);
        }
    }
    Ok(LinksResult {
        memories,
        links: links.into_iter().map(build_edge).collect(),
        more,
        caveats: Caveats::default(),
    })
}

fn build_node(record: &MemoryRecord, depth: u64, now_ms: i64) -> Node {
    Node { memory: protocol_values::to_brief(record), archived: !record.is_living(now_ms), depth }
}

fn build_edge(link: MemoryLink) -> Edge {
    Edge { from: link.from, to: link.to, kind: link.kind, linked: format_rfc3339(link.created) }
}
