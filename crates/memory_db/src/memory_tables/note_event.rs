//! Adds an event to the history of a memory.

use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use crate::records::memory_event::MemoryEvent;

/// The field that marks a change of a file in conflict with a private memory. The history of the private memory records the change
/// until the conflict ends.
pub(crate) const BESIDE: &str = "beside";

/// Adds an event to the history of a memory; `row` is the number of the memory's main row or of a version row. For a shared memory
/// the event names the worktree, unless there is only one or the change applies to all worktrees.
pub(crate) fn record_event(conn: &Connection, row: i64, event: &MemoryEvent) -> rusqlite::Result<()> {
    conn.prepare_cached(&format!(
        "INSERT INTO history(memory, at, action, author, source, fields)
         SELECT main, ?2, ?3, ?4, ?5, iif(
             is_beside_own, json_set(fields, '$.{BESIDE}', json_array(NULL, 'file')), fields)
         FROM (
             SELECT coalesce(m.main, m.row) main, o.shared IN (0, 2) is_beside_own, iif(
                 m.shared = 1 AND ?6 != '{{}}' AND ?3 NOT IN ('recall', 'link', 'unlink')
                     AND memod_worktree() > 0 AND (SELECT count(*) FROM worktree) > 1,
                 json_set(?6, '$.worktree', json_array(NULL, (
                     SELECT coalesce(root, nullif(git_dir, ''), 'main') FROM worktree WHERE id = memod_worktree()))),
                 ?6) fields
             FROM memory m LEFT JOIN memory o ON o.row = m.main WHERE m.row = ?1)",
    ))?
    .execute(params![row, event.at, event.action, event.author, event.source, to_json(&event.fields)])
    .map(drop)
}

/// Returns an object as JSON.
pub(crate) fn to_json(object: &Map<String, Value>) -> String {
    serde_json::to_string(object).expect("an object of JSON has string keys")
}
