//! Reads the contents of another database.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use memod_database::{DatabaseError, corruption_error};

use crate::database::open_database::MemoryDb;
use crate::memory_tables::link_rows::MemoryLink;
use crate::merging::if_readable::none_if_unreadable;
use crate::merging::saved_sharing::SavedSharing;
use crate::records::file_version::FileColumns;
use crate::records::memory_event::MemoryEvent;
use crate::records::memory_record::MemoryRecord;
use crate::records::record_columns::{BASE_COLUMNS, IS_NO_VERSION_ROW, read_record};
use crate::records::sharing::Sharing;

/// A memory with its history and its links.
type SavedMemory = (MemoryRecord, Vec<MemoryEvent>, Vec<MemoryLink>);

/// The id of a deleted memory, the time of its last change, and the time of its deletion, both unix ms.
pub(crate) type DeletedMemory = (String, i64, i64);

/// The readable contents of a database.
#[derive(Default)]
pub(crate) struct DatabaseContents {
    /// The memories that could be read.
    pub(crate) memories: Vec<SavedMemory>,
    /// The memories that were deleted for good.
    pub(crate) deleted: Vec<DeletedMemory>,
    /// Ids of memories that are certainly private, if the sharing was read.
    pub(crate) private_ids: HashSet<String>,
    /// Ids of memories that this user has stopped sharing.
    pub(crate) unshared_ids: HashSet<String>,
    /// The memories that are shared through files, by id.
    pub(crate) file_columns: HashMap<String, FileColumns>,
    /// Whether all contents could be read.
    pub(crate) is_whole: bool,
    /// Names of the parts that could not be read, or not for all memories.
    unreadable_parts: BTreeSet<&'static str>,
}

impl DatabaseContents {
    /// Returns the ids of all memories that the database has or has deleted.
    pub(crate) fn all_ids(&self) -> impl Iterator<Item = &str> {
        let deleted = self.deleted.iter().map(|(id, ..)| &**id);
        self.memories.iter().map(|(record, ..)| &*record.id).chain(deleted)
    }

    /// Returns the contents of a completely unreadable file.
    pub(crate) fn new_unreadable() -> Self {
        Self { unreadable_parts: BTreeSet::from(["memories"]), ..Self::default() }
    }

    /// Describes the content that is lost unless a backup has it, as a part of a sentence; `None` if everything could be read.
    pub(crate) fn describe_loss(&self) -> Option<String> {
        if self.unreadable_parts.is_empty() {
            return None;
        }
        let unread: Vec<&str> = self.unreadable_parts.iter().copied().collect();
        Some(match self.memories.is_empty() {
            true => {
                "no part of the damaged file could be read: content newer than the backups is lost".to_owned()
            }
            false => format!(
                "not all of the damaged file could be read: content of {} newer than the backups may be lost",
                unread.join(", ")
            ),
        })
    }

    /// Prefixes the paths of anchors, which are relative to the directory `below` of the worktree, with this directory.
    pub(crate) fn prefix_anchor_paths(&mut self, below: &Path) {
        let dirs: Vec<_> = below.iter().map(|dir| dir.to_string_lossy()).collect();
        if dirs.is_empty() {
            return;
        }
        for anchor in self.memories.iter_mut().flat_map(|(record, ..)| &mut record.anchors) {
            anchor.path = format!("{}/{}", dirs.join("/"), anchor.path);
        }
    }

    /// Records which memories the team has, and which are private.
    pub(crate) fn set_sharing(&mut self, sharing: &SavedSharing) {
        for (record, ..) in &mut self.memories {
            record.team = sharing.is_team_memory(&record.id);
            if sharing.is_private(&record.id) {
                self.private_ids.insert(record.id.clone());
            }
        }
    }
}

impl MemoryDb {
    /// Returns the number of memories, including archived ones.
    pub(crate) fn n_memories(&self) -> Result<u64, DatabaseError> {
        self.run(|conn| {
            let sql = format!("SELECT count(*) FROM memory m WHERE {IS_NO_VERSION_ROW}");
            conn.query_row(&sql, [], |row| row.get(0))
        })
    }

