//! Reads the database of memori: one table; times in seconds; all but the text as free JSON.

use memod_proto::exchange::Draft;
use rusqlite::Connection;
use serde_json::{Map, Value};

use super::source_row::{SourceRow, add_origin, parse_tags};
use super::source_table::{SourceItem, SourceTable};

/// The newest known `user_version`.
pub(super) const NEWEST_KNOWN_VERSION: i64 = 3;

pub(super) const TABLES: &[SourceTable] = &[SourceTable {
    name: "memories",
    required_columns: &["id", "content", "metadata", "created_at", "updated_at"],
    // Databases of version 1 do not have these columns.
    optional_columns: &["last_accessed", "access_count"],
    may_be_absent: false,
    read: read_memory,
}];

/// Returns the `user_version`; `None` if it cannot be read.
pub(super) fn read_version(conn: &Connection) -> Option<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).ok()
}

fn read_memory(fields: &SourceRow<'_>) -> Result<SourceItem, String> {
    let id = fields.require_text("id")?;
    let mut metadata = fields.read_object("metadata")?;
    let (tags, priority) = (tags_of(&metadata), read_priority(&metadata));
    add_origin(&mut metadata, "memori", &id, &[]);
    Ok(SourceItem::Memory(Box::new(Draft {
        original: Some(format!("memori:{id}")),
        content: fields.require_text("content")?,
        tags,
        priority,
        created: fields.read_time("created_at", 1.0)?,
        updated: fields.read_time("updated_at", 1.0)?,
        last_access: fields.read_time("last_accessed", 1.0)?,
        access_count: fields.read_count("access_count")?,
        metadata,
        ..Draft::default()
    })))
}

/// Returns the tags for a memory: its type, and the tags in its metadata.
fn tags_of(metadata: &Map<String, Value>) -> Vec<String> {
    let kind = metadata.get("type").and_then(Value::as_str).map(|kind| kind.replace(',', " "));
    let listed = match metadata.get("tags") {
        Some(Value::String(text)) => parse_tags(text),
        Some(list) => parse_tags(&list.to_string()),
        None => Vec::new(),
    };
    kind.into_iter().filter(|kind| !kind.trim().is_empty()).chain(listed).collect()
}

/// Returns the priority in the metadata, a number or a text, if it is on memod's scale from 1 to 10.
fn read_priority(metadata: &Map<String, Value>) -> Option<i64> {
    let value = metadata.get("priority")?;
    let number = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())?;
    (1..=10).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_users_made_up_becomes_tags_and_a_priority() {
        let cases = [
            (json!({ "type": "decision", "tags": ["a", "b,c"] }), &["decision", "a", "b c"][..], None),
            (json!({ "tags": "a, b", "priority": "7" }), &["a", "b"], Some(7)),
            (json!({ "tags": 7, "priority": 70 }), &["7"], None),
            (json!({ "type": 1 }), &[], None),
        ];
        for (metadata, tags, number) in cases {
            let metadata = metadata.as_object().unwrap();
            assert_eq!(
                (tags_of(metadata), read_priority(metadata)),
                (tags.iter().map(|tag| (*tag).to_owned()).collect(), number)
            );
        }
    }
}
