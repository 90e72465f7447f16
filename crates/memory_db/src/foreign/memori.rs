//! Reads the database of memori: one table; times in seconds; all but the text as free JSON.

use memod_proto::exchange::Draft;
use rusqlite::Connection;
use serde_json::{Map, Value};

use super::row::{Fields, imported, tags};
use super::table::{Read, Table};

/// The newest `user_version` when this was written.
pub(super) const KNOWN: i64 = 3;

pub(super) const TABLES: &[Table] = &[Table {
    name: "memories",
    needed: &["id", "content", "metadata", "created_at", "updated_at"],
    // Since version 2.
    optional: &["last_accessed", "access_count"],
    may_lack: false,
    read,
}];

pub(super) fn version(conn: &Connection) -> Option<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).ok()
}

fn read(fields: &Fields<'_>) -> Result<Read, String> {
    let id = fields.needed("id")?;
    let mut metadata = fields.object("metadata")?;
    let (tags, priority) = (tags_of(&metadata), priority(&metadata));
    imported(&mut metadata, "memori", &id, &[]);
    Ok(Read::Memory(Box::new(Draft {
        original: Some(format!("memori:{id}")),
        content: fields.needed("content")?,
        tags,
        priority,
        created: fields.time("created_at", 1.0)?,
        updated: fields.time("updated_at", 1.0)?,
        last_access: fields.time("last_accessed", 1.0)?,
        access_count: fields.count("access_count")?,
        metadata,
        ..Draft::default()
    })))
}

/// Returns the tags: the type of the memory, and tags in the metadata.
fn tags_of(metadata: &Map<String, Value>) -> Vec<String> {
    let kind = metadata.get("type").and_then(Value::as_str).map(|kind| kind.replace(',', " "));
    let listed = match metadata.get("tags") {
        Some(Value::String(text)) => tags(text),
        Some(list) => tags(&list.to_string()),
        None => Vec::new(),
    };
    kind.into_iter().filter(|kind| !kind.trim().is_empty()).chain(listed).collect()
}

/// Returns the priority on our scale, if there is one; its values are often texts.
fn priority(metadata: &Map<String, Value>) -> Option<i64> {
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
                (tags_of(metadata), priority(metadata)),
                (tags.iter().map(|tag| (*tag).to_owned()).collect(), number)
            );
        }
    }
}
