//! Compares the trees of two commits.

use super::compare::{Added, Changes, Modified};
use super::renames;
use super::texts::Texts;
use crate::daemon::error::RpcResult;
use crate::daemon::kept_changes::Change;
use crate::git::{GitError, ObjectId, TreeEntry};

/// Most files that are compared.
const MOST_FILES: usize = 100_000;

/// Returns the changes from one commit to another, by path, and the number of those that were not compared; without `base`
/// every file is added. Submodules have a history of their own and are left out.
///
/// # Errors
/// When a commit or a tree cannot be read.
pub(super) fn changes(
    texts: &Texts<'_>,
    base: Option<ObjectId>,
    until: ObjectId,
) -> RpcResult<(Vec<Change>, usize)> {
    let objects = &texts.past.objects;
    let tree = |id| Ok::<_, GitError>(objects.node(id)?.tree);
    let found = objects.changes(base.map(tree).transpose()?, tree(until)?, MOST_FILES)?;
    let n_left_out = found.total - found.paths.len();
    let mut changes = Changes::default();
    for change in found.paths {
        let (old, new) = (change.old.filter(TreeEntry::has_text), change.new.filter(TreeEntry::has_text));
        let new = new.map(|new| Added { id: new.id, hash: None });
        match (old, new) {
            (None, Some(new)) => drop(changes.added.insert(change.path, new)),
            (Some(old), None) => drop(changes.removed.insert(change.path, old)),
            (Some(old), Some(new)) if old.id != new.id => {
                changes.modified.insert(change.path, Modified { old: old.id, new });
            }
            _ => {}
        }
    }
    renames::pair(&mut changes, texts);
    Ok((changes.list(), n_left_out))
}
