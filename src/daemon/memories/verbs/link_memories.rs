//! Links and unlinks memories.

use std::collections::{BTreeSet, HashSet};

use memod_base::types::rfc3339;
use memod_memory_db::{LinkOutcome, MemoryLink, MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{
    Edge, Link as Shown, LinkKind, LinkParams, LinkResult, LinksParams, LinksResult, Node, ResolveParams,
    ResolveResult,
};

use crate::daemon::memories::methods::change_stamp::ChangeStamp;
use crate::daemon::memories::methods::memory_rules::{JobResult, check_living, find_memory, refused_error};
use crate::daemon::memories::methods::protocol_values;

/// Maximum depth of following links.
const MAX_DEPTH: u64 = 10;
/// Most linked memories that are shown.
const MOST_LINKED: usize = 200;
/// The confidence of the memory that loses a contradiction.
const LOSER_CONFIDENCE: f64 = 0.1;
/// The priority of the memory that loses a contradiction.
const LOSER_PRIORITY: u8 = 1;

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

pub(in crate::daemon::memories) fn unlink_memories(
    rows: &MemoryRows<'_>,
    params: &LinkParams,
    stamp: &ChangeStamp,
) -> JobResult<LinkResult> {
    let (from, to) = find_two(rows, &params.from, &params.to)?;
    let kinds = params.kind.map_or(LinkKind::ALL.to_vec(), |kind| vec![kind]);
    let mut changed = Vec::new();
    for kind in kinds {
        if rows.remove_link(&from.id, &to.id, kind, &stamp.new_event("unlink"))? {
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

/// Resolves a contradiction: one memory holds, and the other stays but ranks below it.
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
    let (loser, changed) = stamp.put_changed(rows, "resolve", &before, loser)?;
    let (winner, loser) = (protocol_values::to_brief(&winner), protocol_values::to_brief(&loser));
    Ok(ResolveResult { winner, loser, linked, changed, caveats: Caveats::default() })
}

fn find_two(rows: &MemoryRows<'_>, first: &str, second: &str) -> JobResult<(MemoryRecord, MemoryRecord)> {
    let (first, second) = (find_memory(rows, first)?, find_memory(rows, second)?);
    if first.id == second.id {
        return Err(refused_error(format!("id: {} twice", first.id), "a memory has no links to itself"));
    }
    Ok((first, second))
}

/// Links two memories; returns false if the link existed.
pub(in crate::daemon::memories) fn put_link(
    rows: &MemoryRows<'_>,
    from: &MemoryRecord,
    to: &MemoryRecord,
    kind: LinkKind,
    stamp: &ChangeStamp,
) -> JobResult<bool> {
    let link = MemoryLink { from: from.id.clone(), to: to.id.clone(), kind, created: stamp.now_ms };
    match rows.add_link(&link, &stamp.new_event("link"))? {
        LinkOutcome::New => Ok(true),
        LinkOutcome::Known => Ok(false),
        LinkOutcome::Ring => Err(refused_error(
            ring_error(&link),
            "`memo links --depth 10` shows the way; `memo unlink` takes a link away",
        )),
    }
}

/// Returns the message for a link that would close a ring.
pub(in crate::daemon::memories) fn ring_error(link: &MemoryLink) -> String {
    let MemoryLink { from, to, kind, .. } = link;
    match from == to {
        true => format!("{from} refers to itself"),
        false => format!("kind: {from} is {} {to} already", spell_relation(kind.inverse_name())),
    }
}

fn spell_relation(relation: &str) -> String {
    relation.replace('_', " ")
}

/// Returns the links of a memory from its point of view.
pub(in crate::daemon::memories) fn list_links(rows: &MemoryRows<'_>, id: &str) -> JobResult<Vec<Shown>> {
    let mut shown = Vec::new();
    for link in rows.list_links(id)? {
        let (other, relation) = match link.from == id {
            true => (&link.to, link.kind.as_str()),
            false => (&link.from, link.kind.inverse_name()),
        };
        let Some(other) = rows.find_memory(other)? else { continue };
        shown.push(Shown {
            kind: link.kind,
            relation: relation.to_owned(),
            memory: protocol_values::to_brief(&other),
            archived: !other.is_living(rows.now_ms()),
            linked: rfc3339(link.created),
        });
    }
    Ok(shown)
}

/// Follows the links from one memory, breadth first.
pub(in crate::daemon::memories) fn follow_links(
    rows: &MemoryRows<'_>,
    params: &LinksParams,
) -> JobResult<LinksResult> {
    let now_ms = rows.now_ms();
    let depth = params.depth.unwrap_or(1);
    if !(1..=MAX_DEPTH).contains(&depth) {
        let message = format!("depth: {depth} is not between 1 and {MAX_DEPTH}");
        return Err(refused_error(message, "leave it out for the links of this memory alone"));
    }
    let first = find_memory(rows, &params.id)?;
    let mut known = HashSet::from([first.id.clone()]);
    let mut memories = vec![build_node(&first, 0, now_ms)];
    let (mut links, mut more) = (BTreeSet::new(), false);
    for nth in 0.. {
        let Some(node) = memories.get(nth).filter(|node| node.depth < depth) else { break };
        let (id, next) = (node.memory.id.clone(), node.depth + 1);
        for link in rows.list_links(&id)? {
            let other = if link.from == id { &link.to } else { &link.from };
            if !known.contains(other) {
                let Some(record) = rows.find_memory(other)?.filter(|_| memories.len() < MOST_LINKED) else {
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
    Edge { from: link.from, to: link.to, kind: link.kind, linked: rfc3339(link.created) }
}
