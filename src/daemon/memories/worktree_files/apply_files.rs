//! Reads the files of shared memories into the rows of the database.
//!
//! Each request lists the directory of memories, and compares the signatures of the files with those of the last listing. So a
//! file that git or an editor has just written is in the answer, whether or not a watcher works. Only changed files are read.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use memod_base::clock::now_ms;
use memod_base::paths::{IoContext as _, PathError, RepoLayout};
use memod_base::types::Stat;
use memod_engine::errors::RpcResult;
use memod_engine::errors::busy_error;
use memod_engine::file_access::file_access_progress::FileAccessProgress;
use memod_memory::file;
use memod_memory_db::{FileSide, KnownWorktree, MemoriesInFile, MemoryFileSnapshot, MemoryStore};
use memod_proto::{RpcError, code};

use super::last_edits::{LastEdits, search_last_edits, set_last_edits};
use super::list_files::list_files;
use super::outside_checkout::FilesOutsideCheckout;
use super::read_memory_file::{parse_bytes, read_file};
use crate::daemon::memories::memory_files::file_conversion::is_rebasing;
use crate::daemon::memories::memory_files::recover_files::{RecoveryResult, recover_files};
use crate::daemon::memories::rules::memory_rules::JobResult;
use crate::daemon::memories::rules::worktree_place::read_root_and_creation_time;
use crate::daemon::memories::rules::worktree_place::worktree_key;
use crate::daemon::shared::known_files::{FileCounters, FileListing, FilesState, KnownWorktreeFiles};
use crate::daemon::shared::memory_scope::UNKNOWN_WORKTREE;
use crate::daemon::shared::memory_thread::MemoryThread;

/// Most attempts to read the files while others write them.
const ATTEMPTS: usize = 8;

impl MemoryThread {
    /// Returns the number of a worktree as of the last time that its files were read.
    pub(super) fn last_worktree(&self, layout: &RepoLayout) -> i64 {
        self.files.find_worktree_files(&worktree_key(layout)).map_or(UNKNOWN_WORKTREE, |files| files.worktree)
    }

    /// Makes the rows of shared memories equal to the files of a worktree, and returns the number of the worktree. Archives
    /// memories that only `gone` worktrees had, and links memories as the files say if `links`. Blocks. Rows of files that cannot
    /// be listed or read stay as they are; the second value is the reason of that failure.
    ///
    /// # Errors
    /// When the rows cannot be written. Nothing is changed then.
    pub(in crate::daemon::memories) fn update_rows_from_files(
        &self,
        layout: &RepoLayout,
        gone: &[i64],
        links: bool,
        progress: &FileAccessProgress,
    ) -> RpcResult<(i64, Option<String>)> {
        let (key, counters) = (worktree_key(layout), self.files.counters());
        let mut edits = LastEdits::new();
        for _ in 0..ATTEMPTS {
            let read_when = counters.state_of(&key);
            let generation = self.generation.load(Ordering::Acquire);
            let read_at_ns = now_ms().saturating_mul(1_000_000);
            let known = self.files.find_worktree_files(&key).filter(|files| files.generation == generation);
            let mut failure = None;
            let seen = list_and_read_changed_files(layout, known.as_deref(), progress);
            progress.end_access();
            let state = counters.note_listing(&key);
            let is_current = gone.is_empty()
                && known.as_ref().is_some_and(|files| files.is_current(state, links, &counters));
            let seen = match seen {
                Ok((listed, None)) if is_current => {
                    let failure = listed.explain_failure();
                    self.files.log_failure(&key, failure.as_ref());
                    return Ok((known.map_or(UNKNOWN_WORKTREE, |files| files.worktree), failure));
                }
                Ok((listed, read)) => Some((listed, read.unwrap_or_default())),
                Err(error) => {
                    failure = Some(error.to_string());
                    None
                }
            };
            let (listed, read) = seen.unzip();
            let read_files = WorktreeFiles {
                names: listed.as_ref().map(|listed: &FileListing| listed.all_names().cloned().collect()),
                has_same_sides: listed
                    .as_ref()
                    .is_none_or(|listed| known.as_ref().is_some_and(|files| files.has_same_sides(listed))),
                completes_changes: listed
                    .as_ref()
                    .is_some_and(|listed| known.is_none() || listed.has_temporary),
                gone: gone.to_vec(),
                updates_links: links,
                ..WorktreeFiles::new(layout, read.unwrap_or_default(), &edits)
            };
            let taken_files = match self.apply_to_rows(read_files, read_when, None)? {
                ApplyOutcome::Applied(taken_files) => taken_files,
                ApplyOutcome::ReadAgain => continue,
                ApplyOutcome::LacksEdits(files) => {
                    search_last_edits(layout, files, progress, &mut edits);
                    continue;
                }
            };
            let mut failure = failure.or(taken_files.failure);
            if let Some(listed) = listed.filter(|_| failure.is_none()) {
                failure = listed.explain_failure();
                let state = FilesState { n_applied: taken_files.n_taken, ..read_when };
                self.files.set_worktree_files(
                    key.clone(),
                    KnownWorktreeFiles::new(
                        taken_files.worktree,
                        taken_files.generation,
                        state,
                        listed,
                        read_at_ns,
                    ),
                );
            }
            self.files.log_failure(&key, failure.as_ref());
            return Ok((taken_files.worktree, failure));
        }
        Err(busy_error(format!("{}: files are written faster than they can be read", file::DIR)))
    }

