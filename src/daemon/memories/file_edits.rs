//! Takes edits of the files of memories as they happen.
//!
//! So the history has what was saved in a worktree, even if the worktree is removed before the next request. Files that are gone, in
//! conflict or unreadable are left to the next request: they may be so only for a moment.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use super::file_authors::set_authors_of_known;
use super::file_look::{read_changed, worktree_key};
use super::keeper::Memories;
use super::look_progress::LookProgress;
use super::rules::Done;
use crate::daemon::clock::now_ms;
use crate::daemon::error::RpcResult;
use crate::daemon::memory_scope::UNKNOWN;
use crate::daemon::shared::Shared;
use crate::paths::RepoLayout;
use crate::proto::RpcError;
use crate::store::{FileState, MemoryStore, ShownBy, Side, WorktreeRow};
use crate::threads::{caught, pause};

/// Takes the edits in worktrees whose files were changed, until the channel closes.
pub(in crate::daemon) fn take_edits(shared: &Shared, changed: &Receiver<RepoLayout>) {
    while let Ok(first) = changed.recv() {
        let began = Instant::now();
        let mut layouts: Vec<RepoLayout> = [first].into_iter().chain(changed.try_iter()).collect();
        layouts.sort_by(|a, b| a.root.cmp(&b.root));
        layouts.dedup();
        for layout in &layouts {
            // The next request finds out why it fails, and says so.
            let _ = caught(|| shared.memories.take_edits(layout));
        }
        pause(began.elapsed()); // at most half of the time is for this
    }
}

impl Memories {
    /// Takes what was saved in a worktree since its files were last looked at. Blocks.
    fn take_edits(&self, layout: &RepoLayout) -> RpcResult<()> {
        let counters = self.files.counters();
        let n_written = counters.n_written();
        let generation = self.generation.load(Ordering::Acquire);
        let key = worktree_key(layout);
        let last = self.files.last(&key).filter(|look| look.generation == generation);
        let Some(last) = last.filter(|look| look.worktree != UNKNOWN) else {
            // Not those of the last look: a verb may have given this one its first file since.
            let read = |store: &mut MemoryStore| -> Done<Vec<WorktreeRow>> {
                store.read(now_ms(), |rows| Ok(rows.worktrees()?))
            };
            let known = self.send(read)?.blocking_recv().map_err(|_| self.failed())?;
            if known.map_err(RpcError::from)?.iter().any(|worktree| worktree.git_dir == key) {
                return Ok(()); // without a look to compare with, what git writes now would be gone and come back
            }
            return self.look_at_files(layout, &[], &LookProgress::default()).map(drop);
        };
        let saved = read_changed(layout, &last).unwrap_or_default();
        let saved: Vec<FileState> = saved.into_iter().filter(is_saved).collect();
        if saved.is_empty() {
            return Ok(());
        }
        let (worktree, layout) = (last.worktree, layout.clone());
        let take = move |store: &mut MemoryStore| -> Done<()> {
            if counters.n_written() != n_written || store.generation() != generation {
                return Ok(()); // a verb writes files: it keeps what somebody has saved
            }
            store.enter_worktree(worktree);
            let rows = store.read(now_ms(), |rows| Ok(rows.file_rows()?))?;
            let known: HashMap<&str, [u8; 32]> = rows.iter().map(|row| (&*row.name, row.hash)).collect();
            let is_new = |file: &&FileState| known.get(&*file.name) != Some(&file.hash);
            let mut new: Vec<FileState> = saved.iter().filter(is_new).cloned().collect();
            set_authors_of_known(&layout, store, &mut new, now_ms())?;
            if !new.is_empty() {
                store.write(now_ms(), |rows| Ok(rows.take_files(&new, &BTreeSet::new())?))?;
                counters.set_linked(worktree);
            }
            Ok(())
        };
        let taken = self.send(take)?.blocking_recv().map_err(|_| self.failed())?;
        taken.map_err(RpcError::from)
    }
}

/// Returns whether a file says one memory.
fn is_saved(file: &FileState) -> bool {
    matches!(&file.shown, ShownBy::Versions(versions) if matches!(versions.as_slice(), [version] if version.side == Side::Whole))
}
