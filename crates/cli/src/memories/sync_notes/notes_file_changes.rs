//! Writes the outcome of a merge to the memory files of the worktree.
//!
//! Git itself would overwrite ignored files. Here a file is replaced only if it has the expected text: a text that was saved in
//! between stays, and so does anything that is no file of the last exchange. A killed exchange may leave a file under a temporary
//! name; the daemon brings it back with the next request.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use memod_base::paths::{
    IoContext as _, NOTES_NEW_SUFFIX, NOTES_SWAP_SUFFIX, PathError, open_regular, remove_if_exists,
    remove_unless_saved, rename_without_overwrite, replace_unless_saved, text_hash_prefix, was_renamed,
};
use memod_base::types::{MAX_MEMORY_FILE_BYTES, MEMORY_FILES_DIR};
use memod_terminal::CliError;
use memod_terminal::text::escape_for_display;

/// A change of one memory file.
pub(super) struct MemoryFileChange {
    /// Path relative to the top of the worktree.
    pub(super) path: String,
    /// The text that the file is expected to have; `None` if there should be no file.
    pub(super) before: Option<Vec<u8>>,
    /// The new text; `None` if the file is to be removed.
    pub(super) after: Option<Vec<u8>>,
}

/// The present content of a path.
#[derive(PartialEq)]
enum PresentContent {
    Nothing,
    Text(Vec<u8>),
    /// A directory, a symbolic link, or a file that is too large for a memory.
    Other,
}

/// Makes all changes, or none if a file does not have its expected text at the beginning.
///
/// # Errors
/// When a path has unexpected content, or a file cannot be written. Texts that somebody saved meanwhile are kept.
pub(super) fn apply_file_changes(root: &Path, changes: &[MemoryFileChange]) -> Result<(), CliError> {
    require_directories(root)?;
    for change in changes {
        require_known_content(&root.join(&change.path), change)?;
    }
    let (mut missed, dir) = (Vec::new(), root.join(MEMORY_FILES_DIR));
    if changes.iter().any(|change| change.after.is_some()) {
        fs::create_dir_all(&dir).at("create", &dir)?;
    }
    for change in changes {
        if !apply_file_change(&root.join(&change.path), change, || ())? {
            missed.push(escape_for_display(&change.path));
        }
    }
    let _ = File::open(&dir).and_then(|dir| dir.sync_all()); // not every system can sync a directory
    match missed.as_slice() {
        [] => Ok(()),
        missed => Err(CliError::Git {
            message: format!("{}: changed while memo ran; the changed file was kept", missed.join(", ")),
            hint: "run `memo share sync` again to exchange it".to_owned(),
        }),
    }
}

