//! Looks at the files of shared memories, and makes their rows equal to them.
//!
//! Each request looks: it lists the directory and compares the signatures of the files with those of the last look. So a file
//! that git or an editor has just written is in the answer, whether or not a watcher works. Only what differs is read.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::{fs, io};

use memod_base::paths::{IoContext as _, PathError, RepoLayout};
use memod_base::types::{SourceKey, Stat};
use memod_engine::clock::now_ms;
use memod_engine::errors::RpcResult;
use memod_engine::look_progress::LookProgress;
use memod_memory::file;
use memod_memory_db::{FileState, MemoryStore, Rows, ShownBy, Side, WorktreeRow};
use memod_proto::{RpcError, code};

use super::file_authors::{Authors, find_authors, set_authors};
use super::file_form::{is_rebasing, state_of};
use super::file_recovery::{Recovered, recover};
use super::gone_worktrees::place_of;
use super::keeper::Memories;
use super::known_files::{FileCounters, FilesState, Listing, Look};
use super::list_files::list;
use super::rules::Done;
use crate::daemon::request::error::busy;
use crate::daemon::request::memory_scope::UNKNOWN;

/// Number of looks while files are written.
const ATTEMPTS: usize = 8;

impl Memories {
    /// Returns the number of a worktree as the last look had it.
    pub(super) fn last_worktree(&self, layout: &RepoLayout) -> i64 {
        self.files.last(&worktree_key(layout)).map_or(UNKNOWN, |look| look.worktree)
    }

    /// Makes the rows of shared memories equal to the files of a worktree; returns its number. What worktrees had that are `gone` is
    /// archived. Memories are linked as the files say if this `links`. Blocks. The rows of files that cannot be listed or read stay, and
    /// the second value says why.
    ///
    /// # Errors
    /// When the rows cannot be written. Nothing is changed then.
    pub(super) fn look_at_files(
        &self,
        layout: &RepoLayout,
        gone: &[i64],
        links: bool,
        progress: &LookProgress,
    ) -> RpcResult<(i64, Option<String>)> {
        let (key, counters) = (worktree_key(layout), self.files.counters());
        let mut authors = Authors::new();
        for _ in 0..ATTEMPTS {
            let read_when = counters.state_of(&key);
            let generation = self.generation.load(Ordering::Acquire);
            let read_at_ns = now_ms().saturating_mul(1_000_000);
            let known = self.files.last(&key).filter(|look| look.generation == generation);
            let mut failure = None;
            let seen = seen(layout, known.as_deref(), progress);
            progress.end();
            let state = counters.note_look(&key);
            let is_current = |look: &Arc<Look>| gone.is_empty() && look.is_current(state, links, &counters);
            let seen = match seen {
                Ok((listed, None)) if known.as_ref().is_some_and(is_current) => {
                    let failure = listed.failure();
                    self.files.log_failure(&key, failure.as_ref());
                    return Ok((known.map_or(UNKNOWN, |look| look.worktree), failure));
                }
                Ok((listed, read)) => Some((listed, read.unwrap_or_default())),
                Err(error) => {
                    failure = Some(error.to_string());
                    None
                }
            };
            let (listed, read) = seen.unzip();
            let applied = Applied {
                names: listed.as_ref().map(|listed: &Listing| listed.names().cloned().collect()),
                has_same_sides: listed
                    .as_ref()
                    .is_none_or(|listed| known.as_ref().is_some_and(|look| look.has_same_sides(listed))),
                recovers: listed.as_ref().is_some_and(|listed| known.is_none() || listed.has_left),
                gone: gone.to_vec(),
                links,
                ..Applied::new(layout, read.unwrap_or_default(), &authors)
            };
            let taken = match self.apply(applied, read_when, None)? {
                TakeOutcome::Taken(taken) => taken,
                TakeOutcome::ReadAgain => continue,
                TakeOutcome::LacksAuthors(files) => {
                    find_authors(layout, files, progress, &mut authors);
                    continue;
                }
            };
            let mut failure = failure.or(taken.failure);
            if let Some(listed) = listed.filter(|_| failure.is_none()) {
                failure = listed.failure();
                let state = FilesState { n_taken: taken.n_taken, ..read_when };
                let of_rows = (taken.generation, state);
                self.files.set_last(key.clone(), Look::new(taken.worktree, of_rows, listed, read_at_ns));
            }
            self.files.log_failure(&key, failure.as_ref());
            return Ok((taken.worktree, failure));
        }
        Err(busy(format!("{}: files are written faster than they can be read", file::DIR)))
    }

