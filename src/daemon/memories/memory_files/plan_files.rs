//! Plans which files of shared memories a verb writes, and their texts.
//!
//! A file is written only if it still equals its row. Otherwise nothing is changed, and the client repeats the request, which
//! first reads the file.

use std::collections::HashSet;
use std::io;

use memod_base::paths::IoContext as _;
use memod_base::types::SourceKey;
use memod_engine::errors::busy_error;
use memod_memory::file::{self, MemoryFile};
use memod_memory_db::{FileRow, FileSide, FileVersion, JobError, MemoryRecord, MemoryRows, PendingFile};
use memod_proto::{RpcError, code};

use super::check_files::private_conflict_hint;
use super::file_conversion::{
    build_shared_file, not_shareable_error, read_remarks_file, to_shareable_version,
};
use super::place_files::file_access_error;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, unreadable_error};
use crate::daemon::memories::rules::worktree_place::read_root_and_creation_time;

/// The files of a worktree before a verb runs.
pub(in crate::daemon::memories) struct FilesBefore {
    /// Number of the last change in the history.
    pub(in crate::daemon::memories) last_change: i64,
    files: Vec<FileRow>,
    /// Names of files that an earlier change has not written yet.
    unwritten: HashSet<String>,
}

impl FilesBefore {
    pub(in crate::daemon::memories) fn read_rows(rows: &MemoryRows<'_>) -> JobResult<Self> {
        let unwritten =
            rows.written_files().list_pending_files()?.into_iter().map(|file| file.name).collect();
        Ok(Self {
            last_change: rows.history().last_change_number()?,
            files: rows.files().list_file_rows()?,
            unwritten,
        })
    }

    /// Updates the rows to the planned files, and returns the files to write.
    pub(in crate::daemon::memories) fn plan_changes(
        &self,
        rows: &MemoryRows<'_>,
        stamp: &ChangeStamp,
    ) -> JobResult<Vec<PendingFile>> {
        let mut ids = rows.history().list_changed_since(self.last_change)?;
        if ids.is_empty() && !rows.has_deleted() {
            return Ok(Vec::new());
        }
        for id in ids.clone() {
            // A file contains the links to shared memories only, so files that link to a newly shared one change too.
            let new = rows.sharing().is_shared_by_file(&id)?
                && !self.files.iter().any(|file| file.id.as_ref() == Some(&id));
            if new {
                ids.extend(
                    rows.links()
                        .list_links(&id)?
                        .into_iter()
                        .map(|link| link.from)
                        .filter(|from| *from != id),
                );
            }
        }
        let mut changes = Vec::new();
        for id in ids {
            if let Some(record) =
                rows.records().find_memory(&id)?.filter(|record| record.archived_at.is_none())
            {
                changes.extend(self.plan_change(rows, record, stamp)?);
            }
        }
        // Files without a row any more are removed. A conflict has two rows, so each name is handled once.
        let mut handled: HashSet<String> =
            rows.files().list_file_rows()?.into_iter().map(|row| row.name).collect();
        for file in &self.files {
            if !handled.insert(file.name.clone()) {
                continue;
            }
            self.read_unchanged_text(stamp, &file.name, Some(file.hash))?;
            changes.push(PendingFile { name: file.name.clone(), former: Some(file.hash), text: None });
        }
        rows.files().delete_unshown_rows()?;
        Ok(changes)
    }

    /// Plans the change of the file of one memory. Returns `None` if the memory is not shared, or its file stays the same.
    fn plan_change(
        &self,
        rows: &MemoryRows<'_>,
        mut record: MemoryRecord,
        stamp: &ChangeStamp,
    ) -> JobResult<Option<PendingFile>> {
        if !record.shared {
            if record.team
                || !stamp.share_rules.shares_record(&record)
                || rows.sharing().is_unshared(&record.id)?
            {
                return Ok(None);
            }
            record = share_as_file(rows, &record, stamp)?;
        }
        if record.side != FileSide::Whole {
            return Err(conflict_error(&record));
        }
        let name = file::file_name(&record.id);
        let known = self.files.iter().find(|file| file.name == name);
        let resolved = stamp.take_resolved(&record.id);
        if let Some(why) = known.and_then(|file| file.why.as_ref()).filter(|_| resolved.is_none()) {
            return Err(unreadable_error(&record.id, why));
        }
        let text = self.read_unchanged_text(stamp, &name, known.map(|file| file.hash))?;
        let is_resolved = resolved.is_some();
        let former = match (resolved, &text) {
            (Some(chosen), _) => chosen,
            (None, Some(text)) => parse_former(&record.id, text)?,
            (None, None) => read_remarks_file(rows, &record.id)?,
        };
        let new = build_shared_file(rows, &record, Some(&former))?;
        if !is_resolved && former.equals_except_updated(&new) {
            return Ok(None);
        }
        let former = text.as_deref().map(file::hash_file_text);
        let text = new.render();
        let version = to_new_file_version(&record.id, &new, &text)?;
        rows.sharing().set_file_written(&record.id, &name, &version, !record.is_unconfirmed)?;
        Ok(Some(PendingFile { name, former, text: Some(text) }))
    }

