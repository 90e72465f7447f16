//! Writes the files of memories to the disk: first under a temporary name, then in place.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use memod_base::paths::{
    IoContext as _, PathError, hash_prefix, remove_unless_saved, rename_without_overwrite,
    replace_unless_saved, was_renamed,
};
use memod_memory::file;
use memod_memory_db::{JobError, PendingFile};
use memod_proto::{RpcError, code};

/// Hash of the text of a file.
pub(in crate::daemon::memories) type FileHash = [u8; 32];

/// Ending of the temporary name of a new file. The name begins with a dot, so the file is not mistaken for a memory.
pub(in crate::daemon::memories) const NEW_ENDING: &str = ".new";
/// Ending of the name under which a new file is swapped with the file of a memory. After the swap, the file of this name has the
/// former text.
pub(in crate::daemon::memories) const SWAPPED_ENDING: &str = ".out";
/// Stands for the hash of a file that is not text. No text has this hash.
pub(in crate::daemon::memories) const NOT_TEXT_HASH: FileHash = [0xff; 32];

/// Writes new texts under temporary names, and syncs them to the disk. For a file that is to be removed, writes an empty temporary
/// file, which shows that the directory is writable.
pub(in crate::daemon::memories) fn write_temporary_files(
    root: &Path,
    files: &[PendingFile],
) -> Result<(), PathError> {
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
        let (path, text) = (temporary_path(root, &file.name), file.text.as_deref().unwrap_or_default());
        let _ = fs::remove_file(&path); // a killed daemon may have left it
        let present = root.join(file::DIR).join(&file.name);
        write_new(&path, text, &present).at("write", &path)?;
    }
    Ok(())
}

/// Writes a new file with the mode of the `present` file that it will replace, and syncs the new file to the disk.
fn write_new(path: &Path, text: &str, present: &Path) -> io::Result<()> {
    let mut file = File::options().create_new(true).write(true).open(path)?;
    set_mode(&file, present)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Sets the mode of a new file to that of the `present` file, or without one to 0644 as git does. By default, the files that the
/// daemon writes are private to its user.
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

/// The result of putting files in place.
#[derive(Default)]
pub(in crate::daemon::memories) struct PlacedFiles {
    /// Names of the files that are in place.
    pub(in crate::daemon::memories) done: Vec<String>,
    /// Names of the files that could not be put in place, and why.
    pub(in crate::daemon::memories) failed: Vec<(String, PathError)>,
    /// Whether a file was edited meanwhile, so that the files must be read again.
    pub(in crate::daemon::memories) was_edited: bool,
}

impl PlacedFiles {
    pub(in crate::daemon::memories) fn record_result(&mut self, name: &str, placed: Result<bool, PathError>) {
        match placed {
            Ok(is_clean) => {
                self.done.push(name.to_owned());
                self.was_edited |= !is_clean;
            }
            Err(error) => self.failed.push((name.to_owned(), error)),
        }
    }
}

/// Puts files in place. A file that was edited meanwhile is left alone, because the history has the text of the rows. A failure
/// does not stop the other files.
pub(in crate::daemon::memories) fn put_in_place(root: &Path, files: &[PendingFile]) -> PlacedFiles {
    let mut placed = PlacedFiles::default();
    for change in files {
        placed.record_result(&change.name, put_one_in_place(root, change, || ()));
    }
    sync_dir(root);
    placed
}

/// Syncs the directory of memories to the disk, on systems that can sync directories.
fn sync_dir(root: &Path) {
    let _ = File::open(root.join(file::DIR)).and_then(|dir| dir.sync_all());
}

/// Puts one file in place, and returns whether it has the planned text now. Calls `before_change` after the file is compared and
/// before it is changed.
fn put_one_in_place(
    root: &Path,
    change: &PendingFile,
    before_change: impl FnOnce(),
) -> Result<bool, PathError> {
    let path = root.join(file::DIR).join(&change.name);
    let (aside, out) = (temporary_path(root, &change.name), swapped_path(root, change));
    let (present, wanted) = (hash_on_disk(&path)?, change.text.as_deref().map(file::hash_file_text));
    let is_as_before = present == change.former;
    before_change();
    let is_done = match (present, wanted) {
        _ if present == wanted => true,
        _ if !is_as_before => false,
        (Some(former), Some(wanted)) => {
            rename_without_overwrite(&aside, &out).at("rename to", &out)?;
            replace_unless_saved(&path, &out, build_hash_check(former), build_hash_check(wanted))?
        }
        (None, Some(_)) => was_renamed(rename_without_overwrite(&aside, &path)).at("rename to", &path)?,
        (Some(former), None) => remove_unless_saved(&path, &out, build_hash_check(former))?,
        (None, None) => true,
    };
    if !is_done {
        tracing::info!(path = %path.display(), "was edited while a verb changed its memory");
    }
    let _ = fs::remove_file(aside); // usually the temporary file was moved away
    Ok(is_done)
}

/// Returns a function that checks whether the text of a file has this hash.
fn build_hash_check(hash: FileHash) -> impl Fn(&Path) -> Result<bool, PathError> {
    move |path| Ok(hash_on_disk(path)? == Some(hash))
}

/// Returns the hash of the text of a file; `None` if there is no file. A file that is not text has the hash [`NOT_TEXT_HASH`].
pub(in crate::daemon::memories) fn hash_on_disk(path: &Path) -> Result<Option<FileHash>, PathError> {
    let bytes = fs::symlink_metadata(path).and_then(|meta| {
        let is_read = meta.is_file() && meta.len() <= file::MAX_FILE_BYTES;
        if is_read { fs::read(path) } else { Ok(vec![0xff]) }
    });
    match bytes {
        Ok(bytes) => {
            Ok(Some(file::decode_file(&bytes).map_or(NOT_TEXT_HASH, |text| file::hash_file_text(&text))))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("read", path),
    }
}

/// Returns the path under which a file is swapped with its new text.
pub(in crate::daemon::memories) fn swapped_path(root: &Path, change: &PendingFile) -> PathBuf {
    let wanted = file::hash_file_text(change.text.as_deref().unwrap_or_default());
    root.join(file::DIR).join(format!(".{}.{}{SWAPPED_ENDING}", change.name, hash_prefix(&wanted)))
}

/// Returns the path of the temporary file for a new text.
pub(in crate::daemon::memories) fn temporary_path(root: &Path, name: &str) -> PathBuf {
    root.join(file::DIR).join(format!(".{name}{NEW_ENDING}"))
}

/// Returns the error of a verb for a file that could not be read or prepared.
pub(in crate::daemon::memories) fn file_access_error(error: &PathError) -> JobError<RpcError> {
    let hint = error.hint().unwrap_or("`memo doctor` may say more");
    JobError::Refused(RpcError::new(code::IO, error.to_string()).with_hint(hint))
}

/// Returns the error of a verb whose change is stored, but not yet written to the file of the memory.
pub(in crate::daemon::memories) fn not_written_error(error: &PathError) -> JobError<RpcError> {
    let message =
        format!("the change is stored, but could not be written to the file of the memory: {error}");
    let hint = "the next command tries to write the file again; `memo doctor` shows whether it is written";
    JobError::Refused(RpcError::new(code::IO, message).with_hint(hint))
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
        let change = PendingFile {
            name: name.clone(),
            former: former.map(file::hash_file_text),
            text: text.map(str::to_owned),
        };
        write_temporary_files(root.path(), std::slice::from_ref(&change)).unwrap();
        if let Some(former) = former {
            fs::write(&path, former).unwrap();
        }
        put_one_in_place(root.path(), &change, || save(&path)).unwrap();
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
