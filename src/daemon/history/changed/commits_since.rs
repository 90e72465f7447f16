//! Lists the commits between the two sides of a comparison.

use memod_engine::errors::RpcResult;
use memod_git::{GitError, Node, ObjectId};
use memod_proto::ChangedCommit;

use super::sides::Sides;
use crate::daemon::request::commit_history::History;

/// Most commits that are listed.
const MOST_LISTED: usize = 20;
/// Most commits that are read.
const MOST_READ: usize = 20_000;

/// The commits since the older side.
#[derive(Default)]
pub(super) struct Commits {
    /// Newest first.
    pub(super) newest: Vec<ChangedCommit>,
    pub(super) n_left_out: usize,
    /// Why there may be more.
    pub(super) cut: Option<String>,
}

/// Returns the commits that the newer side, or else `HEAD`, has and the older one has not; of paths those that touched one.
///
/// # Errors
/// When a side or a listed commit cannot be read.
pub(super) fn since(past: &History, sides: &Sides) -> RpcResult<Commits> {
    let head = sides.until.map_or_else(|| past.refs.find("HEAD"), |until| Ok(Some(until)))?;
    let Some(head) = head else { return Ok(Commits::default()) };
    let range = past.objects.range(sides.base, head, MOST_READ)?;
    let shallow = range.commits.iter().find_map(|(id, node)| node.cut(*id));
    let is_asked = |(_, node): &(ObjectId, Node)| sides.paths.is_empty() || touches(past, sides, node);
    let asked: Vec<ObjectId> = range.commits.into_iter().filter(is_asked).map(|(id, _)| id).collect();
    let newest = asked.iter().take(MOST_LISTED).map(|id| described(past, *id));
    Ok(Commits {
        newest: newest.collect::<RpcResult<_>>()?,
        n_left_out: asked.len().saturating_sub(MOST_LISTED),
        cut: range.is_cut.then(|| format!("only the newest {MOST_READ} commits were looked at")).or(shallow),
    })
}

/// Returns a commit in a few words.
pub(super) fn described(past: &History, id: ObjectId) -> RpcResult<ChangedCommit> {
    let (commit, subject, _) = past.describe(id)?;
    Ok(ChangedCommit { commit, subject })
}

/// Returns whether one of the paths differs from every parent, as `git log -- PATH` decides.
fn touches(past: &History, sides: &Sides, node: &Node) -> bool {
    let objects = &past.objects;
    let parents: Vec<_> = node.parents.iter().filter_map(|parent| objects.node(*parent).ok()).collect();
    sides.paths.iter().any(|path| {
        let entry = |tree| -> Result<_, GitError> { objects.entry(tree, path.as_str()) };
        let own = entry(node.tree).ok().flatten();
        let is_new = |parent: &Node| entry(parent.tree).is_ok_and(|old| old != own);
        if parents.is_empty() { own.is_some() } else { parents.iter().all(is_new) }
    })
}
