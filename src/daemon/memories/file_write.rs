//! Writes the files of shared memories that a verb has changed, before its transaction is committed.
//!
//! A file is written only if it still is what its row shows; otherwise nothing is done, and the client asks again after the
//! next look. If the daemon is killed between file and commit, the next look takes the file.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::file_form::file_of;
use super::rules::Done;
use super::transaction::Stamp;
use crate::daemon::error::busy;
use crate::memory::file::{self, MemoryFile};
use crate::paths::{IoContext as _, PathError};
use crate::proto::{RpcError, code};
use crate::scan;
use crate::store::{FROM_FILE, FileRow, Record, Rows, Side, Stopped};
use crate::types::SourceKey;

/// A file that is written or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileChange {
    pub(super) id: String,
    pub(super) name: String,
    /// The new text; `None`: it is removed.
    pub(super) text: Option<String>,
}

/// What was before a verb ran.
pub(super) struct Before {
    last_change: i64,
    files: Vec<FileRow>,
}

impl Before {
    pub(super) fn of(rows: &Rows<'_>) -> Done<Self> {
        Ok(Self { last_change: rows.last_change_of_all()?, files: rows.file_rows()? })
    }

    /// Makes the rows say what the files are going to be, and returns what is to be written.
    pub(super) fn changes(&self, rows: &Rows<'_>, stamp: &Stamp) -> Done<Vec<FileChange>> {
        let mut changes = Vec::new();
        let mut ids = rows.changed_since(self.last_change)?;
        for id in ids.clone() {
            // A link to a memory is in its file once that memory is shared.
            let new = rows.is_shared(&id)? && !self.files.iter().any(|file| file.id.as_ref() == Some(&id));
            if new {
                ids.extend(rows.links(&id)?.into_iter().map(|link| link.from).filter(|from| *from != id));
            }
        }
        for id in ids {
            if let Some(record) = rows.get(&id)?.filter(|record| record.archived_at.is_none()) {
                changes.extend(self.change(rows, record, stamp)?);
            }
        }
        for file in self.files.iter().filter(|file| file.side != Side::Theirs) {
            let Some(id) = &file.id else { continue };
            let stays = |record: Record| record.archived_at.is_none() && record.shared;
            if !rows.get(id)?.is_some_and(stays) {
                self.check_same(stamp, &file.name, Some(file.hash))?;
                rows.set_removed(&file.name)?;
                changes.push(FileChange { id: id.clone(), name: file.name.clone(), text: None });
            }
        }
        Ok(changes)
    }

    /// Returns the change of the file of one memory, if it is or becomes shared and says something else.
    fn change(&self, rows: &Rows<'_>, mut record: Record, stamp: &Stamp) -> Done<Option<FileChange>> {
        let is_new = !record.shared;
        if is_new {
            if !stamp.shares.shares(&record) || rows.is_unshared(&record.id)? {
                return Ok(None);
            }
            record = share(rows, &record, stamp)?;
        }
        if record.side != Side::Whole {
            return Err(in_conflict(&record.id));
        }
        let name = file::name(&record.id);
        let known = self.files.iter().find(|file| file.name == name);
        let text = self.check_same(stamp, &name, known.map(|file| file.hash))?;
        let sides = text.as_ref().and_then(|text| file::sides(text));
        let is_in_conflict = sides.is_some(); // which has just been resolved
        let former = sides.map(|[ours, _]| ours).or(text).and_then(|text| MemoryFile::parse(&text).ok());
        let new = file_of(rows, &record, former.as_ref())?;
        if !is_in_conflict && former.is_some_and(|former| former.says_same(&new)) {
            return Ok(None);
        }
        let text = new.render();
        check(&record.id, &new, &text)?;
        let is_first = !rows.has_version(&record.id)?;
        let is_trusted = record.is_trusted || is_first && record.source != FROM_FILE;
        rows.set_written(&record.id, (&name, &file::hash(&text)), &new.links, is_trusted)?;
        Ok(Some(FileChange { id: record.id, name, text: Some(text) }))
    }

