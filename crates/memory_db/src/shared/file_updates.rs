//! Applies new, changed and removed memory files of a worktree to the database.

use std::collections::BTreeSet;

use memod_database::DatabaseError;
use serde_json::Map;

use crate::access::row_access::row_handle;
use crate::files::file_link_rows::FileLinkRows;
use crate::files::file_rows::{FileRows, OWN_AND_TWO_SIDES};
use crate::files::written_files::WrittenFiles;
use crate::memory_tables::record_rows::RecordRows;
use crate::memory_tables::version_rows::VersionRows;
use crate::records::file_version::{
    FileVersion, MemoriesInFile, MemoryFileSnapshot, add_remarks, version_id,
};
use crate::records::memory_event::MemoryEvent;
use crate::records::memory_record::{FileSide, MemoryRecord, with_local_fields};
use crate::shared::conflict_rows::ConflictRows;
use crate::shared::shared_rows::SharedRows;

/// Why a file shows no memory: the team has the memory with its id.
const TEAM_HAS_IT: &str =
    "the team has this memory: remove the file, or run `memo share remove` on the memory first";

/// The author of a change to a file that git does not know.
const UNKNOWN_EDITOR: &str = "whoever edited the file";

row_handle! {
    /// Applies new, changed and removed files of the worktree.
    pub struct FileUpdates {
        records: RecordRows,
        versions: VersionRows,
        files: FileRows,
        written_files: WrittenFiles,
        conflicts: ConflictRows,
        shared: SharedRows,
        file_links: FileLinkRows,
    }
}

/// A worktree's former version of a memory, and the remarks of its file; `None` if the remarks are unknown.
type FormerVersion = (MemoryRecord, Option<String>);

