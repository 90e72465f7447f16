//! Keeps the rows of shared memories equal to their files.
//!
//! The file in a worktree is the truth. The main row of a memory holds the latest version, with history, links and recalls. A
//! worktree whose file differs has a version row of its own, so that words and vectors find it there and nowhere else. No file
//! changes the main row of a memory that is this user's alone: see `own_memories`.

mod archived_own_memories;
mod file_links;
mod file_remarks;
mod file_rows;
mod gone_worktrees;
mod own_memories;
mod pending_files;
mod store_versions;
mod unshare_rows;
mod written_files;

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use serde_json::{Map, Value};

pub use self::file_remarks::FileMemory;
use self::file_remarks::add_remarks;
pub(super) use self::gone_worktrees::KEY as GONE_WORKTREES;
pub(super) use self::own_memories::with_local_fields;
pub use self::pending_files::PendingFile;
pub(super) use self::written_files::{FilePlace, KnownFile};
use memod_database::DatabaseError;
use memod_proto::memory::LinkKind;

use super::sharing::Sharing;
use super::{DerivedData, FileSide, MemoryEvent, MemoryRecord, MemoryRows, RecordFunctions};

/// Why a file shows no memory.
const TEAM_HAS_IT: &str = "the team has this memory: remove the file, or `memo unshare` the memory first";
/// Why a file shows none: only a person can choose between three texts.
const OWN_AND_TWO_SIDES: &str = "in conflict in git, while a memory of yours alone has its id: end the merge first, with git or an editor";
/// The reason in the archive for a memory that no worktree has any more.
const GONE: &str = "file";
/// The source of changes that come from files.
pub const FROM_FILE: &str = "repo";
/// The author of a change to a file that git does not know.
const UNKNOWN_EDITOR: &str = "whoever edited the file";

/// Hash of a file.
pub(super) type FileHash = [u8; 32];

/// The version of a memory in a file, or in one side of it.
#[derive(Clone, Debug)]
pub struct FileVersion {
    /// Whole, or which side of a conflict.
    pub side: FileSide,
    /// blake3 of the file as memod writes it.
    pub hash: FileHash,
    /// The memory; fields that the file does not store are ignored.
    pub record: MemoryRecord,
    /// Its links.
    pub links: Vec<(LinkKind, String)>,
    /// Comments, and keys that this version does not know, as lines.
    pub remarks: String,
}

/// The memories that a file shows.
#[derive(Clone, Debug)]
pub enum ShownMemories {
    /// One memory, or the two sides of a conflict.
    Versions(Vec<FileVersion>),
    /// None, for this reason.
    Nothing(String),
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct FileState {
    /// Its name.
    pub name: String,
    /// blake3 of its text with LF.
    pub hash: FileHash,
    /// The memories that it shows.
    pub shown: ShownMemories,
    /// The event of a change to a known memory; `None` where its author is unknown.
    pub event: Option<MemoryEvent>,
    /// When its present text was committed, or first seen uncommitted, unix ms; `None` where that is unknown.
    pub edited: Option<i64>,
}

/// A stored row about a file of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Name of the file.
    pub name: String,
    /// Whole, or which side of a conflict.
    pub side: FileSide,
    /// Id of the memory that it shows.
    pub id: Option<String>,
    /// Hash of the file.
    pub hash: FileHash,
    /// Why it shows none.
    pub why: Option<String>,
    /// Whether a memory of this user alone has that id.
    pub is_beside_own: bool,
}

/// A file named by the id of a memory that shows none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableFile {
    /// Its name.
    pub name: String,
    /// Why it shows none.
    pub why: String,
    /// The top of its worktree, where that is known: of linked ones.
    pub root: Option<String>,
}

/// A worktree whose files of memories are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeRow {
    /// Its number, which is never used again.
    pub number: i64,
    /// Its git dir, from the common dir; empty for the main worktree.
    pub git_dir: String,
    /// Its top, at the last look at its files.
    pub root: Option<String>,
    /// Creation time of its git dir, ns since the epoch.
    pub made_ns: Option<i64>,
}

/// A worktree's former version of a memory, and its remarks; `None` if they are unknown.
type SeenRecord = (MemoryRecord, Option<String>);

/// The main row of a memory.
pub(super) struct MainRow {
    pub(super) row: i64,
    pub(super) is_shared: bool,
    /// Whether this user has taken it out of the files, or out of the team.
    pub(super) is_unshared: bool,
    pub(super) is_team: bool,
    version: Option<FileHash>,
    pub(super) is_archived: bool,
}

impl MainRow {
    /// Returns whether the memory is this user's alone.
    pub(super) fn is_own(&self) -> bool {
        !self.is_shared && !self.is_team
    }

    /// Returns whether the memory is this user's alone, and archived.
    fn is_archived_own(&self) -> bool {
        self.is_own() && self.is_archived
    }
}

