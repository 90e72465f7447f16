//! Finds the commit that introduced each line.
//!
//! The walk is our own, because `gix-blame` can neither stop at a time limit nor return partial results, and because
//! `gix-blame` applies the filters and attributes of the repository.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::time::Instant;

use gix::ObjectId;

use super::line_map::{diff_hunks, split_lines};
use super::moved::LineTarget;
use crate::git_error::GitError;
use crate::objects::{CommitNode, Objects, TreeEntry};

/// Largest file that is blamed, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Most commits whose new lines are searched for in other files, the newest first.
const MOST_SEARCHED: usize = 50;

/// Lines, 0-based: the position of each in the requested text and in the version that is examined.
type LinePairs = Vec<(u32, u32)>;

/// A parent with its version of the file: id, commit, path and tree entry.
type Origin = (ObjectId, CommitNode, String, TreeEntry);

/// The commits that introduced the requested lines.
#[derive(Debug, Default)]
pub struct Blame {
    /// Each commit, newest first, with the path of the file in it, and the lines of the requested text, 1-based, ascending.
    pub commits: Vec<(ObjectId, String, Vec<u32>)>,
    /// Lines that a commit moved, and that were followed to the place they came from.
    pub moves: Vec<LineMove>,
    /// Lines of the requested text that are not committed, 1-based.
    pub uncommitted: Vec<u32>,
    /// Lines of the requested text whose commit was not found, because of the time limit or a gap in history; 1-based.
    pub unknown: Vec<u32>,
    /// Whether the time limit was reached.
    pub timed_out: bool,
    /// Why history is incomplete, one sentence for each gap.
    pub gaps: Vec<String>,
}

/// Lines that a commit moved from one place to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMove {
    /// The commit.
    pub id: ObjectId,
    /// The file from which the commit removed the lines.
    pub from: String,
    /// The file to which the commit added the lines.
    pub to: String,
    /// The lines of the requested text, 1-based, ascending.
    pub lines: Vec<u32>,
}

/// A walk over versions of the file: those that are still to be examined, and the results so far.
struct BlameWalk<'a> {
    objects: &'a Objects,
    /// The commits that are passed over.
    ignored: &'a HashSet<ObjectId>,
    queue: BinaryHeap<(i64, Reverse<u64>, ObjectId)>,
    n_queued: u64,
    waiting: HashMap<ObjectId, BTreeMap<String, (TreeEntry, LinePairs)>>,
    nodes: HashMap<ObjectId, CommitNode>,
    n_searched: usize,
    blame: Blame,
}

impl Objects {
    /// Finds the commits reachable from `head` that introduced `lines` (1-based) of the text of a file, as `git blame` does.
    /// Lines that a commit moved are followed to the place they came from. Lines that the file in `head` does not have are
    /// uncommitted. Lines that a commit in `ignored` changed are followed to those that it replaced. The walk stops at the deadline
    /// `until`.
    ///
    /// # Errors
    /// When `head` or its file cannot be read.
    pub fn blame(
        &self,
        head: ObjectId,
        path: &str,
        text: &[u8],
        lines: &BTreeSet<u32>,
        ignored: &HashSet<ObjectId>,
        until: Instant,
    ) -> Result<Blame, GitError> {
        let n_lines = u32::try_from(split_lines(text).len()).unwrap_or(u32::MAX);
        let wanted: LinePairs = lines.range(1..=n_lines).map(|line| (line - 1, line - 1)).collect();
        let node = self.read_commit_node(head)?;
        let entry = self.find_tree_entry(node.tree, path)?.filter(TreeEntry::is_file);
        let mut suspects = BlameWalk {
            objects: self,
            ignored,
            queue: BinaryHeap::new(),
            n_queued: 0,
            waiting: HashMap::new(),
            nodes: HashMap::new(),
            n_searched: 0,
            blame: Blame::default(),
        };
        let old = entry.map(|entry| self.read_blob_at_most(entry.id, MOST_BYTES)).transpose()?.flatten();
        let (kept, new) = match &old {
            Some(old) => split_inherited(old, text, wanted),
            None => (Vec::new(), wanted),
        };
        suspects.blame.uncommitted = line_numbers(&new);
        if let Some(entry) = entry {
            suspects.queue_version(head, node, path, entry, kept);
        }
        suspects.examine_versions(until);
        Ok(suspects.blame)
    }

