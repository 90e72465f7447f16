//! Walks reachable commits, newest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use gix::ObjectId;

use crate::objects::{Node, Objects};

/// Walks history by commit time, newest first, as `git log` does; at equal times the first one reached comes first.
///
/// A missing or damaged commit ends the walk on its line and is listed in [`Walk::gaps`]; other lines continue.
pub struct Walk<'a> {
    objects: &'a Objects,
    /// Nodes of an earlier walk, which are not read again.
    known: &'a HashMap<ObjectId, Node>,
    queue: BinaryHeap<(i64, Reverse<usize>, ObjectId)>,
    nodes: HashMap<ObjectId, Node>,
    seen: HashSet<ObjectId>,
    /// Why history is incomplete, one sentence for each gap.
    pub gaps: Vec<String>,
    /// The first gap that is only a file that could not be read, which a retry may fill.
    pub unread: Option<String>,
}

impl<'a> Walk<'a> {
    /// Starts a walk at the commit `start`; commits in `known` are not read again.
    pub fn new(objects: &'a Objects, known: &'a HashMap<ObjectId, Node>, start: ObjectId) -> Self {
        let (queue, nodes) = (BinaryHeap::new(), HashMap::new());
        let mut walk =
            Self { objects, known, queue, nodes, seen: HashSet::new(), gaps: Vec::new(), unread: None };
        walk.push(start);
        walk
    }

    fn push(&mut self, id: ObjectId) {
        if !self.seen.insert(id) {
            return;
        }
        let node = self.known.get(&id).cloned().map_or_else(|| self.objects.node(id), Ok);
        match node {
            Ok(node) => {
                self.queue.push((node.time, Reverse(self.seen.len()), id));
                self.nodes.insert(id, node);
            }
            Err(error) => {
                let gap = error.to_string();
                if error.is_unread() {
                    self.unread.get_or_insert_with(|| gap.clone());
                }
                self.gaps.push(gap);
            }
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = (ObjectId, Node);

    fn next(&mut self) -> Option<Self::Item> {
        let (_, _, id) = self.queue.pop()?;
        let node = self.nodes.remove(&id)?;
        node.parents.iter().for_each(|parent| self.push(*parent));
        Some((id, node))
    }
}