impl MemoryRows<'_> {
    /// Applies new and changed files of the worktree, and the names of removed ones.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn apply_files(&self, changed: &[FileState], gone: &BTreeSet<String>) -> Result<(), DatabaseError> {
        self.apply_file_states(changed, gone)?;
        self.update_file_links()?;
        self.delete_unshown_rows()
    }

    /// Like [`Self::apply_files`], but leaves the links alone.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn apply_files_unlinked(
        &self,
        changed: &[FileState],
        gone: &BTreeSet<String>,
    ) -> Result<(), DatabaseError> {
        self.apply_file_states(changed, gone)?;
        self.delete_unshown_rows()
    }

    /// Stores the versions of changed files, and points the files at their rows.
    fn apply_file_states(&self, changed: &[FileState], gone: &BTreeSet<String>) -> Result<(), DatabaseError> {
        let mut touched = Vec::new();
        for name in gone {
            self.forget_written_file(name, None)?;
            self.note_conflict_of_gone(name.trim_end_matches(".md"))?;
            touched.extend(self.delete_file_row(name)?);
        }
        for file in changed {
            self.forget_written_file(&file.name, Some(&file.hash))?;
            let before = self.find_former_version(file)?;
            touched.extend(self.delete_file_row(&file.name)?);
            match &file.shown {
                ShownMemories::Nothing(why) => {
                    self.put_file_row(&file.name, FileSide::Whole, None, &file.hash, Some(why))?;
                }
                ShownMemories::Versions(versions) => {
                    if let Some(why) = self.hiding_reason(versions)? {
                        self.put_file_row(&file.name, FileSide::Whole, None, &file.hash, Some(why))?;
                        continue;
                    }
                    for version in versions {
                        let row = self.take_version(version, before.as_ref(), file)?;
                        self.put_file_row(&file.name, version.side, Some(row), &file.hash, None)?;
                        touched.push(version.record.id.clone());
                    }
                }
            }
        }
        touched.sort();
        touched.dedup();
        touched.iter().try_for_each(|id| self.settle_shared(id))
    }

    /// Returns why a readable file shows no memory; `None` if it shows its memories.
    fn hiding_reason(&self, versions: &[FileVersion]) -> Result<Option<&'static str>, DatabaseError> {
        let Some(first) = versions.first() else { return Ok(None) };
        Ok(match self.main_row(&first.record.id)? {
            Some(main) if main.is_team => Some(TEAM_HAS_IT),
            Some(main) if main.is_own() && versions.len() > 1 => Some(OWN_AND_TWO_SIDES),
            _ => None,
        })
    }

    /// Returns the worktree's former version of a file's memory, with its remarks.
    fn find_former_version(&self, file: &FileState) -> Result<Option<SeenRecord>, DatabaseError> {
        let ShownMemories::Versions(versions) = &file.shown else { return Ok(None) };
        let Some(id) = versions.first().map(|version| &*version.record.id) else { return Ok(None) };
        let row_id = self.own_version_id(id)?;
        let Some(record) = self.find_memory(id)? else { return Ok(None) };
        Ok(Some((record, self.remarks_at(row_id.as_deref().unwrap_or(id))?)))
    }

    pub(super) fn derive_data(&self, record: &MemoryRecord) -> DerivedData {
        (self.record_functions().derive)(record)
    }

    pub(super) fn diff_records(&self, before: &MemoryRecord, after: &MemoryRecord) -> Map<String, Value> {
        (self.record_functions().differences)(before, after)
    }

    fn record_functions(&self) -> RecordFunctions {
        self.forms.expect("a store that has files was given the forms")
    }

    /// Records that a memory was written to its file in the worktree, or that its file was confirmed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_file_written(
        &self,
        id: &str,
        name: &str,
        version: &FileVersion,
        is_trusted: bool,
    ) -> Result<(), DatabaseError> {
        let hash = &version.hash;
        let row_id = self.own_version_id(id)?.unwrap_or_else(|| id.to_owned());
        self.set_version(&row_id, version)?;
        self.run(|conn| {
            let sql = "DELETE FROM memory_file WHERE worktree = memod_worktree() AND name = ?1";
            conn.prepare_cached(sql)?.execute([name]).map(drop)
        })?;
        self.put_file_row(name, FileSide::Whole, Some(self.row_of(&row_id)?), hash, None)?;
        if is_trusted {
            self.trust_version(id, hash)?;
        }
        Ok(())
    }

    /// Stores the columns about the file in a version row or main row.
    pub(super) fn set_version(&self, row_id: &str, version: &FileVersion) -> Result<(), DatabaseError> {
        let FileVersion { hash, links, remarks, .. } = version;
        let json = (!links.is_empty()).then(|| serde_json::json!(links).to_string());
        self.run(|conn| {
            let sql = "UPDATE memory SET version = ?2, file_links = ?3, remarks = ?4 WHERE id = ?1";
            conn.prepare_cached(sql)?.execute(params![row_id, hash, json, remarks]).map(drop)
        })
    }

    /// Records that this user trusts a version.
    pub(super) fn trust_version(&self, id: &str, hash: &FileHash) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "INSERT OR IGNORE INTO trusted_version SELECT row, ?2 FROM memory WHERE id = ?1",
            )?
            .execute(params![id, hash])
            .map(drop)
        })
    }

    /// Records that this user trusts the worktree's version of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn trust_memory(&self, id: &str) -> Result<(), DatabaseError> {
        let row_id = self.own_version_id(id)?.unwrap_or_else(|| id.to_owned());
        self.run(|conn| {
            conn.prepare_cached("UPDATE memory SET version = coalesce(version, zeroblob(32)) WHERE id = ?1")?
                .execute([&row_id])?;
            conn.prepare_cached(
                "INSERT OR IGNORE INTO trusted_version
                 SELECT coalesce(main, row), version FROM memory WHERE id = ?1",
            )?
            .execute([&row_id])
            .map(drop)
        })
    }

    /// Sets with whom a memory is shared.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) fn set_shared(&self, id: &str, shared: Sharing) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("UPDATE memory SET shared = ?2 WHERE id = ?1")?
                .execute(params![id, shared as i64])
                .map(drop)
        })?;
        if shared == Sharing::Repo {
            self.end_file_conflicts(id)?;
        }
        self.reread_hidden_file(id)
    }

    /// Makes a memory shared, with a file of the worktree that is about to be written.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn share_with_file(&self, id: &str, name: &str) -> Result<(), DatabaseError> {
        self.set_shared(id, Sharing::Repo)?;
        self.put_file_row(name, FileSide::Whole, Some(self.row_of(id)?), &[0; 32], None)
    }

    /// Returns the hash of the file of a memory's main row, as memod writes it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn main_file_hash(&self, id: &str) -> Result<Option<[u8; 32]>, DatabaseError> {
        Ok(self.main_row(id)?.and_then(|main| main.version))
    }

    /// Returns the last change of any memory, for [`Self::list_changed_since`].
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_change_number(&self) -> Result<i64, DatabaseError> {
        self.run(|conn| conn.query_row("SELECT coalesce(max(row), 0) FROM history", [], |row| row.get(0)))
    }

    /// Returns the ids of memories that were changed since, other than by recalls.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_changed_since(&self, last: i64) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT m.id FROM history h JOIN memory m ON m.row = h.memory
                 WHERE h.row > ?1 AND h.action != 'recall' ORDER BY m.row",
            )?
            .query_map([last], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns whether the request's worktree is unknown: none of its files was ever read.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_without_worktree(&self) -> Result<bool, DatabaseError> {
        Ok(self.current_worktree()? < 1)
    }

    /// Returns whether a memory is shared, here or in another worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_shared(&self, id: &str) -> Result<bool, DatabaseError> {
        Ok(self.main_row(id)?.is_some_and(|main| main.is_shared))
    }

    /// Notes a change in the history of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_change(&self, id: &str, event: &MemoryEvent) -> Result<(), DatabaseError> {
        let row = self.row_of(id)?;
        self.run(|conn| super::write_rows::note_event(conn, row, event))
    }

    /// Returns whether this user has taken a memory out of the files, so that no rule shares it again.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_unshared(&self, id: &str) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT 1 FROM memory WHERE id = ?1 AND shared = ?2")?
                .exists(params![id, Sharing::Never as i64])
        })
    }

    /// Returns the number of the worktree that is read; 0 for the whole repository.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn current_worktree(&self) -> Result<i64, DatabaseError> {
        self.run(|conn| conn.prepare_cached("SELECT memod_worktree()")?.query_row([], |row| row.get(0)))
    }

    pub(super) fn main_row(&self, id: &str) -> Result<Option<MainRow>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT row, shared, version, archived_at IS NOT NULL FROM memory WHERE id = ?1",
            )?
            .query_row([id], |row| {
                let (shared, version, is_archived): (i64, _, _) = (row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(MainRow {
                    row: row.get(0)?,
                    is_shared: shared == Sharing::Repo as i64,
                    is_unshared: shared == Sharing::Never as i64,
                    is_team: shared == Sharing::Team as i64,
                    version,
                    is_archived,
                })
            })
            .optional()
        })
    }

    pub(super) fn row_of(&self, row_id: &str) -> Result<i64, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT row FROM memory WHERE id = ?1")?.query_row([row_id], |row| row.get(0))
        })
    }
}

/// Returns the id of the row for a worktree's version of a memory.
fn version_id(id: &str, worktree: i64, side: FileSide) -> String {
    format!("{id}#{worktree}{}", if side == FileSide::Theirs { "t" } else { "" })
}
