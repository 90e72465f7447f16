//! Saves the locations of the last search's hits, for `memo open N` and `memo show N`.
//!
//! Each session of the operating system, such as a terminal, has its own file in the state dir. The file has the paths and line
//! numbers of the hits, and no text.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memod_base::paths::{IoContext, RepoLayout, canonicalize_path, create_private_dir, replace_private};
use memod_proto::Hit;
use memod_terminal::text::{find_matches, format_count};
use memod_terminal::{CliError, CommandContext, Output};
use serde::{Deserialize, Serialize};

/// Most sessions whose searches are saved.
const MOST_SESSIONS: usize = 32;

/// The last search of a session.
#[derive(Debug, Default, Serialize, Deserialize)]
struct LastSearch {
    /// Top of the worktree.
    root: PathBuf,
    /// Locations of the hits, best first.
    places: Vec<HitLocation>,
}

/// The location of a hit.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HitLocation {
    /// Lines of a file.
    File {
        /// Path relative to the top of the worktree.
        path: String,
        /// The first line that matches.
        line: u32,
        /// First and last line of the hit, inclusive; for a use, its line.
        lines: (u32, u32),
    },
    /// A memory, by its id.
    Memory(String),
    /// A commit, by its id.
    Commit(String),
}

impl HitLocation {
    /// Returns the location of a hit, given the words of its query.
    pub(crate) fn from_hit(hit: &Hit, terms: &[String]) -> Self {
        if hit.memory.is_some() {
            return Self::Memory(hit.id.clone().unwrap_or_default());
        }
        if let Some(commit) = &hit.commit {
            return Self::Commit(commit.oid.clone());
        }
        let lines = hit.numbered_lines();
        let matching = lines.iter().find(|line| !find_matches(line.text, terms).is_empty());
        let line = matching.map_or(hit.lines.0, |line| line.first);
        Self::File { path: hit.path.clone(), line, lines: hit.lines }
    }
}

/// Saves the locations of the hits of a search. A write error is ignored; `memo open N` then finds no search.
pub(crate) fn save_hit_locations(context: &CommandContext, places: Vec<HitLocation>) {
    let last = LastSearch { root: context.layout.root.clone(), places };
    let _ = write_last_search(&session_file(&context.layout), &last);
}

/// Returns the last search of this session and the time at which it was saved; `None` if there was none.
fn load_last_search(layout: &RepoLayout) -> Option<(LastSearch, SystemTime)> {
    let file = session_file(layout);
    let kept_at = fs::symlink_metadata(&file).ok()?.modified().ok()?;
    let text = fs::read(&file).ok()?;
    Some((serde_json::from_slice(&text).ok()?, kept_at))
}

/// A hit of the last search.
pub(crate) enum LastHit {
    /// Lines of a file.
    File {
        /// Absolute path.
        path: PathBuf,
        /// The first line that matches.
        line: u32,
        /// First and last line of the hit, inclusive.
        lines: (u32, u32),
    },
    /// A memory, by its id.
    Memory(String),
}

/// Returns the `nth` hit of the last search, 1-based. Says on stderr if its file has changed since.
///
/// # Errors
/// When there is no such hit, it is a commit, or its file is no regular file any more.
pub(crate) fn find_last_hit(
    nth: usize,
    context: &CommandContext,
    output: &Output,
) -> Result<LastHit, CliError> {
    let memo = &context.memo_command;
    let search = format!("run `{memo} search QUERY` first; for a file of this name, write ./{nth}");
    let Some((LastSearch { root, places }, kept_at)) = load_last_search(&context.layout) else {
        return Err(no_hit_error(
            format!("{nth}: no search of this terminal in this repository yet"),
            search,
        ));
    };
    match nth.checked_sub(1).and_then(|nth| places.get(nth)) {
        None => {
            let n_hits = format_count(places.len() as u64, "hit", "hits");
            let message = format!("{nth}: the last search of this terminal has {n_hits}");
            let hint = match places.len() {
                0 => search,
                1 => format!("give 1; for a file of this name, write ./{nth}"),
                n_hits => format!("give a number from 1 to {n_hits}; for a file of this name, write ./{nth}"),
            };
            Err(no_hit_error(message, hint))
        }
        Some(HitLocation::Memory(id)) => Ok(LastHit::Memory(id.clone())),
        Some(HitLocation::Commit(oid)) => {
            Err(no_hit_error(format!("{nth}: a commit"), format!("`git show {oid}` shows it")))
        }
        Some(HitLocation::File { path, line, lines }) => {
            let file = require_regular_file(&root, path)?;
            let changed_at = file.symlink_metadata().and_then(|meta| meta.modified()).at("open", &file)?;
            if changed_at > kept_at {
                output.write_note(&format!(
                    "{path} has changed since the search; line {line} may be a different one"
                ));
            }
            Ok(LastHit::File { path: file, line: *line, lines: *lines })
        }
    }
}

/// Returns the error for a hit that is a memory where a file is needed.
pub(crate) fn memory_hit_error(nth: usize, id: &str, context: &CommandContext) -> CliError {
    no_hit_error(format!("{nth}: a memory"), format!("`{} get {id}` shows it", context.memo_command))
}

fn no_hit_error(message: String, hint: String) -> CliError {
    CliError::NoHit { message, hint }
}

/// Returns the path of a file in the worktree. Fails for anything but a regular file, because an editor would follow a link, and
/// would wait for a FIFO.
pub(crate) fn require_regular_file(root: &Path, path: &str) -> Result<PathBuf, CliError> {
    let file = root.join(path);
    let is_file = file.symlink_metadata().at("open", &file)?.is_file();
    if is_file && canonicalize_path(&file)? == canonicalize_path(root)?.join(path) {
        return Ok(file);
    }
    let message = format!("{path}: not a regular file any more, but a link or a special file");
    Err(no_hit_error(message, "search again; `ls -l` shows the current file".to_owned()))
}

fn session_file(layout: &RepoLayout) -> PathBuf {
    layout.state_dir.join("searches").join(format!("{}.json", session_id()))
}

/// Returns the session id, which all commands of one terminal share; 0 if the leader of the session is in another PID namespace, as
/// for a command that was started in a container from outside. rustix knows no session 0: it panics, or makes a
/// `NonZero` of it.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the safe function takes every session for a process that can be seen")]
fn session_id() -> i32 {
    // SAFETY: asks about this process alone and touches no memory.
    unsafe { libc::getsid(0) }
}

#[cfg(not(unix))]
fn session_id() -> i32 {
    0
}

/// Writes a file completely or not at all.
fn write_last_search(file: &Path, last: &LastSearch) -> io::Result<()> {
    let dir = file.parent().unwrap_or(Path::new("."));
    create_private_dir(dir).map_err(io::Error::other)?;
    replace_private(file, &serde_json::to_vec(last)?).map_err(io::Error::other)?;
    remove_oldest_files(dir)
}

fn remove_oldest_files(dir: &Path) -> io::Result<()> {
    let entries = fs::read_dir(dir)?.filter_map(Result::ok);
    let mut files: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort();
    let n_over = files.len().saturating_sub(MOST_SESSIONS);
    files[..n_over].iter().try_for_each(|(_, path)| fs::remove_file(path))
}
