//! Reads the `HEAD` of a worktree.

use memod_base::paths::{RepoLayout, read_regular};

/// The target in the file `HEAD` if refs are stored in a reftable, see gitrepository-layout(5).
const IN_REFTABLE: &str = "refs/heads/.invalid";

/// Returns the target of the worktree's `HEAD`: the full name of a branch, with or without commits, or an object id. `None`
/// outside git and with a reftable.
pub fn read_head(layout: &RepoLayout) -> Option<String> {
    let text = read_regular(&layout.git_dir.as_ref()?.join("HEAD")).ok()?;
    let text = std::str::from_utf8(&text).ok()?.trim();
    let head = text.strip_prefix("ref:").map_or(text, str::trim_start);
    (!head.is_empty() && head != IN_REFTABLE).then(|| head.to_owned())
}
