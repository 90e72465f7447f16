//! Decides which files of shared memories a verb changes, and what they say then.
//!
//! A file is changed only if it still is what its row shows; otherwise nothing is done, and the client asks again after the
//! next look.

use std::collections::HashSet;
use std::io;

use memod_base::paths::IoContext as _;
use memod_base::types::SourceKey;
use memod_memory::file::{self, MemoryFile};
use memod_memory_db::{FileRow, FileVersion, PendingFile, Record, Rows, Side, Stopped};
use memod_proto::{RpcError, code};

use super::file_check::how_to_resolve_own;
use super::file_disk::failed;
use super::file_form::{cannot_be_shared, file_of, kept_file, shareable};
use super::gone_worktrees::place_of;
use super::rules::{Done, unreadable};
use super::stamp::Stamp;
use crate::daemon::request::error::busy;

/// What was before a verb ran.
pub(super) struct Before {
    pub(super) last_change: i64,
    files: Vec<FileRow>,
    /// Names of files that an earlier change could not write yet.
    unwritten: HashSet<String>,
}

impl Before {
    pub(super) fn of(rows: &Rows<'_>) -> Done<Self> {
        let unwritten = rows.pending()?.into_iter().map(|file| file.name).collect();
        Ok(Self { last_change: rows.last_change_of_all()?, files: rows.file_rows()?, unwritten })
    }

    /// Makes the rows say what the files are going to be, and returns what is to be written.
    pub(super) fn changes(&self, rows: &Rows<'_>, stamp: &Stamp) -> Done<Vec<PendingFile>> {
        let mut ids = rows.changed_since(self.last_change)?;
        if ids.is_empty() && !rows.has_deleted() {
            return Ok(Vec::new());
        }
        for id in ids.clone() {
            // A link to a memory is in its file once that memory is shared.
            let new = rows.is_shared(&id)? && !self.files.iter().any(|file| file.id.as_ref() == Some(&id));
            if new {
                ids.extend(rows.links(&id)?.into_iter().map(|link| link.from).filter(|from| *from != id));
            }
        }
        let mut changes = Vec::new();
        for id in ids {
            if let Some(record) = rows.get(&id)?.filter(|record| record.archived_at.is_none()) {
                changes.extend(self.change(rows, record, stamp)?);
            }
        }
        // The names that were dealt with, and so each once: a conflict has two rows.
        let mut stay: HashSet<String> = rows.file_rows()?.into_iter().map(|row| row.name).collect();
        for file in &self.files {
            if !stay.insert(file.name.clone()) {
                continue;
            }
            self.check_same(stamp, &file.name, Some(file.hash))?;
            changes.push(PendingFile { name: file.name.clone(), former: Some(file.hash), text: None });
        }
        rows.drop_unshown()?;
        Ok(changes)
    }

    /// Returns the change of the file of one memory, if it is or becomes shared and says something else.
    fn change(&self, rows: &Rows<'_>, mut record: Record, stamp: &Stamp) -> Done<Option<PendingFile>> {
        if !record.shared {
            if record.team || !stamp.shares.shares(&record) || rows.is_unshared(&record.id)? {
                return Ok(None);
            }
            record = share(rows, &record, stamp)?;
        }
        if record.side != Side::Whole {
            return Err(in_conflict_of(&record));
        }
        let name = file::file_name(&record.id);
        let known = self.files.iter().find(|file| file.name == name);
        let resolved = stamp.take_resolved(&record.id);
        if let Some(why) = known.and_then(|file| file.why.as_ref()).filter(|_| resolved.is_none()) {
            return Err(unreadable(&record.id, why));
        }
        let text = self.check_same(stamp, &name, known.map(|file| file.hash))?;
        let is_resolved = resolved.is_some();
        let former = match (resolved, &text) {
            (Some(chosen), _) => chosen,
            (None, Some(text)) => parsed(&record.id, text)?,
            (None, None) => kept_file(rows, &record.id)?,
        };
        let new = file_of(rows, &record, Some(&former))?;
        if !is_resolved && former.says_same(&new) {
            return Ok(None);
        }
        let former = text.as_deref().map(file::hash);
        let text = new.render();
        let version = check(&record.id, &new, &text)?;
        rows.set_written(&record.id, &name, &version, !record.is_unconfirmed)?;
        Ok(Some(PendingFile { name, former, text: Some(text) }))
    }

