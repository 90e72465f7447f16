//! Lists the commits that touched a path.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, hash_map};
use std::time::Instant;

use gix::ObjectId;

use crate::git_error::GitError;
use crate::objects::{CommitNode, Objects, TreeEntry};

/// A commit that touched a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathCommit {
    /// The commit.
    pub id: ObjectId,
    /// The name that the path has in the commit.
    pub path: String,
}

/// The commits that touched a path, newest first.
#[derive(Debug, Default)]
pub struct PathLog {
    /// The newest commits, at most as many as requested.
    pub touches: Vec<PathCommit>,
    /// Whether more commits than requested touched the path.
    pub has_more: bool,
    /// Whether the time limit was reached before the end of history.
    pub timed_out: bool,
    /// Why history is incomplete.
    pub gaps: Vec<String>,
}

/// A version of the path: the index of its name in [`PathFollower::names`], and its entry in the tree.
type Version = (usize, Option<TreeEntry>);

/// A commit that is still to be examined, with the versions of the path that it has.
struct PendingCommit {
    node: CommitNode,
    versions: Vec<Version>,
}

/// Follows a path through history.
///
/// Each queued commit has its own name of the path, because the path may have different names on two branches that meet.
struct PathFollower<'a> {
    objects: &'a Objects,
    /// All names of the path so far; versions refer to them by their index.
    names: Vec<String>,
    queue: BinaryHeap<(i64, Reverse<usize>, ObjectId)>,
    pending: HashMap<ObjectId, PendingCommit>,
    /// Commits that were queued, each with the index of the path's name.
    seen: HashSet<(ObjectId, usize)>,
    /// Commits that were returned because they touched the path.
    touched: HashSet<ObjectId>,
    gaps: Vec<String>,
}

impl Objects {
    /// Returns the newest `most` commits reachable from `head` that touched a file or directory, as `git log -- PATH` does:
    /// at a merge, only parents with the same content are followed. A file is followed through renames, on each side of a
    /// merge by the name that it has there.
    ///
    /// # Errors
    /// When `head` itself cannot be read.
    pub fn list_path_commits(
        &self,
        head: ObjectId,
        path: &str,
        most: usize,
        until: Instant,
    ) -> Result<PathLog, GitError> {
        let node = self.read_commit_node(head)?;
        let entry = self.find_tree_entry(node.tree, path)?;
        let mut follow = PathFollower {
            objects: self,
            names: vec![path.to_owned()],
            queue: BinaryHeap::new(),
            pending: HashMap::new(),
            seen: HashSet::new(),
            touched: HashSet::new(),
            gaps: Vec::new(),
        };
        follow.queue_version(head, &node, (0, entry));
        let mut log = PathLog::default();
        while let Some((_, _, id)) = follow.queue.pop() {
            if Instant::now() >= until {
                log.timed_out = true;
                break;
            }
            if let Some(touch) = follow.examine_commit(id) {
                if log.touches.len() == most {
                    log.has_more = true;
                    break;
                }
                log.touches.push(touch);
            }
        }
        log.gaps = follow.gaps;
        Ok(log)
    }
}

impl PathFollower<'_> {
    /// Queues a commit to be examined for a version of the path, once for each name.
    fn queue_version(&mut self, id: ObjectId, node: &CommitNode, version: Version) {
        if !self.seen.insert((id, version.0)) {
            return;
        }
        match self.pending.entry(id) {
            hash_map::Entry::Occupied(mut waiting) => waiting.get_mut().versions.push(version),
            // Commits are examined by their time. If the clock of a committer was wrong, a parent may be examined before its child, and
            // a former name of the path that the child shows is then unknown; so the parent is queued again for that name.
            hash_map::Entry::Vacant(free) => {
                free.insert(PendingCommit { node: node.clone(), versions: vec![version] });
                self.queue.push((node.time, Reverse(self.seen.len()), id));
            }
        }
    }

    /// Queues the parents of a commit; returns the commit if it touched the path, unless it was returned before.
    fn examine_commit(&mut self, id: ObjectId) -> Option<PathCommit> {
        let PendingCommit { node, versions } = self.pending.remove(&id)?;
        let mut parents = Vec::new();
        for id in &node.parents {
            match self.objects.read_commit_node(*id) {
                Ok(parent) => parents.push((*id, parent)),
                Err(error) => self.gaps.push(error.to_string()),
            }
        }
        let touches: Vec<Version> = versions
            .into_iter()
            .filter(|version| self.pass_to_parents(id, &node, &parents, *version))
            .collect();
        // If the path has two names, the one that exists in the commit is shown, and not the one that the commit removed.
        let (name, _) = touches.into_iter().max_by_key(|(_, entry)| entry.is_some())?;
        let path = self.names[name].clone();
        self.touched.insert(id).then_some(PathCommit { id, path })
    }

    /// Queues the parents with their versions of the path, following renames; returns whether the commit touched the path.
    fn pass_to_parents(
        &mut self,
        id: ObjectId,
        node: &CommitNode,
        parents: &[(ObjectId, CommitNode)],
        version: Version,
    ) -> bool {
        let (name, entry) = version;
        let mut older = Vec::new();
        for (parent_id, parent) in parents {
            let is_same_tree = parent.tree == node.tree;
            let old = if is_same_tree {
                Ok(entry)
            } else {
                self.objects.find_tree_entry(parent.tree, &self.names[name])
            };
            match old {
                Ok(old) if old == entry => {
                    self.queue_version(*parent_id, parent, version);
                    return false;
                }
                Ok(old) => older.push((parent_id, parent, old)),
                Err(error) => self.gaps.push(error.to_string()),
            }
        }
        self.gaps.extend(node.why_history_ends(id));
        if entry.is_none() && node.parents.is_empty() {
            return false;
        }
        for (parent_id, parent, old) in older {
            let added = entry.filter(|added| old.is_none() && added.is_file());
            let former = added.and_then(|added| self.find_former_version(id, node, parent, name, added));
            self.queue_version(*parent_id, parent, former.unwrap_or((name, old)));
        }
        true
    }

    /// Returns the version in a parent from which an added file was renamed, if one is found.
    fn find_former_version(
        &mut self,
        id: ObjectId,
        node: &CommitNode,
        parent: &CommitNode,
        name: usize,
        added: TreeEntry,
    ) -> Option<Version> {
        let former = self.objects.find_former_name(parent.tree, node.tree, &self.names[name], added).ok()?;
        self.gaps
            .extend(former.cut.map(|why| format!("the former name before {id} was not searched for: {why}")));
        let (path, entry) = former.found?;
        let known = self.names.iter().position(|name| *name == path);
        let name = known.unwrap_or(self.names.len());
        if known.is_none() {
            self.names.push(path);
        }
        Some((name, Some(entry)))
    }
}
