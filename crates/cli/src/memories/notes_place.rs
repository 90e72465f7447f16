//! Writes the outcome of a merge to the files of memories in the worktree.
//!
//! Git would do so, too, but takes what stands under the name of an ignored file for expendable. Here a file is replaced only if it
//! says what is known of it: a save that comes in between stays, and so does anything that is no file of the last exchange. What an
//! exchange that was killed has left under another name, the daemon brings back at the next question.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use memod_base::paths::{
    IoContext as _, NOTES_NEW, NOTES_OUT, PathError, is_free_for, open_regular, remove_if_there,
    remove_known, rename_to_free, replace_known, text_digits,
};
use memod_base::types::{MAX_MEMORY_FILE, MEMORY_FILES_DIR};

use crate::error::CliError;
use crate::text::escape;

/// A file that is to be changed.
pub(super) struct FileChange {
    /// Its path, from the top of the worktree.
    pub(super) path: String,
    /// What it says; `None` if there is none.
    pub(super) before: Option<Vec<u8>>,
    /// What it is to say; `None` if it is to go.
    pub(super) after: Option<Vec<u8>>,
}

/// What stands under the name of a file.
#[derive(PartialEq)]
enum Present {
    Nothing,
    Text(Vec<u8>),
    /// A directory, a symbolic link, or a file that is too large for a memory.
    Other,
}

/// Makes all changes, unless something else than is known is in the place of a file at the beginning: then none.
///
/// # Errors
/// When something else than is known stands under the name of a file, or a file cannot be written. What was saved meanwhile stays.
pub(super) fn place_files(root: &Path, changes: &[FileChange]) -> Result<(), CliError> {
    must_be_directories(root)?;
    for change in changes {
        must_be_known(&root.join(&change.path), change)?;
    }
    let (mut missed, dir) = (Vec::new(), root.join(MEMORY_FILES_DIR));
    if changes.iter().any(|change| change.after.is_some()) {
        fs::create_dir_all(&dir).at("create", &dir)?;
    }
    for change in changes {
        if !place(&root.join(&change.path), change, || ())? {
            missed.push(escape(&change.path));
        }
    }
    let _ = File::open(&dir).and_then(|dir| dir.sync_all()); // not everywhere can it be
    match missed.as_slice() {
        [] => Ok(()),
        missed => Err(CliError::Git {
            message: format!("{}: saved meanwhile; what was saved is there", missed.join(", ")),
            hint: "run it again, and it is exchanged".to_owned(),
        }),
    }
}

/// Fails where a part of the path to the files is no directory: it would be replaced by one, or lead out of the worktree.
fn must_be_directories(root: &Path) -> Result<(), CliError> {
    let mut dir = root.to_owned();
    for part in MEMORY_FILES_DIR.split('/') {
        dir.push(part);
        match fs::symlink_metadata(&dir) {
            Ok(meta) if meta.is_dir() => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).at("look at", &dir)?,
            Ok(_) => {
                return Err(CliError::Git {
                    message: format!("{}: no directory; nothing was taken", dir.display()),
                    hint: "move it away: files of memories come into a directory of that name".to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Fails where something else stands under the name of a file than is known of it, or was left by an exchange that was killed.
fn must_be_known(path: &Path, change: &FileChange) -> Result<(), CliError> {
    let there = present(path)?;
    if !is(&there, change.before.as_ref()) && !is(&there, change.after.as_ref()) {
        return Err(CliError::Git {
            message: format!("{}: something else stands there; nothing was taken", escape(&change.path)),
            hint: "if it was saved just now, run it again, and it is exchanged; else move it away".to_owned(),
        });
    }
    remove_if_there(&new_text_path(path))?;
    let out = exchange_path(path, change);
    if present(&out)? != Present::Nothing {
        return Err(CliError::Git {
            message: format!("{}: left by an exchange that was killed; nothing was taken", out.display()),
            hint: "`memo list` brings back what it has, or says why that cannot be; then run it again"
                .to_owned(),
        });
    }
    Ok(())
}

fn is(present: &Present, text: Option<&Vec<u8>>) -> bool {
    match (present, text) {
        (Present::Nothing, None) => true,
        (Present::Text(present), Some(text)) => with_lf(present) == with_lf(text),
        _ => false,
    }
}

/// Returns a text with the line ends of git.
fn with_lf(text: &[u8]) -> Vec<u8> {
    let mut kept = text.to_vec();
    let mut at = 0;
    kept.retain(|byte| {
        at += 1;
        *byte != b'\r' || text.get(at) != Some(&b'\n')
    });
    kept
}

fn present(path: &Path) -> Result<Present, PathError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Present::Nothing),
        Err(error) => return Err(error).at("look at", path),
        Ok(meta) if !meta.is_file() || meta.len() > MAX_MEMORY_FILE => return Ok(Present::Other),
        Ok(_) => {}
    }
    let mut text = Vec::new();
    let opened =
        open_regular(path, false).and_then(|file| file.take(MAX_MEMORY_FILE + 1).read_to_end(&mut text));
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Present::Nothing),
        read => read.at("read", path).map(|_| Present::Text(text)),
    }
}

