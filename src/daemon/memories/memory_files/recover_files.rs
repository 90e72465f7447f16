//! Completes changes of the files of memories that a daemon or `memo share sync` left unfinished when it was killed or failed.
//!
//! A file is swapped with a temporary file whose name contains the hash of the new text. So recovery recognizes the swapped-out
//! text without any other record, and puts back an edit that somebody saved meanwhile.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use memod_base::paths::{
    FORMER_FILE_SUFFIX, IoContext as _, NOTES_LOCK_FILE_NAME, NOTES_NEW_SUFFIX, NOTES_SWAP_SUFFIX, PathError,
    RepoLayout, hash_prefix, remove_if_exists, rename_over, rename_without_overwrite, swap_files,
    was_renamed,
};
use memod_memory::file;
use memod_memory_db::{MemoriesInFile, MemoryFileSnapshot, MemoryStore, PendingFile};

use super::file_conversion::parse_state;
use super::place_files::{
    FileHash, NEW_ENDING, NOT_TEXT_HASH, PlacedFiles, SWAPPED_ENDING, hash_on_disk, put_in_place,
    write_temporary_files,
};
use crate::daemon::memories::rules::memory_rules::JobResult;

/// Ending of the name under which `memo share sync` puts the former text of a file that it changes.
const NOTES_FORMER: &str = ".notes";
/// Ending of the name of a recovered file that contains no memory. The name does not begin with a dot, so `memo doctor` lists the
/// file.
const SAVED_ENDING: &str = ".saved";

/// The result of completing the unfinished changes of files in a worktree.
#[derive(Default)]
pub(in crate::daemon::memories) struct RecoveryResult {
    /// Whether files or rows were changed, so that the files must be read again.
    pub(in crate::daemon::memories) is_changed: bool,
    /// Names of files that could not be written, and so differ from the rows.
    pub(in crate::daemon::memories) unwritten: BTreeSet<String>,
    /// Why the first of these files could not be written.
    pub(in crate::daemon::memories) why: Option<PathError>,
}

impl RecoveryResult {
    fn record_result(&mut self, name: &str, done: Result<bool, PathError>) {
        match done {
            Ok(is_changed) => self.is_changed |= is_changed,
            Err(error) => {
                self.unwritten.insert(name.to_owned());
                self.why.get_or_insert(error);
            }
        }
    }
}

/// Completes or undoes each unfinished change in a worktree. A failure does not stop the others.
pub(in crate::daemon::memories) fn recover_files(
    layout: &RepoLayout,
    store: &mut MemoryStore,
    now_ms: i64,
) -> JobResult<RecoveryResult> {
    let root = &layout.root;
    let pending = store.read(now_ms, |rows| Ok(rows.written_files().list_pending_files()?))?;
    let mut recovered = RecoveryResult::default();
    let (aside, out): (Vec<LeftoverFile>, Vec<LeftoverFile>) = list_leftover_files(layout)
        .into_iter()
        .partition(|left| matches!(left.kind, LeftoverKind::Uncommitted));
    for left in &out {
        let change = pending.iter().find(|change| change.name == left.name);
        let done = match left.recover_file(change) {
            Ok(LeftoverOutcome::Superseded(state)) => {
                // The history gets this text now, before the next reading of the files stores the text that was saved later.
                store.write(now_ms, |rows| {
                    Ok(rows.file_updates().apply_files(std::slice::from_ref(&*state), &BTreeSet::new())?)
                })?;
                remove_if_exists(&left.path).map(|()| true)
            }
            Ok(LeftoverOutcome::Recovered(is_changed)) => Ok(is_changed),
            Err(error) => Err(error),
        };
        recovered.record_result(&left.name, done);
    }
    let files: Vec<PendingFile> =
        pending.into_iter().filter(|file| !recovered.unwritten.contains(&file.name)).collect();
    let PlacedFiles { done, failed, .. } = write_pending(root, files);
    if !done.is_empty() {
        recovered.is_changed = true;
        store.write(now_ms, |rows| Ok(rows.written_files().remove_pending_files(&done)?))?;
    }
    failed.into_iter().for_each(|(name, error)| recovered.record_result(&name, Err(error)));
    for left in aside {
        let _ = fs::remove_file(left.path); // its transaction was not committed
    }
    Ok(recovered)
}

fn write_pending(root: &Path, files: Vec<PendingFile>) -> PlacedFiles {
    let (mut prepared, mut unprepared) = (Vec::new(), Vec::new());
    for file in files {
        match write_temporary_files(root, std::slice::from_ref(&file)) {
            Ok(()) => prepared.push(file),
            Err(error) => unprepared.push((file.name, error)),
        }
    }
    let mut placed = put_in_place(root, &prepared);
    placed.failed.extend(unprepared);
    placed
}

/// A temporary file that an unfinished change left.
struct LeftoverFile {
    path: PathBuf,
    /// Name of the memory's file.
    name: String,
    kind: LeftoverKind,
    /// Whether a running `memo share sync` may own a file of this name.
    is_of_notes: bool,
}

/// The reason why a killed transaction left a file behind.
enum LeftoverKind {
    /// Written for a transaction that was not committed, or not written completely.
    Uncommitted,
    /// Swapped with the file of a memory. Contains the first digits of the hash of the new text.
    Swapped(String),
    /// Moved away so that another file could take its place.
    Former,
}

/// The outcome of recovering one leftover file.
enum LeftoverOutcome {
    /// The file is back in its place, or was removed because its text is known. Contains whether files of memories were changed.
    Recovered(bool),
    /// Somebody saved the file before the one that is in its place now. Contains the state of the earlier file for the history.
    Superseded(Box<MemoryFileSnapshot>),
}

