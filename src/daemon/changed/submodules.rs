//! Finds which commits of submodules are checked out.

use crate::daemon::event::Freshness;
use crate::daemon::history::History;
use crate::daemon::shared::Shared;
use crate::git::{ObjectId, Refs};
use crate::paths::RepoLayout;

/// Returns the commit that is checked out in a submodule; `None` if none is.
pub(super) fn checked_out(shared: &Shared, at: &Freshness, past: &History, path: &str) -> Option<ObjectId> {
    let dir = at.layout.root.join(path);
    at.disk.lstat(&dir).ok()?; // what does not answer is not looked into
    let layout = RepoLayout::locate(&dir, &shared.env).ok()?;
    // A directory without a repository of its own is one of the repository around it.
    let is_own = layout.root != at.layout.root && layout.root.ends_with(path);
    Refs::new(&layout, past.object_hash).filter(|_| is_own)?.find("HEAD").ok().flatten()
}
