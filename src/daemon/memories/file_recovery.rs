//! Completes changes of the files of memories that a daemon or `memo sync-notes` left undone when it was killed or failed.
//!
//! A file changes places with its new text under a name that has the hash of that text. So what came out of the place is known
//! even when nothing else is: what somebody saved meanwhile goes back.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use memod_base::paths::{
    FORMER, IoContext as _, NOTES_LOCK, NOTES_NEW, NOTES_OUT, PathError, RepoLayout, hash_digits,
    is_free_for, remove_if_there, rename_over, rename_to_free, swap_files,
};
use memod_memory::file;
use memod_memory_db::{FileState, MemoryStore, PendingFile, ShownBy};

use super::file_disk::{ASIDE, Hash, NO_TEXT, Placed, SWAPPED, hash_on_disk, place, prepare};
use super::file_form::state_of;
use super::rules::Done;

/// Ending that a file had which `memo sync-notes` was changing.
const NOTES: &str = ".notes";
/// Ending of the name of a saved file that says no memory: without a dot before it, so that `memo doctor` lists it.
const SAVED: &str = ".saved";

/// What was left, and what came of it.
#[derive(Default)]
pub(super) struct Recovered {
    /// Whether files or rows were changed, so that the files are to be looked at again.
    pub(super) is_changed: bool,
    /// Names of files that are not as the rows say.
    pub(super) unwritten: BTreeSet<String>,
    /// Why the first of them is not.
    pub(super) why: Option<PathError>,
}

impl Recovered {
    fn note(&mut self, name: &str, done: Result<bool, PathError>) {
        match done {
            Ok(is_changed) => self.is_changed |= is_changed,
            Err(error) => {
                self.unwritten.insert(name.to_owned());
                self.why.get_or_insert(error);
            }
        }
    }
}

/// Completes or undoes each change that was left in a worktree. One that fails does not stop the others.
pub(super) fn recover(layout: &RepoLayout, store: &mut MemoryStore, now_ms: i64) -> Done<Recovered> {
    let root = &layout.root;
    let pending = store.read(now_ms, |rows| Ok(rows.pending()?))?;
    let mut recovered = Recovered::default();
    let (aside, out): (Vec<Left>, Vec<Left>) =
        left_in(layout).into_iter().partition(|left| matches!(left.kind, Kind::Aside));
    for left in &out {
        let change = pending.iter().find(|change| change.name == left.name);
        let done = match left.bring_back(change) {
            Ok(Kept::Passed(state)) => {
                // So it is in the history, before the next look takes what was saved after it.
                store.write(now_ms, |rows| {
                    Ok(rows.take_files(std::slice::from_ref(&*state), &BTreeSet::new())?)
                })?;
                remove_if_there(&left.path).map(|()| true)
            }
            Ok(Kept::Settled(is_changed)) => Ok(is_changed),
            Err(error) => Err(error),
        };
        recovered.note(&left.name, done);
    }
    let files: Vec<PendingFile> =
        pending.into_iter().filter(|file| !recovered.unwritten.contains(&file.name)).collect();
    let Placed { done, failed, .. } = write_again(root, files);
    if !done.is_empty() {
        recovered.is_changed = true;
        store.write(now_ms, |rows| Ok(rows.end_pending(&done)?))?;
    }
    failed.into_iter().for_each(|(name, error)| recovered.note(&name, Err(error)));
    for left in aside {
        let _ = fs::remove_file(left.path); // of a transaction that was not committed
    }
    Ok(recovered)
}

fn write_again(root: &Path, files: Vec<PendingFile>) -> Placed {
    let mut unprepared = Vec::new();
    let mut is_prepared = |file: &PendingFile| match prepare(root, std::slice::from_ref(file)) {
        Ok(()) => true,
        Err(error) => {
            unprepared.push((file.name.clone(), error));
            false
        }
    };
    let prepared: Vec<PendingFile> = files.into_iter().filter(|file| is_prepared(file)).collect();
    let mut placed = place(root, &prepared);
    placed.failed.extend(unprepared);
    placed
}

/// A file that was left.
struct Left {
    path: PathBuf,
    /// Name of the memory's file.
    name: String,
    kind: Kind,
    /// Whether `memo sync-notes` may have it under this name.
    is_of_notes: bool,
}

enum Kind {
    /// Written for a transaction that was not committed, or not whole.
    Aside,
    /// It changed places with a memory's file. The beginning of the hash of the text that was to take the place of that.
    Swapped(String),
    /// It was moved away so that another could take its place.
    Former,
}

/// What became of a file that was left.
enum Kept {
    /// It is where it belongs, or is gone because it is known; whether files were changed.
    Settled(bool),
    /// It was saved before what is in its place.
    Passed(Box<FileState>),
}