impl FileUpdates<'_> {
    /// Applies the changed files `changed` of the worktree, and the removal of the files with the names `gone`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn apply_files(
        &self,
        changed: &[MemoryFileSnapshot],
        gone: &BTreeSet<String>,
    ) -> Result<(), DatabaseError> {
        self.apply_file_states(changed, gone)?;
        self.file_links().update_file_links()?;
        self.files().delete_unshown_rows()
    }

    /// Applies files like [`Self::apply_files`], but does not update links.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn apply_files_without_links(
        &self,
        changed: &[MemoryFileSnapshot],
        gone: &BTreeSet<String>,
    ) -> Result<(), DatabaseError> {
        self.apply_file_states(changed, gone)?;
        self.files().delete_unshown_rows()
    }

    /// Stores the versions in changed files, and records which rows each file shows.
    fn apply_file_states(
        &self,
        changed: &[MemoryFileSnapshot],
        gone: &BTreeSet<String>,
    ) -> Result<(), DatabaseError> {
        let mut touched = Vec::new();
        for name in gone {
            self.written_files().forget_written_file(name, None)?;
            self.conflicts().record_their_side_of_gone_file(name.trim_end_matches(".md"))?;
            touched.extend(self.files().delete_rows_of_file(name)?);
        }
        for file in changed {
            self.written_files().forget_written_file(&file.name, Some(&file.hash))?;
            let before = self.find_former_version(file)?;
            touched.extend(self.files().delete_rows_of_file(&file.name)?);
            match &file.memories {
                MemoriesInFile::NoneBecause(why) => {
                    self.files().put_file_row(&file.name, FileSide::Whole, None, &file.hash, Some(why))?;
                }
                MemoriesInFile::Versions(versions) => {
                    if let Some(why) = self.hiding_reason(versions)? {
                        self.files().put_file_row(
                            &file.name,
                            FileSide::Whole,
                            None,
                            &file.hash,
                            Some(why),
                        )?;
                        continue;
                    }
                    for version in versions {
                        let row = self.store_version(version, before.as_ref(), file)?;
                        self.files().put_file_row(&file.name, version.side, Some(row), &file.hash, None)?;
                        touched.push(version.record.id.clone());
                    }
                }
            }
        }
        touched.sort();
        touched.dedup();
        touched.iter().try_for_each(|id| self.shared().reconcile_shared_memory(id))
    }

    /// Returns why a file with readable versions shows no memory; `None` if it shows its memories.
    fn hiding_reason(&self, versions: &[FileVersion]) -> Result<Option<&'static str>, DatabaseError> {
        let Some(first) = versions.first() else { return Ok(None) };
        Ok(match self.versions().main_row(&first.record.id)? {
            Some(main) if main.is_team_memory => Some(TEAM_HAS_IT),
            Some(main) if main.is_private() && versions.len() > 1 => Some(OWN_AND_TWO_SIDES),
            _ => None,
        })
    }

    /// Returns the worktree's former version of a file's memory, with the remarks; `None` if there was none.
    fn find_former_version(&self, file: &MemoryFileSnapshot) -> Result<Option<FormerVersion>, DatabaseError> {
        let MemoriesInFile::Versions(versions) = &file.memories else { return Ok(None) };
        let Some(id) = versions.first().map(|version| &*version.record.id) else { return Ok(None) };
        let row_id = self.versions().worktree_version_id(id)?;
        let Some(record) = self.records().find_memory(id)? else { return Ok(None) };
        Ok(Some((record, self.versions().remarks_at(row_id.as_deref().unwrap_or(id))?)))
    }

    /// Stores a version of a file, unless a row has this version already; returns the number of the row. `before` is the worktree's
    /// former version.
    pub(crate) fn store_version(
        &self,
        version: &FileVersion,
        before: Option<&FormerVersion>,
        file: &MemoryFileSnapshot,
    ) -> Result<i64, DatabaseError> {
        let FileVersion { side, hash, record, .. } = version;
        // The clock of the machine that wrote the file may have been ahead, so times in the future become now.
        let (created, updated) =
            (record.created.min(self.access.now_ms()), record.updated.min(self.access.now_ms()));
        let record = &MemoryRecord { created, updated, ..record.clone() };
        let Some(main) = self.versions().main_row(&record.id)? else {
            self.versions().put_version_row(
                &record.id,
                record,
                version,
                Some(&self.file_event("add", &record.author)),
            )?;
            return self.versions().find_row_number(&record.id);
        };
        // The file names the author who added the memory, not the one who changed it.
        let event = file.event.clone().unwrap_or_else(|| self.file_event("update", UNKNOWN_EDITOR));
        if main.is_private() {
            return self.put_beside_own_memory(record, version, event);
        }
        if main.version.as_ref() == Some(hash) && *side != FileSide::Theirs {
            return Ok(main.row);
        }
        let main_row = (self.records().record_at(&record.id)?, self.versions().remarks_at(&record.id)?);
        let known = &main_row.0;
        let (seen, remarks) = before.unwrap_or(&main_row);
        let is_alone = *side != FileSide::Theirs && !self.files().is_shown_elsewhere(main.row)?;
        let at = if is_alone {
            record.id.clone()
        } else {
            version_id(&record.id, self.access.current_worktree()?, *side)
        };
        let mut new = MemoryRecord {
            source: known.source.clone(),
            updated: record.updated.max(known.updated + 1),
            last_access: known.last_access,
            access_count: known.access_count,
            archived_at: known.archived_at.filter(|_| is_alone),
            archived_why: known.archived_why.clone().filter(|_| is_alone),
            ..record.clone()
        };
        // For the comparison, fields that a file does not store are those of the former version.
        let said = MemoryRecord {
            archived_at: seen.archived_at,
            archived_why: seen.archived_why.clone(),
            shared: seen.shared,
            is_unconfirmed: seen.is_unconfirmed,
            side: seen.side,
            ..new.clone()
        };
        let mut fields = self.access.diff_records(seen, &said);
        add_remarks(&mut fields, remarks.clone(), Some(version.remarks.clone()));
        let is_noted = !fields.is_empty() && *side != FileSide::Theirs;
        if *side == FileSide::Whole && !fields.is_empty() {
            new.updated = new.updated.max(edit_time(record, known, file, self.access.now_ms()));
        }
        let event = MemoryEvent { fields, ..event };
        self.versions().put_version_row(&at, &new, version, is_noted.then_some(&event))?;
        self.versions().find_row_number(&at)
    }

    /// Returns an event that a file of the worktree causes, without fields.
    fn file_event(&self, action: &str, author: &str) -> MemoryEvent {
        MemoryEvent { author: author.to_owned(), ..MemoryEvent::new_by_file(self.access.now_ms(), action) }
    }

    /// Stores a file's version beside the private memory with the same id; returns the number of its row. If the file had a
    /// different version before, the history records `change`. The end of the transaction decides which of the two is shown.
    pub(crate) fn put_beside_own_memory(
        &self,
        record: &MemoryRecord,
        version: &FileVersion,
        change: MemoryEvent,
    ) -> Result<i64, DatabaseError> {
        let row_id = version_id(&record.id, self.access.current_worktree()?, FileSide::Whole);
        // The history records the difference to an earlier version of the file.
        let mut fields = Map::new();
        if let Some(known) = self.records().find_record_at(&row_id)? {
            fields = self.access.diff_records(&known, &with_local_fields(&known, record));
            add_remarks(&mut fields, self.versions().remarks_at(&row_id)?, Some(version.remarks.clone()));
        }
        let event = (!fields.is_empty()).then_some(MemoryEvent { fields, ..change });
        self.versions().put_version_row(&row_id, record, version, event.as_ref())?;
        self.versions().find_row_number(&row_id)
    }
}

/// Returns the time of the last change of a file's memory, unix ms: the time in the file, or, if an editor has left that line
/// unchanged, the time when the text was committed, or first read before a commit.
fn edit_time(record: &MemoryRecord, known: &MemoryRecord, file: &MemoryFileSnapshot, now_ms: i64) -> i64 {
    match record.updated > known.updated {
        true => record.updated,
        false => file.edited_ms.unwrap_or_default().min(now_ms),
    }
}