    /// Returns every memory that can still be read, by scanning the rows forwards up to damage, and backwards. Leaves out damaged
    /// tags and anchors, and columns that an older schema does not have.
    ///
    /// # Errors
    /// When a read fails for a reason other than damage, so that more may be readable another time.
    pub(crate) fn read_contents(&self) -> Result<DatabaseContents, DatabaseError> {
        let mut found: Vec<MemoryRecord> = Vec::new();
        let (own_columns, _) = BASE_COLUMNS.split_once("(SELECT").unwrap_or_default();
        let (with_tags, _) = BASE_COLUMNS.rsplit_once("(SELECT").unwrap_or_default();
        let column_sets = [BASE_COLUMNS, &format!("{with_tags}'[]'"), &format!("{own_columns}'[]', '[]'")];
        let without_agent = column_sets.map(|columns| columns.replace("m.agent", "NULL"));
        let without_key = without_agent.clone().map(|columns| columns.replace("m.key", "NULL"));
        let older = [without_agent, without_key].concat();
        let (mut is_whole, mut unread) = (false, BTreeSet::from(["memories"]));
        'reading: for columns in column_sets.into_iter().chain(older.iter().map(String::as_str)) {
            for order in ["ASC", "DESC"] {
                let (records, is_all) = self.scan_rows(columns, order)?;
                let known: HashSet<_> = found.iter().map(|record| record.id.clone()).collect();
                found.extend(records.into_iter().filter(|record| !known.contains(&record.id)));
                if is_all {
                    is_whole = columns == BASE_COLUMNS;
                    unread.clear();
                    unread.extend(columns.contains("'[]'").then_some("tags and anchors"));
                    break 'reading;
                }
            }
        }
        let mut save = |record: MemoryRecord| {
            let history = none_if_unreadable(self.read(0, |rows| rows.history().list_history(&record.id)))?;
            let links = none_if_unreadable(self.read(0, |rows| rows.links().list_links(&record.id)))?;
            unread.extend(history.is_none().then_some("histories"));
            unread.extend(links.is_none().then_some("links"));
            Ok((record, history.unwrap_or_default(), links.unwrap_or_default()))
        };
        let deleted = none_if_unreadable(self.list_deleted())?;
        let taken_out = none_if_unreadable(self.list_unshared_ids())?.unwrap_or_default();
        let in_files = none_if_unreadable(self.list_file_columns())?.unwrap_or_default();
        let saved = found.into_iter().map(&mut save).collect::<Result<_, DatabaseError>>()?;
        unread.extend(deleted.is_none().then_some("removals"));
        is_whole &= unread.is_empty();
        Ok(DatabaseContents {
            memories: saved,
            deleted: deleted.unwrap_or_default(),
            private_ids: HashSet::new(),
            unshared_ids: taken_out,
            file_columns: in_files,
            is_whole,
            unreadable_parts: unread,
        })
    }

    /// Checks that every memory can be read.
    ///
    /// # Errors
    /// When a memory cannot be read.
    pub(crate) fn check_readable(&self) -> Result<(), DatabaseError> {
        match self.scan_rows(BASE_COLUMNS, "ASC")? {
            (_, true) => Ok(()),
            (records, _) => {
                let message = format!("not all memories can be read, only {}", records.len());
                Err(DatabaseError::from_sqlite(&self.path, corruption_error(message)))
            }
        }
    }

    /// Reads the memories in the order of their rows, up to the first row that cannot be reached. Returns the memories, and whether
    /// all could be read.
    ///
    /// # Errors
    /// When a read fails for a reason other than damage, so that more may be readable another time.
    fn scan_rows(&self, columns: &str, order: &str) -> Result<(Vec<MemoryRecord>, bool), DatabaseError> {
        let (mut records, mut is_all) = (Vec::new(), true);
        let ended = self.run(|conn| {
            let mut statement = conn.prepare(&format!(
                // Version rows are left out: they are read again from the files of the worktrees.
                "SELECT {columns} FROM memory m WHERE {IS_NO_VERSION_ROW} ORDER BY m.row {order}"
            ))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let record = read_record(row);
                is_all &= record.is_ok();
                records.extend(record.ok());
            }
            Ok(())
        });
        Ok((records, none_if_unreadable(ended)?.is_some() && is_all))
    }

    /// Returns the ids of memories that this user has stopped sharing.
    fn list_unshared_ids(&self) -> Result<HashSet<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare("SELECT id FROM memory WHERE shared = ?1 AND main IS NULL")?
                .query_map([Sharing::Never as i64], |row| row.get(0))?
                .collect()
        })
    }

    /// Returns the file columns of memories that are shared through files, by id.
    fn list_file_columns(&self) -> Result<HashMap<String, FileColumns>, DatabaseError> {
        self.run(|conn| {
            conn.prepare(
                "SELECT id, version, file_links, remarks FROM memory WHERE shared = ?1 AND main IS NULL",
            )?
            .query_map([Sharing::Repo as i64], |row| {
                Ok((
                    row.get(0)?,
                    FileColumns { version: row.get(1)?, file_links: row.get(2)?, remarks: row.get(3)? },
                ))
            })?
            .collect()
        })
    }

    /// Returns the memories that were deleted for good.
    pub(crate) fn list_deleted(&self) -> Result<Vec<DeletedMemory>, DatabaseError> {
        self.run(|conn| {
            conn.prepare("SELECT id, updated, at FROM deleted")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect()
        })
    }
}
