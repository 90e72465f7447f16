//! Keeps the code maps of worktrees, and updates them by what changed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::map::{CodeMap, ListedFile, Outline};
use crate::store::{Reader, StoreError};
use crate::types::{ChunkId, ViewId};

/// Memory of all kept maps together, bytes. A map that is larger alone is built for each request.
const MOST_BYTES: usize = 48 << 20;

/// Code maps, the one used last at the end.
///
/// Invariant: the lock of all of them is held only inside these functions; that of one view is held while index.db is read,
/// so that two requests do not build the same map, but never while a worktree is.
#[derive(Default)]
pub(super) struct KeptMaps(Mutex<Vec<Slot>>);

/// Holds the map of one view.
#[derive(Clone)]
struct Slot {
    view: ViewId,
    /// Memory of the map, bytes.
    size: usize,
    kept: Arc<Mutex<Option<KeptMap>>>,
}

/// The map of a view as it was in the index.
#[derive(Clone)]
pub(super) struct KeptMap {
    pub(super) clock: String,
    newest_chunk: ChunkId,
    pub(super) map: Arc<CodeMap>,
}

impl KeptMaps {
    /// Returns the map of a view, which `make` makes of the former one.
    pub(super) fn of(
        &self,
        view: ViewId,
        make: impl FnOnce(Option<KeptMap>) -> Result<KeptMap, StoreError>,
    ) -> Result<KeptMap, StoreError> {
        let slot = self.slot(view);
        let mut kept = lock(&slot.kept);
        let map = make(kept.take())?;
        *kept = Some(map.clone());
        drop(kept);
        self.keep(Slot { size: map.map.size(), ..slot });
        Ok(map)
    }

    /// Forgets the maps of all but these views.
    pub(super) fn retain(&self, views: &[ViewId]) {
        lock(&self.0).retain(|slot| views.contains(&slot.view));
    }

    fn slot(&self, view: ViewId) -> Slot {
        let known = lock(&self.0).iter().find(|slot| slot.view == view).cloned();
        known.unwrap_or_else(|| Slot { view, size: 0, kept: Arc::default() })
    }

    /// Puts a slot at the end, and forgets the first ones while all of them are too large.
    fn keep(&self, used: Slot) {
        let mut slots = lock(&self.0);
        slots.retain(|slot| slot.view != used.view);
        if used.size > MOST_BYTES {
            return;
        }
        slots.push(used);
        while slots.iter().map(|slot| slot.size).sum::<usize>() > MOST_BYTES {
            slots.remove(0);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KeptMap {
    /// Returns the map of a view in the snapshot of `reader`, where the view has this clock.
    ///
    /// Each change of a view's files changes its clock, and a content that is extracted again, perhaps for another view, gets
    /// new chunks.
    pub(super) fn current(
        former: Option<Self>,
        reader: &Reader,
        view: ViewId,
        clock: String,
    ) -> Result<Self, StoreError> {
        let newest_chunk = reader.newest_chunk()?;
        let map = match former {
            Some(kept) if kept.clock == clock && kept.newest_chunk == newest_chunk => kept.map,
            former => updated(reader, view, former.map(|kept| kept.map).unwrap_or_default())?,
        };
        Ok(Self { clock, newest_chunk, map })
    }
}

/// Returns a map made equal to the index.
fn updated(reader: &Reader, view: ViewId, mut map: Arc<CodeMap>) -> Result<Arc<CodeMap>, StoreError> {
    let mut list = Vec::new();
    reader.each_map(view, |path, hash, chunk| list.push(ListedFile { path, hash, content: chunk.0 }))?;
    // A request that still prints the former map keeps it; then this is a copy.
    Arc::make_mut(&mut map).update(list, |content| outline(reader, ChunkId(content)))?;
    Ok(map)
}

/// Returns what was extracted from a content.
fn outline(reader: &Reader, map: ChunkId) -> Result<Outline, StoreError> {
    let mut symbols: Vec<(String, u32)> = Vec::new();
    reader.each_symbol(map, |names, line| {
        for name in names.split_whitespace() {
            // A long definition has several chunks.
            if symbols.last().is_none_or(|(last, _)| last != name) {
                symbols.push((name.to_owned(), line));
            }
        }
    })?;
    let references = reader.references(map)?;
    let references = references.lines().filter_map(|line| {
        let (name, count) = line.rsplit_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?))
    });
    Ok(Outline { symbols, references: references.collect() })
}