    /// Takes what was saved in a known worktree into the rows; files that are gone, in conflict or unreadable are left to the next
    /// request, as they may be so only for a moment. Returns whether the worktree is known. Blocks.
    ///
    /// # Errors
    /// When the files cannot be read, or the rows cannot be written.
    pub(super) fn take_saved(&self, layout: &RepoLayout) -> RpcResult<bool> {
        let (key, counters) = (worktree_key(layout), self.files.counters());
        let mut authors = Authors::new();
        for _ in 0..ATTEMPTS {
            let (read_when, n_looks) = (counters.state_of(&key), counters.n_looks(&key));
            let generation = self.generation.load(Ordering::Acquire);
            let known = self.files.last(&key).filter(|look| look.generation == generation);
            let (listed, read) = seen(layout, known.as_deref(), &LookProgress::default())
                .map_err(|error| RpcError::new(code::IO, error.to_string()))?;
            let mut saved = read.unwrap_or_default();
            saved.retain(is_saved);
            let recovers = known.is_none() || listed.has_left;
            if saved.is_empty() && !recovers {
                return Ok(true);
            }
            let applied = Applied { recovers, ..Applied::new(layout, saved, &authors) };
            match self.apply(applied, read_when, Some(n_looks))? {
                TakeOutcome::Taken(taken) => return Ok(taken.worktree != UNKNOWN),
                TakeOutcome::ReadAgain => {}
                TakeOutcome::LacksAuthors(files) => {
                    find_authors(layout, files, &LookProgress::default(), &mut authors);
                }
            }
        }
        Ok(true) // it goes on, and so do the events
    }

    /// Applies what was read to the rows, unless these have changed since, or there were other than `n_looks`.
    fn apply(&self, applied: Applied, read_when: FilesState, n_looks: Option<u64>) -> RpcResult<TakeOutcome> {
        let counters = self.files.counters();
        let job = move |store: &mut MemoryStore| -> Done<TakeOutcome> {
            if counters.state_of(&applied.key) != read_when
                || n_looks.is_some_and(|n_looks| !counters.begin_take(&applied.key, n_looks))
            {
                return Ok(TakeOutcome::ReadAgain); // what was read may be of before
            }
            applied.to(store, &counters)
        };
        let answer = self.send(job)?.blocking_recv().map_err(|_| self.failed())?;
        answer.map_err(RpcError::from)
    }
}

/// Returns whether a file says one memory.
fn is_saved(file: &FileState) -> bool {
    matches!(&file.shown, ShownBy::Versions(versions) if matches!(versions.as_slice(), [version] if version.side == Side::Whole))
}

/// Lists the files, and reads those that differ from the last look; `None` if none can. One that cannot be read stops no other.
fn seen(
    layout: &RepoLayout,
    last: Option<&Look>,
    progress: &LookProgress,
) -> Result<(Listing, Option<Vec<FileState>>), PathError> {
    let root = &layout.root;
    let mut listed = Listing { is_rebasing: is_rebasing(layout), ..list(root, last, progress)? };
    if last.is_some_and(|look| look.is_of(&listed)) {
        return Ok((listed, None));
    }
    let files = listed.files.iter();
    let is_known =
        |name: &str, stat: &Stat, look: &Look| look.has_same_sides(&listed) && look.has_read(name, stat);
    let changed = files.filter(|(name, stat)| last.is_none_or(|look| !is_known(name, stat, look)));
    let changed: Vec<(String, Stat)> = changed.map(|(name, stat)| (name.clone(), *stat)).collect();
    let mut states = Vec::new();
    for (name, stat) in changed {
        progress.ask(&root.join(file::DIR).join(&name));
        let state = read(root, &name, &stat, &listed);
        if let Ok(FileState { shown: ShownBy::Versions(_), .. }) = &state {
            listed.barren.remove(&name);
        } else if listed.is_full_for(&name) && last.is_none_or(|look| !look.showed_memory(&name)) {
            listed.files.remove(&name);
            listed.left.insert(name);
            continue;
        } else {
            listed.barren.insert(name.clone());
        }
        match state {
            Ok(state) => states.push(state),
            Err(error) => {
                listed.files.remove(&name);
                listed.unread.insert(name, error.to_string());
            }
        }
    }
    Ok((listed, Some(states)))
}

/// Returns the name of a worktree that stays when the repository is moved: its git dir, from the common dir.
pub(super) fn worktree_key(layout: &RepoLayout) -> String {
    let (Some(git_dir), Some(common_dir)) = (&layout.git_dir, &layout.common_dir) else {
        return String::new();
    };
    git_dir.strip_prefix(common_dir).unwrap_or(git_dir).to_string_lossy().into_owned()
}

