//! Caches the renames of files that git reports.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use memod_base::types::SourceKey;
use memod_git::ObjectId;

/// Maximum number of answers; all are forgotten when there are more.
const MOST_ANSWERS: usize = 1_000;

/// The commit at `HEAD`, the old and the new name, the hash of the file with the new name, and whether another file has the old name.
type RenameQuestion = (ObjectId, SourceKey, SourceKey, [u8; 32], bool);

/// Whether files were renamed to others.
#[derive(Default)]
pub(in crate::daemon) struct KnownRenames(Mutex<HashMap<RenameQuestion, bool>>);

impl KnownRenames {
    /// Returns the known answer to a question, or else finds it and keeps it.
    pub(in crate::daemon) fn get_or_find(&self, ask: RenameQuestion, find: impl FnOnce() -> bool) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&ask).copied();
        known.unwrap_or_else(|| {
            let found = find();
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= MOST_ANSWERS {
                all.clear();
            }
            all.insert(ask, found);
            found
        })
    }

    /// Forgets all answers, because names may have become secret.
    pub(in crate::daemon) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
