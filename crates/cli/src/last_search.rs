//! Keeps where the hits of the last search are, for `memo open N` and `memo show N`.
//!
//! Each session of the system, such as a terminal, has a file of its own in the state dir. It has the paths and lines of the
//! hits, and no text.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memod_base::paths::{IoContext, RepoLayout, canonical, create_private_dir, replace_private};
use memod_proto::Hit;
use serde::{Deserialize, Serialize};

use super::context::CommandContext;
use super::error::CliError;
use super::output::Output;
use super::text::{count, matches};

/// Most sessions whose searches are kept.
const MOST_SESSIONS: usize = 32;

/// The last search.
#[derive(Debug, Default, Serialize, Deserialize)]
struct LastSearch {
    /// Top of the worktree.
    root: PathBuf,
    /// Where the hits are, best first.
    places: Vec<HitLocation>,
}

/// Where a hit is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum HitLocation {
    /// Lines of a file.
    File {
        /// From the top of the worktree.
        path: String,
        /// The first that matches.
        line: u32,
    },
    /// A memory, by its id.
    Memory(String),
    /// A commit, by its id.
    Commit(String),
}

impl HitLocation {
    /// Returns the location of a hit, given the words of its query.
    pub(super) fn of(hit: &Hit, terms: &[String]) -> Self {
        if hit.memory.is_some() {
            return Self::Memory(hit.id.clone().unwrap_or_default());
        }
        if let Some(commit) = &hit.commit {
            return Self::Commit(commit.oid.clone());
        }
        let lines = hit.numbered_lines();
        let matching = lines.iter().find(|(_, line)| !matches(line, terms).is_empty());
        Self::File { path: hit.path.clone(), line: matching.map_or(hit.lines.0, |(number, _)| *number) }
    }
}

/// Keeps a search. Where nothing can be written, `memo open N` has nothing to open.
pub(super) fn keep(context: &CommandContext, places: Vec<HitLocation>) {
    let last = LastSearch { root: context.layout.root.clone(), places };
    let _ = write(&file_of_session(&context.layout), &last);
}

/// Returns the last search of this session and when it was kept; `None` if there was none.
fn last(layout: &RepoLayout) -> Option<(LastSearch, SystemTime)> {
    let file = file_of_session(layout);
    let kept_at = fs::symlink_metadata(&file).ok()?.modified().ok()?;
    let text = fs::read(&file).ok()?;
    Some((serde_json::from_slice(&text).ok()?, kept_at))
}

/// Returns the file and line of a hit of the last search, and says so if the file has changed since.
pub(super) fn file(
    nth: usize,
    context: &CommandContext,
    output: &Output,
) -> Result<(PathBuf, u32), CliError> {
    let none =
        |message: &str, hint: &str| CliError::NoHit { message: message.to_owned(), hint: hint.to_owned() };
    let memo = &context.memo;
    let search = format!("`{memo} search QUERY` first; a file of this name is ./{nth}");
    let Some((LastSearch { root, places }, kept_at)) = last(&context.layout) else {
        return Err(none(&format!("{nth}: no search of this terminal in this repository yet"), &search));
    };
    match nth.checked_sub(1).and_then(|nth| places.get(nth)) {
        None => {
            let n_hits = count(places.len() as u64, "hit", "hits");
            Err(none(&format!("{nth}: the last search of this terminal has {n_hits}"), &search))
        }
        Some(HitLocation::Memory(id)) => {
            Err(none(&format!("{nth}: a memory"), &format!("`{memo} get {id}` shows it")))
        }
        Some(HitLocation::Commit(oid)) => {
            Err(none(&format!("{nth}: a commit"), &format!("`git show {oid}` shows it")))
        }
        Some(HitLocation::File { path, line }) => {
            let file = regular(&root, path)?;
            let changed_at = file.symlink_metadata().and_then(|meta| meta.modified()).at("open", &file)?;
            if changed_at > kept_at {
                output.say(&format!("{path} has changed since the search; line {line} may be another one"));
            }
            Ok((file, *line))
        }
    }
}

/// Returns the path of a file that was found in the worktree. What has come into its place since is refused: an editor would
/// follow a link, and wait for a FIFO.
pub(super) fn regular(root: &Path, path: &str) -> Result<PathBuf, CliError> {
    let file = root.join(path);
    let is_file = file.symlink_metadata().at("open", &file)?.is_file();
    if is_file && canonical(&file)? == canonical(root)?.join(path) {
        return Ok(file);
    }
    let message = format!("{path}: no regular file any more, but a link or something special");
    Err(CliError::NoHit { message, hint: "search again; `ls -l` shows what is there now".to_owned() })
}

fn file_of_session(layout: &RepoLayout) -> PathBuf {
    layout.state_dir.join("searches").join(format!("{}.json", session()))
}

/// Returns what the commands of one terminal have in common; 0 where the leader of the session is in another PID namespace,
/// as for a command that was started in a container from outside. rustix knows no session 0: it panics, or makes a
/// `NonZero` of it.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the safe function takes every session for a process that can be seen")]
fn session() -> i32 {
    // SAFETY: asks about this process alone and touches no memory.
    unsafe { libc::getsid(0) }
}

#[cfg(not(unix))]
fn session() -> i32 {
    0
}

/// Writes a file completely or not at all.
fn write(file: &Path, last: &LastSearch) -> io::Result<()> {
    let dir = file.parent().unwrap_or(Path::new("."));
    create_private_dir(dir).map_err(io::Error::other)?;
    replace_private(file, &serde_json::to_vec(last)?).map_err(io::Error::other)?;
    forget_oldest(dir)
}

fn forget_oldest(dir: &Path) -> io::Result<()> {
    let entries = fs::read_dir(dir)?.filter_map(Result::ok);
    let mut files: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort();
    let n_over = files.len().saturating_sub(MOST_SESSIONS);
    files[..n_over].iter().try_for_each(|(_, path)| fs::remove_file(path))
}
