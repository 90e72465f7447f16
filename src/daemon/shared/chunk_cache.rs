//! Caches the chunks of each worktree, and updates them when its files change.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use memod_base::threads::lock;
use memod_base::types::{SourceKey, WorktreeId};
use memod_database::DatabaseError;
use memod_index_db::{IndexReader, ManifestChange};
use memod_search::worktree_chunks::{ChangedPath, WorktreeChunks};

use crate::daemon::shared::worktree_cache::{CacheValue, WorktreeCache};

/// Maximum memory of the chunks of all worktrees together, bytes: enough for some five million chunks.
const MOST_BYTES: usize = 256 << 20;

/// Maximum number of paths in a change that are updated one by one, and of changes that are remembered for a worktree.
const MAX_CHANGED_PATHS: usize = 32;
const MAX_REMEMBERED_CHANGES: usize = 16;

/// Caches the chunks of worktrees.
pub(in crate::daemon) struct ChunkCache {
    worktrees: WorktreeCache<CachedChunks>,
    changes: Mutex<HashMap<WorktreeId, RecentChanges>>,
}

/// The last changes of a worktree, newest first: its sequence number after each, and the changed paths.
type RecentChanges = VecDeque<(u64, Vec<SourceKey>)>;

/// The chunks of a worktree as they are in a snapshot.
#[derive(Clone)]
struct CachedChunks {
    /// Epoch and sequence number of the worktree.
    clock: Option<(i64, u64)>,
    /// Number of contents that had been extracted again by then.
    n_replaced: u64,
    chunks: Arc<WorktreeChunks>,
}

impl CacheValue for CachedChunks {
    fn size_bytes(&self) -> usize {
        self.chunks.size_bytes()
    }
}

impl Default for ChunkCache {
    fn default() -> Self {
        Self { worktrees: WorktreeCache::new(MOST_BYTES), changes: Mutex::default() }
    }
}

impl ChunkCache {
    /// Forgets all chunks, and the paths that have changed.
    pub(in crate::daemon) fn clear(&self) {
        self.worktrees.retain_worktrees(&[]);
        self.lock_changes().clear();
    }

    fn lock_changes(&self) -> MutexGuard<'_, HashMap<WorktreeId, RecentChanges>> {
        lock(&self.changes)
    }

    /// Notes the paths that a write to the index has changed, and the sequence number of the worktree after it. If a change is not
    /// noted, all paths are read again.
    pub(in crate::daemon) fn note_changes(&self, view: WorktreeId, seq: u64, changes: &[ManifestChange]) {
        if changes.len() > MAX_CHANGED_PATHS {
            return;
        }
        let mut views = self.lock_changes();
        let noted = views.entry(view).or_default();
        noted.truncate(MAX_REMEMBERED_CHANGES - 1);
        noted.push_front((seq, changes.iter().map(|change| change.key().clone()).collect()));
    }

    /// Returns the paths that changed between two sequence numbers; `None` if a change between them was not noted.
    fn list_changed_between(&self, view: WorktreeId, from: u64, to: u64) -> Option<BTreeSet<SourceKey>> {
        let views = self.lock_changes();
        let n_changes = usize::try_from(to.checked_sub(from)?).ok()?;
        if n_changes > MAX_REMEMBERED_CHANGES {
            return None;
        }
        let changes = (from + 1..=to)
            .map(|seq| {
                let of_view = views.get(&view)?;
                of_view.iter().find(|(noted, _)| *noted == seq).map(|(_, keys)| keys)
            })
            .collect::<Option<Vec<_>>>()?;
        Some(changes.into_iter().flatten().cloned().collect())
    }

    /// Returns the chunks of a worktree in the snapshot of `reader`.
    ///
    /// Cached chunks are current if the clock of the worktree, which every change of its files moves, and the number of contents
    /// that were extracted again, perhaps for another worktree, are the same.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(in crate::daemon) fn current_chunks(
        &self,
        reader: &IndexReader,
        view: WorktreeId,
    ) -> Result<Arc<WorktreeChunks>, DatabaseError> {
        let clock = reader.find_worktree(view)?.map(|row| (row.epoch, row.seq));
        let n_replaced = reader.n_extracted_again()?;
        let kept = self.worktrees.update_value(view, |former| -> Result<_, DatabaseError> {
            let chunks = match former {
                Some(kept) if kept.clock == clock && kept.n_replaced == n_replaced => kept.chunks,
                former => {
                    let views = reader.list_worktrees()?;
                    self.worktrees.retain_worktrees(&views);
                    self.lock_changes().retain(|view, _| views.contains(view));
                    match former
                        .as_ref()
                        .and_then(|kept| self.list_changed_since(view, kept, clock, n_replaced))
                    {
                        Some(changed) => patch_chunks(reader, view, changed, former)?,
                        None => {
                            update_chunks(reader, view, former.map(|kept| kept.chunks).unwrap_or_default())?
                        }
                    }
                }
            };
            Ok(CachedChunks { clock, n_replaced, chunks })
        })?;
        Ok(kept.chunks)
    }

    /// Returns the paths that changed since the chunks were read; `None` if they are unknown or something else has changed too.
    fn list_changed_since(
        &self,
        view: WorktreeId,
        kept: &CachedChunks,
        clock: Option<(i64, u64)>,
        n_replaced: u64,
    ) -> Option<BTreeSet<SourceKey>> {
        let ((epoch, seq), (former_epoch, former_seq)) = (clock?, kept.clock?);
        let is_same = epoch == former_epoch && n_replaced == kept.n_replaced;
        self.list_changed_between(view, former_seq, seq).filter(|_| is_same)
    }
}

/// Returns the former chunks after those of the changed paths were read from the index again.
fn patch_chunks(
    reader: &IndexReader,
    view: WorktreeId,
    changed: BTreeSet<SourceKey>,
    former: Option<CachedChunks>,
) -> Result<Arc<WorktreeChunks>, DatabaseError> {
    let mut chunks = former.map(|kept| kept.chunks).unwrap_or_default();
    let changed = changed
        .into_iter()
        .map(|key| -> Result<ChangedPath, DatabaseError> {
            Ok((key.as_str().into(), reader.first_chunk(view, &key)?))
        })
        .collect::<Result<Vec<_>, _>>()?;
    Arc::make_mut(&mut chunks).patch(changed, |first| reader.read_content(first))?;
    Ok(chunks)
}

/// Returns the chunks after all paths were compared with the index.
fn update_chunks(
    reader: &IndexReader,
    view: WorktreeId,
    mut chunks: Arc<WorktreeChunks>,
) -> Result<Arc<WorktreeChunks>, DatabaseError> {
    let mut list = Vec::new();
    reader.each_path(view, |path, first| list.push((path.into(), first)))?;
    // If a search still uses the former chunks, they stay as they are, and a copy is updated.
    Arc::make_mut(&mut chunks).replace_paths(list, |first| reader.read_content(first))?;
    Ok(chunks)
}
