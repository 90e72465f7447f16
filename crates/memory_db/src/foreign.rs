//! Reads the databases of other memory systems.
//!
//! A database and its log are copied into a directory of ours, and the copy is read. So its users never wait for us, no
//! file appears next to it, and malicious content can only harm the copy. Only tables are read, neither views nor computed
//! columns.

mod ai_memory;
mod copied;
mod memo;
mod memod;
mod memori;
mod row;
mod table;

use std::path::Path;

use rusqlite::Connection;

pub(super) use self::copied::{Copied, Purpose, Stamps, stamps};
pub use self::copied::{ForeignError, remove_left_copies};
pub(super) use self::memod::open as open_memod;
use memod_proto::exchange::{DatabaseResult, Draft, ImportStatus, Imported, LinkDraft};

use self::row::Fields;
use self::table::{PAGE_BYTES, Read, Table};
use crate::MemoryDb;

/// Rows of a page.
const PAGE_ROWS: usize = 500;

/// A database of another system, copied and open.
pub struct Foreign {
    open: Open,
    notes: Vec<String>,
    /// Drop order is significant: the files are removed once nothing has them open.
    copied: Copied,
}

enum Open {
    /// The tables of another system, in the order in which they are read.
    Tables(Connection, &'static [Table]),
    /// Another repository's memory.db.
    Memod(Box<MemoryDb>),
}

/// Reads the version of a schema.
type Version = fn(&Connection) -> Option<i64>;

impl Foreign {
    /// Copies a database into the state dir, and opens the copy. `ours` are files that must not be touched.
    ///
    /// # Errors
    /// When it cannot be read, keeps changing, is damaged, or is no database of this system.
    pub fn open(path: &Path, system: &str, state_dir: &Path, ours: &[&Path]) -> Result<Self, ForeignError> {
        let copied = Copied::make(path, state_dir, Purpose::Import, ours)?;
        let (tables, version): (_, Option<(Version, i64)>) = match system {
            "memod" => {
                let open = Open::Memod(Box::new(memod::open(&copied)?));
                return Ok(Self { open, notes: Vec::new(), copied });
            }
            "memo" => (memo::TABLES, None),
            "memori" => (memori::TABLES, Some((memori::version, memori::KNOWN))),
            "ai-memory" => (ai_memory::TABLES, Some((ai_memory::version, ai_memory::KNOWN))),
            _ => {
                let why = format!("{system:?} is not a known system");
                return Err(copied.unusable(why, "memod, memo, memori or ai-memory"));
            }
        };
        let conn = copied.open(tables)?;
        let note = version.and_then(|(found, known)| copied.version_note(found(&conn)?, known));
        Ok(Self { open: Open::Tables(conn, tables), notes: note.into_iter().collect(), copied })
    }

    /// Reads the page after `after`, which is the `next` of the page before.
    ///
    /// # Errors
    /// When the copy cannot be read, or `after` is invalid.
    pub fn page(&self, after: Option<&str>) -> Result<DatabaseResult, ForeignError> {
        let place = after.map_or(Some((0, 0)), |after| {
            let (table, row) = after.split_once(':')?;
            Some((table.parse().ok()?, row.parse().ok()?))
        });
        let (table, row): (usize, i64) = place
            .ok_or_else(|| self.copied.unusable("after: no place in it".to_owned(), "begin without it"))?;
        let mut page = match &self.open {
            Open::Memod(db) => {
                let page = memod::page(db, table > 0, row).map_err(|error| self.copied.store(error))?;
                let next = page.next.or_else(|| (table == 0).then(|| "1:0".to_owned()));
                DatabaseResult { next, ..page }
            }
            Open::Tables(conn, tables) => match tables.get(table) {
                Some(of) => self.rows(conn, of, row).map(|(mut page, last)| {
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

    /// Returns a page of one table, and its last row unless it is the table's last page.
    fn rows(
        &self,
        conn: &Connection,
        table: &Table,
        after: i64,
    ) -> Result<(DatabaseResult, Option<i64>), ForeignError> {
        let mut page = DatabaseResult::default();
        let mut read = || -> rusqlite::Result<Option<i64>> {
            let Some(select) = row::select(conn, table)? else { return Ok(None) };
            let mut statement = conn.prepare(&select)?;
            let mut rows = statement.query([after])?;
            let (mut n_rows, mut n_bytes) = (0, 0);
            while let Some(row) = rows.next()? {
                let fields = Fields::new(row);
                let number: i64 = row.get(0)?;
                n_rows += 1;
                match (table.read)(&fields) {
                    Ok(Read::Memory(draft)) => {
                        n_bytes += draft.content.len();
                        page.drafts.push(Draft { line: number.unsigned_abs(), ..*draft });
                    }
                    Ok(Read::Link(link)) => {
                        page.links.push(LinkDraft { line: number.unsigned_abs(), ..link });
                    }
                    Err(why) => page.unreadable.push(Imported {
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
        let last = read().map_err(|error| self.copied.sqlite(error))?;
        Ok((page, last))
    }
}
