//! Looks at the files of shared memories, and makes their rows equal to them.
//!
//! Each request looks: it lists the directory and compares the signatures of the files with those of the last look. So a file
//! that git or an editor has just written is in the answer, whether or not a watcher works. Only what differs is read.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::file_disk::recover;
use super::file_form::version_of;
use super::keeper::Memories;
use super::known_files::{FileCounters, Listed, Look};
use super::rules::Done;
use crate::daemon::clock::now_ms;
use crate::daemon::error::{RpcResult, busy};
use crate::daemon::memory_scope::UNKNOWN;
use crate::memory::Refused;
use crate::memory::file::{self, MemoryFile};
use crate::paths::{IoContext as _, PathError, RepoLayout, is_transient};
use crate::proto::RpcError;
use crate::scan::{self, lstat};
use crate::store::{FileState, FileVersion, MemoryStore, Rows, ShownBy, Side};
use crate::types::{SourceKey, Stat};

/// Number of looks while files are written.
const ATTEMPTS: usize = 8;

impl Memories {
    /// Returns the number of a worktree as the last look had it.
    pub(super) fn last_worktree(&self, layout: &RepoLayout) -> i64 {
        self.files.last(&worktree_key(layout)).map_or(UNKNOWN, |look| look.worktree)
    }

    /// Makes the rows of shared memories equal to the files of a worktree; returns its number. Blocks. Where files cannot be
    /// listed or read, the rows stay, and the reason is told.
    ///
    /// # Errors
    /// When the rows cannot be written. Nothing is changed then.
    pub(super) fn look_at_files(&self, layout: &RepoLayout) -> RpcResult<i64> {
        let (key, counters) = (worktree_key(layout), self.files.counters());
        for _ in 0..ATTEMPTS {
            let n_written = counters.n_written();
            let generation = self.generation.load(Ordering::Acquire);
            let read_at_ns = now_ms().saturating_mul(1_000_000);
            let known = self.files.last(&key).filter(|look| look.generation == generation);
            let mut failure = None;
            let seen = match seen(&layout.root, known.as_deref()) {
                Ok((_, None)) if known.as_ref().is_some_and(|look| is_current(look, &counters)) => {
                    return Ok(known.map_or(UNKNOWN, |look| look.worktree));
                }
                Ok((listed, read)) => Some((listed, read.unwrap_or_default())),
                Err(error) => {
                    failure = Some(error.to_string());
                    None
                }
            };
            let (listed, read) = seen.unzip();
            let applied = Applied {
                key: key.clone(),
                names: listed.as_ref().map(|listed: &Listed| listed.keys().cloned().collect()),
                read: read.unwrap_or_default(),
                is_first: known.is_none(),
                layout: layout.clone(),
            };
            let counters = counters.clone();
            let job = move |store: &mut MemoryStore| -> Done<Option<(Taken, u64)>> {
                if counters.n_written() != n_written {
                    return Ok(None); // what was read may be of before
                }
                let taken = applied.to(store, &counters)?;
                Ok(taken.map(|taken| (taken, store.generation())))
            };
            let answer = self.send(job)?.blocking_recv().map_err(|_| self.failed())?;
            let Some((taken, generation)) = answer.map_err(RpcError::from)? else { continue };
            match (failure.or(taken.failure), listed) {
                (None, Some(files)) => {
                    self.files
                        .set_last(key, Look::new(taken.worktree, (generation, n_written), files, read_at_ns));
                }
                (failure, _) => {
                    let why = failure.unwrap_or_default();
                    // Each request looks, so it is logged once.
                    if self.files.set_failure(taken.worktree, &why) {
                        tracing::warn!(why, "files of memories");
                    }
                }
            }
            return Ok(taken.worktree);
        }
        Err(busy(format!("{}: files are written faster than they can be read", file::DIR)))
    }
}

