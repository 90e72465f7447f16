//! Walks reachable commits, newest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use gix::ObjectId;

use crate::objects::{CommitNode, Objects};

/// Walks history by commit time, newest first, as `git log` does; at equal times the first one reached comes first.
///
/// A missing or damaged commit ends the walk on its line and is listed in [`CommitWalk::gaps`]; other lines continue.
pub struct CommitWalk<'a> {
    objects: &'a Objects,
    /// Nodes of an earlier walk, which are not read again.
    known: &'a HashMap<ObjectId, CommitNode>,
    queue: BinaryHeap<(i64, Reverse<usize>, ObjectId)>,
    nodes: HashMap<ObjectId, CommitNode>,
    seen: HashSet<ObjectId>,
    /// Why history is incomplete, one sentence for each gap.
    pub gaps: Vec<String>,
    /// The first gap that is only a file that could not be read, which a retry may fill.
    pub unreadable: Option<String>,
}

impl<'a> CommitWalk<'a> {
    /// Starts a walk at the commit `start`; commits in `known` are not read again.
    pub fn new(objects: &'a Objects, known: &'a HashMap<ObjectId, CommitNode>, start: ObjectId) -> Self {
        let (queue, nodes) = (BinaryHeap::new(), HashMap::new());
        let mut walk =
            Self { objects, known, queue, nodes, seen: HashSet::new(), gaps: Vec::new(), unreadable: None };
        walk.queue_commit(start);
        walk
    }

    fn queue_commit(&mut self, id: ObjectId) {
        if !self.seen.insert(id) {
            return;
        }
        let node = self.known.get(&id).cloned().map_or_else(|| self.objects.read_commit_node(id), Ok);
        match node {
            Ok(node) => {
                self.queue.push((node.time, Reverse(self.seen.len()), id));
                self.nodes.insert(id, node);
            }
            Err(error) => {
                let gap = error.to_string();
                if error.is_unreadable() {
                    self.unreadable.get_or_insert_with(|| gap.clone());
                }
                self.gaps.push(gap);
            }
        }
    }
}

impl Iterator for CommitWalk<'_> {
    type Item = (ObjectId, CommitNode);

    fn next(&mut self) -> Option<Self::Item> {
        let (_, _, id) = self.queue.pop()?;
        let node = self.nodes.remove(&id)?;
        node.parents.iter().for_each(|parent| self.queue_commit(*parent));
        Some((id, node))
    }
}
