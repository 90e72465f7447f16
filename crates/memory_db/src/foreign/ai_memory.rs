//! Reads the database of ai-memory: memories, an archive and links; times as RFC 3339.

use memod_proto::exchange::{Draft, LinkDraft};
use memod_proto::memory::Tier;
use rusqlite::Connection;

use super::row::{Fields, imported, tags};
use super::table::{Read, Table};

/// The newest schema when this was written: that of 0.6.4.
pub(super) const KNOWN: i64 = 20;

const NEEDED: &[&str] =
    &["id", "tier", "namespace", "title", "content", "tags", "priority", "created_at", "updated_at"];

pub(super) const TABLES: &[Table] = &[
    Table {
        name: "memories",
        needed: NEEDED,
        optional: &["confidence", "source", "access_count", "last_accessed_at", "expires_at", "metadata"],
        may_lack: false,
        read: memory,
    },
    Table {
        name: "archived_memories",
        needed: NEEDED,
        optional: &[
            "confidence",
            "source",
            "access_count",
            "last_accessed_at",
            "expires_at",
            "metadata",
            "archived_at",
            "archive_reason",
            "original_tier",
            "original_expires_at",
        ],
        may_lack: true,
        read: archived,
    },
    Table {
        name: "memory_links",
        needed: &["source_id", "target_id", "relation"],
        optional: &["created_at"],
        may_lack: true,
        read: link,
    },
];

pub(super) fn version(conn: &Connection) -> Option<i64> {
    conn.query_row("SELECT max(version) FROM schema_version", [], |row| row.get(0)).ok()
}

fn memory(fields: &Fields<'_>) -> Result<Read, String> {
    draft(fields).map(|draft| Read::Memory(Box::new(draft)))
}

fn archived(fields: &Fields<'_>) -> Result<Read, String> {
    let reason = fields.text("archive_reason")?.unwrap_or_default();
    let is_over = ["gc", "ttl_expired", "expired"].contains(&reason.as_str());
    let mut draft = draft(fields)?;
    draft.archived_at = fields.text("archived_at")?.or_else(|| draft.updated.clone());
    draft.archived_why = Some(if is_over { "expired" } else { "forgotten" }.to_owned());
    draft.expires_at = fields.text("original_expires_at")?.or(draft.expires_at);
    Ok(Read::Memory(Box::new(draft)))
}

fn draft(fields: &Fields<'_>) -> Result<Draft, String> {
    let id = fields.needed("id")?;
    let tier = fields.text("original_tier").ok().flatten().map_or_else(|| fields.needed("tier"), Ok)?;
    let namespace = fields.needed("namespace")?;
    let mut metadata = fields.object("metadata")?;
    let agent = metadata.get("agent_id").and_then(|agent| agent.as_str()).map(str::to_owned);
    imported(&mut metadata, "ai-memory", &id, &[("namespace", Some(namespace.clone()))]);
    Ok(Draft {
        original: Some(format!("ai-memory:{id}")),
        content: fields.needed("content")?,
        // Theirs may have several lines.
        title: fields.text("title")?.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" ")),
        container: Some(namespace),
        tags: fields.text("tags")?.map(|text| tags(&text)).unwrap_or_default(),
        tier: Some(Tier::parse(&tier).ok_or_else(|| format!("tier: {tier:?} is none of short, mid, long"))?),
        expires_at: fields.text("expires_at")?,
        priority: fields.number("priority")?.map(|number| number as i64),
        confidence: fields.number("confidence")?,
        source: fields.text("source")?.filter(|source| !source.is_empty()),
        author: agent.clone(),
        agent,
        created: fields.text("created_at")?,
        updated: fields.text("updated_at")?,
        last_access: fields.text("last_accessed_at")?,
        access_count: fields.count("access_count")?,
        metadata,
        ..Draft::default()
    })
}

fn link(fields: &Fields<'_>) -> Result<Read, String> {
    let name = |column: &str| fields.needed(column).map(|id| format!("ai-memory:{id}"));
    Ok(Read::Link(LinkDraft {
        line: 0,
        source: name("source_id")?,
        target: name("target_id")?,
        kind: fields.needed("relation")?,
        created: fields.text("created_at")?,
    }))
}