    /// Stores saved files of a known worktree in the rows. Files that are gone, in conflict or unreadable are left to the next
    /// request, because such a state may last only for a moment. Returns whether the worktree is known. Blocks.
    ///
    /// # Errors
    /// When the files cannot be read, or the rows cannot be written.
    pub(super) fn store_saved_files(&self, layout: &RepoLayout) -> RpcResult<bool> {
        let (key, counters) = (worktree_key(layout), self.files.counters());
        let mut edits = LastEdits::new();
        for _ in 0..ATTEMPTS {
            let (read_when, n_listings) = (counters.state_of(&key), counters.n_listings(&key));
            let generation = self.generation.load(Ordering::Acquire);
            let known = self.files.find_worktree_files(&key).filter(|files| files.generation == generation);
            let (listed, read) =
                list_and_read_changed_files(layout, known.as_deref(), &FileAccessProgress::default())
                    .map_err(|error| RpcError::new(code::IO, error.to_string()))?;
            let mut saved = read.unwrap_or_default();
            saved.retain(has_one_memory);
            let recovers = known.is_none() || listed.has_temporary;
            if saved.is_empty() && !recovers {
                return Ok(true);
            }
            let saved_files =
                WorktreeFiles { completes_changes: recovers, ..WorktreeFiles::new(layout, saved, &edits) };
            match self.apply_to_rows(saved_files, read_when, Some(n_listings))? {
                ApplyOutcome::Applied(taken) => return Ok(taken.worktree != UNKNOWN_WORKTREE),
                ApplyOutcome::ReadAgain => {}
                ApplyOutcome::LacksEdits(files) => {
                    search_last_edits(layout, files, &FileAccessProgress::default(), &mut edits);
                }
            }
        }
        Ok(true) // files are still being written, so more events follow
    }

    /// Applies files to the rows, unless files were written or stored since the read, or a request has listed the files since: the
    /// number of listings is no longer `n_listings`.
    fn apply_to_rows(
        &self,
        read_files: WorktreeFiles,
        read_when: FilesState,
        n_listings: Option<u64>,
    ) -> RpcResult<ApplyOutcome> {
        let counters = self.files.counters();
        let answer = self
            .send_job(move |store| -> JobResult<ApplyOutcome> {
                if counters.state_of(&read_files.key) != read_when
                    || n_listings.is_some_and(|n_listings| {
                        !counters.try_begin_applying_files(&read_files.key, n_listings)
                    })
                {
                    return Ok(ApplyOutcome::ReadAgain); // the files may have been read before the change
                }
                read_files.apply_to(store, &counters)
            })?
            .blocking_recv()
            .map_err(|_| self.thread_error())?;
        answer.map_err(RpcError::from)
    }
}