    /// Returns the lines of a file's text, 1-based, that the file in `head` does not have.
    ///
    /// # Errors
    /// When `head` or its file cannot be read.
    pub fn uncommitted_lines(&self, head: ObjectId, path: &str, text: &[u8]) -> Result<Vec<u32>, GitError> {
        let entry = self.find_tree_entry(self.read_commit_node(head)?.tree, path)?.filter(TreeEntry::is_file);
        let old = entry.map(|entry| self.read_blob_at_most(entry.id, MOST_BYTES)).transpose()?.flatten();
        let new = diff_hunks(&old.unwrap_or_default(), text).into_iter().flat_map(|hunk| hunk.after);
        Ok(new.map(|line| line + 1).collect())
    }
}

impl BlameWalk<'_> {
    fn examine_versions(&mut self, until: Instant) {
        while let Some((_, _, id)) = self.queue.pop() {
            let (Some(node), Some(versions)) = (self.nodes.remove(&id), self.waiting.remove(&id)) else {
                continue; // the commit was queued twice
            };
            for (path, (entry, lines)) in versions {
                if Instant::now() >= until {
                    self.blame.timed_out = true;
                    self.blame.unknown.extend(line_numbers(&lines));
                } else {
                    self.blame_version(id, &node, path, entry, lines);
                }
            }
        }
        self.blame.unknown.sort_unstable();
    }

    /// Queues the version of the file in a commit, which has these lines.
    fn queue_version(
        &mut self,
        id: ObjectId,
        node: CommitNode,
        path: &str,
        entry: TreeEntry,
        lines: LinePairs,
    ) {
        if lines.is_empty() {
            return;
        }
        self.n_queued += 1;
        self.queue.push((node.time, Reverse(self.n_queued), id));
        self.nodes.insert(id, node);
        let versions = self.waiting.entry(id).or_default();
        versions.entry(path.to_owned()).or_insert((entry, Vec::new())).1.extend(lines);
    }

    /// Queues the parents that have some of the lines; records that the commit introduced the others.
    fn blame_version(
        &mut self,
        id: ObjectId,
        node: &CommitNode,
        path: String,
        entry: TreeEntry,
        mut lines: LinePairs,
    ) {
        let parents = match self.find_origins(node, &path, entry) {
            Ok(parents) => parents,
            Err(error) => {
                self.blame.gaps.push(error.to_string());
                self.blame.unknown.extend(line_numbers(&lines));
                return;
            }
        };
        if let [(parent, parent_node, path, old)] = parents.as_slice()
            && old.id == entry.id
        {
            return self.queue_version(*parent, parent_node.clone(), path, *old, lines);
        }
        if !parents.is_empty() {
            let Ok(Some(text)) = self.objects.read_blob_at_most(entry.id, MOST_BYTES) else {
                self.blame.unknown.extend(line_numbers(&lines));
                return;
            };
            for (parent, parent_node, path, old) in parents {
                let kept = match self.objects.read_blob_at_most(old.id, MOST_BYTES) {
                    Ok(Some(old_text)) => {
                        let (mut kept, mut rest) = split_inherited(&old_text, &text, lines);
                        if self.ignored.contains(&id) {
                            let (replacing, new) = split_replacing(&old_text, &text, rest);
                            kept.extend(replacing);
                            rest = new;
                        }
                        lines = rest;
                        kept
                    }
                    Ok(None) => Vec::new(),
                    Err(error) => {
                        self.blame.gaps.push(error.to_string());
                        self.blame.unknown.extend(line_numbers(&lines));
                        return;
                    }
                };
                self.queue_version(parent, parent_node, &path, old, kept);
            }
        }
        let lines = self.queue_moved_lines(id, node, &path, entry, lines);
        if !lines.is_empty() {
            self.blame.gaps.extend(node.why_history_ends(id));
            self.blame.commits.push((id, path, line_numbers(&lines)));
        }
    }

    /// Queues the files of the parent from which the commit moved some of the lines; returns the other lines.
    fn queue_moved_lines(
        &mut self,
        id: ObjectId,
        node: &CommitNode,
        path: &str,
        entry: TreeEntry,
        lines: LinePairs,
    ) -> LinePairs {
        let [parent_id] = node.parents.as_slice() else { return lines };
        if lines.is_empty() || self.n_searched == MOST_SEARCHED {
            return lines;
        }
        self.n_searched += 1;
        let Ok(parent) = self.objects.read_commit_node(*parent_id) else { return lines };
        let Ok(Some(text)) = self.objects.read_blob_at_most(entry.id, MOST_BYTES) else { return lines };
        let target = LineTarget { path, text: &text, lines: &lines };
        let Ok(sources) = self.objects.find_moved_lines(parent.tree, node.tree, &target) else {
            return lines;
        };
        let mut moved = BTreeSet::new();
        for source in sources {
            let (from, to, numbers) = (source.path, path.to_owned(), line_numbers(&source.lines));
            moved.extend(numbers.iter().copied());
            self.queue_version(*parent_id, parent.clone(), &from, source.entry, source.lines);
            self.blame.moves.push(LineMove { id, from, to, lines: numbers });
        }
        lines.into_iter().filter(|(line, _)| !moved.contains(&(line + 1))).collect()
    }

    /// Returns the versions of the file in the parents, following renames; only one version if a parent has an identical one.
    fn find_origins(
        &mut self,
        child: &CommitNode,
        path: &str,
        entry: TreeEntry,
    ) -> Result<Vec<Origin>, GitError> {
        let mut found = Vec::new();
        let mut nameless = Vec::new();
        for id in &child.parents {
            let node = self.nodes.get(id).cloned().map_or_else(|| self.objects.read_commit_node(*id), Ok)?;
            match self.objects.find_tree_entry(node.tree, path)? {
                Some(old) if old.is_file() && old.id == entry.id => {
                    return Ok(vec![(*id, node, path.to_owned(), old)]);
                }
                Some(old) if old.is_file() => found.push((*id, node, path.to_owned(), old)),
                // A link or a submodule became the file, so the name is the same, and git searches for no other one.
                Some(old) if !old.is_directory() => {}
                _ => nameless.push((*id, node)),
            }
        }
        // This is expensive, and rarely needed, because a merge usually has the file unchanged from another parent.
        for (id, node) in nameless {
            let former = self.objects.find_former_name(node.tree, child.tree, path, entry)?;
            self.blame.gaps.extend(
                former.cut.map(|why| format!("the former name of {path} was not searched for: {why}")),
            );
            found.extend(former.found.map(|(path, old)| (id, node, path, old)));
        }
        Ok(found)
    }
}