/// Reads one file.
///
/// # Errors
/// When it is there and cannot be read: what it says is not known.
fn read(root: &Path, name: &str, stat: &Stat, listed: &Listing) -> Result<FileState, PathError> {
    let nothing = |why: String| {
        let hash = *blake3::hash(why.as_bytes()).as_bytes();
        Ok(FileState { name: name.to_owned(), hash, shown: ShownBy::Nothing(why), event: None, edited: None })
    };
    let id = match file::id_of(name) {
        Ok(id) => id,
        Err(_) if listed.names().any(|other| other != name && other.eq_ignore_ascii_case(name)) => {
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
    let bytes = match memod_scan::read_bytes(root, &key, file::MAX_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return nothing(format!("{} bytes, over {}", stat.size, file::MAX_FILE)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return nothing(error.to_string()),
        Err(error) => return Err(error).at("read", &path),
    };
    match file::text_of(&bytes) {
        Ok(text) => Ok(state_of(name, &id, &text, listed.is_rebasing)),
        Err(refused) => nothing(refused.to_string()),
    }
}

/// The rows once they are as the files say.
struct Taken {
    worktree: i64,
    /// Why a file that is to be written could not be.
    failure: Option<String>,
    /// The generation of the rows.
    generation: u64,
    /// Number of times that the rows took what files of the worktree say.
    n_taken: u64,
}

/// What came of applying what was read.
enum TakeOutcome {
    /// It is in the rows.
    Taken(Taken),
    /// Files or rows were changed meanwhile, so that the files are to be read again.
    ReadAgain,
    /// Nothing was taken: first it is to be found out who has changed these.
    LacksAuthors(Vec<FileState>),
}

/// What was read of a worktree, as it is applied to the rows.
struct Applied {
    key: String,
    /// The files that are there; `None` if they could not be listed, or none is to be taken for gone.
    names: Option<HashSet<String>>,
    read: Vec<FileState>,
    /// Who has changed them, as far as was searched.
    authors: Authors,
    /// Whether changes that were left undone are to be completed first.
    recovers: bool,
    /// Whether the sides of conflicts are still those that the rows have.
    has_same_sides: bool,
    /// Numbers of worktrees that are gone.
    gone: Vec<i64>,
    /// Whether a request of the worktree waits, for which the memories are linked as its files say even if none has changed. A question
    /// from another worktree, or a file that was saved, links nothing anew.
    links: bool,
    layout: RepoLayout,
}

impl Applied {
    fn new(layout: &RepoLayout, read: Vec<FileState>, authors: &Authors) -> Self {
        Self {
            key: worktree_key(layout),
            names: None,
            read,
            authors: authors.clone(),
            recovers: false,
            has_same_sides: true,
            gone: Vec::new(),
            links: false,
            layout: layout.clone(),
        }
    }

    /// Makes the rows equal to the files.
    fn to(&self, store: &mut MemoryStore, counters: &FileCounters) -> Done<TakeOutcome> {
        let now_ms = now_ms();
        if self.forget_gone(store, now_ms)? {
            return Ok(TakeOutcome::ReadAgain);
        }
        let worktrees = store.read(now_ms, |rows| Ok(rows.worktrees()?))?;
        let known = worktrees.iter().find(|worktree| worktree.git_dir == self.key);
        let worktree = match known {
            Some(known) => known.number,
            None if self.names.as_ref().is_none_or(HashSet::is_empty) => {
                return Ok(self.taken(UNKNOWN, None, store, counters));
            }
            None => store.write(now_ms, |rows| Ok(rows.worktree_number(&self.key)?))?,
        };
        store.enter_worktree(worktree);
        self.set_place(store, known, now_ms)?;
        let mut recovered = Recovered::default();
        if self.recovers {
            recovered = recover(&self.layout, store, now_ms)?;
            if recovered.is_changed {
                counters.note_write();
                return Ok(TakeOutcome::ReadAgain);
            }
        }
        let lacking = self.take_files(store, counters, worktree, &recovered.unwritten, now_ms)?;
        if !lacking.is_empty() {
            return Ok(TakeOutcome::LacksAuthors(lacking));
        }
        let failure = recovered.why.map(|error| error.to_string());
        Ok(self.taken(worktree, failure, store, counters))
    }

    fn taken(
        &self,
        worktree: i64,
        failure: Option<String>,
        store: &MemoryStore,
        counters: &FileCounters,
    ) -> TakeOutcome {
        let n_taken = counters.state_of(&self.key).n_taken;
        TakeOutcome::Taken(Taken { worktree, failure, generation: store.generation(), n_taken })
    }

    /// Archives what only worktrees had that are gone, and has it said. Returns whether there were any.
    fn forget_gone(&self, store: &mut MemoryStore, now_ms: i64) -> Done<bool> {
        let made_ns = place_of(&self.layout).map(|(_, made_ns)| made_ns);
        // Another worktree may have got the git dir of one that is gone.
        let is_replaced = |worktree: &WorktreeRow| {
            worktree.git_dir == self.key
                && worktree.made_ns.zip(made_ns).is_some_and(|(known, now)| known != now)
        };
        let mut gone = store.read(now_ms, |rows| Ok(rows.worktrees()?))?;
        gone.retain(|worktree| self.gone.contains(&worktree.number) || is_replaced(worktree));
        if gone.is_empty() {
            return Ok(false);
        }
        store.enter_worktree(0);
        let forget = |rows: &Rows<'_>| -> Done<()> {
            for worktree in &gone {
                let ids = rows.forget_worktree(worktree.number)?;
                let place = worktree.root.as_ref().unwrap_or(&worktree.git_dir);
                tracing::info!(place, archived = ids.len(), "a worktree is gone");
                if !ids.is_empty() {
                    rows.note_gone_worktree(place, &ids)?;
                }
            }
            Ok(())
        };
        store.write(now_ms, forget)?;
        store.forget_looks(); // one that comes back has none of the rows that its last look has made
        Ok(true)
    }

    /// Records where the worktree is, if that is not as it is known.
    fn set_place(&self, store: &mut MemoryStore, known: Option<&WorktreeRow>, now_ms: i64) -> Done<()> {
        let Some((root, made_ns)) = place_of(&self.layout) else { return Ok(()) };
        if known.is_some_and(|known| (known.root.as_ref(), known.made_ns) == (Some(&root), Some(made_ns))) {
            return Ok(());
        }
        store.write(now_ms, |rows| Ok(rows.set_worktree_place(&root, made_ns)?))
    }

    /// Takes what is new, changed or gone into the rows, and links these as the files say. The rows of files that are `unwritten`
    /// stay: these are going to say what the rows do. Returns files of which it is to be found out first who has changed them.
    fn take_files(
        &self,
        store: &mut MemoryStore,
        counters: &FileCounters,
        worktree: i64,
        unwritten: &BTreeSet<String>,
        now_ms: i64,
    ) -> Done<Vec<FileState>> {
        let rows = store.read(now_ms, |rows| Ok(rows.file_rows()?))?;
        let is_gone = |name: &String| {
            self.names.as_ref().is_some_and(|names| !names.contains(name)) && !unwritten.contains(name)
        };
        let gone: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).filter(is_gone).collect();
        let hashes: HashMap<&str, [u8; 32]> = rows.iter().map(|row| (&*row.name, row.hash)).collect();
        let is_conflict =
            |file: &FileState| matches!(&file.shown, ShownBy::Versions(sides) if sides.len() > 1);
        let is_new = |file: &&FileState| {
            !unwritten.contains(&file.name)
                && (hashes.get(&*file.name) != Some(&file.hash) || !self.has_same_sides && is_conflict(file))
        };
        let mut changed: Vec<FileState> = self.read.iter().filter(is_new).cloned().collect();
        let lacking = set_authors(store, &mut changed, &self.authors, now_ms)?;
        if !lacking.is_empty() {
            return Ok(lacking);
        }
        // What is linked as the files of this worktree say stays so.
        let links = self.links || counters.is_linked(worktree);
        if !gone.is_empty() || !changed.is_empty() {
            let take = |rows: &Rows<'_>| match links {
                true => Ok(rows.take_files(&changed, &gone)?),
                false => Ok(rows.take_files_unlinked(&changed, &gone)?),
            };
            store.write(now_ms, take)?;
            counters.note_taken(&self.key);
        } else if links
            && !counters.is_linked(worktree)
            && !store.read(now_ms, |rows| Ok(rows.is_linked()?))?
        {
            store.write(now_ms, |rows| Ok(rows.link_files()?))?;
        }
        if self.recovers && store.read(now_ms, |rows| Ok(rows.lacks_remarks()?))? {
            store.write(now_ms, |rows| Ok(rows.learn_remarks(&self.read)?))?;
        }
        if links {
            counters.set_linked(worktree);
        }
        Ok(Vec::new())
    }
}