/// Returns whether a file contains exactly one memory.
fn has_one_memory(file: &MemoryFileSnapshot) -> bool {
    matches!(&file.memories, MemoriesInFile::Versions(versions) if matches!(versions.as_slice(), [version] if version.side == FileSide::Whole))
}

/// Returns whether a file contains two sides of a conflict.
fn has_two_sides(file: &MemoryFileSnapshot) -> bool {
    matches!(&file.memories, MemoriesInFile::Versions(sides) if sides.len() > 1)
}

/// Lists the files, and reads those that may differ from the last listing. Returns the listing and the files that were read; `None`
/// in place of the files if no file can differ. A file that cannot be read does not stop the others.
fn list_and_read_changed_files(
    layout: &RepoLayout,
    last: Option<&KnownWorktreeFiles>,
    progress: &FileAccessProgress,
) -> Result<(FileListing, Option<Vec<MemoryFileSnapshot>>), PathError> {
    let root = &layout.root;
    let mut listed = FileListing { is_rebasing: is_rebasing(layout), ..list_files(root, last, progress)? };
    let mut outside = FilesOutsideCheckout::read(layout)
        .map_err(io::Error::other)
        .at("find the memories outside the sparse checkout in", root)?;
    outside.add_to(&mut listed);
    if last.is_some_and(|files| files.is_unchanged_in(&listed)) {
        return Ok((listed, None));
    }
    let same_sides = last.filter(|files| files.has_same_sides(&listed));
    let changed = listed.files.iter();
    let changed =
        changed.filter(|(name, stat)| same_sides.is_none_or(|files| !files.is_unchanged_file(name, stat)));
    let changed: Vec<(String, Stat)> = changed.map(|(name, stat)| (name.clone(), *stat)).collect();
    let mut states = Vec::new();
    for (name, stat) in changed {
        progress.begin_access(&root.join(file::DIR).join(&name));
        let state = match outside.read_file(&name) {
            Ok(Some(bytes)) => Ok(parse_bytes(&name, &bytes, &listed)),
            Ok(None) => read_file(root, &name, &stat, &listed),
            Err(error) => {
                Err(io::Error::other(error)).at("read, outside the sparse checkout,", Path::new(&name))
            }
        };
        if let Ok(MemoryFileSnapshot { memories: MemoriesInFile::Versions(_), .. }) = &state {
            listed.without_memory.remove(&name);
        } else if listed.is_over_limit_with(&name) && last.is_none_or(|files| !files.contained_memory(&name))
        {
            listed.files.remove(&name);
            listed.skipped.insert(name);
            continue;
        } else {
            listed.without_memory.insert(name.clone());
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

/// The result of storing files in the rows.
struct AppliedFiles {
    worktree: i64,
    /// Why a pending file could not be written.
    failure: Option<String>,
    /// The generation of the rows.
    generation: u64,
    /// Number of times that files of the worktree were stored in the rows.
    n_taken: u64,
}

/// The outcome of applying files to the rows.
enum ApplyOutcome {
    /// The files are in the rows.
    Applied(AppliedFiles),
    /// Files or rows were changed meanwhile, so the files must be read again.
    ReadAgain,
    /// Nothing was stored: the last edits of these files must be searched for first.
    LacksEdits(Vec<MemoryFileSnapshot>),
}

/// The files that were read in a worktree, and how to apply them to the rows.
struct WorktreeFiles {
    key: String,
    /// Names of the existing files; `None` if they could not be listed, or no file may count as gone.
    names: Option<HashSet<String>>,
    file_states: Vec<MemoryFileSnapshot>,
    /// The last edits of the files, as far as they were searched for.
    edits: LastEdits,
    /// Whether to complete unfinished changes of the files first.
    completes_changes: bool,
    /// Whether ours and theirs of a conflict are still the same sides as in the rows; a rebase swaps them.
    has_same_sides: bool,
    /// Numbers of the worktrees that are gone.
    gone: Vec<i64>,
    /// Whether to link the memories as the files of this worktree say even if no file has changed. A request in the worktree needs
    /// these links; a request from another worktree or a saved file does not.
    updates_links: bool,
    layout: RepoLayout,
}

impl WorktreeFiles {
    fn new(layout: &RepoLayout, read: Vec<MemoryFileSnapshot>, edits: &LastEdits) -> Self {
        Self {
            key: worktree_key(layout),
            names: None,
            file_states: read,
            edits: edits.clone(),
            completes_changes: false,
            has_same_sides: true,
            gone: Vec::new(),
            updates_links: false,
            layout: layout.clone(),
        }
    }

    /// Makes the rows equal to the files, on the thread that owns the memories.
    fn apply_to(&self, store: &mut MemoryStore, counters: &FileCounters) -> JobResult<ApplyOutcome> {
        let now_ms = now_ms();
        if self.archive_gone_worktrees(store, now_ms)? {
            return Ok(ApplyOutcome::ReadAgain);
        }
        let worktrees = store.read(now_ms, |rows| Ok(rows.worktrees().list_worktrees()?))?;
        let known = worktrees.iter().find(|worktree| worktree.git_dir == self.key);
        let worktree = match known {
            Some(known) => known.number,
            None if self.names.as_ref().is_none_or(HashSet::is_empty) => {
                return Ok(self.build_applied(UNKNOWN_WORKTREE, None, store, counters));
            }
            None => store.write(now_ms, |rows| Ok(rows.worktrees().find_or_add_worktree(&self.key)?))?,
        };
        store.select_worktree(worktree);
        self.store_location(store, known, now_ms)?;
        let mut recovered = RecoveryResult::default();
        if self.completes_changes {
            recovered = recover_files(&self.layout, store, now_ms)?;
            if recovered.is_changed {
                counters.note_write();
                return Ok(ApplyOutcome::ReadAgain);
            }
        }
        let lacking = self.apply_changed_files(store, counters, worktree, &recovered.unwritten, now_ms)?;
        if !lacking.is_empty() {
            return Ok(ApplyOutcome::LacksEdits(lacking));
        }
        let failure = recovered.why.map(|error| error.to_string());
        Ok(self.build_applied(worktree, failure, store, counters))
    }

    fn build_applied(
        &self,
        worktree: i64,
        failure: Option<String>,
        store: &MemoryStore,
        counters: &FileCounters,
    ) -> ApplyOutcome {
        let n_taken = counters.state_of(&self.key).n_applied;
        ApplyOutcome::Applied(AppliedFiles {
            worktree,
            failure,
            generation: store.file_generation(),
            n_taken,
        })
    }

    /// Returns whether a file is missing from the listing; false if nothing could be listed.
    fn is_gone(&self, name: &str) -> bool {
        self.names.as_ref().is_some_and(|names| !names.contains(name))
    }

    /// Archives memories that only gone worktrees had, and records a notice. Returns whether a worktree was gone.
    fn archive_gone_worktrees(&self, store: &mut MemoryStore, now_ms: i64) -> JobResult<bool> {
        let made_ns = read_root_and_creation_time(&self.layout).map(|(_, made_ns)| made_ns);
        // A new worktree may have the git dir of a gone one.
        let mut gone = store.read(now_ms, |rows| Ok(rows.worktrees().list_worktrees()?))?;
        gone.retain(|worktree| {
            let is_replaced = worktree.git_dir == self.key
                && worktree.made_ns.zip(made_ns).is_some_and(|(known, now)| known != now);
            is_replaced || self.gone.contains(&worktree.number)
        });
        if gone.is_empty() {
            return Ok(false);
        }
        store.select_worktree(0);
        store.write(now_ms, |rows| -> JobResult<()> {
            for worktree in &gone {
                let ids = rows.shared().forget_worktree(worktree.number)?;
                let place = worktree.root.as_ref().unwrap_or(&worktree.git_dir);
                tracing::info!(place, archived = ids.len(), "a worktree is gone");
                if !ids.is_empty() {
                    rows.worktree_notices().record_gone_worktree(place, &ids)?;
                }
            }
            Ok(())
        })?;
        store.renew_generation(); // a worktree that comes back must be read again, because its rows were deleted
        Ok(true)
    }

    /// Records the location of the worktree, if it differs from the stored one.
    fn store_location(
        &self,
        store: &mut MemoryStore,
        known: Option<&KnownWorktree>,
        now_ms: i64,
    ) -> JobResult<()> {
        let Some((root, made_ns)) = read_root_and_creation_time(&self.layout) else { return Ok(()) };
        if known.is_some_and(|known| (known.root.as_ref(), known.made_ns) == (Some(&root), Some(made_ns))) {
            return Ok(());
        }
        store.write(now_ms, |rows| Ok(rows.worktrees().set_worktree_location(&root, made_ns)?))
    }

    /// Stores new, changed and gone files in the rows, and links the memories as the files say. Rows of `unwritten` files stay,
    /// because these files are going to be written from the rows. If the last edits of some files must be searched for first,
    /// stores nothing and returns these files.
    fn apply_changed_files(
        &self,
        store: &mut MemoryStore,
        counters: &FileCounters,
        worktree: i64,
        unwritten: &BTreeSet<String>,
        now_ms: i64,
    ) -> JobResult<Vec<MemoryFileSnapshot>> {
        let rows = store.read(now_ms, |rows| Ok(rows.files().list_file_rows()?))?;
        let gone: BTreeSet<String> = rows
            .iter()
            .map(|row| row.name.clone())
            .filter(|name| self.is_gone(name) && !unwritten.contains(name))
            .collect();
        let hashes: HashMap<&str, [u8; 32]> = rows.iter().map(|row| (&*row.name, row.hash)).collect();
        let written = self.file_states.iter().filter(|file| !unwritten.contains(&file.name));
        let changed = written.filter(|file| {
            hashes.get(&*file.name) != Some(&file.hash) || !self.has_same_sides && has_two_sides(file)
        });
        let mut changed: Vec<MemoryFileSnapshot> = changed.cloned().collect();
        let lacking = set_last_edits(store, &mut changed, &self.edits, now_ms)?;
        if !lacking.is_empty() {
            return Ok(lacking);
        }
        // Once memories are linked as the files of this worktree say, every later change updates the links.
        let links = self.updates_links || counters.is_linked(worktree);
        if !gone.is_empty() || !changed.is_empty() {
            store.write(now_ms, |rows| match links {
                true => Ok(rows.file_updates().apply_files(&changed, &gone)?),
                false => Ok(rows.file_updates().apply_files_without_links(&changed, &gone)?),
            })?;
            counters.note_files_applied(&self.key);
        } else if links
            && !counters.is_linked(worktree)
            && !store.read(now_ms, |rows| Ok(rows.file_links().are_links_current()?))?
        {
            store.write(now_ms, |rows| Ok(rows.file_links().update_file_links()?))?;
        }
        if self.completes_changes && store.read(now_ms, |rows| Ok(rows.files().lacks_remarks()?))? {
            store.write(now_ms, |rows| Ok(rows.files().fill_in_remarks(&self.file_states)?))?;
        }
        if links {
            counters.set_linked(worktree);
        }
        Ok(Vec::new())
    }
}
