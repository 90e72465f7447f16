//! Lists the commits between two commits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use gix::ObjectId;

use crate::git_error::GitError;
use crate::objects::{CommitNode, Objects};

/// Number of excluded commits that are read after the last wanted one, because clocks differ; the same as git's.
const SLOP: usize = 5;

/// The commits that one commit reaches and another commit does not.
#[derive(Debug, Default)]
pub struct CommitRange {
    /// Newest first.
    pub commits: Vec<(ObjectId, CommitNode)>,
    /// Whether the limit was reached. Then there may be more commits, and the other commit may reach some of these too.
    pub has_reached_limit: bool,
}

/// A walk from both commits at once, by commit time.
struct RangeWalk<'a> {
    objects: &'a Objects,
    queue: BinaryHeap<(i64, Reverse<usize>, ObjectId)>,
    nodes: HashMap<ObjectId, CommitNode>,
    /// Whether the excluded commit reaches each commit that was queued.
    is_excluded: HashMap<ObjectId, bool>,
    n_queued: usize,
    /// Queued commits that are not known to be excluded.
    wanted: HashSet<ObjectId>,
}

impl Objects {
    /// Returns the commits that `head` reaches and `base` does not, newest first, as `git log base..head` does; without
    /// `base`, all that `head` reaches. Stops when it has read one commit more than `most`.
    ///
    /// # Errors
    /// When `head` or `base` cannot be read. A parent that cannot be read ends the walk on its line.
    pub fn commits_between(
        &self,
        base: Option<ObjectId>,
        head: ObjectId,
        most: usize,
    ) -> Result<CommitRange, GitError> {
        if base == Some(head) {
            return Ok(CommitRange::default());
        }
        let (queue, nodes, is_excluded, wanted) = Default::default();
        let mut sides = RangeWalk { objects: self, queue, nodes, is_excluded, n_queued: 0, wanted };
        base.map_or(Ok(()), |base| sides.queue_commit(base, true))?;
        sides.queue_commit(head, false)?;
        Ok(sides.list_commits(most))
    }
}

impl RangeWalk<'_> {
    fn list_commits(mut self, most: usize) -> CommitRange {
        let (mut found, mut n_left, mut n_read) = (Vec::new(), SLOP, 0);
        while let Some((_, _, id)) = self.queue.pop() {
            let is_excluded = self.is_excluded[&id];
            if is_excluded {
                if self.wanted.is_empty() {
                    if n_left == 0 {
                        break;
                    }
                    n_left -= 1;
                }
            } else {
                self.wanted.remove(&id);
                found.push(id);
            }
            n_read += 1;
            if n_read > most {
                break;
            }
            for parent in self.nodes[&id].parents.clone() {
                // History ends at a commit that cannot be read, as in the other walks.
                let _ = self.queue_commit(parent, is_excluded);
            }
        }
        found.retain(|id| !self.is_excluded[id]);
        let commits = found.into_iter().filter_map(|id| Some((id, self.nodes.remove(&id)?)));
        CommitRange { commits: commits.collect(), has_reached_limit: n_read > most }
    }

    /// Queues a commit once, and again if it turns out to be excluded, because then its ancestors are excluded too.
    fn queue_commit(&mut self, id: ObjectId, is_excluded: bool) -> Result<(), GitError> {
        let known = self.is_excluded.get(&id).copied();
        if known == Some(true) || known == Some(is_excluded) {
            return Ok(());
        }
        if known.is_none() {
            let node = self.objects.read_commit_node(id)?;
            self.nodes.insert(id, node);
        }
        if is_excluded {
            self.wanted.remove(&id);
        } else {
            self.wanted.insert(id);
        }
        self.is_excluded.insert(id, is_excluded);
        self.n_queued += 1;
        self.queue.push((self.nodes[&id].time, Reverse(self.n_queued), id));
        Ok(())
    }
}