    /// Returns the present text of a file; fails if it is not what the row shows.
    fn check_same(&self, stamp: &Stamp, name: &str, expected: Option<[u8; 32]>) -> Done<Option<String>> {
        let path = stamp.layout.root.join(file::DIR).join(name);
        if self.unwritten.contains(name) {
            let message = format!("{}: an earlier change could not be written to it yet", path.display());
            let hint = "`memo doctor` says why; nothing was changed now";
            return Err(Stopped::Refused(RpcError::new(code::IO, message).with_hint(hint)));
        }
        let text = text_on_disk(stamp, name)?;
        if text.as_deref().map(file::hash) == expected {
            return Ok(text);
        }
        let why = format!("{}: was edited meanwhile; nothing was changed, ask again", path.display());
        Err(Stopped::Refused(busy(why)))
    }
}

/// Returns the present text of a file, with LF; `None` if there is none.
///
/// # Errors
/// When something is there that cannot be read as a text.
pub(super) fn text_on_disk(stamp: &Stamp, name: &str) -> Done<Option<String>> {
    let key = SourceKey::new(format!("{}/{name}", file::DIR));
    let path = stamp.layout.root.join(key.as_str());
    let bytes = match memod_scan::read_bytes(&stamp.layout.root, &key, file::MAX_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        read => read.at("read", &path).map_err(|error| failed(&error))?,
    };
    let text = bytes.and_then(|bytes| file::text_of(&bytes).ok());
    let why =
        || RpcError::new(code::INVALID_PARAMS, format!("{}: cannot be read as a memory", path.display()));
    text.map(Some)
        .ok_or_else(|| Stopped::Refused(why().with_hint("`memo doctor` says why; correct or remove it")))
}

/// Makes a memory one of the worktree's files, which is written at the end of the transaction.
pub(super) fn begin(rows: &Rows<'_>, id: &str, stamp: &Stamp) -> Done<()> {
    if rows.is_without_worktree()? {
        rows.enter_worktree(rows.worktree_number(&stamp.worktree_key())?);
        if let Some((root, made_ns)) = place_of(&stamp.layout) {
            rows.set_worktree_place(&root, made_ns)?;
        }
    }
    Ok(rows.begin_file(id, &file::file_name(id))?)
}

/// Makes a memory shared; it does not expire any more, and has LF.
pub(super) fn share(rows: &Rows<'_>, record: &Record, stamp: &Stamp) -> Done<Record> {
    begin(rows, &record.id, stamp)?;
    let content = record.content.replace("\r\n", "\n");
    let shared = Record { shared: true, expires_at: None, key: None, content, ..record.clone() };
    // That it is shared is no change of what it says.
    let before = Record { shared: true, ..record.clone() };
    let (shared, changed) = stamp.put(rows, "share", &before, shared)?;
    if changed.is_empty() {
        rows.note_change(&record.id, &stamp.event("share"))?;
    }
    Ok(shared)
}

/// Fails if a shared memory is in conflict, or its file could not say a record.
pub(super) fn check_as_file(rows: &Rows<'_>, record: &Record) -> Done<()> {
    if record.side != Side::Whole {
        return Err(in_conflict_of(record));
    }
    let file = file_of(rows, record, None)?;
    check(&record.id, &file, &file.render()).map(drop)
}

/// Returns the version that a file is. Fails if it would not be read as it is meant, or has what `add` refuses.
fn check(id: &str, new: &MemoryFile, text: &str) -> Done<FileVersion> {
    if !matches!(file::parse_sides(text), Ok(None)) {
        return Err(cannot_be_shared(id, "its text has lines like the markers of a conflict of git"));
    }
    shareable(id, text, new)
}

/// Returns what a file says that a verb is about to replace.
fn parsed(id: &str, text: &str) -> Done<MemoryFile> {
    if !matches!(file::parse_sides(text), Ok(None)) {
        return Err(in_conflict(id));
    }
    MemoryFile::parse(text).map_err(|why| unreadable(id, &why.to_string()))
}

/// Returns the error for a change that a conflict does not allow.
pub(super) fn in_conflict_of(record: &Record) -> Stopped<RpcError> {
    match record.shared {
        true => in_conflict(&record.id),
        false => {
            let message = format!("id: {} is in conflict with what others have under its id", record.id);
            let error = RpcError::new(code::INVALID_PARAMS, message);
            Stopped::Refused(error.with_hint(how_to_resolve_own(&record.id)))
        }
    }
}

fn in_conflict(id: &str) -> Stopped<RpcError> {
    let error = RpcError::new(code::INVALID_PARAMS, format!("id: {id} is in conflict in its file"));
    Stopped::Refused(
        error.with_hint(format!(
            "`memo get {id}` shows both sides, `memo resolve {id} --ours|--theirs` ends it"
        )),
    )
}
