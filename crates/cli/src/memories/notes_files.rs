//! Says which files are exchanged through the ref of the notes: those of memories, and nothing else.

use std::collections::HashSet;
use std::fs;

use memod_base::paths::IoContext as _;
use memod_base::types::{MAX_MEMORY_FILE, MEMORY_FILES_DIR, memory_file};
use memod_proto::memory::{ListParams, TallyParams, TallyResult};
use serde::Serialize;

use super::list;
use super::notes_git::NotesGit;
use super::request::caller;
use crate::context::CommandContext;
use crate::error::CliError;
use crate::text::{behind, escape};

/// Length of the part of an id after `mem_`: a ULID.
const ULID: usize = 26;
/// Number of memories that are asked for at once.
const PAGE: u64 = 1_000;

/// Something that others may not have.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Unfit {
    /// The path of a file, or the id of a commit.
    pub(super) path: String,
    /// Why others may not have it.
    pub(super) why: String,
}

/// The files of the worktree: paths from its top.
#[derive(Default)]
pub(super) struct Own {
    pub(super) paths: Vec<String>,
    /// The paths whose files are not valid memories.
    pub(super) bad: Vec<String>,
    /// Entries named like a memory that cannot be its file, such as a directory, each with the reason.
    pub(super) odd: Vec<Unfit>,
}

/// Returns the id of the memory whose file has this path.
pub(super) fn id_of_path(path: &str) -> Option<&str> {
    let id = path.strip_prefix(MEMORY_FILES_DIR)?.strip_prefix('/')?.strip_suffix(".md")?;
    let ulid = id.strip_prefix("mem_")?;
    // As the ULID specification has it: Crockford's base 32, at most 128 bits.
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() && !b"ILOU".contains(&byte);
    let is_ulid = ulid.len() == ULID && ulid.bytes().all(is_digit) && ulid.starts_with(|c: char| c <= '7');
    is_ulid.then_some(id)
}

/// Returns the files of the worktree, once the daemon has looked at them.
///
/// # Errors
/// When one of them is in conflict, or cannot be read.
pub(super) fn own_files(context: &CommandContext) -> Result<Own, CliError> {
    let (mut whole, mut disputed) = (HashSet::new(), Vec::new());
    let mut client = context.connect()?;
    let tags: TallyResult = client.call("memory.tags", &TallyParams { caller: caller(context) })?;
    if !tags.caveats.fresh {
        return Err(not_known(tags.caveats.reason.as_deref()));
    }
    let params = ListParams { caller: caller(context), limit: Some(PAGE), ..ListParams::default() };
    for memory in
        list::fetch_pages(&mut client, params, true)?.memories.into_iter().filter(|memory| memory.shared)
    {
        match memory.conflict.as_deref() {
            Some("ours") => disputed.push(memory.id),
            // Theirs alone: what is this user's alone says something else, and others need not wait for that.
            _ => drop(whole.insert(memory.id)),
        }
    }
    disputed.sort();
    disputed.dedup();
    if !disputed.is_empty() {
        return Err(in_conflict(&disputed));
    }
    let dir = context.layout.root.join(MEMORY_FILES_DIR);
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Own::default()),
        read => read.at("list", &dir)?,
    };
    let mut own = Own::default();
    for entry in entries.flatten() {
        let path = format!("{MEMORY_FILES_DIR}/{}", entry.file_name().to_string_lossy());
        let Some(id) = id_of_path(&path) else { continue };
        match fs::symlink_metadata(entry.path()) {
            Err(_) => {} // gone meanwhile
            Ok(meta) if !meta.is_file() => own.odd.push(Unfit { path, why: "no regular file".to_owned() }),
            Ok(meta) if meta.len() > MAX_MEMORY_FILE => {
                own.odd.push(Unfit { path, why: format!("over {MAX_MEMORY_FILE} bytes") });
            }
            Ok(_) => {
                if !whole.contains(id) {
                    own.bad.push(path.clone());
                }
                own.paths.push(path);
            }
        }
    }
    own.paths.sort();
    Ok(own)
}

/// Returns the error for files that cannot be read: what they say is not known, and so not screened.
fn not_known(why: Option<&str>) -> CliError {
    CliError::Git {
        message: format!("{}; nothing was exchanged", escape(&behind(why))),
        hint: "run it again when all files of memories can be read".to_owned(),
    }
}

/// Returns the error for files in conflict.
pub(super) fn in_conflict(ids: &[String]) -> CliError {
    CliError::Git {
        message: format!("in conflict: {}", ids.join(", ")),
        hint: "`memo get ID` shows both sides, `memo resolve ID --ours|--theirs|--text TEXT` ends it; then exchange again"
            .to_owned(),
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
        (mode == "100644" && size <= MAX_MEMORY_FILE && id_of_path(path).is_some()).then_some(())
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
            ".memod/memories/mem_01ARZ3NDEKTSV4RRFFQ69G5FAI.md",
            ".memod/memories/mem_81ARZ3NDEKTSV4RRFFQ69G5FAV.md",
            ".memod/memories/mem_01arz3ndektsv4rrffq69g5fav.md",
            "x/.memod/memories/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
        ] {
            assert_eq!(id_of_path(path), None, "{path}");
        }
    }
}
