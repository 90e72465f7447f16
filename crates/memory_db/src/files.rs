//! Keeps the rows of shared memories equal to their files.
//!
//! The file in a worktree is the truth. The main row of a memory holds what most recently came, with history, links and
//! recalls. A worktree whose file says something else has a row of its own for that, so that words and vectors find it there
//! and nowhere else. No file changes the main row of a memory that is this user's alone: see `own_beside_files`.

mod file_links;
mod gone_worktrees;
mod own_beside_files;
mod own_in_archive;
mod pending;
mod pointers;
mod remarks;
mod taken_versions;
mod taking_out;
mod written_files;

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use serde_json::{Map, Value};

pub(super) use self::gone_worktrees::KEY as GONE_WORKTREES;
pub(super) use self::own_beside_files::said_of;
pub use self::pending::PendingFile;
pub use self::remarks::SaidByFile;
use self::remarks::add_remarks;
pub(super) use self::written_files::{FilePlace, KnownFile};
use memod_proto::memory::LinkKind;

use super::shared_with::Sharing;
use super::{Derived, Forms, MemoryEvent, Record, Rows, Side};
use memod_database::DatabaseError;

/// Why a file shows no memory.
const TEAM_HAS_IT: &str = "the team has this memory: remove the file, or `memo unshare` the memory first";
/// Why it shows none: which of three texts is meant, only a person can say.
const OWN_AND_TWO_SIDES: &str = "in conflict in git, while a memory of yours alone has its id: end the merge first, with git or an editor";
/// Why a memory is archived that no worktree has any more.
const GONE: &str = "file";
/// The source of changes that come from files.
pub const FROM_FILE: &str = "repo";
/// Who has changed a file, where git does not know.
const WHOEVER: &str = "whoever edited the file";

/// Hash of a file.
pub(super) type Hash = [u8; 32];

/// What one side of a file says.
#[derive(Clone, Debug)]
pub struct FileVersion {
    /// Whole, or which side of a conflict.
    pub side: Side,
    /// blake3 of the file as memod writes it.
    pub hash: Hash,
    /// The memory; what the file does not say is of no account.
    pub record: Record,
    /// Its links.
    pub links: Vec<(LinkKind, String)>,
    /// Comments, and keys that this version does not know, as lines.
    pub remarks: String,
}

/// What a file shows.
#[derive(Clone, Debug)]
pub enum ShownBy {
    /// One memory, or the two sides of a conflict.
    Versions(Vec<FileVersion>),
    /// None, and why.
    Nothing(String),
}

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct FileState {
    /// Its name.
    pub name: String,
    /// blake3 of its text with LF.
    pub hash: Hash,
    /// What it shows.
    pub shown: ShownBy,
    /// How a change of a memory that is known is noted; `None` where nothing is known of who made it.
    pub event: Option<MemoryEvent>,
    /// When it was committed as it is, or seen not to be, unix ms; `None` where that is not known.
    pub edited: Option<i64>,
}

/// A stored row about a file of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Name of the file.
    pub name: String,
    /// Whole, or which side of a conflict.
    pub side: Side,
    /// Id of the memory that it shows.
    pub id: Option<String>,
    /// Hash of the file.
    pub hash: Hash,
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
    /// Its top, when its files were last looked at.
    pub root: Option<String>,
    /// Time at which its git dir was made, ns since the epoch.
    pub made_ns: Option<i64>,
}

/// What a worktree had of a memory, and the remarks of that; `None` if they are not known.
type Seen = (Record, Option<String>);

/// The main row of a memory.
pub(super) struct Main {
    pub(super) row: i64,
    pub(super) is_shared: bool,
    /// Whether this user has taken it out of the files, or out of the team.
    pub(super) is_unshared: bool,
    pub(super) is_team: bool,
    version: Option<Hash>,
    pub(super) is_archived: bool,
}

impl Main {
    /// Returns whether it is this user's alone.
    pub(super) fn is_own(&self) -> bool {
        !self.is_shared && !self.is_team
    }
}

