//! Lists the commits between the two sides of a comparison.

use memod_engine::errors::RpcResult;
use memod_git::{CommitNode, ObjectId};
use memod_proto::ChangedCommit;

use super::compared_sides::ComparedSides;
use crate::daemon::request::commit_history::CommitHistory;

/// Maximum number of commits that are listed.
const MOST_LISTED: usize = 20;
/// Maximum number of commits that are read.
const MOST_READ: usize = 20_000;

/// The commits since the older side of a comparison.
#[derive(Default)]
pub(super) struct ListedCommits {
    /// The listed commits, newest first.
    pub(super) newest: Vec<ChangedCommit>,
    pub(super) n_left_out: usize,
    /// Why there may be more commits.
    pub(super) cut: Option<String>,
}

/// Returns the commits in the history of the newer side, or else of `HEAD`, that are not in that of the older side. If paths are
/// requested, only the commits that changed one of them.
///
/// # Errors
/// When a side or a listed commit cannot be read.
pub(super) fn list_commits_since(history: &CommitHistory, sides: &ComparedSides) -> RpcResult<ListedCommits> {
    let head = sides.until.map_or_else(|| history.refs.resolve_ref("HEAD"), |until| Ok(Some(until)))?;
    let Some(head) = head else { return Ok(ListedCommits::default()) };
    let range = history.objects.commits_between(sides.base, head, MOST_READ)?;
    let shallow = range.commits.iter().find_map(|(id, node)| node.why_history_ends(*id));
    let asked: Vec<ObjectId> = range
        .commits
        .into_iter()
        .filter(|(_, node)| sides.paths.is_empty() || touches_paths(history, sides, node))
        .map(|(id, _)| id)
        .collect();
    let newest = asked.iter().take(MOST_LISTED).map(|id| read_changed_commit(history, *id));
    Ok(ListedCommits {
        newest: newest.collect::<RpcResult<_>>()?,
        n_left_out: asked.len().saturating_sub(MOST_LISTED),
        cut: range
            .has_reached_limit
            .then(|| format!("only the newest {MOST_READ} commits were read"))
            .or(shallow),
    })
}

/// Returns the id, author, date and subject of a commit.
pub(super) fn read_changed_commit(history: &CommitHistory, id: ObjectId) -> RpcResult<ChangedCommit> {
    let (commit, subject, _) = history.describe_commit(id)?;
    Ok(ChangedCommit { commit, subject })
}

/// Returns whether a commit changed one of the requested paths: the path differs in every parent, as `git log -- PATH` decides.
fn touches_paths(history: &CommitHistory, sides: &ComparedSides, node: &CommitNode) -> bool {
    let objects = &history.objects;
    let parents: Vec<_> =
        node.parents.iter().filter_map(|parent| objects.read_commit_node(*parent).ok()).collect();
    sides.paths.iter().any(|path| {
        let own = objects.find_tree_entry(node.tree, path.as_str()).ok().flatten();
        if parents.is_empty() {
            own.is_some()
        } else {
            parents
                .iter()
                .all(|parent| objects.find_tree_entry(parent.tree, path.as_str()).is_ok_and(|old| old != own))
        }
    })
}