/// Lists what was left; nothing if the directory cannot be listed, which the look says.
fn left_in(layout: &RepoLayout) -> Vec<Left> {
    let entries = fs::read_dir(layout.root.join(file::DIR)).into_iter().flatten().flatten();
    let mut left: Vec<Left> = entries.filter_map(|entry| Left::of(entry.path())).collect();
    if left.iter().any(|left| left.is_of_notes) && is_exchanging(layout) {
        left.retain(|left| !left.is_of_notes); // after they were listed: none of them is of a later one
    }
    left
}

/// Returns whether `memo sync-notes` runs in a worktree: what it has under other names is not left.
fn is_exchanging(layout: &RepoLayout) -> bool {
    let lock = layout.git_dir.as_ref().map(|dir| File::open(dir.join(NOTES_LOCK)));
    let Some(Ok(lock)) = lock else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Returns whether a name is one under which `memo sync-notes` may have left the file of a memory.
pub(super) fn may_be_left_by_notes(name: &str) -> bool {
    name.starts_with('.') && [NOTES_NEW, NOTES_OUT, FORMER, NOTES].iter().any(|ending| name.ends_with(ending))
}

impl Left {
    fn of(path: PathBuf) -> Option<Self> {
        let whole = path.file_name()?.to_str()?;
        let is_of_notes = may_be_left_by_notes(whole);
        let beside = whole.strip_prefix('.')?;
        let (name, kind) = if let Some(name) = strip_one(beside, [ASIDE, NOTES_NEW]) {
            (name, Kind::Aside)
        } else if let Some(name) = strip_one(beside, [FORMER, NOTES]) {
            (name, Kind::Former)
        } else {
            let (name, digits) = strip_one(beside, [SWAPPED, NOTES_OUT])?.rsplit_once('.')?;
            (name, Kind::Swapped(digits.to_owned()))
        };
        file::id_of(name).ok()?;
        let name = name.to_owned();
        Some(Self { path, name, kind, is_of_notes })
    }

    /// Brings a file back to its place if somebody has saved it, and removes it if its text is known.
    fn bring_back(&self, change: Option<&PendingFile>) -> Result<Kept, PathError> {
        let place = self.path.with_file_name(&self.name);
        let Some(hash) = hash_on_disk(&self.path)? else { return Ok(Kept::Settled(false)) };
        let present = hash_on_disk(&place)?;
        let is_moved_away = matches!(self.kind, Kind::Former) && present.is_none();
        let is_of_before = change.is_some_and(|change| change.former == Some(hash)) && !is_moved_away;
        let is_known = is_of_before || present == Some(hash) && hash != NO_TEXT;
        if self.is_new(&hash, change) || is_known {
            return remove_if_there(&self.path).map(|()| Kept::Settled(false));
        }
        match present {
            None => {
                let renamed = is_free_for(rename_to_free(&self.path, &place));
                renamed.at("rename to", &place).map(|_| Kept::Settled(true))
            }
            Some(present) if self.is_new(&present, change) => {
                match self.kind {
                    Kind::Former => rename_over(&self.path, &place).at("rename to", &place)?,
                    // The next look removes what comes out, if that is known.
                    _ => swap_files(&self.path, &place).at("swap", &place)?,
                }
                Ok(Kept::Settled(true))
            }
            Some(_) => self.pass(),
        }
    }

    /// Returns whether a text is what was to take the place.
    fn is_new(&self, hash: &Hash, change: Option<&PendingFile>) -> bool {
        let is_of_change =
            || change.and_then(|change| change.text.as_deref()).is_some_and(|text| file::hash(text) == *hash);
        matches!(&self.kind, Kind::Swapped(of) if *of == hash_digits(hash)) || is_of_change()
    }

    /// Returns what the file says, which was saved before what is in its place. What says no memory gets a name that is seen.
    fn pass(&self) -> Result<Kept, PathError> {
        let bytes = fs::read(&self.path).at("read", &self.path)?;
        let state = file::id_of(&self.name).ok().zip(file::text_of(&bytes).ok());
        let state = state.map(|(id, text)| state_of(&self.name, &id, &text, false));
        match state.filter(|state| matches!(state.shown, ShownBy::Versions(_))) {
            Some(state) => Ok(Kept::Passed(Box::new(state))),
            None => {
                for number in 1.. {
                    let ending = if number == 1 { SAVED.to_owned() } else { format!("{SAVED}-{number}") };
                    let seen = self.path.with_file_name(format!("{}{ending}", self.name));
                    if is_free_for(rename_to_free(&self.path, &seen)).at("rename to", &seen)? {
                        break;
                    }
                }
                Ok(Kept::Settled(true))
            }
        }
    }
}

/// Returns a name without the one of two endings that it has.
fn strip_one<'a>(name: &'a str, endings: [&str; 2]) -> Option<&'a str> {
    endings.iter().find_map(|ending| name.strip_suffix(ending))
}
