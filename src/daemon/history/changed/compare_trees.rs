//! Compares the trees of two commits.

use memod_engine::errors::RpcResult;
use memod_git::{GitError, ObjectId, PathChange, TreeEntry};

use super::renames;
use super::tree_changes::{ChangesByPath, ModifiedFile, NewContent};
use super::version_texts::VersionTextReader;
use crate::daemon::shared::change_cache::ContentChange;

/// Maximum number of changed files that are compared.
const MOST_FILES: usize = 100_000;

/// Returns the changes from one commit to another, ordered by path, and the number of changes over the limit. Without `base`, every
/// file counts as added. A submodule has changed if its commit differs.
///
/// # Errors
/// When a commit or a tree cannot be read.
pub(super) fn compare_trees(
    texts: &VersionTextReader<'_>,
    base: Option<ObjectId>,
    until: ObjectId,
) -> RpcResult<(Vec<ContentChange>, usize)> {
    let objects = &texts.history.objects;
    let tree = |id| Ok::<_, GitError>(objects.read_commit_node(id)?.tree);
    let found = objects.compare_trees(base.map(tree).transpose()?, tree(until)?, MOST_FILES)?;
    let n_left_out = found.total - found.paths.len();
    let mut changes = ChangesByPath::default();
    let mut submodules = Vec::new();
    for change in found.paths {
        if [&change.old, &change.new].into_iter().flatten().all(TreeEntry::is_submodule) {
            submodules.push(change);
            continue;
        }
        let new = change.new.map(|new| NewContent { id: new.id, hash: None });
        match (change.old, new) {
            (None, Some(new)) => drop(changes.added.insert(change.path, new)),
            (Some(old), None) => drop(changes.removed.insert(change.path, old)),
            // The content, the type or the permission to execute differs.
            (Some(old), Some(new)) => {
                changes.modified.insert(change.path, ModifiedFile { old: old.id, new });
            }
            (None, None) => {}
        }
    }
    renames::pair_renames(&mut changes, texts);
    for PathChange { path, old, new } in submodules {
        changes.add_submodule(path, old.map(|old| old.id), new.map(|new| new.id));
    }
    Ok((changes.into_list(), n_left_out))
}
