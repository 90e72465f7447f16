//! Puts the files of memories on the disk: aside first, then in place.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::rules::Done;
use crate::memory::file;
use crate::paths::{IoContext as _, PathError, rename_over};
use crate::proto::{RpcError, code};
use crate::store::{MemoryStore, PendingFile, Stopped};

/// Ending of the name of a file that is written aside, which begins with a dot.
const ASIDE: &str = ".new";

/// Writes files of the worktree that a killed daemon, or one that failed, has left. Returns whether there were any, or why they
/// cannot be written.
pub(super) fn recover(root: &Path, store: &mut MemoryStore, now_ms: i64) -> Done<Result<bool, PathError>> {
    let files = store.read(now_ms, |rows| Ok(rows.pending()?))?;
    if !files.is_empty() {
        if let Err(error) = prepare(root, &files).and_then(|()| place(root, &files)) {
            return Ok(Err(error));
        }
        store.write(now_ms, |rows| Ok(rows.end_pending()?))?;
    }
    for entry in fs::read_dir(root.join(file::DIR)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(".mem_") && name.ends_with(ASIDE)) {
            let _ = fs::remove_file(entry.path()); // of a transaction that was not committed
        }
    }
    Ok(Ok(!files.is_empty()))
}

/// Writes new texts aside, and syncs them to the disk; for a file that is removed an empty one, which shows that the directory
/// can be written.
pub(super) fn prepare(root: &Path, files: &[PendingFile]) -> Result<(), PathError> {
    let mut dir = root.to_owned();
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
    for file in files {
        let (path, text) = (aside(root, &file.name), file.text.as_deref().unwrap_or_default());
        let _ = fs::remove_file(&path); // of a daemon that was killed
        let write = |mut to: File| to.write_all(text.as_bytes()).and_then(|()| to.sync_all());
        let present = root.join(file::DIR).join(&file.name);
        let open = || -> io::Result<File> {
            let to = File::options().create_new(true).write(true).open(&path)?;
            set_mode(&to, &present)?;
            Ok(to)
        };
        open().and_then(write).at("write", &path)?;
    }
    Ok(())
}

/// Lets others read a file, as those that git writes; one that is replaced keeps its mode. What the daemon makes is else its
/// user's alone.
#[cfg(unix)]
fn set_mode(file: &File, present: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    const USUAL: u32 = 0o644;
    let mode = fs::symlink_metadata(present).ok().filter(fs::Metadata::is_file);
    let mode = mode.map_or(USUAL, |meta| meta.permissions().mode() & 0o777);
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Puts files in place. One that was edited meanwhile stays as it is: what the rows say is in the history.
pub(super) fn place(root: &Path, files: &[PendingFile]) -> Result<(), PathError> {
    let dir = root.join(file::DIR);
    for change in files {
        let (path, aside) = (dir.join(&change.name), aside(root, &change.name));
        let (present, wanted) = (hash_on_disk(&path)?, change.text.as_deref().map(file::hash));
        if present == change.former && present != wanted {
            match wanted {
                Some(_) => rename_over(&aside, &path).at("rename to", &path)?,
                None => {
                    fs::remove_file(&path).at("remove", &path)?;
                    let _ = fs::remove_file(&aside);
                }
            }
            continue;
        }
        if present != wanted {
            tracing::info!(path = %path.display(), "was edited while a verb changed its memory");
        }
        let _ = fs::remove_file(&aside);
    }
    let _ = File::open(&dir).and_then(|dir| dir.sync_all()); // not everywhere can it be
    Ok(())
}

/// Returns the hash of the text of a file; `None` if there is no file. What is not a text has a hash that no text has.
fn hash_on_disk(path: &Path) -> Result<Option<[u8; 32]>, PathError> {
    match fs::symlink_metadata(path)
        .and_then(|meta| if meta.is_file() { fs::read(path) } else { Ok(vec![0xff]) })
    {
        Ok(bytes) => Ok(Some(file::text_of(&bytes).map_or([0xff; 32], |text| file::hash(&text)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("read", path),
    }
}

pub(super) fn aside(root: &Path, name: &str) -> PathBuf {
    root.join(file::DIR).join(format!(".{name}{ASIDE}"))
}

/// Returns the error of a verb for a file that failed.
pub(super) fn failed(error: &PathError) -> Stopped<RpcError> {
    let hint = error.hint().unwrap_or("`memo doctor` may say more");
    Stopped::Refused(RpcError::new(code::IO, error.to_string()).with_hint(hint))
}
