//! Keeps which contents of a view the filters of the last questions admit.

use std::sync::{Arc, Mutex};

use memod_base::threads::lock;

use crate::filter::FileDemands;

/// Filters that are kept. Each takes eight bytes for each content of the view.
const MOST_FILTERS: usize = 4;

/// The first admitted path of each content.
pub(super) type Admitted = Arc<[Option<u32>]>;

/// What the last filters admit, the one used last at the end.
///
/// A copy has none: views are copied to be changed.
#[derive(Default)]
pub(super) struct KeptFilters(Mutex<Vec<(FileDemands, Admitted)>>);

impl Clone for KeptFilters {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl KeptFilters {
    /// Returns what a filter admits, which `make` finds out if it is not known.
    pub(super) fn of(&self, demands: FileDemands, make: impl FnOnce() -> Admitted) -> Admitted {
        let known = {
            let mut kept = lock(&self.0);
            let at = kept.iter().position(|(known, _)| *known == demands);
            at.map(|at| kept.remove(at).1)
        };
        // Made without the lock: another question need not wait for it.
        let admitted = known.unwrap_or_else(make);
        let mut kept = lock(&self.0);
        kept.retain(|(known, _)| *known != demands);
        if kept.len() >= MOST_FILTERS {
            kept.remove(0);
        }
        kept.push((demands, Arc::clone(&admitted)));
        admitted
    }
}
