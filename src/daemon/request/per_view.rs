//! Keeps values in memory that follow from the index, one for each worktree.

use std::sync::{Arc, Mutex};

use memod_base::threads::lock;
use memod_base::types::ViewId;

/// A value that is kept.
pub(in crate::daemon) trait Kept: Clone {
    /// Returns the memory that it takes, bytes.
    fn size(&self) -> usize;
}

/// Values of views, the one used last at the end.
///
/// Invariant: the lock of all of them is held only inside these functions; that of one view is held while index.db is read,
/// so that two requests do not make the same value, but never while a worktree is.
pub(in crate::daemon) struct PerView<T> {
    /// Memory of all values together; one that is larger alone is made for each request.
    most_bytes: usize,
    slots: Mutex<Vec<Slot<T>>>,
}

/// Holds the value of one view.
#[derive(Clone)]
struct Slot<T> {
    view: ViewId,
    /// Memory of the value, bytes.
    size: usize,
    kept: Arc<Mutex<Option<T>>>,
}

impl<T: Kept> PerView<T> {
    pub(in crate::daemon) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, slots: Mutex::default() }
    }

    /// Returns the value of a view, which `make` makes of the former one.
    pub(in crate::daemon) fn of<E>(
        &self,
        view: ViewId,
        make: impl FnOnce(Option<T>) -> Result<T, E>,
    ) -> Result<T, E> {
        let slot = self.slot(view);
        let mut kept = lock(&slot.kept);
        let value = make(kept.take())?;
        *kept = Some(value.clone());
        drop(kept);
        self.keep(Slot { size: value.size(), ..slot });
        Ok(value)
    }

    /// Forgets the values of all but these views.
    pub(in crate::daemon) fn retain(&self, views: &[ViewId]) {
        lock(&self.slots).retain(|slot| views.contains(&slot.view));
    }

    fn slot(&self, view: ViewId) -> Slot<T> {
        let mut slots = lock(&self.slots);
        if let Some(known) = slots.iter().find(|slot| slot.view == view) {
            return known.clone();
        }
        let slot = Slot { view, size: 0, kept: Arc::default() };
        slots.push(slot.clone());
        slot
    }

    /// Puts a slot at the end, and forgets the first ones while all of them are too large.
    fn keep(&self, used: Slot<T>) {
        let mut slots = lock(&self.slots);
        slots.retain(|slot| slot.view != used.view);
        if used.size > self.most_bytes {
            return;
        }
        slots.push(used);
        while slots.iter().map(|slot| slot.size).sum::<usize>() > self.most_bytes {
            slots.remove(0);
        }
    }
}
