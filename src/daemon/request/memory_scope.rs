//! Carries a request's worktree across threads, for the memories that it reads.

tokio::task_local! {
    /// Number of the worktree of a request; 0 for the whole repository.
    pub(in crate::daemon) static WORKTREE: i64;
}

/// The worktree of a request, while no file of it was ever seen: nothing that is shared is there.
pub(in crate::daemon) const UNKNOWN: i64 = -1;

/// Returns the worktree of the present request; 0 outside of one.
pub(in crate::daemon) fn current_worktree() -> i64 {
    WORKTREE.try_with(|worktree| *worktree).unwrap_or_default()
}

/// Returns code that runs in the worktree of the present request, on whatever thread.
pub(in crate::daemon) fn carry_worktree<T>(run: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let worktree = current_worktree();
    move || WORKTREE.sync_scope(worktree, run)
}
