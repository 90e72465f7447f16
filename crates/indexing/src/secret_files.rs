//! Finds files with secret names whose content may be in the index under another name.
//!
//! Files with secret names are never read, not even to compare them. A renamed file has the same inode; a file that was copied or
//! checked out by git has the same size. A content that has the size of a secret file by chance is purged, too, and is indexed
//! again when a file has it again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use memod_base::types::{ReadRefusal, Stat};

use super::todo_list::TodoList;

/// Time after the appearance of a secret file during which removed contents are compared with it.
const RECENT: Duration = Duration::from_secs(600);

/// The signatures of files with secret names, and when they appeared; `None` for files that the first walk found.
#[derive(Default)]
pub(super) struct SecretFiles {
    met: HashMap<Stat, Option<Instant>>,
}

impl SecretFiles {
    /// Records the files with secret names, and returns those that are new.
    pub(super) fn record_new(&mut self, todo: &TodoList, was_walked: bool) -> Vec<Stat> {
        let refused = todo.refusals.iter();
        let refused =
            refused.filter(|(.., reason)| *reason == ReadRefusal::SecretName).map(|(_, stat, _)| *stat);
        let at = was_walked.then(Instant::now);
        let mut met = Vec::new();
        for stat in refused.chain(todo.ignored_secrets.iter().copied()).filter(|stat| stat.size > 0) {
            self.met.entry(stat).or_insert_with(|| {
                met.push(stat);
                at
            });
        }
        met
    }

    /// Returns the sizes of the files that appeared recently.
    pub(super) fn recent_sizes(&self) -> Vec<u64> {
        self.met.iter().filter(|(_, met)| is_recent(**met)).map(|(stat, _)| stat.size).collect()
    }
}

/// Returns whether a file appeared recently, after the first walk.
fn is_recent(met: Option<Instant>) -> bool {
    met.is_some_and(|met| met.elapsed() < RECENT)
}

/// Returns whether a file with a secret name may have the former content of another file, by its inode or its size.
pub(super) fn may_have_content_of(secret: &Stat, other: &Stat) -> bool {
    let is_renamed = secret.inode != 0 && (secret.dev, secret.inode) == (other.dev, other.inode);
    is_renamed || secret.size == other.size
}