impl Rows<'_> {
    /// Applies what was read of the worktree's files: some that are new or changed, and names that are gone.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn take_files(&self, changed: &[FileState], gone: &BTreeSet<String>) -> Result<(), DatabaseError> {
        self.point_to_files(changed, gone)?;
        self.link_files()?;
        self.drop_unshown()
    }

    /// Like [`Self::take_files`], and links nothing.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn take_files_unlinked(
        &self,
        changed: &[FileState],
        gone: &BTreeSet<String>,
    ) -> Result<(), DatabaseError> {
        self.point_to_files(changed, gone)?;
        self.drop_unshown()
    }

    /// Takes what was read into the rows, and has the files show these.
    fn point_to_files(&self, changed: &[FileState], gone: &BTreeSet<String>) -> Result<(), DatabaseError> {
        let mut touched = Vec::new();
        for name in gone {
            self.forget_written(name, None)?;
            self.note_conflict_of_gone(name.trim_end_matches(".md"))?;
            touched.extend(self.unpoint(name)?);
        }
        for file in changed {
            self.forget_written(&file.name, Some(&file.hash))?;
            let before = self.shown_before(file)?;
            touched.extend(self.unpoint(&file.name)?);
            match &file.shown {
                ShownBy::Nothing(why) => self.point(&file.name, Side::Whole, None, &file.hash, Some(why))?,
                ShownBy::Versions(versions) => {
                    if let Some(why) = self.why_hidden(versions)? {
                        self.point(&file.name, Side::Whole, None, &file.hash, Some(why))?;
                        continue;
                    }
                    for version in versions {
                        let row = self.take_version(version, before.as_ref(), file)?;
                        self.point(&file.name, version.side, Some(row), &file.hash, None)?;
                        touched.push(version.record.id.clone());
                    }
                }
            }
        }
        touched.sort();
        touched.dedup();
        touched.iter().try_for_each(|id| self.settle(id))
    }

    /// Returns why a file shows nothing though it can be read; `None` if it shows what it says.
    fn why_hidden(&self, versions: &[FileVersion]) -> Result<Option<&'static str>, DatabaseError> {
        let Some(first) = versions.first() else { return Ok(None) };
        Ok(match self.main(&first.record.id)? {
            Some(main) if main.is_team => Some(TEAM_HAS_IT),
            Some(main) if main.is_own() && versions.len() > 1 => Some(OWN_AND_TWO_SIDES),
            _ => None,
        })
    }

    /// Returns what the worktree had of the memory of a file, with its remarks.
    fn shown_before(&self, file: &FileState) -> Result<Option<Seen>, DatabaseError> {
        let ShownBy::Versions(versions) = &file.shown else { return Ok(None) };
        let Some(id) = versions.first().map(|version| &*version.record.id) else { return Ok(None) };
        let at = self.own_version(id)?;
        let seen = |record| Ok((record, self.remarks_at(at.as_deref().unwrap_or(id))?));
        self.get(id)?.map(seen).transpose()
    }

    pub(super) fn derived(&self, record: &Record) -> Derived {
        (self.forms().derive)(record)
    }

    pub(super) fn differences(&self, before: &Record, after: &Record) -> Map<String, Value> {
        (self.forms().differences)(before, after)
    }

    fn forms(&self) -> Forms {
        self.forms.expect("a store that has files was given the forms")
    }

    /// Records that the worktree has written a memory to its file, or confirmed what is in it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_written(
        &self,
        id: &str,
        name: &str,
        version: &FileVersion,
        is_trusted: bool,
    ) -> Result<(), DatabaseError> {
        let hash = &version.hash;
        let at = self.own_version(id)?.unwrap_or_else(|| id.to_owned());
        self.set_version(&at, version)?;
        self.run(|conn| {
            let sql = "DELETE FROM memory_file WHERE worktree = memod_worktree() AND name = ?1";
            conn.prepare_cached(sql)?.execute([name]).map(drop)
        })?;
        self.point(name, Side::Whole, Some(self.row_of(&at)?), hash, None)?;
        if is_trusted {
            self.trust_version(id, hash)?;
        }
        Ok(())
    }

    /// Makes the row of this worktree's version, or the main row, say which file it has.
    pub(super) fn set_version(&self, at: &str, version: &FileVersion) -> Result<(), DatabaseError> {
        let FileVersion { hash, links, remarks, .. } = version;
        let json = (!links.is_empty()).then(|| serde_json::json!(links).to_string());
        self.run(|conn| {
            let sql = "UPDATE memory SET version = ?2, file_links = ?3, remarks = ?4 WHERE id = ?1";
            conn.prepare_cached(sql)?.execute(params![at, hash, json, remarks]).map(drop)
        })
    }

    /// Records that this user vouches for a version.
    pub(super) fn trust_version(&self, id: &str, hash: &Hash) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "INSERT OR IGNORE INTO trusted_version SELECT row, ?2 FROM memory WHERE id = ?1",
            )?
            .execute(params![id, hash])
            .map(drop)
        })
    }

    /// Records that this user vouches for what the worktree has of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn trust(&self, id: &str) -> Result<(), DatabaseError> {
        let at = self.own_version(id)?.unwrap_or_else(|| id.to_owned());
        self.run(|conn| {
            conn.prepare_cached("UPDATE memory SET version = coalesce(version, zeroblob(32)) WHERE id = ?1")?
                .execute([&at])?;
            conn.prepare_cached(
                "INSERT OR IGNORE INTO trusted_version
                 SELECT coalesce(main, row), version FROM memory WHERE id = ?1",
            )?
            .execute([&at])
            .map(drop)
        })
    }

    /// Says with whom a memory is shared.
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
            self.end_disputes(id)?;
        }
        self.read_hidden_again(id)
    }

    /// Makes a memory shared, with a file of the worktree that is going to be written.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_file(&self, id: &str, name: &str) -> Result<(), DatabaseError> {
        self.set_shared(id, Sharing::Repo)?;
        self.point(name, Side::Whole, Some(self.row_of(id)?), &[0; 32], None)
    }

    /// Returns the hash of the file that the main row of a memory has, as memod writes it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn version(&self, id: &str) -> Result<Option<[u8; 32]>, DatabaseError> {
        Ok(self.main(id)?.and_then(|main| main.version))
    }

    /// Returns the last change of any memory, for [`Self::changed_since`].
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_change_of_all(&self) -> Result<i64, DatabaseError> {
        self.run(|conn| conn.query_row("SELECT coalesce(max(row), 0) FROM history", [], |row| row.get(0)))
    }

    /// Returns the ids of memories that were changed in another way than by recalls.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn changed_since(&self, last: i64) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT m.id FROM history h JOIN memory m ON m.row = h.memory
                 WHERE h.row > ?1 AND h.action != 'recall' ORDER BY m.row",
            )?
            .query_map([last], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns whether no file of the caller's worktree was ever seen.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_without_worktree(&self) -> Result<bool, DatabaseError> {
        Ok(self.worktree()? < 1)
    }

    /// Returns whether a memory is shared, here or in another worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_shared(&self, id: &str) -> Result<bool, DatabaseError> {
        Ok(self.main(id)?.is_some_and(|main| main.is_shared))
    }

    /// Notes a change in the history of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_change(&self, id: &str, event: &MemoryEvent) -> Result<(), DatabaseError> {
        let row = self.row_of(id)?;
        self.run(|conn| super::write::note(conn, row, event))
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

    /// Returns the worktree of which this reads; 0 for the whole repository.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn worktree(&self) -> Result<i64, DatabaseError> {
        self.run(|conn| conn.prepare_cached("SELECT memod_worktree()")?.query_row([], |row| row.get(0)))
    }

    pub(super) fn main(&self, id: &str) -> Result<Option<Main>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT row, shared, version, archived_at IS NOT NULL FROM memory WHERE id = ?1",
            )?
            .query_row([id], |row| {
                let (shared, version, is_archived): (i64, _, _) = (row.get(1)?, row.get(2)?, row.get(3)?);
                let is = |sharing| shared == sharing as i64;
                let (is_shared, is_unshared, is_team) =
                    (is(Sharing::Repo), is(Sharing::Never), is(Sharing::Team));
                Ok(Main { row: row.get(0)?, is_shared, is_unshared, is_team, version, is_archived })
            })
            .optional()
        })
    }

    pub(super) fn row_of(&self, at: &str) -> Result<i64, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT row FROM memory WHERE id = ?1")?.query_row([at], |row| row.get(0))
        })
    }
}

/// Returns the id of the row for what one worktree has of a memory.
fn version_id(id: &str, worktree: i64, side: Side) -> String {
    format!("{id}#{worktree}{}", if side == Side::Theirs { "t" } else { "" })
}
