//! Declares the requests for a fresh worktree, and the answers.

use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::RepoLayout;
use memod_base::types::{SourceKey, WorktreeId};
use memod_indexing::WalkProgress;
use memod_proto::{FreshnessLevel, IndexProgress, Pending, ViewInfo};

use crate::file_access::disk_reads::DiskReads;

/// A request for a worktree that is fresh.
pub struct FreshnessRequest {
    /// The worktree, located on disk after the request arrived.
    pub layout: RepoLayout,
    /// How fresh it must be.
    pub level: FreshnessLevel,
    /// Deadline of the answer, fresh or not.
    pub deadline: Instant,
    /// Paths that were found to differ from the index.
    pub dirty: Vec<SourceKey>,
    /// Whether commits must be fresh too.
    pub needs_commits: bool,
}

/// How fresh a worktree is.
#[derive(Clone, Debug)]
pub struct Freshness {
    /// Id of the worktree.
    pub worktree: WorktreeId,
    /// Paths of the worktree.
    pub layout: RepoLayout,
    /// Whether the worktree is as fresh as the requested level promises.
    pub fresh: bool,
    /// Why the worktree is not fresh, if it is not.
    pub reason: Option<String>,
    /// Whether the first index of the worktree is still being built.
    pub is_first_index: bool,
    /// Why the last attempt to make the worktree fresh failed, if it did.
    pub failed: Option<String>,
    /// Which files of the worktree or of git could not be read, and why, if any.
    pub files_note: Option<String>,
    /// Why commits are missing from the index, if any are.
    pub commits_note: Option<String>,
    /// Whether whole commits are missing, and not only their changed paths.
    pub lacks_commits: bool,
    /// Whether the history has older commits than the index holds, because of `index.commits`.
    pub has_older_commits: bool,
    /// Why the last round of embedding left something without a vector, if it did.
    pub embed_note: Option<String>,
    /// Pending work; the receiver counts the embeddings.
    pub pending: Pending,
    /// Progress of the worktree's reconcile.
    pub progress: Arc<WalkProgress>,
    /// Progress of indexing; the receiver adds the embeddings.
    pub indexing: Option<IndexProgress>,
    /// [`WalkProgress::removals`] when this was returned.
    pub(crate) removals: u64,
    /// Reads the files of the answer.
    pub disk: Arc<DiskReads>,
}

impl Freshness {
    /// Returns whether something was removed from the manifest since this was returned; a snapshot that is read now may lack a
    /// file that exists.
    pub fn is_outdated(&self) -> bool {
        self.progress.n_removals() != self.removals
    }
}

/// A worktree as `status` and `doctor` show it.
#[derive(Debug)]
pub struct WorktreeReport {
    /// The worktree.
    pub worktree: WorktreeId,
    /// State of the worktree; the receiver adds the number of its files.
    pub info: ViewInfo,
    /// Degradations with their remedies.
    pub degraded: Vec<String>,
}