    /// Returns the present text of a file; fails if it is not what the row shows.
    fn check_same(&self, stamp: &Stamp, name: &str, expected: Option<[u8; 32]>) -> Done<Option<String>> {
        let text = text_on_disk(stamp, name)?;
        if text.as_deref().map(file::hash) == expected {
            return Ok(text);
        }
        let path = stamp.layout.root.join(file::DIR).join(name);
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
    let bytes = match scan::bytes(&stamp.layout.root, &key, file::MAX_FILE) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
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
    }
    Ok(rows.begin_file(id, &file::name(id))?)
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

/// Fails if a file would not be read as it is meant, or has what `add` refuses.
fn check(id: &str, new: &MemoryFile, text: &str) -> Done<()> {
    let refused = |why: String| {
        let error = RpcError::new(code::INVALID_PARAMS, format!("{id} cannot be shared: {why}"));
        Err(Stopped::Refused(error.with_hint("change it, or keep it here with `memo unshare`")))
    };
    if text.len() as u64 > file::MAX_FILE {
        return refused(format!("its file has {} bytes, over {}", text.len(), file::MAX_FILE));
    }
    if file::sides(text).is_some() {
        return refused("its text has lines like the markers of a conflict of git".to_owned());
    }
    match MemoryFile::parse(text) {
        Ok(read) if read == *new => Ok(()),
        Ok(_) => refused("its file would not be read as it is".to_owned()),
        Err(why) => refused(why.to_string()),
    }
}

pub(super) fn in_conflict(id: &str) -> Stopped<RpcError> {
    let error = RpcError::new(code::INVALID_PARAMS, format!("id: {id} is in conflict in its file"));
    Stopped::Refused(
        error.with_hint(format!(
            "`memo get {id}` shows both sides, `memo resolve {id} --ours|--theirs` ends it"
        )),
    )
}

fn failed(error: &PathError) -> Stopped<RpcError> {
    let hint = error.hint().unwrap_or("`memo doctor` may say more");
    Stopped::Refused(RpcError::new(code::IO, error.to_string()).with_hint(hint))
}

/// Writes files, and puts them back if the transaction fails.
pub(super) struct FileWriter {
    dir: PathBuf,
    root: PathBuf,
    n_written: Arc<AtomicU64>,
    former: RefCell<Vec<(PathBuf, Option<Vec<u8>>)>>,
}

impl FileWriter {
    pub(super) fn new(root: &Path, n_written: Arc<AtomicU64>) -> Self {
        Self { dir: root.join(file::DIR), root: root.to_owned(), n_written, former: RefCell::default() }
    }

    /// Runs a verb, and writes the files that it has changed.
    pub(super) fn changed<T>(
        &self,
        rows: &Rows<'_>,
        stamp: &Stamp,
        run: impl FnOnce() -> Done<T>,
    ) -> Done<T> {
        let before = Before::of(rows)?;
        let value = run()?;
        self.write(&before.changes(rows, stamp)?)?;
        Ok(value)
    }

    /// Writes and removes files, and syncs them to the disk.
    pub(super) fn write(&self, changes: &[FileChange]) -> Done<()> {
        if changes.is_empty() {
            return Ok(());
        }
        self.n_written.fetch_add(1, Ordering::AcqRel);
        self.write_all(changes).map_err(|error| {
            self.undo();
            failed(&error)
        })
    }

    fn write_all(&self, changes: &[FileChange]) -> Result<(), PathError> {
        let mut dir = self.root.clone();
        for part in file::DIR.split('/') {
            dir.push(part);
            match fs::create_dir(&dir) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error).at("create", &dir);
                }
                _ => {}
            }
            if !fs::symlink_metadata(&dir).at("look at", &dir)?.is_dir() {
                return Err(io::Error::other("not a directory")).at("write in", &dir);
            }
        }
        for change in changes {
            let path = self.dir.join(&change.name);
            self.former.borrow_mut().push((path.clone(), fs::read(&path).ok()));
            match &change.text {
                Some(text) => replace(&path, text.as_bytes())?,
                None => fs::remove_file(&path).at("remove", &path)?,
            }
        }
        let _ = File::open(&self.dir).and_then(|dir| dir.sync_all()); // not everywhere can it be
        Ok(())
    }

    /// Puts back what was there before.
    pub(super) fn undo(&self) {
        for (path, bytes) in self.former.take().into_iter().rev() {
            let undone = match bytes {
                Some(bytes) => replace(&path, &bytes),
                None => fs::remove_file(&path).at("remove", &path),
            };
            if let Err(error) = undone {
                tracing::warn!(%error, "a file of a memory could not be put back; the next look takes it");
            }
        }
    }
}

/// Replaces a file of the worktree as a whole.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), PathError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let _ = fs::remove_file(&aside); // of a daemon that was killed
    let write = |mut to: File| to.write_all(bytes).and_then(|()| to.sync_all());
    let written =
        File::options().create_new(true).write(true).open(&aside).and_then(write).at("write", &aside);
    let replaced = written.and_then(|()| fs::rename(&aside, path).at("rename to", path));
    replaced.inspect_err(|_| drop(fs::remove_file(&aside)))
}
