//! Keeps which chunks each worktree has, and updates that by what changed.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use memod_base::threads::lock;
use memod_base::types::{SourceKey, ViewId};
use memod_database::DatabaseError;
use memod_index_db::{Change, Reader};
use memod_search::view_chunks::{ChangedPath, ViewChunks};

use crate::daemon::request::per_view::{Kept, PerView};

/// Memory of the chunks of all worktrees together, bytes: some five million chunks.
const MOST_BYTES: usize = 256 << 20;

/// Most paths that are changed one by one, and most changes of a view that are remembered.
const MOST_CHANGED: usize = 32;
const MOST_CHANGES: usize = 16;

/// The chunks of worktrees.
pub(in crate::daemon) struct KeptChunks {
    views: PerView<ChunksOfView>,
    changes: Mutex<HashMap<ViewId, Changes>>,
}

/// The last changes of a view: its sequence number afterwards, and the paths.
type Changes = VecDeque<(u64, Vec<SourceKey>)>;

/// The chunks of a view as they are in a snapshot.
#[derive(Clone)]
struct ChunksOfView {
    /// Epoch and sequence number of the view.
    clock: Option<(i64, u64)>,
    /// Contents that were extracted again until then.
    n_replaced: u64,
    chunks: Arc<ViewChunks>,
}

impl Kept for ChunksOfView {
    fn size(&self) -> usize {
        self.chunks.size()
    }
}

impl Default for KeptChunks {
    fn default() -> Self {
        Self { views: PerView::new(MOST_BYTES), changes: Mutex::default() }
    }
}

impl KeptChunks {
    /// Forgets all chunks, and the paths that have changed.
    pub(in crate::daemon) fn clear(&self) {
        self.views.retain(&[]);
        self.changes().clear();
    }

    fn changes(&self) -> MutexGuard<'_, HashMap<ViewId, Changes>> {
        lock(&self.changes)
    }

    /// Notes that changes were committed, and the sequence number of the view since. Of a change that is not noted, all paths
    /// are read.
    pub(in crate::daemon) fn note(&self, view: ViewId, seq: u64, changes: &[Change]) {
        if changes.len() > MOST_CHANGED {
            return;
        }
        let mut views = self.changes();
        let noted = views.entry(view).or_default();
        noted.truncate(MOST_CHANGES - 1);
        noted.push_front((seq, changes.iter().map(|change| change.key().clone()).collect()));
    }

    /// Returns the paths that changed between two sequence numbers, if all were noted.
    fn changed(&self, view: ViewId, from: u64, to: u64) -> Option<BTreeSet<SourceKey>> {
        let views = self.changes();
        let noted = |seq: u64| {
            let of_view = views.get(&view)?;
            of_view.iter().find(|(noted, _)| *noted == seq).map(|(_, keys)| keys)
        };
        let n_changes = usize::try_from(to.checked_sub(from)?).ok()?;
        if n_changes > MOST_CHANGES {
            return None;
        }
        let changes = (from + 1..=to).map(noted).collect::<Option<Vec<_>>>()?;
        Some(changes.into_iter().flatten().cloned().collect())
    }

    /// Returns the chunks of a view in the snapshot of `reader`.
    ///
    /// Each change of a view's files changes its clock. A content may be extracted again for another view, which is counted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(in crate::daemon) fn current(
        &self,
        reader: &Reader,
        view: ViewId,
    ) -> Result<Arc<ViewChunks>, DatabaseError> {
        let clock = reader.view(view)?.map(|row| (row.epoch, row.seq));
        let n_replaced = reader.n_replaced()?;
        let kept = self.views.of(view, |former| -> Result<_, DatabaseError> {
            let chunks = match former {
                Some(kept) if kept.clock == clock && kept.n_replaced == n_replaced => kept.chunks,
                former => {
                    let views = reader.views()?;
                    self.views.retain(&views);
                    self.changes().retain(|view, _| views.contains(view));
                    match former.as_ref().and_then(|kept| self.changed_since(view, kept, clock, n_replaced)) {
                        Some(changed) => patched(reader, view, changed, former)?,
                        None => updated(reader, view, former.map(|kept| kept.chunks).unwrap_or_default())?,
                    }
                }
            };
            Ok(ChunksOfView { clock, n_replaced, chunks })
        })?;
        Ok(kept.chunks)
    }

    /// Returns the paths that changed since the chunks were read, if these are all that has changed.
    fn changed_since(
        &self,
        view: ViewId,
        kept: &ChunksOfView,
        clock: Option<(i64, u64)>,
        n_replaced: u64,
    ) -> Option<BTreeSet<SourceKey>> {
        let ((epoch, seq), (former_epoch, former_seq)) = (clock?, kept.clock?);
        let is_same = epoch == former_epoch && n_replaced == kept.n_replaced;
        self.changed(view, former_seq, seq).filter(|_| is_same)
    }
}

/// Returns the chunks with these paths made equal to the index.
fn patched(
    reader: &Reader,
    view: ViewId,
    changed: BTreeSet<SourceKey>,
    former: Option<ChunksOfView>,
) -> Result<Arc<ViewChunks>, DatabaseError> {
    let mut chunks = former.map(|kept| kept.chunks).unwrap_or_default();
    let with_chunk = |key: SourceKey| -> Result<ChangedPath, DatabaseError> {
        Ok((key.as_str().into(), reader.first_chunk(view, &key)?))
    };
    let changed = changed.into_iter().map(with_chunk).collect::<Result<Vec<_>, _>>()?;
    Arc::make_mut(&mut chunks).patch(changed, |first| reader.content(first))?;
    Ok(chunks)
}

/// Returns the chunks made equal to the index.
fn updated(
    reader: &Reader,
    view: ViewId,
    mut chunks: Arc<ViewChunks>,
) -> Result<Arc<ViewChunks>, DatabaseError> {
    let mut list = Vec::new();
    reader.each_path(view, |path, first| list.push((path.into(), first)))?;
    // A search that still ranks the former chunks keeps them; then this is a copy.
    Arc::make_mut(&mut chunks).update(list, |first| reader.content(first))?;
    Ok(chunks)
}
