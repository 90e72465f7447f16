//! Puts the files of memories on the disk: aside first, then in place.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use memod_base::paths::{
    IoContext as _, PathError, hash_digits, is_free_for, remove_known, rename_to_free, replace_known,
};
use memod_memory::file;
use memod_memory_db::{PendingFile, Stopped};
use memod_proto::{RpcError, code};

/// Hash of the text of a file.
pub(super) type Hash = [u8; 32];

/// Ending of the name of a file that is written aside, which begins with a dot: so it is taken for no memory.
pub(super) const ASIDE: &str = ".new";
/// Ending of the name under which a file changes places with that of a memory: it has what came out of that then.
pub(super) const SWAPPED: &str = ".out";
/// Hash of what is not a text: no text has it.
pub(super) const NO_TEXT: Hash = [0xff; 32];

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

/// What came of putting files in place.
#[derive(Default)]
pub(super) struct Placed {
    /// Names of those that are done.
    pub(super) done: Vec<String>,
    /// Names of the others, and why they are not.
    pub(super) failed: Vec<(String, PathError)>,
    /// Whether one was edited meanwhile, so that the files are to be looked at again.
    pub(super) was_edited: bool,
}

impl Placed {
    pub(super) fn note(&mut self, name: &str, placed: Result<bool, PathError>) {
        match placed {
            Ok(is_clean) => {
                self.done.push(name.to_owned());
                self.was_edited |= !is_clean;
            }
            Err(error) => self.failed.push((name.to_owned(), error)),
        }
    }
}

/// Puts files in place. One that was edited meanwhile stays as it is: what the rows say is in the history. One that fails does
/// not keep the others from their places.
pub(super) fn place(root: &Path, files: &[PendingFile]) -> Placed {
    let mut placed = Placed::default();
    for change in files {
        placed.note(&change.name, place_one(root, change, || ()));
    }
    sync_dir(root);
    placed
}

/// Syncs the directory of memories, where that can be done.
fn sync_dir(root: &Path) {
    let _ = File::open(root.join(file::DIR)).and_then(|dir| dir.sync_all());
}

/// Puts one file in place; `before_change` is called after the file was compared with what it is to be. Returns whether it is as
/// it was to be.
fn place_one(root: &Path, change: &PendingFile, before_change: impl FnOnce()) -> Result<bool, PathError> {
    let path = root.join(file::DIR).join(&change.name);
    let (aside, out) = (aside(root, &change.name), swapped(root, change));
    let (present, wanted) = (hash_on_disk(&path)?, change.text.as_deref().map(file::hash));
    let is_as_before = present == change.former;
    before_change();
    let is_done = match (present, wanted) {
        _ if present == wanted => true,
        _ if !is_as_before => false,
        (Some(former), Some(wanted)) => {
            rename_to_free(&aside, &out).at("rename to", &out)?;
            replace_known(&path, &out, has(former), has(wanted))?
        }
        (None, Some(_)) => is_free_for(rename_to_free(&aside, &path)).at("rename to", &path)?,
        (Some(former), None) => remove_known(&path, &out, has(former))?,
        (None, None) => true,
    };
    if !is_done {
        tracing::info!(path = %path.display(), "was edited while a verb changed its memory");
    }
    let _ = fs::remove_file(aside); // often it is not there any more
    Ok(is_done)
}

/// Returns whether a file says the text with a hash.
fn has(hash: Hash) -> impl Fn(&Path) -> Result<bool, PathError> {
    move |path| Ok(hash_on_disk(path)? == Some(hash))
}

/// Returns the hash of the text of a file; `None` if there is no file. What is not a text has [`NO_TEXT`].
pub(super) fn hash_on_disk(path: &Path) -> Result<Option<Hash>, PathError> {
    let is_read = |meta: fs::Metadata| meta.is_file() && meta.len() <= file::MAX_FILE;
    match fs::symlink_metadata(path)
        .and_then(|meta| if is_read(meta) { fs::read(path) } else { Ok(vec![0xff]) })
    {
        Ok(bytes) => Ok(Some(file::text_of(&bytes).map_or(NO_TEXT, |text| file::hash(&text)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("read", path),
    }
}

/// Returns the path under which a file changes places.
pub(super) fn swapped(root: &Path, change: &PendingFile) -> PathBuf {
    let wanted = file::hash(change.text.as_deref().unwrap_or_default());
    root.join(file::DIR).join(format!(".{}.{}{SWAPPED}", change.name, hash_digits(&wanted)))
}

pub(super) fn aside(root: &Path, name: &str) -> PathBuf {
    root.join(file::DIR).join(format!(".{name}{ASIDE}"))
}

/// Returns the error of a verb for a file that failed.
pub(super) fn failed(error: &PathError) -> Stopped<RpcError> {
    let hint = error.hint().unwrap_or("`memo doctor` may say more");
    Stopped::Refused(RpcError::new(code::IO, error.to_string()).with_hint(hint))
}

/// Returns the error of a verb whose change is made, but not in its file yet.
pub(super) fn not_written(error: &PathError) -> Stopped<RpcError> {
    let message = format!("the change is made, but its file could not be written: {error}");
    let hint = "each question tries it again; `memo doctor` says whether it is done";
    Stopped::Refused(RpcError::new(code::IO, message).with_hint(hint))
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
        place_one(root.path(), &change, || save(&path)).unwrap();
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