/// Returns whether the rows are as the worktree needs them, if its files have not changed since a look. One that had none may have
/// been given some by a verb, which are gone again.
fn is_current(look: &Look, counters: &FileCounters) -> bool {
    match look.worktree {
        UNKNOWN => look.n_written == counters.n_written(),
        worktree => counters.is_linked(worktree),
    }
}

/// Lists the files, and reads those that differ from the last look; `None` if none can.
fn seen(root: &Path, last: Option<&Look>) -> Result<(Listed, Option<Vec<FileState>>), PathError> {
    let listed = list(root)?;
    if last.is_some_and(|look| look.is_of(&listed)) {
        return Ok((listed, None));
    }
    let changed = listed.iter().filter(|(name, stat)| last.is_none_or(|look| !look.has_read(name, stat)));
    let read = changed.map(|(name, stat)| read(root, name, stat, &listed)).collect::<Result<_, _>>()?;
    Ok((listed, Some(read)))
}

/// Returns the name of a worktree that stays when the repository is moved: its git dir, from the common dir.
pub(super) fn worktree_key(layout: &RepoLayout) -> String {
    let (Some(git_dir), Some(common_dir)) = (&layout.git_dir, &layout.common_dir) else {
        return String::new();
    };
    git_dir.strip_prefix(common_dir).unwrap_or(git_dir).to_string_lossy().into_owned()
}

/// Returns the names in the directory with their signatures.
///
/// # Errors
/// When it cannot be listed, or is not a directory of the worktree.
fn list(root: &Path) -> Result<Listed, PathError> {
    let mut dir = root.to_owned();
    for part in file::DIR.split('/') {
        dir.push(part);
        match fs::symlink_metadata(&dir) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => {
                let error = io::Error::other("not a directory; the files of shared memories are in one");
                return Err(error).at("list", &dir);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(BTreeMap::new());
            }
            Err(error) => return Err(error).at("look at", &dir),
        }
    }
    let mut listed = BTreeMap::new();
    for entry in fs::read_dir(&dir).at("list", &dir)? {
        let entry = entry.at("list", &dir)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue; // ours while a file is written, or of another program
        }
        match lstat(&entry.path()) {
            Ok(stat) => drop(listed.insert(name, stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).at("look at", &entry.path()),
        }
    }
    Ok(listed)
}

/// Reads one file.
///
/// # Errors
/// When it cannot be read at the moment.
fn read(root: &Path, name: &str, stat: &Stat, listed: &Listed) -> Result<FileState, PathError> {
    let nothing = |why: String| {
        let hash = *blake3::hash(why.as_bytes()).as_bytes();
        Ok(FileState { name: name.to_owned(), hash, shown: ShownBy::Nothing(why) })
    };
    let id = match file::id_of(name) {
        Ok(id) => id,
        Err(_) if listed.keys().any(|other| other != name && other.eq_ignore_ascii_case(name)) => {
            return nothing(
                "its name differs from that of another file in upper and lower case alone".to_owned(),
            );
        }
        Err(refused) => return nothing(refused.to_string()),
    };
    let key = SourceKey::new(format!("{}/{name}", file::DIR));
    let path = root.join(key.as_str());
    match fs::symlink_metadata(&path) {
        Ok(meta) if meta.is_symlink() => return nothing("a symbolic link, which is not followed".to_owned()),
        Ok(meta) if !meta.is_file() => return nothing("not a regular file".to_owned()),
        _ => {}
    }
    let bytes = match scan::bytes(root, &key, file::MAX_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return nothing(format!("{} bytes, over {}", stat.size, file::MAX_FILE)),
        Err(error) if is_transient(&error) => return Err(error).at("read", &path),
        Err(error) => return nothing(error.to_string()),
    };
    match file::text_of(&bytes) {
        Ok(text) => Ok(state_of(name, &id, &text)),
        Err(refused) => nothing(refused.to_string()),
    }
}