/// Fails if a part of the path to the memory files is not a directory: it would be replaced, or would lead out of the worktree.
fn require_directories(root: &Path) -> Result<(), CliError> {
    let mut dir = root.to_owned();
    for part in MEMORY_FILES_DIR.split('/') {
        dir.push(part);
        match fs::symlink_metadata(&dir) {
            Ok(meta) if meta.is_dir() => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).at("look at", &dir)?,
            Ok(_) => {
                return Err(CliError::Git {
                    message: format!("{}: not a directory; nothing was imported", dir.display()),
                    hint: "move it away: files of memories are stored in a directory of that name".to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Fails if a file has neither its expected nor its new text, or if a killed exchange left a temporary file.
fn require_known_content(path: &Path, change: &MemoryFileChange) -> Result<(), CliError> {
    let present = read_present_content(path)?;
    if !has_expected_text(&present, change.before.as_deref())
        && !has_expected_text(&present, change.after.as_deref())
    {
        return Err(CliError::Git {
            message: format!(
                "{}: its content is not that of the memory; nothing was imported",
                escape_for_display(&change.path)
            ),
            hint:
                "if it was saved just now, run `memo share sync` again to exchange it; otherwise move it away"
                    .to_owned(),
        });
    }
    remove_if_exists(&new_text_path(path))?;
    let out = swap_temp_path(path, change);
    if read_present_content(&out)? != PresentContent::Nothing {
        return Err(CliError::Git {
            message: format!(
                "{}: left by an exchange that was interrupted; nothing was imported",
                out.display()
            ),
            hint: "run `memo list`, which restores the memory or says why it cannot; then run `memo share sync` again"
                .to_owned(),
        });
    }
    Ok(())
}

fn has_expected_text(present: &PresentContent, text: Option<&[u8]>) -> bool {
    match (present, text) {
        (PresentContent::Nothing, None) => true,
        (PresentContent::Text(present), Some(text)) => {
            normalize_line_ends(present) == normalize_line_ends(text)
        }
        _ => false,
    }
}

/// Returns a text with the line ends that git stores: CR LF becomes LF.
fn normalize_line_ends(text: &[u8]) -> Vec<u8> {
    let mut with_lf = text.to_vec();
    let mut at = 0;
    with_lf.retain(|byte| {
        at += 1;
        *byte != b'\r' || text.get(at) != Some(&b'\n')
    });
    with_lf
}

fn read_present_content(path: &Path) -> Result<PresentContent, PathError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PresentContent::Nothing),
        Err(error) => return Err(error).at("look at", path),
        Ok(meta) if !meta.is_file() || meta.len() > MAX_MEMORY_FILE_BYTES => {
            return Ok(PresentContent::Other);
        }
        Ok(_) => {}
    }
    let mut text = Vec::new();
    let opened = open_regular(path, false)
        .and_then(|file| file.take(MAX_MEMORY_FILE_BYTES + 1).read_to_end(&mut text));
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(PresentContent::Nothing),
        read => read.at("read", path).map(|_| PresentContent::Text(text)),
    }
}

/// Changes one file, and returns whether it has its new text now. A file that does not have its expected text stays unchanged.
/// Calls `before_change` after the file was compared with its expected text.
fn apply_file_change(
    path: &Path,
    change: &MemoryFileChange,
    before_change: impl FnOnce(),
) -> Result<bool, PathError> {
    let present = read_present_content(path)?;
    if has_expected_text(&present, change.after.as_deref()) {
        return Ok(true);
    }
    if !has_expected_text(&present, change.before.as_deref()) {
        return Ok(false);
    }
    let aside = new_text_path(path);
    if let Some(text) = &change.after {
        write_new_text(path, &aside, text)?;
    }
    before_change();
    let out = swap_temp_path(path, change);
    let is_placed = match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            rename_without_overwrite(&aside, &out).at("rename to", &out)?;
            replace_unless_saved(path, &out, |path| has_text(path, before), |path| has_text(path, after))?
        }
        (None, _) => was_renamed(rename_without_overwrite(&aside, path)).at("rename to", path)?,
        (Some(before), None) => remove_unless_saved(path, &out, |path| has_text(path, before))?,
    };
    remove_if_exists(&aside)?;
    Ok(is_placed)
}

/// Returns whether a file has this text, apart from line ends.
fn has_text(path: &Path, text: &[u8]) -> Result<bool, PathError> {
    Ok(has_expected_text(&read_present_content(path)?, Some(text)))
}

/// Returns the temporary path to which the new text of a file is written.
fn new_text_path(path: &Path) -> PathBuf {
    hidden_path_beside(path, NOTES_NEW_SUFFIX)
}

/// Returns the temporary path through which a file is replaced or removed. It names the new text by its hash.
fn swap_temp_path(path: &Path, change: &MemoryFileChange) -> PathBuf {
    let digits = text_hash_prefix(change.after.as_deref().unwrap_or_default());
    hidden_path_beside(path, &format!(".{digits}{NOTES_SWAP_SUFFIX}"))
}

/// Returns a path in the directory of a file whose name is a dot, the name of the file, and this ending.
fn hidden_path_beside(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}{ending}"))
}

fn write_new_text(path: &Path, aside: &Path, text: &[u8]) -> Result<(), PathError> {
    write_with_permissions_of(path, aside, text).at("write", aside)
}

/// Writes a new file with the permissions of the file at `path`, if there is one.
fn write_with_permissions_of(path: &Path, new_path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::options().create_new(true).write(true).open(new_path)?;
    if let Ok(meta) = fs::symlink_metadata(path) {
        file.set_permissions(meta.permissions())?;
    }
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_while_files_are_placed_stays() {
        type Save = fn(&Path);
        /// The text before, the new text, the action in between, and the text afterwards.
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
                MemoryFileChange { path: "mem_x.md".to_owned(), before: bytes(before), after: bytes(after) };
            let is_placed = apply_file_change(&path, &change, || save(&path)).unwrap();
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), expected, "{nth}");
            assert_eq!(is_placed, expected == after, "{nth}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), usize::from(expected.is_some()), "{nth}");
        }
    }

    #[test]
    fn line_ends_are_no_difference() {
        let cases = [("a\r\nb\r\n", "a\nb\n"), ("a\rb", "a\rb"), ("\r\r\n", "\r\n"), ("", "")];
        for (text, expected) in cases {
            assert_eq!(normalize_line_ends(text.as_bytes()), expected.as_bytes(), "{text:?}");
        }
    }
}
