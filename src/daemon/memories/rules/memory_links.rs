//! Links two memories, and reads the links of one.

use memod_base::types::format_rfc3339;
use memod_memory_db::{LinkOutcome, MemoryLink, MemoryRecord, MemoryRows};
use memod_proto::memory::{Link as Shown, LinkKind};

use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, refused_error};
use crate::daemon::memories::rules::protocol_values;

/// Links two memories. Returns false if the link existed, and fails if the link would close a cycle.
pub(in crate::daemon::memories) fn put_link(
    rows: &MemoryRows<'_>,
    from: &MemoryRecord,
    to: &MemoryRecord,
    kind: LinkKind,
    stamp: &ChangeStamp,
) -> JobResult<bool> {
    let link = MemoryLink { from: from.id.clone(), to: to.id.clone(), kind, created: stamp.now_ms };
    match rows.links().add_link(&link, &stamp.new_event("link"))? {
        LinkOutcome::New => Ok(true),
        LinkOutcome::Known => Ok(false),
        LinkOutcome::Cycle => Err(refused_error(
            cycle_message(&link),
            "show the links between them with `memo link list --depth 10`; remove one with `memo link remove`",
        )),
    }
}

/// Returns the message for a link that would close a cycle of links.
pub(in crate::daemon::memories) fn cycle_message(link: &MemoryLink) -> String {
    let MemoryLink { from, to, kind, .. } = link;
    match from == to {
        true => format!("{from} refers to itself"),
        false => format!("kind: {from} is {} {to} already", spell_relation(kind.inverse_name())),
    }
}

fn spell_relation(relation: &str) -> String {
    relation.replace('_', " ")
}

/// Returns the links of a memory, each with the linked memory and how this memory relates to it.
pub(in crate::daemon::memories) fn list_links(rows: &MemoryRows<'_>, id: &str) -> JobResult<Vec<Shown>> {
    let mut shown = Vec::new();
    for link in rows.links().list_links(id)? {
        let (other, relation) = match link.from == id {
            true => (&link.to, link.kind.as_str()),
            false => (&link.from, link.kind.inverse_name()),
        };
        let Some(other) = rows.records().find_memory(other)? else { continue };
        shown.push(Shown {
            kind: link.kind,
            relation: relation.to_owned(),
            memory: protocol_values::to_brief(&other),
            archived: !other.is_living(rows.now_ms()),
            linked: format_rfc3339(link.created),
        });
    }
    Ok(shown)
}
