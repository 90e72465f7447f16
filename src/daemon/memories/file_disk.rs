//! Puts the files of memories on the disk: aside first, then in place.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::rules::Done;
use crate::memory::file;
use crate::paths::{self, IoContext as _, PathError, rename_over, rename_to_free, swap_files};
use crate::proto::{RpcError, code};
use crate::store::{MemoryStore, PendingFile, Stopped};

/// Hash of the text of a file.
type Hash = [u8; 32];

/// Ending of the name of a file that is written aside, which begins with a dot.
const ASIDE: &str = ".new";

/// Writes files of the worktree that a killed daemon, or one that failed, has left. Returns whether there were any, or why they
/// cannot be written.
pub(super) fn recover(root: &Path, store: &mut MemoryStore, now_ms: i64) -> Done<Result<bool, PathError>> {
    let files = store.read(now_ms, |rows| Ok(rows.pending()?))?;
    if !files.is_empty() {
        files.iter().for_each(|file| bring_back(&root.join(file::DIR).join(&file.name)));
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

/// Brings back a file that was moved away by a daemon that was killed while it swapped it.
fn bring_back(path: &Path) {
    if let Some(former) = paths::former(path) {
        let _ = rename_to_free(&former, path); // mostly there is none
    }
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
        place_one(&dir.join(&change.name), &aside(root, &change.name), change, || ())?;
    }
    let _ = File::open(&dir).and_then(|dir| dir.sync_all()); // not everywhere can it be
    Ok(())
}

/// Puts one file in place; `before_change` is called after the file was compared with what it is to be.
fn place_one(
    path: &Path,
    aside: &Path,
    change: &PendingFile,
    before_change: impl FnOnce(),
) -> Result<(), PathError> {
    let (present, wanted) = (hash_on_disk(path)?, change.text.as_deref().map(file::hash));
    let is_as_before = present == change.former;
    before_change();
    let is_done = match (present, wanted) {
        _ if present == wanted => true,
        _ if !is_as_before => false,
        (Some(former), Some(wanted)) => replace(path, aside, former, wanted)?,
        (None, Some(_)) => is_free_for(rename_to_free(aside, path)).at("rename to", path)?,
        (Some(former), None) => take_away(path, aside, former)?,
        (None, None) => true,
    };
    if !is_done {
        tracing::info!(path = %path.display(), "was edited while a verb changed its memory");
    }
    let _ = fs::remove_file(aside); // often it is not there any more
    Ok(())
}

/// Replaces a file by the one written aside, unless somebody saved it meanwhile: then that is put back. Returns whether it was
/// replaced.
fn replace(path: &Path, aside: &Path, former: Hash, wanted: Hash) -> Result<bool, PathError> {
    match swap_files(aside, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false), // it was removed
        swapped => drop(swapped.at("swap", path)?),
    }
    if hash_on_disk(aside)? == Some(former) {
        return Ok(true);
    }
    swap_files(aside, path).at("swap", path)?;
    if hash_on_disk(aside)? != Some(wanted) {
        swap_files(aside, path).at("swap", path)?; // what was saved last is what holds
    }
    Ok(false)
}

/// Removes a file, unless somebody saved it meanwhile: then it is put back. Returns whether it was removed.
fn take_away(path: &Path, aside: &Path, former: Hash) -> Result<bool, PathError> {
    match rename_over(path, aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        renamed => renamed.at("remove", path)?,
    }
    if hash_on_disk(aside)? == Some(former) {
        return Ok(true);
    }
    is_free_for(rename_to_free(aside, path)).at("rename to", path)?;
    Ok(false)
}

/// Returns whether a name was free for a file.
fn is_free_for(renamed: io::Result<()>) -> io::Result<bool> {
    match renamed {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        renamed => renamed.map(|()| true),
    }
}

/// Returns the hash of the text of a file; `None` if there is no file. What is not a text has a hash that no text has.
fn hash_on_disk(path: &Path) -> Result<Option<Hash>, PathError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Places a change of a file while `save` is done after the comparison; returns what is there then.
    fn place_while(
        former: Option<&str>,
        text: Option<&str>,
        save: impl FnOnce(&Path),
    ) -> (Option<String>, usize) {
        let root = tempfile::tempdir().unwrap();
        let name = "mem_01M7YYNZ2R27134HEGF8T0ZWFF.md".to_owned();
        let path = root.path().join(file::DIR).join(&name);
        let change =
            PendingFile { name: name.clone(), former: former.map(file::hash), text: text.map(str::to_owned) };
        prepare(root.path(), std::slice::from_ref(&change)).unwrap();
        if let Some(former) = former {
            fs::write(&path, former).unwrap();
        }
        place_one(&path, &aside(root.path(), &name), &change, || save(&path)).unwrap();
        let n_files = fs::read_dir(root.path().join(file::DIR)).unwrap().count();
        (fs::read_to_string(&path).ok(), n_files)
    }

    #[test]
    fn a_save_between_comparison_and_change_stays() {
        type Save = fn(&Path);
        /// The former text, the new one, what is done meanwhile, and what is there then.
        type Case = (Option<&'static str>, Option<&'static str>, Save, Option<&'static str>);
        let nothing: Save = |_| ();
        let write: Save = |path| fs::write(path, "saved").unwrap();
        let rename: Save = |path| {
            let new = path.with_extension("swp");
            fs::write(&new, "saved").unwrap();
            fs::rename(new, path).unwrap();
        };
        let remove: Save = |path| fs::remove_file(path).unwrap();
        let cases: [Case; 10] = [
            (Some("old"), Some("new"), nothing, Some("new")),
            (Some("old"), Some("new"), write, Some("saved")),
            (Some("old"), Some("new"), rename, Some("saved")),
            (Some("old"), Some("new"), remove, None),
            (None, Some("new"), nothing, Some("new")),
            (None, Some("new"), write, Some("saved")),
            (Some("old"), None, nothing, None),
            (Some("old"), None, write, Some("saved")),
            (Some("old"), None, rename, Some("saved")),
            (Some("old"), None, remove, None),
        ];
        for (nth, (former, text, save, expected)) in cases.into_iter().enumerate() {
            let (there, n_files) = place_while(former, text, save);
            assert_eq!((there.as_deref(), n_files), (expected, usize::from(expected.is_some())), "{nth}");
        }
    }
}