/// Changes one file; `before_change` is called after it was compared with what is known of it. Returns whether it says now what it is
/// to say.
fn place(path: &Path, change: &FileChange, before_change: impl FnOnce()) -> Result<bool, PathError> {
    let there = present(path)?;
    if is(&there, change.after.as_ref()) {
        return Ok(true);
    }
    if !is(&there, change.before.as_ref()) {
        return Ok(false);
    }
    let aside = new_text_path(path);
    if let Some(text) = &change.after {
        write_aside(path, &aside, text)?;
    }
    before_change();
    let (says, out) =
        (|text| move |path: &Path| Ok(is(&present(path)?, Some(text))), exchange_path(path, change));
    let is_placed = match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            rename_to_free(&aside, &out).at("rename to", &out)?;
            replace_known(path, &out, says(before), says(after))?
        }
        (None, _) => is_free_for(rename_to_free(&aside, path)).at("rename to", path)?,
        (Some(before), None) => remove_known(path, &out, says(before))?,
    };
    remove_if_there(&aside)?;
    Ok(is_placed)
}

/// Returns the path at which the new text of a file is written.
fn new_text_path(path: &Path) -> PathBuf {
    path_beside(path, NOTES_NEW)
}

/// Returns the path with which a file changes places.
fn exchange_path(path: &Path, change: &FileChange) -> PathBuf {
    let digits = text_digits(change.after.as_deref().unwrap_or_default());
    path_beside(path, &format!(".{digits}{NOTES_OUT}"))
}

/// Returns a hidden path in the directory of a file, with its name and this ending.
fn path_beside(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}{ending}"))
}

fn write_aside(path: &Path, aside: &Path, text: &[u8]) -> Result<(), PathError> {
    let write = || -> io::Result<()> {
        let mut file = File::options().create_new(true).write(true).open(aside)?;
        if let Ok(meta) = fs::symlink_metadata(path) {
            file.set_permissions(meta.permissions())?;
        }
        file.write_all(text)?;
        file.sync_all()
    };
    write().at("write", aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_while_files_are_placed_stays() {
        type Save = fn(&Path);
        /// What is known, what comes, what is done meanwhile, and what is there then.
        type Case = (Option<&'static str>, Option<&'static str>, Save, Option<&'static str>);
        let nothing: Save = |_| ();
        let write: Save = |path| fs::write(path, "saved").unwrap();
        let remove: Save = |path| fs::remove_file(path).unwrap();
        let cases: [Case; 8] = [
            (Some("old"), Some("new"), nothing, Some("new")),
            (Some("old"), Some("new"), write, Some("saved")),
            (Some("old"), Some("new"), remove, None),
            (None, Some("new"), nothing, Some("new")),
            (None, Some("new"), write, Some("saved")),
            (Some("old"), None, nothing, None),
            (Some("old"), None, write, Some("saved")),
            (Some("old"), None, remove, None),
        ];
        for (nth, (before, after, save, expected)) in cases.into_iter().enumerate() {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("mem_x.md");
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
            let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
            let change =
                FileChange { path: "mem_x.md".to_owned(), before: bytes(before), after: bytes(after) };
            let is_placed = place(&path, &change, || save(&path)).unwrap();
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), expected, "{nth}");
            assert_eq!(is_placed, expected == after, "{nth}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), usize::from(expected.is_some()), "{nth}");
        }
    }

    #[test]
    fn line_ends_are_no_difference() {
        let cases = [("a\r\nb\r\n", "a\nb\n"), ("a\rb", "a\rb"), ("\r\r\n", "\r\n"), ("", "")];
        for (text, expected) in cases {
            assert_eq!(with_lf(text.as_bytes()), expected.as_bytes(), "{text:?}");
        }
    }
}