/// Splits lines of `new` into those that `old` has too, with their position there, and the rest.
fn split_inherited(old: &[u8], new: &[u8], lines: LinePairs) -> (LinePairs, LinePairs) {
    let hunks = diff_hunks(old, new);
    let (mut kept, mut rest) = (Vec::new(), Vec::new());
    for (line, at) in lines {
        let next = hunks.partition_point(|hunk| hunk.after.end <= at);
        if hunks.get(next).is_some_and(|hunk| hunk.after.contains(&at)) {
            rest.push((line, at));
            continue;
        }
        // After the last hunk that ends before the line, the lines of both texts correspond.
        let (old_end, new_end) =
            next.checked_sub(1).map_or((0, 0), |last| (hunks[last].before.end, hunks[last].after.end));
        kept.push((line, old_end + (at - new_end)));
    }
    (kept, rest)
}

/// Splits lines of `new` that `old` does not have into those that replace a line of `old`, with the position of that line, and the
/// rest. A line replaces the one that differs from it only in blanks, or else the one at the same place among the changed lines, if no
/// other line replaces that.
fn split_replacing(old: &[u8], new: &[u8], lines: LinePairs) -> (LinePairs, LinePairs) {
    let (mut replacing, mut rest) = (Vec::new(), lines);
    let hunks = diff_hunks(old, new);
    let (old, new) = (split_lines(old), split_lines(new));
    for hunk in hunks {
        let (inside, outside) = rest.into_iter().partition::<Vec<_>, _>(|(_, at)| hunk.after.contains(at));
        rest = outside;
        if inside.is_empty() {
            continue;
        }
        let after: HashSet<Vec<u8>> = hunk.after.clone().map(|at| without_blanks(new[at as usize])).collect();
        let before = hunk.before.clone().rev().map(|at| (without_blanks(old[at as usize]), at));
        let before: HashMap<Vec<u8>, u32> = before.collect();
        for (line, at) in inside {
            let same = before.get(&without_blanks(new[at as usize])).copied();
            let there = Some(hunk.before.start + (at - hunk.after.start));
            let is_free = |at: &u32| !after.contains(&without_blanks(old[*at as usize]));
            let there = there.filter(|at| hunk.before.contains(at) && is_free(at));
            match same.or(there) {
                Some(before) => replacing.push((line, before)),
                None => rest.push((line, at)),
            }
        }
    }
    (replacing, rest)
}

