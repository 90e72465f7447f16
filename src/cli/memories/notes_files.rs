//! Says which files are exchanged through the ref of the notes: those of memories, and nothing else.

use std::collections::HashSet;
use std::fs;

use super::notes_git::NotesGit;
use super::request::caller;
use super::sync_notes::in_conflict;
use crate::cli::context::CommandContext;
use crate::cli::error::CliError;
use crate::cli::text::escape;
use crate::paths::IoContext as _;
use crate::proto::memory::{ListParams, MemoriesResult};
use crate::types::{MEMORY_FILES_DIR, memory_file};

/// Largest file of a memory, bytes.
const MAX_FILE: u64 = 64 << 10;
/// Length of the part of an id after `mem_`: a ULID.
const ULID: usize = 26;
/// Number of memories that are asked for at once.
const PAGE: u64 = 1_000;

/// The files of the worktree that are whole memories.
pub(super) struct Own(Vec<String>);

impl Own {
    /// Returns their paths, from the top of the worktree.
    pub(super) fn paths(&self) -> &[String] {
        &self.0
    }
}

/// Returns the id of the memory whose file has this path.
pub(super) fn id_of_path(path: &str) -> Option<&str> {
    let id = path.strip_prefix(MEMORY_FILES_DIR)?.strip_prefix('/')?.strip_suffix(".md")?;
    let ulid = id.strip_prefix("mem_")?;
    let is_ulid =
        ulid.len() == ULID && ulid.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    is_ulid.then_some(id)
}

/// Returns the files of the worktree, once the daemon has looked at them.
///
/// # Errors
/// When one of them is in conflict, or is no memory, as with a credential in it: nobody reviews what is exchanged.
pub(super) fn own_files(context: &CommandContext) -> Result<Own, CliError> {
    let (mut whole, mut disputed) = (HashSet::new(), Vec::new());
    let mut client = context.connect()?;
    for offset in (0..).step_by(PAGE as usize) {
        let params =
            ListParams { caller: caller(context), limit: Some(PAGE), offset, ..ListParams::default() };
        let page: MemoriesResult = client.call("memory.list", &params)?;
        let is_last = offset + PAGE >= page.total;
        for memory in page.memories.into_iter().filter(|memory| memory.shared) {
            match memory.conflict {
                None => drop(whole.insert(memory.id)),
                Some(_) => disputed.push(memory.id),
            }
        }
        if is_last {
            break;
        }
    }
    disputed.sort();
    disputed.dedup();
    if !disputed.is_empty() {
        return Err(in_conflict(&disputed));
    }
    let dir = context.layout.root.join(MEMORY_FILES_DIR);
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Own(Vec::new())),
        read => read.at("list", &dir)?,
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut paths: Vec<String> = names.map(|name| format!("{MEMORY_FILES_DIR}/{name}")).collect();
    paths.retain(|path| id_of_path(path).is_some());
    paths.sort();
    match paths.iter().find(|path| id_of_path(path).is_some_and(|id| !whole.contains(id))) {
        None => Ok(Own(paths)),
        Some(path) => Err(CliError::Git {
            message: format!("{path}: is no memory that others may have; nothing was exchanged"),
            hint: "`memo doctor` says why: correct it, or remove it".to_owned(),
        }),
    }
}

/// Fails if a commit has anything but files of memories: it would be written into the worktree.
pub(super) fn refuse_others(git: &NotesGit<'_>, commit: &str, whose: &str) -> Result<(), CliError> {
    let listed = git.run(&["ls-tree", "-r", "-l", "-z", "--full-tree", commit])?;
    let is_file = |entry: &str| {
        // `MODE TYPE OBJECT SIZE<tab>PATH`
        let (form, path) = entry.split_once('\t')?;
        let mut form = form.split_ascii_whitespace();
        let (mode, size) = (form.next()?, form.nth(2)?.parse::<u64>().ok()?);
        (mode == "100644" && size <= MAX_FILE && id_of_path(path).is_some()).then_some(())
    };
    match listed.split('\0').find(|entry| !entry.is_empty() && is_file(entry).is_none()) {
        None => Ok(()),
        Some(entry) => {
            let path = entry.split_once('\t').map_or(entry, |(_, path)| path);
            Err(CliError::Git {
                message: format!(
                    "refs/memod/notes of {}: {} is no file of a memory; nothing was taken",
                    escape(whose),
                    escape(path)
                ),
                hint: format!(
                    "only {} and the like may be there: ask who has pushed it to take it out",
                    memory_file("mem_…")
                ),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_memories_have_an_id() {
        let id = "mem_01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(id_of_path(&memory_file(id)), Some(id));
        for path in [
            ".env",
            ".memod/memories/mem_draft.md",
            ".memod/memories/sub/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
            ".memod/memories/../mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
            ".memod/memories/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.MD",
            ".memod/memories/mem_01arz3ndektsv4rrffq69g5fav.md",
            "x/.memod/memories/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
        ] {
            assert_eq!(id_of_path(path), None, "{path}");
        }
    }
}
