//! Reads the database of ai-memory: memories, an archive and links; times as RFC 3339.

use memod_proto::exchange::{Draft, LinkDraft};
use memod_proto::memory::Tier;
use rusqlite::Connection;

use super::source_row::{SourceRow, add_origin, parse_tags};
use super::source_table::{SourceItem, SourceTable};

/// The newest known schema, of ai-memory 0.6.4.
pub(super) const NEWEST_KNOWN_VERSION: i64 = 20;

const NEEDED: &[&str] =
    &["id", "tier", "namespace", "title", "content", "tags", "priority", "created_at", "updated_at"];

pub(super) const TABLES: &[SourceTable] = &[
    SourceTable {
        name: "memories",
        required_columns: NEEDED,
        optional_columns: &[
            "confidence",
            "source",
            "access_count",
            "last_accessed_at",
            "expires_at",
            "metadata",
        ],
        may_be_absent: false,
        read: read_memory,
    },
    SourceTable {
        name: "archived_memories",
        required_columns: NEEDED,
        optional_columns: &[
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
        may_be_absent: true,
        read: read_archived,
    },
    SourceTable {
        name: "memory_links",
        required_columns: &["source_id", "target_id", "relation"],
        optional_columns: &["created_at"],
        may_be_absent: true,
        read: read_link,
    },
];

/// Returns the version of the schema; `None` if it cannot be read.
pub(super) fn read_version(conn: &Connection) -> Option<i64> {
    conn.query_row("SELECT max(version) FROM schema_version", [], |row| row.get(0)).ok()
}

fn read_memory(fields: &SourceRow<'_>) -> Result<SourceItem, String> {
    read_draft(fields).map(|draft| SourceItem::Memory(Box::new(draft)))
}

/// Reads a row of `archived_memories`.
fn read_archived(fields: &SourceRow<'_>) -> Result<SourceItem, String> {
    let reason = fields.read_text("archive_reason")?.unwrap_or_default();
    let is_over = ["gc", "ttl_expired", "expired"].contains(&reason.as_str());
    let mut draft = read_draft(fields)?;
    draft.archived_at = fields.read_text("archived_at")?.or_else(|| draft.updated.clone());
    draft.archived_why = Some(if is_over { "expired" } else { "forgotten" }.to_owned());
    draft.expires_at = fields.read_text("original_expires_at")?.or(draft.expires_at);
    Ok(SourceItem::Memory(Box::new(draft)))
}

fn read_draft(fields: &SourceRow<'_>) -> Result<Draft, String> {
    let id = fields.require_text("id")?;
    let tier =
        fields.read_text("original_tier").ok().flatten().map_or_else(|| fields.require_text("tier"), Ok)?;
    let namespace = fields.require_text("namespace")?;
    let mut metadata = fields.read_object("metadata")?;
    let agent = metadata.get("agent_id").and_then(|agent| agent.as_str()).map(str::to_owned);
    add_origin(&mut metadata, "ai-memory", &id, &[("namespace", Some(namespace.clone()))]);
    Ok(Draft {
        original: Some(format!("ai-memory:{id}")),
        content: fields.require_text("content")?,
        // A title of ai-memory may have several lines.
        title: fields.read_text("title")?.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" ")),
        container: Some(namespace),
        tags: fields.read_text("tags")?.map(|text| parse_tags(&text)).unwrap_or_default(),
        tier: Some(Tier::parse(&tier).ok_or_else(|| format!("tier: {tier:?} is none of short, mid, long"))?),
        expires_at: fields.read_text("expires_at")?,
        priority: fields.read_number("priority")?.map(|number| number as i64),
        confidence: fields.read_number("confidence")?,
        source: fields.read_text("source")?.filter(|source| !source.is_empty()),
        author: agent.clone(),
        agent,
        created: fields.read_text("created_at")?,
        updated: fields.read_text("updated_at")?,
        last_access: fields.read_text("last_accessed_at")?,
        access_count: fields.read_count("access_count")?,
        metadata,
        ..Draft::default()
    })
}

fn read_link(fields: &SourceRow<'_>) -> Result<SourceItem, String> {
    Ok(SourceItem::Link(LinkDraft {
        line: 0,
        source: read_original_id(fields, "source_id")?,
        target: read_original_id(fields, "target_id")?,
        kind: fields.require_text("relation")?,
        created: fields.read_text("created_at")?,
    }))
}

/// Returns the id of a memory of ai-memory in a column, as drafts name it in `original`.
fn read_original_id(fields: &SourceRow<'_>, column: &str) -> Result<String, String> {
    fields.require_text(column).map(|id| format!("ai-memory:{id}"))
}