fn without_blanks(line: &[u8]) -> Vec<u8> {
    line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

/// Returns the numbers of lines in the requested text, 1-based, ascending.
fn line_numbers(lines: &LinePairs) -> Vec<u32> {
    let mut numbers: Vec<u32> = lines.iter().map(|(line, _)| line + 1).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_an_older_text_has() {
        let check = |old: &str, new: &str, kept: &[(u32, u32)], rest: &[u32]| {
            let n_lines = u32::try_from(new.lines().count()).unwrap();
            let all = (0..n_lines).map(|line| (line, line)).collect();
            let (found, own) = split_inherited(old.as_bytes(), new.as_bytes(), all);
            assert_eq!(
                (found.as_slice(), own.iter().map(|line| line.0).collect::<Vec<_>>().as_slice()),
                (kept, rest)
            );
        };
        check("a\nb\n", "a\nb\n", &[(0, 0), (1, 1)], &[]);
        check("a\nb\n", "x\na\nb\n", &[(1, 0), (2, 1)], &[0]);
        check("a\nb\nc\n", "a\nc\n", &[(0, 0), (1, 2)], &[]);
        check("a\nb\nc\n", "a\ny\nz\nc\n", &[(0, 0), (3, 2)], &[1, 2]);
        check("", "a\n", &[], &[0]);
    }

    #[test]
    fn lines_that_a_formatter_replaced() {
        let check = |old: &str, new: &str, replacing: &[(u32, u32)], rest: &[u32]| {
            let n_lines = u32::try_from(new.lines().count()).unwrap();
            let all = (0..n_lines).map(|line| (line, line)).collect();
            let (_, changed) = split_inherited(old.as_bytes(), new.as_bytes(), all);
            let (found, own) = split_replacing(old.as_bytes(), new.as_bytes(), changed);
            let own: Vec<u32> = own.iter().map(|line| line.0).collect();
            assert_eq!((found.as_slice(), own.as_slice()), (replacing, rest), "{old:?} {new:?}");
        };
        check("a\n b\nc\n", "a\n\tb\nc\n", &[(1, 1)], &[]);
        check("x(1)\ny(2)\n", "x( 1 )\ny( 2 )\n", &[(0, 0), (1, 1)], &[]);
        check("f(a,\n  b)\n", "f(a, b)\n", &[(0, 0)], &[]);
        check("f(a, b)\n", "f(\n  a,\n  b)\n", &[(0, 0)], &[1, 2]);
        check("a\nb\n", "a\nnew\nb\n", &[], &[1]);
        check("a\nx( )\ny\n", "a\n\nx()\nz\n", &[(2, 1)], &[1, 3]);
    }
}
