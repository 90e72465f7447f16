//! Finds the files of memories, the only files that are exchanged through the notes ref.

use std::collections::HashSet;
use std::fs;

use memod_base::paths::IoContext as _;
use memod_base::types::{MAX_MEMORY_FILE_BYTES, MEMORY_FILES_DIR, memory_file_path};
use memod_proto::memory::{ListParams, TallyParams, TallyResult};
use memod_terminal::text::{escape_for_display, not_up_to_date_message};
use memod_terminal::{CliError, CommandContext};
use serde::Serialize;

use crate::memories::list_memories;
use crate::memories::notes_git::NotesGit;
use crate::memories::request::new_caller;

/// Length of the part of an id after `mem_`: a ULID.
const ULID_LEN: usize = 26;
/// Number of memories fetched by one request.
const PAGE_SIZE: u64 = 1_000;

/// A file or commit that may not be sent to others.
#[derive(Clone, Debug, Serialize)]
pub(super) struct UnsendableItem {
    /// The path of a file, or the id of a commit.
    pub(super) path: String,
    /// Why others may not have it.
    pub(super) why: String,
}

/// The memory files of a worktree; paths are relative to its top.
#[derive(Default)]
pub(super) struct ListedMemoryFiles {
    pub(super) paths: Vec<String>,
    /// Paths whose files are not valid memories.
    pub(super) invalid: Vec<String>,
    /// Entries that have the name of a memory file but cannot be one, such as a directory, each with the reason.
    pub(super) unusable: Vec<UnsendableItem>,
}

/// Returns the id of the memory whose file has this path; `None` if it is not the path of a memory file.
pub(super) fn memory_id_from_path(path: &str) -> Option<&str> {
    let id = path.strip_prefix(MEMORY_FILES_DIR)?.strip_prefix('/')?.strip_suffix(".md")?;
    let ulid = id.strip_prefix("mem_")?;
    // According to the ULID specification: Crockford's base 32, at most 128 bits.
    let is_ulid =
        ulid.len() == ULID_LEN && ulid.bytes().all(is_base32_digit) && ulid.starts_with(|c: char| c <= '7');
    is_ulid.then_some(id)
}

fn is_base32_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase() && !b"ILOU".contains(&byte)
}

/// Returns the memory files of the worktree, after the daemon has read them.
///
/// # Errors
/// When one of the files is in conflict or cannot be read.
pub(super) fn read_worktree_files(context: &CommandContext) -> Result<ListedMemoryFiles, CliError> {
    let (mut valid_ids, mut conflicting_ids) = (HashSet::new(), Vec::new());
    let mut client = context.connect()?;
    let tags: TallyResult = client.call("memory.tags", &TallyParams { caller: new_caller(context) })?;
    if !tags.caveats.fresh {
        return Err(files_unreadable_error(tags.caveats.reason.as_deref()));
    }
    let params = ListParams { caller: new_caller(context), limit: Some(PAGE_SIZE), ..ListParams::default() };
    for memory in list_memories::fetch_pages(&mut client, params, true)?
        .memories
        .into_iter()
        .filter(|memory| memory.shared)
    {
        match memory.conflict.as_deref() {
            Some("ours") => conflicting_ids.push(memory.id),
            // A conflict without a side `ours` concerns this user only, and others need not wait until it is resolved.
            _ => drop(valid_ids.insert(memory.id)),
        }
    }
    conflicting_ids.sort();
    conflicting_ids.dedup();
    if !conflicting_ids.is_empty() {
        return Err(conflict_error(&conflicting_ids));
    }
    let dir = context.layout.root.join(MEMORY_FILES_DIR);
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(ListedMemoryFiles::default()),
        read => read.at("list", &dir)?,
    };
    let mut files = ListedMemoryFiles::default();
    for entry in entries.flatten() {
        let path = format!("{MEMORY_FILES_DIR}/{}", entry.file_name().to_string_lossy());
        let Some(id) = memory_id_from_path(&path) else { continue };
        match fs::symlink_metadata(entry.path()) {
            Err(_) => {} // the file was removed meanwhile
            Ok(meta) if !meta.is_file() => {
                files.unusable.push(UnsendableItem { path, why: "not a regular file".to_owned() });
            }
            Ok(meta) if meta.len() > MAX_MEMORY_FILE_BYTES => {
                files
                    .unusable
                    .push(UnsendableItem { path, why: format!("over {MAX_MEMORY_FILE_BYTES} bytes") });
            }
            Ok(_) => {
                if !valid_ids.contains(id) {
                    files.invalid.push(path.clone());
                }
                files.paths.push(path);
            }
        }
    }
    files.paths.sort();
    Ok(files)
}

