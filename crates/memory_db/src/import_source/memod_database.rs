//! Reads the memory.db of another repository from a copy, in which an older schema is migrated.

use memod_base::types::format_rfc3339;
use memod_database::DatabaseError;
use memod_proto::exchange::{DatabaseResult, Draft};

use super::database_copy::{CopyError, DatabaseCopy};
use super::source_table::PAGE_BYTES;
use crate::{MemoryDb, MemoryFilter, MemoryRecord};

/// The tables, the columns that identify them, and whether an old version may lack them.
const TABLES: [(&str, &[&str], bool); 4] =
    [("memory", &["container"], false), ("tag", &[], true), ("link", &[], true), ("anchor", &[], true)];

/// Opens the copy of a memory.db.
///
/// # Errors
/// When the copy is damaged, is not a memory.db, or has a newer schema.
pub(crate) fn open_memod_copy(copied: &DatabaseCopy) -> Result<MemoryDb, CopyError> {
    let conn = copied.open_connection().map_err(|error| copied.sqlite_error(error))?;
    for (table, needed, may_lack) in TABLES {
        copied.check_table(&conn, table, needed, may_lack)?;
    }
    drop(conn);
    MemoryDb::open_temporary_copy(copied.copy_path()).map_err(|error| copied.database_error(error))
}

/// Returns a page of the living or the archived memories, after the row number `after`.
pub(super) fn read_memod_page(
    db: &MemoryDb,
    archived: bool,
    after: i64,
) -> Result<DatabaseResult, DatabaseError> {
    let read: Result<_, DatabaseError> = db.read(0, |rows| {
        let found = rows.records().list_after_row(
            &MemoryFilter { archived, ..MemoryFilter::default() },
            after,
            PAGE_BYTES,
        )?;
        let last = found.last().map(|(row, _)| *row);
        let links = last.map_or(Ok(Vec::new()), |last| rows.links().links_from(after, last))?;
        Ok((found, links, last))
    });
    let (found, links, last) = read?;
    Ok(DatabaseResult {
        drafts: found.into_iter().map(|(row, record)| draft_from_record(row, record)).collect(),
        links: links.into_iter().map(Into::into).collect(),
        next: last.map(|row| format!("{}:{row}", u8::from(archived))),
        ..DatabaseResult::default()
    })
}

/// Returns the draft for an import of the memory in a row.
fn draft_from_record(row: i64, record: MemoryRecord) -> Draft {
    Draft {
        line: row.unsigned_abs(),
        id: Some(record.id),
        original: None,
        content: record.content,
        title: record.title,
        container: Some(record.container),
        tags: record.tags,
        tier: Some(record.tier),
        expires_at: record.expires_at.map(format_rfc3339),
        priority: Some(i64::from(record.priority)),
        confidence: Some(record.confidence),
        source: Some(record.source),
        author: Some(record.author),
        agent: record.agent,
        created: Some(format_rfc3339(record.created)),
        updated: Some(format_rfc3339(record.updated)),
        last_access: record.last_access.map(format_rfc3339),
        access_count: record.access_count,
        metadata: record.metadata,
        archived_at: record.archived_at.map(format_rfc3339),
        archived_why: record.archived_why,
        key: record.key,
        anchors: record.anchors,
        vector: None,
    }
}
