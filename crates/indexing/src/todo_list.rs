//! Declares the scope of a comparison of files with the index, and the list of actions that results from it.

use super::plan::{Action, decide_action};
use super::{MissedFiles, UnreadPath};
use memod_base::types::{ReadRefusal, SourceKey, Stat};
use memod_extract::EXTRACTOR_VERSION;
use memod_index_db::ManifestEntry;
use memod_scan::ListedFile;
use std::collections::BTreeSet;

/// The paths to compare with the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReconcileScope {
    /// The whole worktree.
    Full,
    /// These paths and everything below them.
    Paths(BTreeSet<SourceKey>),
}

/// The actions that bring the manifest up to date.
#[derive(Default)]
pub(super) struct TodoList {
    pub(super) reads: Vec<(SourceKey, Stat)>,
    pub(super) refusals: Vec<(SourceKey, Stat, ReadRefusal)>,
    /// Removed entries, with their former signatures.
    pub(super) removals: Vec<(SourceKey, Stat)>,
    /// Ignored files with secret names.
    pub(super) ignored_secrets: Vec<Stat>,
    pub(super) problems: Vec<String>,
    pub(super) unread: Vec<UnreadPath>,
    pub(super) missed: MissedFiles,
}

impl TodoList {
    /// Adds the action for a file that exists.
    pub(super) fn add_found(&mut self, found: Option<ListedFile>, known: Option<&ManifestEntry>) {
        let Some(found) = found else { return };
        match decide_action(known, &found.stat, found.refusal, EXTRACTOR_VERSION) {
            Action::Keep => {}
            Action::Read => self.reads.push((found.key, found.stat)),
            Action::Refuse(refusal) => self.refusals.push((found.key, found.stat, refusal)),
        }
    }
}