/// Returns the error for files that cannot be read. Nothing is exchanged then, because an unknown text cannot be screened.
fn files_unreadable_error(why: Option<&str>) -> CliError {
    CliError::Git {
        message: format!("{}; nothing was exchanged", escape_for_display(&not_up_to_date_message(why))),
        hint: "run `memo share sync` again when all files of memories can be read".to_owned(),
    }
}

/// Returns the error for files in conflict, which names the ids of their memories.
pub(super) fn conflict_error(ids: &[String]) -> CliError {
    CliError::Git {
        message: format!("in conflict: {}", ids.join(", ")),
        hint: "`memo get ID` shows both sides, `memo resolve ID --ours|--theirs|--text TEXT` ends a conflict; then run `memo share sync` again"
            .to_owned(),
    }
}

/// Fails if a commit has anything but memory files, because it would be written into the worktree. `whose` says in the error who
/// has the commit.
pub(super) fn require_only_memory_files(
    git: &NotesGit<'_>,
    commit: &str,
    whose: &str,
) -> Result<(), CliError> {
    let listed = git.run_git(&["ls-tree", "-r", "-l", "-z", "--full-tree", commit])?;
    match listed.split('\0').find(|entry| !entry.is_empty() && !is_memory_file_entry(entry)) {
        None => Ok(()),
        Some(entry) => {
            let path = entry.split_once('\t').map_or(entry, |(_, path)| path);
            Err(CliError::Git {
                message: format!(
                    "refs/memod/notes of {}: {} is not a file of a memory; nothing was imported",
                    escape_for_display(whose),
                    escape_for_display(path)
                ),
                hint: format!(
                    "only files such as {} may be in this ref: ask the person who pushed the file to remove it",
                    memory_file_path("mem_…")
                ),
            })
        }
    }
}

/// Returns whether an entry of `git ls-tree -l` is the file of a memory: `MODE TYPE OBJECT SIZE<tab>PATH`.
fn is_memory_file_entry(entry: &str) -> bool {
    let Some((form, path)) = entry.split_once('\t') else { return false };
    let mut form = form.split_ascii_whitespace();
    let (mode, size) = (form.next(), form.nth(2).and_then(|size| size.parse::<u64>().ok()));
    mode == Some("100644")
        && size.is_some_and(|size| size <= MAX_MEMORY_FILE_BYTES)
        && memory_id_from_path(path).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_memories_have_an_id() {
        let id = "mem_01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(memory_id_from_path(&memory_file_path(id)), Some(id));
        for path in [
            ".env",
            ".memod/memories/mem_draft.md",
            ".memod/memories/sub/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
            ".memod/memories/../mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
            ".memod/memories/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.MD",
            ".memod/memories/mem_01ARZ3NDEKTSV4RRFFQ69G5FAI.md",
            ".memod/memories/mem_81ARZ3NDEKTSV4RRFFQ69G5FAV.md",
            ".memod/memories/mem_01arz3ndektsv4rrffq69g5fav.md",
            "x/.memod/memories/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
        ] {
            assert_eq!(memory_id_from_path(path), None, "{path}");
        }
    }
}
