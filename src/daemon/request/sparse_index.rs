//! Reads git's index in a worktree with a sparse checkout.

use memod_base::paths::RepoLayout;
use memod_git::{GitError, GitIndex, ObjectHash, Settings, UserDirs};

/// The index of a worktree with a sparse checkout.
pub(in crate::daemon) struct SparseIndex {
    pub(in crate::daemon) tracked: GitIndex,
    pub(in crate::daemon) object_hash: ObjectHash,
    /// Whether the sparse checkout is set up by directories, and not by patterns.
    pub(in crate::daemon) is_cone: bool,
}

impl SparseIndex {
    /// Returns `None` if the worktree has no sparse checkout.
    ///
    /// # Errors
    /// When git's settings or its index cannot be read.
    pub(in crate::daemon) fn read(layout: &RepoLayout) -> Result<Option<Self>, GitError> {
        let Some(git_dir) = &layout.git_dir else { return Ok(None) };
        if !git_dir.join("info/sparse-checkout").exists() {
            return Ok(None); // so most worktrees need one system call
        }
        let settings = Settings::read_or_default(layout, &UserDirs::read())?;
        let Some(is_cone) = settings.sparse_cone else { return Ok(None) };
        let object_hash = settings.object_hash;
        let tracked = GitIndex::read(&git_dir.join("index"), object_hash, settings.ignore_case)?;
        Ok(Some(Self { tracked, object_hash, is_cone }))
    }
}
