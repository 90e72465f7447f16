//! Reads the databases of other memory systems.
//!
//! A database and its log are copied into the state dir, and only the copy is opened. So users of the original never wait for
//! memod, no file appears next to the original, and malicious content can only harm the copy. Only tables are read, neither
//! views nor computed columns.

mod ai_memory_tables;
mod database_copy;
mod memo_tables;
mod memod_database;
mod memori_tables;
mod source_row;
mod source_table;

use std::path::Path;

use rusqlite::Connection;

pub use self::database_copy::{CopyError, remove_leftover_copies};
pub(super) use self::database_copy::{CopyPurpose, DatabaseCopy, FileStamps, read_stamps};
pub(super) use self::memod_database::open_memod_copy;
use memod_proto::exchange::{DatabaseResult, Draft, ImportOutcome, ImportStatus, LinkDraft};

use self::source_row::SourceRow;
use self::source_table::{PAGE_BYTES, SourceItem, SourceTable};
use crate::MemoryDb;

/// Maximum number of rows in a page.
const PAGE_ROWS: usize = 500;

/// A database of another system, copied and open.
pub struct ImportSource {
    open: OpenDatabase,
    notes: Vec<String>,
    /// Drop order is significant: the files are removed after the connection is closed.
    copied: DatabaseCopy,
}

enum OpenDatabase {
    /// The tables of another system, in the order in which they are read.
    Tables(Connection, &'static [SourceTable]),
    /// Another repository's memory.db.
    Memod(Box<MemoryDb>),
}

/// Reads the version of a schema.
type ReadVersion = fn(&Connection) -> Option<i64>;

impl ImportSource {
    /// Copies the database at `path` into the state dir, and opens the copy. `ours` are memod's own files, which are refused.
    ///
    /// # Errors
    /// When the database cannot be read, changes during each attempt to copy it, is damaged, or was not written by `system`.
    pub fn open(path: &Path, system: &str, state_dir: &Path, ours: &[&Path]) -> Result<Self, CopyError> {
        let copied = DatabaseCopy::copy_from(path, state_dir, CopyPurpose::Import, ours)?;
        let (tables, version): (_, Option<(ReadVersion, i64)>) = match system {
            "memod" => {
                let open = OpenDatabase::Memod(Box::new(memod_database::open_memod_copy(&copied)?));
                return Ok(Self { open, notes: Vec::new(), copied });
            }
            "memo" => (memo_tables::TABLES, None),
            "memori" => (
                memori_tables::TABLES,
                Some((memori_tables::read_version, memori_tables::NEWEST_KNOWN_VERSION)),
            ),
            "ai-memory" => (
                ai_memory_tables::TABLES,
                Some((ai_memory_tables::read_version, ai_memory_tables::NEWEST_KNOWN_VERSION)),
            ),
            _ => {
                let why = format!("{system:?} is not a known system");
                return Err(copied.unusable_error(why, "memod, memo, memori or ai-memory"));
            }
        };
        let conn = copied.open_tables(tables)?;
        let note = version.and_then(|(found, known)| copied.version_note(found(&conn)?, known));
        Ok(Self { open: OpenDatabase::Tables(conn, tables), notes: note.into_iter().collect(), copied })
    }

    /// Returns the page after `after`, the `next` of the page before; the first page without `after`.
    ///
    /// # Errors
    /// When the copy cannot be read, or `after` is invalid.
    pub fn read_page(&self, after: Option<&str>) -> Result<DatabaseResult, CopyError> {
        let place = after.map_or(Some((0, 0)), |after| {
            let (table, row) = after.split_once(':')?;
            Some((table.parse().ok()?, row.parse().ok()?))
        });
        let (table, row): (usize, i64) = place.ok_or_else(|| {
            let why = "after: not the `next` of a page".to_owned();
            self.copied.unusable_error(why, "leave `after` out to read the first page")
        })?;
        let mut page = match &self.open {
            OpenDatabase::Memod(db) => {
                let page = memod_database::read_memod_page(db, table > 0, row)
                    .map_err(|error| self.copied.database_error(error))?;
                let next = page.next.or_else(|| (table == 0).then(|| "1:0".to_owned()));
                DatabaseResult { next, ..page }
            }
            OpenDatabase::Tables(conn, tables) => match tables.get(table) {
                Some(source) => self.read_table_page(conn, source, row).map(|(mut page, last)| {
                    let next_table = (table + 1 < tables.len()).then(|| format!("{}:0", table + 1));
                    page.next = last.map(|row| format!("{table}:{row}")).or(next_table);
                    page
                })?,
                None => DatabaseResult::default(),
            },
        };
        page.notes.clone_from(&self.notes);
        Ok(page)
    }

    /// Returns a page of one table, and the number of the page's last row, or `None` after the table's last page.
    fn read_table_page(
        &self,
        conn: &Connection,
        table: &SourceTable,
        after: i64,
    ) -> Result<(DatabaseResult, Option<i64>), CopyError> {
        let mut page = DatabaseResult::default();
        let mut read = || -> rusqlite::Result<Option<i64>> {
            let Some(select) = source_row::build_query(conn, table)? else { return Ok(None) };
            let mut statement = conn.prepare(&select)?;
            let mut rows = statement.query([after])?;
            let (mut n_rows, mut n_bytes) = (0, 0);
            while let Some(row) = rows.next()? {
                let fields = SourceRow::new(row);
                let number: i64 = row.get(0)?;
                n_rows += 1;
                match (table.read)(&fields) {
                    Ok(SourceItem::Memory(draft)) => {
                        n_bytes += draft.content.len();
                        page.drafts.push(Draft { line: number.unsigned_abs(), ..*draft });
                    }
                    Ok(SourceItem::Link(link)) => {
                        page.links.push(LinkDraft { line: number.unsigned_abs(), ..link });
                    }
                    Err(why) => page.unreadable.push(ImportOutcome {
                        line: number.unsigned_abs(),
                        fate: ImportStatus::Refused,
                        id: None,
                        why: Some(format!("{}: {why}", table.name)),
                    }),
                }
                if n_rows >= PAGE_ROWS || n_bytes >= PAGE_BYTES {
                    return Ok(Some(number));
                }
            }
            Ok(None)
        };
        let last = read().map_err(|error| self.copied.sqlite_error(error))?;
        Ok((page, last))
    }
}