    /// Returns the present text of a file. Fails if the text differs from the row, or an earlier change is not written yet.
    fn read_unchanged_text(
        &self,
        stamp: &ChangeStamp,
        name: &str,
        expected: Option<[u8; 32]>,
    ) -> JobResult<Option<String>> {
        let path = stamp.layout.root.join(file::DIR).join(name);
        if self.unwritten.contains(name) {
            let message = format!(
                "{}: an earlier change is still to be written to this file, so nothing was changed now",
                path.display()
            );
            let hint = "try again in a moment; if that fails too, `memo doctor` says why";
            return Err(JobError::Refused(RpcError::new(code::IO, message).with_hint(hint)));
        }
        let text = text_on_disk(stamp, name)?;
        if text.as_deref().map(file::hash_file_text) == expected {
            return Ok(text);
        }
        let why = format!("{}: was edited during the change; nothing was changed; try again", path.display());
        Err(JobError::Refused(busy_error(why)))
    }
}

/// Returns the present text of a file of memories, with LF line ends; `None` if there is no such file.
///
/// # Errors
/// When the file exists and cannot be read as text.
pub(in crate::daemon::memories) fn text_on_disk(
    stamp: &ChangeStamp,
    name: &str,
) -> JobResult<Option<String>> {
    let key = SourceKey::new(format!("{}/{name}", file::DIR));
    let path = key.path_in(&stamp.layout.root);
    let bytes = match memod_scan::read_bytes(&stamp.layout.root, &key, file::MAX_FILE_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        read => read.at("read", &path).map_err(|error| file_access_error(&error))?,
    };
    let text = bytes.and_then(|bytes| file::decode_file(&bytes).ok());
    text.map(Some).ok_or_else(|| {
        let message = format!("{}: cannot be read as a memory", path.display());
        let error = RpcError::new(code::INVALID_PARAMS, message);
        JobError::Refused(error.with_hint("`memo doctor` says why; correct or remove the file"))
    })
}

/// Registers a file of the worktree for a memory. The file is written when the transaction is committed.
pub(in crate::daemon::memories) fn register_file(
    rows: &MemoryRows<'_>,
    id: &str,
    stamp: &ChangeStamp,
) -> JobResult<()> {
    if rows.worktrees().is_worktree_unselected()? {
        rows.select_worktree(rows.worktrees().find_or_add_worktree(&stamp.worktree_key())?);
        if let Some((root, made_ns)) = read_root_and_creation_time(&stamp.layout) {
            rows.worktrees().set_worktree_location(&root, made_ns)?;
        }
    }
    Ok(rows.sharing().mark_shared_through_file(id, &file::file_name(id))?)
}

/// Shares a memory as a file, and returns the shared memory. A shared memory does not expire, and its line ends are LF.
pub(in crate::daemon::memories) fn share_as_file(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
    stamp: &ChangeStamp,
) -> JobResult<MemoryRecord> {
    register_file(rows, &record.id, stamp)?;
    let content = record.content.replace("\r\n", "\n");
    let shared = MemoryRecord { shared: true, expires_at: None, key: None, content, ..record.clone() };
    // Sharing alone must not count as a change of the memory.
    let before = MemoryRecord { shared: true, ..record.clone() };
    let (shared, changed) = stamp.store_if_changed(rows, "share", &before, shared)?;
    if changed.is_empty() {
        rows.history().record_change(&record.id, &stamp.new_event("share"))?;
    }
    Ok(shared)
}

/// Fails if a memory is in conflict, or cannot be written as a file.
pub(in crate::daemon::memories) fn check_writable_as_file(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
) -> JobResult<()> {
    if record.side != FileSide::Whole {
        return Err(conflict_error(record));
    }
    let file = build_shared_file(rows, record, None)?;
    to_new_file_version(&record.id, &file, &file.render()).map(drop)
}

/// Converts a new file to a version. Fails if its text would be read as a conflict, or as [`to_shareable_version`] does.
fn to_new_file_version(id: &str, new: &MemoryFile, text: &str) -> JobResult<FileVersion> {
    if !matches!(file::parse_conflict_sides(text), Ok(None)) {
        return Err(not_shareable_error(id, "its text has lines like the conflict markers of git"));
    }
    to_shareable_version(id, text, new)
}

/// Parses the file that a verb is about to replace. Fails if the file is in conflict or unreadable.
fn parse_former(id: &str, text: &str) -> JobResult<MemoryFile> {
    if !matches!(file::parse_conflict_sides(text), Ok(None)) {
        return Err(file_conflict_error(id));
    }
    MemoryFile::parse(text).map_err(|why| unreadable_error(id, &why.to_string()))
}

/// Returns the error for a change of a memory in conflict.
pub(in crate::daemon::memories) fn conflict_error(record: &MemoryRecord) -> JobError<RpcError> {
    match record.shared {
        true => file_conflict_error(&record.id),
        false => {
            let message = format!("id: {} is in conflict with another version under the same id", record.id);
            let error = RpcError::new(code::INVALID_PARAMS, message);
            JobError::Refused(error.with_hint(private_conflict_hint(&record.id)))
        }
    }
}

fn file_conflict_error(id: &str) -> JobError<RpcError> {
    let error = RpcError::new(code::INVALID_PARAMS, format!("id: the file of {id} is in conflict"));
    JobError::Refused(error.with_hint(format!(
        "read both sides with `memo get {id}`, then run `memo resolve {id} --ours|--theirs`"
    )))
}
