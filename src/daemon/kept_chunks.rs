//! Keeps which chunks each worktree has, and updates that by what changed.

use std::sync::Arc;

use super::per_view::{Kept, PerView};
use crate::search::view_chunks::ViewChunks;
use crate::store::{Reader, StoreError};
use crate::types::ViewId;

/// Memory of the chunks of all worktrees together, bytes: some five million chunks.
const MOST_BYTES: usize = 256 << 20;

/// The chunks of worktrees.
pub(super) struct KeptChunks(PerView<ChunksOfView>);

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
        Self(PerView::new(MOST_BYTES))
    }
}

impl KeptChunks {
    /// Forgets all chunks.
    pub(super) fn clear(&self) {
        self.0.retain(&[]);
    }

    /// Returns the chunks of a view in the snapshot of `reader`.
    ///
    /// Each change of a view's files changes its clock. A content may be extracted again for another view, which is counted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn current(&self, reader: &Reader, view: ViewId) -> Result<Arc<ViewChunks>, StoreError> {
        let clock = reader.view(view)?.map(|row| (row.epoch, row.seq));
        let n_replaced = reader.n_replaced()?;
        let kept = self.0.of(view, |former| -> Result<_, StoreError> {
            let chunks = match former {
                Some(kept) if kept.clock == clock && kept.n_replaced == n_replaced => kept.chunks,
                former => {
                    self.0.retain(&reader.views()?);
                    updated(reader, view, former.map(|kept| kept.chunks).unwrap_or_default())?
                }
            };
            Ok(ChunksOfView { clock, n_replaced, chunks })
        })?;
        Ok(kept.chunks)
    }
}

/// Returns the chunks made equal to the index.
fn updated(
    reader: &Reader,
    view: ViewId,
    mut chunks: Arc<ViewChunks>,
) -> Result<Arc<ViewChunks>, StoreError> {
    let mut list = Vec::new();
    reader.each_path(view, |path, first| list.push((path.into(), first)))?;
    // A search that still ranks the former chunks keeps them; then this is a copy.
    Arc::make_mut(&mut chunks).update(list, |first| reader.content(first))?;
    Ok(chunks)
}
