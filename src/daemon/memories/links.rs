//! Links and unlinks memories.

use std::collections::{BTreeSet, HashSet};

use memod_base::types::rfc3339;
use memod_memory_db::{Link, Linked, Record, Rows};
use memod_proto::Caveats;
use memod_proto::memory::{
    Edge, Link as Shown, LinkKind, LinkParams, LinkResult, LinksParams, LinksResult, Node, ResolveParams,
    ResolveResult,
};

use super::rules::{Done, find, must_live, refused};
use super::show;
use super::stamp::Stamp;

/// Maximum depth of following links.
const MAX_DEPTH: u64 = 10;
/// Most linked memories that are shown.
const MAX_REACHED: usize = 200;
/// The confidence of a memory that another one supersedes.
const LOSER_CONFIDENCE: f64 = 0.1;
/// Its priority.
const LOSER_PRIORITY: u8 = 1;

pub(super) fn link(rows: &Rows<'_>, params: &LinkParams, stamp: &Stamp) -> Done<LinkResult> {
    let (from, to) = two(rows, &params.from, &params.to)?;
    for end in [&from, &to] {
        must_live(end, stamp.now_ms)?;
    }
    let kind = params.kind.unwrap_or_default();
    let changed = if put(rows, &from, &to, kind, stamp)? { vec![kind] } else { Vec::new() };
    Ok(LinkResult { from: show::brief(&from), to: show::brief(&to), changed, caveats: Caveats::default() })
}

pub(super) fn unlink(rows: &Rows<'_>, params: &LinkParams, stamp: &Stamp) -> Done<LinkResult> {
    let (from, to) = two(rows, &params.from, &params.to)?;
    let kinds = params.kind.map_or(LinkKind::ALL.to_vec(), |kind| vec![kind]);
    let mut changed = Vec::new();
    for kind in kinds {
        if rows.unlink(&from.id, &to.id, kind, &stamp.event("unlink"))? {
            changed.push(kind);
        }
    }
    Ok(LinkResult { from: show::brief(&from), to: show::brief(&to), changed, caveats: Caveats::default() })
}

/// Resolves a contradiction: one memory holds, and the other stays but ranks below it.
pub(super) fn resolve(rows: &Rows<'_>, params: &ResolveParams, stamp: &Stamp) -> Done<ResolveResult> {
    let (winner, before) = two(rows, &params.winner, &params.loser)?;
    for end in [&winner, &before] {
        must_live(end, stamp.now_ms)?;
    }
    let mut linked = Vec::new();
    for kind in [LinkKind::Contradicts, LinkKind::Supersedes] {
        if put(rows, &winner, &before, kind, stamp)? {
            linked.push(kind);
        }
    }
    let confidence = before.confidence.min(LOSER_CONFIDENCE);
    let loser = Record { priority: LOSER_PRIORITY, confidence, ..before.clone() };
    let (loser, changed) = stamp.put(rows, "resolve", &before, loser)?;
    let (winner, loser) = (show::brief(&winner), show::brief(&loser));
    Ok(ResolveResult { winner, loser, linked, changed, caveats: Caveats::default() })
}

fn two(rows: &Rows<'_>, first: &str, second: &str) -> Done<(Record, Record)> {
    let (first, second) = (find(rows, first)?, find(rows, second)?);
    if first.id == second.id {
        return Err(refused(format!("id: {} twice", first.id), "a memory has no links to itself"));
    }
    Ok((first, second))
}

/// Links two memories; returns false if the link existed.
pub(super) fn put(rows: &Rows<'_>, from: &Record, to: &Record, kind: LinkKind, stamp: &Stamp) -> Done<bool> {
    let link = Link { from: from.id.clone(), to: to.id.clone(), kind, created: stamp.now_ms };
    match rows.link(&link, &stamp.event("link"))? {
        Linked::New => Ok(true),
        Linked::Known => Ok(false),
        Linked::Ring => Err(refused(
            ring(&link),
            "`memo links --depth 10` shows the way; `memo unlink` takes a link away",
        )),
    }
}

/// Returns the error for a link that would close a ring.
pub(super) fn ring(link: &Link) -> String {
    let Link { from, to, kind, .. } = link;
    match from == to {
        true => format!("{from} refers to itself"),
        false => format!("kind: {from} is {} {to} already", words(kind.inverse())),
    }
}

fn words(relation: &str) -> String {
    relation.replace('_', " ")
}

/// Returns the links of a memory from its point of view.
pub(super) fn of(rows: &Rows<'_>, id: &str) -> Done<Vec<Shown>> {
    let mut shown = Vec::new();
    for link in rows.links(id)? {
        let (other, relation) = match link.from == id {
            true => (&link.to, link.kind.as_str()),
            false => (&link.from, link.kind.inverse()),
        };
        let Some(other) = rows.get(other)? else { continue };
        shown.push(Shown {
            kind: link.kind,
            relation: relation.to_owned(),
            memory: show::brief(&other),
            archived: !other.lives(rows.now_ms()),
            linked: rfc3339(link.created),
        });
    }
    Ok(shown)
}

/// Follows the links from one memory, breadth first.
pub(super) fn links(rows: &Rows<'_>, params: &LinksParams) -> Done<LinksResult> {
    let now_ms = rows.now_ms();
    let depth = params.depth.unwrap_or(1);
    if !(1..=MAX_DEPTH).contains(&depth) {
        let message = format!("depth: {depth} is not between 1 and {MAX_DEPTH}");
        return Err(refused(message, "leave it out for the links of this memory alone"));
    }
    let first = find(rows, &params.id)?;
    let mut known = HashSet::from([first.id.clone()]);
    let mut memories = vec![node(&first, 0, now_ms)];
    let (mut links, mut more) = (BTreeSet::new(), false);
    for at in 0.. {
        let Some(here) = memories.get(at).filter(|node| node.depth < depth) else { break };
        let (id, next) = (here.memory.id.clone(), here.depth + 1);
        for link in rows.links(&id)? {
            let other = if link.from == id { &link.to } else { &link.from };
            if !known.contains(other) {
                let Some(record) = rows.get(other)?.filter(|_| memories.len() < MAX_REACHED) else {
                    more = true;
                    continue;
                };
                known.insert(record.id.clone());
                memories.push(node(&record, next, now_ms));
            }
            links.insert(link);
        }
    }
    Ok(LinksResult {
        memories,
        links: links.into_iter().map(edge).collect(),
        more,
        caveats: Caveats::default(),
    })
}

fn node(record: &Record, depth: u64, now_ms: i64) -> Node {
    Node { memory: show::brief(record), archived: !record.lives(now_ms), depth }
}

fn edge(link: Link) -> Edge {
    Edge { from: link.from, to: link.to, kind: link.kind, linked: rfc3339(link.created) }
}
