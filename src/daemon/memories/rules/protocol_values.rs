//! Converts stored memories to the types of the protocol.

use memod_base::types::format_rfc3339;
use memod_memory::{fields, text};
use memod_memory_db::{FILE_SOURCE, FileSide, MemoryEvent, MemoryRecord, TEAM_SOURCE};
use memod_proto::memory::{Brief, Change, Memory, MemoryScope, build_reader_marks};
use serde_json::{Map, Value};

/// Converts a stored memory. A memory that has expired is shown as archived, even if it is not archived in the database yet.
pub(in crate::daemon::memories) fn to_memory(record: MemoryRecord, now_ms: i64) -> Memory {
    let is_over = record.archived_at.is_none() && !record.is_living(now_ms);
    let archived_at = if is_over { record.expires_at } else { record.archived_at };
    let (trust, scope) = (determine_trust(&record).to_owned(), determine_scope(&record));
    Memory {
        id: record.id,
        content: record.content,
        title: record.title,
        container: record.container,
        tags: record.tags,
        anchors: record.anchors,
        state: None,
        tier: record.tier,
        expires_at: record.expires_at.map(format_rfc3339),
        priority: record.priority,
        confidence: record.confidence,
        source: record.source,
        author: record.author,
        agent: record.agent,
        created: format_rfc3339(record.created),
        updated: format_rfc3339(record.updated),
        last_access: record.last_access.map(format_rfc3339),
        access_count: record.access_count,
        metadata: record.metadata,
        archived_at: archived_at.map(format_rfc3339),
        archived_why: if is_over { Some("expired".to_owned()) } else { record.archived_why },
        trust,
        conflict: conflict_name(record.side).map(str::to_owned),
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
pub(in crate::daemon::memories) fn determine_scope(record: &MemoryRecord) -> MemoryScope {
    match () {
        () if record.team => MemoryScope::Team,
        () if record.shared => MemoryScope::Repo,
        () => MemoryScope::Mine,
    }
}

/// Returns how far a memory is trusted: `own`, `import`, or `repo` or `team` by its origin if nobody here has confirmed it.
pub(in crate::daemon) fn determine_trust(record: &MemoryRecord) -> &'static str {
    match () {
        () if record.is_unconfirmed && record.team => "team",
        () if record.is_unconfirmed => "repo",
        () if record.source == FILE_SOURCE || record.source == TEAM_SOURCE => "own",
        () if fields::is_local_source(&record.source) && record.key.is_none() => "own",
        () => "import",
    }
}

/// Returns the name of a side of a conflict in the protocol; `None` if the memory is not in conflict.
pub(in crate::daemon::memories) fn conflict_name(side: FileSide) -> Option<&'static str> {
    match side {
        FileSide::Whole | FileSide::EqualToPrivate => None,
        FileSide::Ours => Some("ours"),
        FileSide::Theirs => Some("theirs"),
    }
}

/// Converts a stored memory to its short form in the protocol: id, container, creation time and one line.
pub(in crate::daemon) fn to_brief(record: &MemoryRecord) -> Brief {
    Brief {
        id: record.id.clone(),
        container: record.container.clone(),
        created: format_rfc3339(record.created),
        line: summary_line(record),
    }
}

/// Returns a memory as one line, with marks for its trust, scope and conflict.
fn summary_line(record: &MemoryRecord) -> String {
    let marks = build_reader_marks(
        determine_trust(record),
        determine_scope(record),
        record.repository.as_deref(),
        conflict_name(record.side),
        &[],
    );
    let marks: String = marks.iter().map(|mark| format!("{mark} ")).collect();
    format!("{marks}{}", text::summary_line(record.title.as_deref(), &record.content))
}

/// Converts an event of the history to the type of the protocol.
pub(in crate::daemon::memories) fn to_change(event: MemoryEvent) -> Change {
    let MemoryEvent { at, action, author, source, fields } = event;
    Change { at: format_rfc3339(at), action, author, source, fields }
}

/// Returns all fields of a memory, with the names and values of the protocol.
pub(in crate::daemon::memories) fn to_fields(record: &MemoryRecord) -> Map<String, Value> {
    match serde_json::to_value(to_memory(record.clone(), i64::MIN)) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Returns the fields in which two records differ, except the time of the change, as `{field: [before, after]}`.
pub(in crate::daemon::memories) fn diff_fields(
    before: &MemoryRecord,
    after: &MemoryRecord,
) -> Map<String, Value> {
    let mut before = to_fields(before);
    let changed = to_fields(after).into_iter().filter_map(|(name, after)| {
        let before = before.remove(&name).unwrap_or_default();
        (before != after && name != "updated").then(|| (name, Value::from(vec![before, after])))
    });
    changed.collect()
}
