//! Finds files of secret names that may hold what is in the index under another name.
//!
//! They are not read, not even to compare them: a file that was renamed has the same inode, one that was copied, or checked
//! out by git, the same size. Whoever has the size of a secret by chance is indexed again when it comes back.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::compare::Todo;
use crate::types::{Refusal, Stat};

/// How long after a file of a secret name appeared what others let go of is compared with it.
const RECENT: Duration = Duration::from_secs(600);

/// Files of secret names that were met, and when; none: they were there at the first walk.
#[derive(Default)]
pub(super) struct SecretFiles {
    met: HashMap<Stat, Option<Instant>>,
}

impl SecretFiles {
    /// Returns the files of secret names that were not met before.
    pub(super) fn meet(&mut self, todo: &Todo, was_walked: bool) -> Vec<Stat> {
        let refused = todo.refusals.iter();
        let refused = refused.filter(|(.., reason)| *reason == Refusal::SecretName).map(|(_, stat, _)| *stat);
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

    /// Returns the sizes of those that appeared lately.
    pub(super) fn recent_sizes(&self) -> Vec<u64> {
        let is_recent = |met: &Option<Instant>| met.is_some_and(|met| met.elapsed() < RECENT);
        self.met.iter().filter(|(_, met)| is_recent(met)).map(|(stat, _)| stat.size).collect()
    }
}

/// Returns whether a file of a secret name may hold what another file held.
pub(super) fn may_hold(secret: &Stat, other: &Stat) -> bool {
    let is_renamed = secret.inode != 0 && (secret.dev, secret.inode) == (other.dev, other.inode);
    is_renamed || secret.size == other.size
}
