//! Reads a memory from the columns of a row.

use memod_proto::anchor::Anchor;
use memod_proto::memory::{MemorySort, Tier};
use rusqlite::Row;
use serde_json::{Map, Value};

use crate::records::memory_record::{FileSide, MemoryRecord};
use crate::records::sharing::Sharing;

/// Lists the columns that [`read_record`] reads, as SQL.
macro_rules! columns {
    ($last_access:literal, $access_count:literal, $state:literal) => {
        concat!(
            "m.id, m.content, m.title, m.container, m.tier, m.expires_at, m.priority, m.confidence, m.source, m.author,
             m.created, m.updated, ",
            $last_access,
            ", ",
            $access_count,
            ", m.metadata, m.archived_at, m.archived_why, m.key, m.agent,
             (SELECT json_group_array(tag) FROM (SELECT tag FROM tag WHERE memory = m.row ORDER BY tag)),
             (SELECT json_group_array(json(anchor) ORDER BY ord) FROM anchor WHERE memory = m.row)",
            $state
        )
    };
}

/// The columns of a memory itself, which a database of an older schema has, too.
pub(crate) const BASE_COLUMNS: &str = columns!("m.last_access", "m.access_count", "");

/// The columns of a memory and of its file in the worktree. Recalls are read from the main row.
pub(crate) const COLUMNS: &str = columns!(
    "iif(m.main IS NULL, m.last_access, (SELECT last_access FROM memory WHERE row = m.main))",
    "iif(m.main IS NULL, m.access_count, (SELECT access_count FROM memory WHERE row = m.main))",
    ", m.shared,
     (m.version IS NOT NULL OR m.source IN ('repo', 'team')) AND NOT EXISTS (
         SELECT 1 FROM trusted_version t WHERE t.memory = coalesce(m.main, m.row) AND t.hash = m.version),
     CASE m.shared
         WHEN 1 THEN (SELECT max(f.side) FROM memory_file f WHERE f.memory = m.row AND f.worktree = memod_worktree())
         WHEN 3 THEN iif(m.main IS NULL, (SELECT t.theirs IS NOT NULL FROM team_memory t WHERE t.id = m.id),
             (SELECT iif(k.shared IN (0, 2) AND k.archived_at IS NOT NULL, 0, 2) FROM memory k WHERE k.row = m.main))
         ELSE m.archived_at IS NULL AND EXISTS (
             SELECT 1 FROM memory v LEFT JOIN memory_file f ON f.memory = v.row AND f.worktree = memod_worktree()
             WHERE v.main = m.row AND (f.side = 2 OR v.shared = 3))
     END,
     m.repository"
);

/// The SQL condition on a row `m` of `memory` that it is no version row. The id of a version row is that of its memory, `#` and more.
pub(crate) const IS_NO_VERSION_ROW: &str = "instr(m.id, '#') = 0";

/// The id of the memory of a row `m` of `memory`, also if that is a version row, as SQL.
pub(crate) const ID_OF_MEMORY: &str = "substr(m.id, 1, instr(m.id || '#', '#') - 1)";

/// Number of [`BASE_COLUMNS`].
const N_BASE_COLUMNS: usize = 21;

/// Parses the column of anchors in [`COLUMNS`]; returns none if it is not valid JSON.
pub(crate) fn parse_anchors(json: &str) -> Vec<Anchor> {
    serde_json::from_str(json).unwrap_or_default()
}

/// Returns the terms of `ORDER BY` for `memory m`; they give a total order.
pub(crate) fn order_clause(sort: MemorySort) -> &'static str {
    match sort {
        MemorySort::Created => "m.created DESC, m.row DESC",
        MemorySort::Updated => "m.updated DESC, m.row DESC",
        MemorySort::Priority => "m.priority DESC, m.created DESC, m.row DESC",
    }
}

/// Reads a row of [`COLUMNS`] or [`BASE_COLUMNS`].
pub(crate) fn read_record(row: &Row<'_>) -> rusqlite::Result<MemoryRecord> {
    let tier: String = row.get(4)?;
    let tags: String = row.get(19)?;
    // A row of `BASE_COLUMNS` has only the first columns.
    let has_state = row.as_ref().column_count() > N_BASE_COLUMNS;
    let state = |column: usize| if has_state { row.get::<_, Option<i64>>(column) } else { Ok(None) };
    let id: String = row.get(0)?;
    Ok(MemoryRecord {
        // In a version row, `#` and more follow the id.
        id: id.split_once('#').map_or_else(|| id.clone(), |(id, _)| id.to_owned()),
        content: row.get(1)?,
        title: row.get(2)?,
        container: row.get(3)?,
        tier: Tier::parse(&tier).unwrap_or_default(),
        expires_at: row.get(5)?,
        priority: row.get(6)?,
        confidence: row.get(7)?,
        source: row.get(8)?,
        author: row.get(9)?,
        created: row.get(10)?,
        updated: row.get(11)?,
        last_access: row.get(12)?,
        access_count: row.get(13)?,
        metadata: parse_object(&row.get::<_, String>(14)?),
        archived_at: row.get(15)?,
        archived_why: row.get(16)?,
        key: row.get(17)?,
        agent: row.get(18)?,
        tags: serde_json::from_str(&tags).unwrap_or_default(),
        anchors: parse_anchors(&row.get::<_, String>(20)?),
        shared: state(N_BASE_COLUMNS)? == Some(Sharing::Repo as i64),
        team: state(N_BASE_COLUMNS)?
            .is_some_and(|n| n == Sharing::Team as i64 || n == Sharing::Followed as i64),
        is_unconfirmed: state(N_BASE_COLUMNS + 1)? == Some(1),
        side: FileSide::from_number(state(N_BASE_COLUMNS + 2)?),
        repository: if has_state { row.get(N_BASE_COLUMNS + 3)? } else { None },
    })
}

/// Parses a JSON object; returns an empty one if the text is none.
pub(crate) fn parse_object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}
