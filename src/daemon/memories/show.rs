//! Converts stored memories to the types of the protocol.

use memod_base::types::rfc3339;
use memod_memory::{fields, text};
use memod_memory_db::{FROM_FILE, FROM_TEAM, MemoryEvent, Record, Side};
use memod_proto::memory::{Brief, Change, Memory, Scope, marks};
use serde_json::{Map, Value};

/// An expired memory is shown as archived even before it is.
pub(super) fn memory(record: Record, now_ms: i64) -> Memory {
    let is_over = record.archived_at.is_none() && !record.lives(now_ms);
    let archived_at = if is_over { record.expires_at } else { record.archived_at };
    let (trust, scope) = (trust(&record).to_owned(), scope(&record));
    Memory {
        id: record.id,
        content: record.content,
        title: record.title,
        container: record.container,
        tags: record.tags,
        anchors: record.anchors,
        state: None,
        tier: record.tier,
        expires_at: record.expires_at.map(rfc3339),
        priority: record.priority,
        confidence: record.confidence,
        source: record.source,
        author: record.author,
        agent: record.agent,
        created: rfc3339(record.created),
        updated: rfc3339(record.updated),
        last_access: record.last_access.map(rfc3339),
        access_count: record.access_count,
        metadata: record.metadata,
        archived_at: archived_at.map(rfc3339),
        archived_why: if is_over { Some("expired".to_owned()) } else { record.archived_why },
        trust,
        conflict: conflict(record.side).map(str::to_owned),
        superseded_by: Vec::new(),
        shared: record.shared,
        scope,
        repository: record.repository,
        key: record.key,
        vector: None,
        links: None,
    }
}

/// Returns with whom a memory is shared.
pub(super) fn scope(record: &Record) -> Scope {
    match () {
        () if record.team => Scope::Team,
        () if record.shared => Scope::Repo,
        () => Scope::Mine,
    }
}

/// Returns whose word a memory is: `own`, `import`, or if nobody here vouches for it `repo` or `team`, as it came.
pub(in crate::daemon) fn trust(record: &Record) -> &'static str {
    match () {
        () if record.is_unconfirmed && record.team => "team",
        () if record.is_unconfirmed => "repo",
        () if record.source == FROM_FILE || record.source == FROM_TEAM => "own",
        () if fields::is_own_source(&record.source) && record.key.is_none() => "own",
        () => "import",
    }
}

pub(super) fn conflict(side: Side) -> Option<&'static str> {
    match side {
        Side::Whole | Side::Same => None,
        Side::Ours => Some("ours"),
        Side::Theirs => Some("theirs"),
    }
}

pub(in crate::daemon) fn brief(record: &Record) -> Brief {
    Brief {
        id: record.id.clone(),
        container: record.container.clone(),
        created: rfc3339(record.created),
        line: line(record),
    }
}

/// Returns a memory as one line, with what a reader must know of its file.
fn line(record: &Record) -> String {
    let marks = marks(trust(record), scope(record), record.repository.as_deref(), conflict(record.side), &[]);
    let marks: String = marks.iter().map(|mark| format!("{mark} ")).collect();
    format!("{marks}{}", text::summary_line(record.title.as_deref(), &record.content))
}

pub(super) fn change(event: MemoryEvent) -> Change {
    let MemoryEvent { at, action, author, source, fields } = event;
    Change { at: rfc3339(at), action, author, source, fields }
}

/// Returns all fields as in the protocol.
pub(super) fn fields(record: &Record) -> Map<String, Value> {
    match serde_json::to_value(memory(record.clone(), i64::MIN)) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Returns the fields that differ, except the time of the change: `{field: [before, after]}`.
pub(super) fn differences(before: &Record, after: &Record) -> Map<String, Value> {
    let mut before = fields(before);
    let changed = fields(after).into_iter().filter_map(|(name, after)| {
        let before = before.remove(&name).unwrap_or_default();
        (before != after && name != "updated").then(|| (name, Value::from(vec![before, after])))
    });
    changed.collect()
}
