//! Caches which paths of a worktree recent filters admit.

use std::sync::{Arc, Mutex};

use memod_base::threads::lock;

use crate::filter::FileConditions;

/// Most filters in the cache. Each filter takes eight bytes for each content of the worktree.
const MOST_FILTERS: usize = 4;

/// By content: the index of its first admitted path; `None` if the content is not admitted.
pub(super) type AdmittedPaths = Arc<[Option<u32>]>;

/// The paths that recent filters admit. The filter that was used last is at the end.
///
/// A clone is empty, because a worktree is cloned only to be changed.
#[derive(Default)]
pub(super) struct FilterCache(Mutex<Vec<(FileConditions, AdmittedPaths)>>);

impl Clone for FilterCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl FilterCache {
    /// Returns the paths that a filter with these conditions admits. Calls `make` if they are not in the cache.
    pub(super) fn get_or_make(
        &self,
        demands: FileConditions,
        make: impl FnOnce() -> AdmittedPaths,
    ) -> AdmittedPaths {
        let known = {
            let mut cached = lock(&self.0);
            let at = cached.iter().position(|(known, _)| *known == demands);
            at.map(|at| cached.remove(at).1)
        };
        // `make` is called without the lock, so that other searches need not wait.
        let admitted = known.unwrap_or_else(make);
        let mut cached = lock(&self.0);
        cached.retain(|(known, _)| *known != demands);
        if cached.len() >= MOST_FILTERS {
            cached.remove(0);
        }
        cached.push((demands, Arc::clone(&admitted)));
        admitted
    }
}