/// Returns what a file with this text shows.
fn state_of(name: &str, id: &str, text: &str) -> FileState {
    let version = |side: Side, text: &str| -> Result<FileVersion, Refused> {
        Ok(version_of(id, side, MemoryFile::parse(text)?))
    };
    let versions = match file::sides(text) {
        Err(why) => Err(why.to_owned()),
        Ok(None) => version(Side::Whole, text).map(|version| vec![version]).map_err(|why| why.to_string()),
        Ok(Some([ours, theirs])) => version(Side::Ours, &ours)
            .and_then(|ours| Ok(vec![ours, version(Side::Theirs, &theirs)?]))
            .map_err(|why| format!("in conflict, and one side cannot be read: {why}")),
    };
    let shown = versions.map_or_else(ShownBy::Nothing, ShownBy::Versions);
    FileState { name: name.to_owned(), hash: file::hash(text), shown }
}

/// The outcome of a look.
struct Taken {
    worktree: i64,
    /// Why files that are to be written could not be; nothing was taken then.
    failure: Option<String>,
}

/// What was read of a worktree, as it is applied to the rows.
struct Applied {
    key: String,
    /// The files that are there; `None` if they could not be listed, and then none is gone.
    names: Option<HashSet<String>>,
    read: Vec<FileState>,
    /// Whether this is the first look since the rows may have changed in other ways.
    is_first: bool,
    layout: RepoLayout,
}

impl Applied {
    /// Makes the rows equal to the files. Returns the number of the worktree; `None` if files were written, so that they are to
    /// be read again.
    fn to(&self, store: &mut MemoryStore, counters: &FileCounters) -> Done<Option<Taken>> {
        let now_ms = now_ms();
        let worktrees = store.read(now_ms, |rows| Ok(rows.worktrees()?))?;
        let known = worktrees.iter().find(|(_, git_dir)| *git_dir == self.key).map(|(worktree, _)| *worktree);
        let worktree = match known {
            Some(worktree) => worktree,
            None if self.names.as_ref().is_none_or(HashSet::is_empty) => {
                return Ok(Some(Taken { worktree: UNKNOWN, failure: None }));
            }
            None => store.write(now_ms, |rows| Ok(rows.worktree_number(&self.key)?))?,
        };
        store.enter_worktree(worktree);
        if self.is_first && self.names.is_some() {
            match recover(&self.layout.root, store, now_ms)? {
                Ok(false) => {}
                Ok(true) => {
                    counters.note_write();
                    return Ok(None);
                }
                Err(error) => return Ok(Some(Taken { worktree, failure: Some(error.to_string()) })),
            }
        }
        let rows = store.read(now_ms, |rows| Ok(rows.file_rows()?))?;
        let is_gone = |name: &String| self.names.as_ref().is_some_and(|names| !names.contains(name));
        let gone: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).filter(is_gone).collect();
        let hashes: HashMap<&str, [u8; 32]> = rows.iter().map(|row| (&*row.name, row.hash)).collect();
        let is_new = |file: &&FileState| hashes.get(&*file.name) != Some(&file.hash);
        let changed: Vec<FileState> = self.read.iter().filter(is_new).cloned().collect();
        let is_linked = counters.is_linked(worktree) || store.read(now_ms, |rows| Ok(rows.is_linked()?))?;
        if gone.is_empty() && changed.is_empty() {
            if !is_linked {
                store.write(now_ms, |rows| Ok(rows.link_files()?))?;
            }
            counters.set_linked(worktree);
            return Ok(Some(Taken { worktree, failure: None }));
        }
        store.write(now_ms, |rows: &Rows<'_>| {
            for (other, git_dir) in &worktrees {
                if *other != worktree && self.is_removed(git_dir) {
                    rows.forget_worktree(*other)?;
                }
            }
            Ok(rows.take_files(&changed, &gone)?)
        })?;
        counters.set_linked(worktree);
        Ok(Some(Taken { worktree, failure: None }))
    }

    /// Returns whether a worktree has certainly been removed.
    fn is_removed(&self, git_dir: &str) -> bool {
        let common_dir = self.layout.common_dir.as_ref();
        common_dir.is_some_and(|dir| matches!(dir.join(git_dir).try_exists(), Ok(false)))
    }
}
