//! Caches values that are derived from the index, one for each worktree.

use std::sync::{Arc, Mutex};

use memod_base::threads::lock;
use memod_base::types::WorktreeId;

/// A value in a cache.
pub(in crate::daemon) trait CacheValue: Clone {
    /// Returns the memory that the value takes, bytes.
    fn size_bytes(&self) -> usize;
}

/// Caches one value for each worktree, up to a limit of memory.
///
/// Invariant: the lock of the list is held only inside these functions. The lock of one worktree's value is held while index.db is
/// read, so that two requests do not compute the same value, but never while files of a worktree are read.
pub(in crate::daemon) struct WorktreeCache<T> {
    /// Maximum memory of all values together, bytes. A single larger value is not cached, so each request computes it again.
    most_bytes: usize,
    /// The slots, the one used last at the end.
    slots: Mutex<Vec<CacheSlot<T>>>,
}

/// Holds the value of one worktree.
#[derive(Clone)]
struct CacheSlot<T> {
    worktree: WorktreeId,
    /// Memory of the value, bytes.
    size: usize,
    value: Arc<Mutex<Option<T>>>,
}

impl<T: CacheValue> WorktreeCache<T> {
    pub(in crate::daemon) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, slots: Mutex::default() }
    }

    /// Returns the value of a worktree, which `make` computes from the former value.
    pub(in crate::daemon) fn update_value<E>(
        &self,
        view: WorktreeId,
        make: impl FnOnce(Option<T>) -> Result<T, E>,
    ) -> Result<T, E> {
        let slot = self.find_or_add_slot(view);
        let mut kept = lock(&slot.value);
        let value = make(kept.take())?;
        *kept = Some(value.clone());
        drop(kept);
        self.move_slot_to_end(CacheSlot { size: value.size_bytes(), ..slot });
        Ok(value)
    }

    /// Forgets the values of all worktrees except these.
    pub(in crate::daemon) fn retain_worktrees(&self, views: &[WorktreeId]) {
        lock(&self.slots).retain(|slot| views.contains(&slot.worktree));
    }

    fn find_or_add_slot(&self, view: WorktreeId) -> CacheSlot<T> {
        let mut slots = lock(&self.slots);
        if let Some(known) = slots.iter().find(|slot| slot.worktree == view) {
            return known.clone();
        }
        let slot = CacheSlot { worktree: view, size: 0, value: Arc::default() };
        slots.push(slot.clone());
        slot
    }

    /// Moves a slot to the end, and removes the least recently used ones until the rest fits into the limit of memory.
    fn move_slot_to_end(&self, used: CacheSlot<T>) {
        let mut slots = lock(&self.slots);
        slots.retain(|slot| slot.worktree != used.worktree);
        if used.size > self.most_bytes {
            return;
        }
        slots.push(used);
        while slots.iter().map(|slot| slot.size).sum::<usize>() > self.most_bytes {
            slots.remove(0);
        }
    }
}
