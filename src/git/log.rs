//! Lists the commits that touched a path.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::time::Instant;

use gix::ObjectId;

use super::{GitError, Node, Objects, TreeEntry};

/// A commit that touched a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Which commit.
    pub id: ObjectId,
    /// Name of the path in it.
    pub path: String,
}

/// The commits that touched a path, newest first.
#[derive(Debug, Default)]
pub struct Log {
    /// The first of them.
    pub touches: Vec<Touch>,
    /// Whether the limit was reached, so that there may be more.
    pub more: bool,
    /// Whether the time limit was reached before the end of history.
    pub late: bool,
    /// Why history is incomplete.
    pub gaps: Vec<String>,
}

/// A commit that is still to be examined, with its version of the path.
struct Step {
    node: Node,
    path: String,
    entry: Option<TreeEntry>,
}

/// Follows a path through history.
struct Follow<'a> {
    objects: &'a Objects,
    queue: BinaryHeap<(i64, Reverse<usize>, ObjectId)>,
    steps: HashMap<ObjectId, Step>,
    seen: HashSet<ObjectId>,
    gaps: Vec<String>,
}

impl Objects {
    /// Returns the newest `most` commits reachable from `head` that touched a file or directory, as `git log -- PATH` does:
    /// at a merge, only parents with the same content are followed. A file is followed through renames.
    ///
    /// # Errors
    /// When `head` itself cannot be read.
    pub fn log(&self, head: ObjectId, path: &str, most: usize, until: Instant) -> Result<Log, GitError> {
        let node = self.node(head)?;
        let entry = self.entry(node.tree, path)?;
        let mut follow = Follow {
            objects: self,
            queue: BinaryHeap::new(),
            steps: HashMap::new(),
            seen: HashSet::new(),
            gaps: Vec::new(),
        };
        follow.push(head, node, path.to_owned(), entry);
        let mut log = Log::default();
        while let Some((_, _, id)) = follow.queue.pop() {
            if Instant::now() >= until {
                log.late = true;
                break;
            }
            if let Some(touch) = follow.take(id) {
                if log.touches.len() == most {
                    log.more = true;
                    break;
                }
                log.touches.push(touch);
            }
        }
        log.gaps = follow.gaps;
        Ok(log)
    }
}

impl Follow<'_> {
    fn push(&mut self, id: ObjectId, node: Node, path: String, entry: Option<TreeEntry>) {
        if self.seen.insert(id) {
            self.queue.push((node.time, Reverse(self.seen.len()), id));
            self.steps.insert(id, Step { node, path, entry });
        }
    }

    /// Queues the parents; returns the commit if it touched the path.
    fn take(&mut self, id: ObjectId) -> Option<Touch> {
        let step = self.steps.remove(&id)?;
        let mut parents = Vec::new();
        for id in &step.node.parents {
            let read = |id| {
                let node = self.objects.node(id)?;
                let same = node.tree == step.node.tree;
                let entry = if same { step.entry } else { self.objects.entry(node.tree, &step.path)? };
                Ok::<_, GitError>((id, node, entry))
            };
            match read(*id) {
                Ok(parent) => parents.push(parent),
                Err(error) => self.gaps.push(error.to_string()),
            }
        }
        if let Some(same) = parents.iter().position(|(_, _, entry)| *entry == step.entry) {
            let (id, node, entry) = parents.swap_remove(same);
            self.push(id, node, step.path, entry);
            return None;
        }
        self.gaps.extend(step.node.cut(id));
        if step.entry.is_none() && step.node.parents.is_empty() {
            return None;
        }
        let is_new = parents.iter().all(|(_, _, entry)| entry.is_none());
        for (id, node, entry) in parents {
            let added = step.entry.filter(|added| is_new && added.is_file());
            let former = added
                .and_then(|added| self.objects.former_name(node.tree, step.node.tree, added).ok().flatten());
            let (path, entry) =
                former.map_or_else(|| (step.path.clone(), entry), |(path, entry)| (path, Some(entry)));
            self.push(id, node, path, entry);
        }
        Some(Touch { id, path: step.path })
    }
}