/// Lists the files that unfinished changes left. Returns none if the directory cannot be listed, which is reported when the files
/// of memories are read.
fn list_leftover_files(layout: &RepoLayout) -> Vec<LeftoverFile> {
    let entries = fs::read_dir(layout.root.join(file::DIR)).into_iter().flatten().flatten();
    let mut left: Vec<LeftoverFile> =
        entries.filter_map(|entry| LeftoverFile::from_path(entry.path())).collect();
    if left.iter().any(|left| left.is_of_notes) && is_sync_notes_running(layout) {
        left.retain(|left| !left.is_of_notes); // checked after the listing, so no file of a later run is among them
    }
    left
}

/// Returns whether `memo share sync` runs in a worktree, so that its temporary files are in use.
fn is_sync_notes_running(layout: &RepoLayout) -> bool {
    let lock = layout.git_dir.as_ref().map(|dir| File::open(dir.join(NOTES_LOCK_FILE_NAME)));
    let Some(Ok(lock)) = lock else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Returns whether `memo share sync` may have left a file under this name.
pub(in crate::daemon::memories) fn may_be_left_by_sync_notes(name: &str) -> bool {
    name.starts_with('.')
        && [NOTES_NEW_SUFFIX, NOTES_SWAP_SUFFIX, FORMER_FILE_SUFFIX, NOTES_FORMER]
            .iter()
            .any(|ending| name.ends_with(ending))
}

impl LeftoverFile {
    fn from_path(path: PathBuf) -> Option<Self> {
        let file_name = path.file_name()?.to_str()?;
        let is_of_notes = may_be_left_by_sync_notes(file_name);
        let visible_name = file_name.strip_prefix('.')?;
        let (name, kind) = if let Some(name) = strip_either(visible_name, [NEW_ENDING, NOTES_NEW_SUFFIX]) {
            (name, LeftoverKind::Uncommitted)
        } else if let Some(name) = strip_either(visible_name, [FORMER_FILE_SUFFIX, NOTES_FORMER]) {
            (name, LeftoverKind::Former)
        } else {
            let (name, digits) =
                strip_either(visible_name, [SWAPPED_ENDING, NOTES_SWAP_SUFFIX])?.rsplit_once('.')?;
            (name, LeftoverKind::Swapped(digits.to_owned()))
        };
        file::parse_file_name(name).ok()?;
        let name = name.to_owned();
        Some(Self { path, name, kind, is_of_notes })
    }

    /// Moves the leftover file back to its place if somebody has edited it, and removes it if its text is known.
    fn recover_file(&self, change: Option<&PendingFile>) -> Result<LeftoverOutcome, PathError> {
        let place = self.path.with_file_name(&self.name);
        let Some(hash) = hash_on_disk(&self.path)? else { return Ok(LeftoverOutcome::Recovered(false)) };
        let present = hash_on_disk(&place)?;
        let is_moved_away = matches!(self.kind, LeftoverKind::Former) && present.is_none();
        let is_of_before = change.is_some_and(|change| change.former == Some(hash)) && !is_moved_away;
        let is_known = is_of_before || present == Some(hash) && hash != NOT_TEXT_HASH;
        if self.is_new(&hash, change) || is_known {
            return remove_if_exists(&self.path).map(|()| LeftoverOutcome::Recovered(false));
        }
        match present {
            None => {
                let renamed = was_renamed(rename_without_overwrite(&self.path, &place));
                renamed.at("rename to", &place).map(|_| LeftoverOutcome::Recovered(true))
            }
            Some(present) if self.is_new(&present, change) => {
                match self.kind {
                    LeftoverKind::Former => rename_over(&self.path, &place).at("rename to", &place)?,
                    // The next recovery removes the swapped-out file if its text is known.
                    _ => swap_files(&self.path, &place).at("swap", &place)?,
                }
                Ok(LeftoverOutcome::Recovered(true))
            }
            Some(_) => self.save_superseded_file(),
        }
    }

    /// Returns whether a hash is that of the new text of the unfinished change.
    fn is_new(&self, hash: &FileHash, change: Option<&PendingFile>) -> bool {
        let new_text = change.and_then(|change| change.text.as_deref());
        matches!(&self.kind, LeftoverKind::Swapped(digits) if *digits == hash_prefix(hash))
            || new_text.is_some_and(|text| file::hash_file_text(text) == *hash)
    }

    /// Returns the state of the leftover file, which is older than the file now in its place. A leftover that shows no memory is
    /// renamed to a visible name.
    fn save_superseded_file(&self) -> Result<LeftoverOutcome, PathError> {
        let bytes = fs::read(&self.path).at("read", &self.path)?;
        let state = file::parse_file_name(&self.name).ok().zip(file::decode_file(&bytes).ok());
        let state = state.map(|(id, text)| parse_state(&self.name, &id, &text, false));
        match state.filter(|state| matches!(state.memories, MemoriesInFile::Versions(_))) {
            Some(state) => Ok(LeftoverOutcome::Superseded(Box::new(state))),
            None => {
                for number in 1.. {
                    let ending = if number == 1 {
                        SAVED_ENDING.to_owned()
                    } else {
                        format!("{SAVED_ENDING}-{number}")
                    };
                    let seen = self.path.with_file_name(format!("{}{ending}", self.name));
                    if was_renamed(rename_without_overwrite(&self.path, &seen)).at("rename to", &seen)? {
                        break;
                    }
                }
                Ok(LeftoverOutcome::Recovered(true))
            }
        }
    }
}

/// Returns a name without its ending, if it has one of two endings.
fn strip_either<'a>(name: &'a str, endings: [&str; 2]) -> Option<&'a str> {
    endings.iter().find_map(|ending| name.strip_suffix(ending))
}
