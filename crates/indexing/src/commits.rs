//! Indexes the commits of a worktree.
//!
//! Each commit reachable from `HEAD`, newest first and up to a limit, is a source `commit:<oid>` of the worktree. Its
//! content is a rendered text, which worktrees share. A merge lists the paths that differ from its first parent.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_base::threads::catch_panic;
use memod_base::types::{ChunkKind, SourceKey, Stat, WorktreeId};
use memod_git::{Commit, CommitNode, CommitWalk, GitError, ObjectId, Objects, Tip};
use memod_index_db::{IndexReader, IndexWriter, ManifestChange, NewBlob, NewChunk};
use memod_text::redact::redact;
use memod_text::secrets::Syntax;
use memod_text::words;

use super::prepare::{compute_word_pieces, embedded_text_hash, now_s};
use super::{IndexError, Progress};

/// Format name of commits, which no file has.
const LANG: &str = "commit";
/// Version of the rendered text and its words; raise this number when either changes.
const VERSION: i64 = 3;
/// Longest part of a commit message that is indexed, in bytes.
const MOST_MESSAGE_BYTES: usize = 8 << 10;
/// Most changed paths of a commit that are listed; further ones are only counted.
const MOST_PATHS: usize = 100;
/// Time limit of a step, so that a changed file need not wait for two thousand commits.
const STEP_TIME_LIMIT: Duration = Duration::from_millis(100);
/// Most commits of one transaction.
const MAX_BATCH_COMMITS: usize = 128;

/// The state of indexing the commits of one worktree.
#[derive(Default)]
pub(super) struct HistoryProgress {
    /// Results of the last walk that the next one reuses.
    nodes: HashMap<ObjectId, CommitNode>,
    plan: Option<CommitPlan>,
}

/// The remaining work until the commits that one tip reaches are indexed.
struct CommitPlan {
    tip: Tip,
    /// Commits to be read, the newest last.
    todo: Vec<ObjectId>,
    /// Indexed commits that no longer belong to the worktree.
    gone: Vec<SourceKey>,
    /// Parts of the history that could not be read.
    notes: Vec<String>,
    /// The first transient error, after which it is unknown what is missing.
    unread: Option<String>,
    /// Whether the history has more commits than the limit.
    has_older: bool,
    /// Commits whose changed paths are unknown.
    n_pathless: usize,
}

impl CommitPlan {
    fn new(tip: &Tip) -> Self {
        let (todo, gone, notes) = Default::default();
        Self { tip: tip.clone(), todo, gone, notes, unread: None, has_older: false, n_pathless: 0 }
    }

    /// Records a failure to read part of the history.
    fn record_failure(&mut self, error: String, is_transient: bool) {
        if is_transient {
            self.unread.get_or_insert_with(|| error.clone());
        }
        self.notes.push(error);
    }
}

/// The result of a step.
#[derive(Debug, Default)]
pub struct CommitStep {
    /// The new `seq` of the worktree; `None` when nothing changed.
    pub seq: Option<u64>,
    /// Commits still to be read; 0 when done.
    pub n_left: usize,
    /// Parts of the history that could not be read. Set in the last step.
    pub notes: Vec<String>,
    /// Whether these parts may be readable later, as with packs that are being replaced or an alternate that is not mounted.
    pub may_come_back: bool,
    /// The first transient error, after which it is unknown what is missing. Set in the last step.
    pub unread: Option<String>,
    /// Whether the history has older commits than those of the index, because of the limit. Set in the last step.
    pub has_older: bool,
}

/// Indexes the commits of worktrees.
pub struct CommitIndexer {
    reader: IndexReader,
    histories: HashMap<WorktreeId, HistoryProgress>,
    limit: usize,
    progress: Arc<Progress>,
}

impl CommitIndexer {
    /// Prepares to index the newest `limit` commits of each worktree in `index_db`.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub fn new(index_db: &Path, limit: usize, progress: Arc<Progress>) -> Result<Self, IndexError> {
        Ok(Self { reader: IndexReader::open(index_db)?, histories: HashMap::new(), limit, progress })
    }

    /// Runs one step towards indexing the newest commits reachable from `tip`.
    ///
    /// Call this until nothing is left. The first step with a tip compares the history with the index, so that only new commits are
    /// read. The last step removes commits that the tip no longer reaches. Unreadable commits are skipped, with a note.
    ///
    /// # Errors
    /// When the database fails; earlier steps stay written.
    pub fn index_step(
        &mut self,
        writer: &mut IndexWriter,
        layout: &RepoLayout,
        view: WorktreeId,
        tip: &Tip,
    ) -> Result<CommitStep, IndexError> {
        let mut history = self.histories.remove(&view).unwrap_or_default();
        let (objects, mut complaint) = match Objects::open(layout, tip.object_hash) {
            Ok(objects) => (objects, None),
            Err(error) => (None, Some((error.to_string(), error.is_unreadable()))),
        };
        if history.plan.as_ref().is_none_or(|plan| plan.tip != *tip) {
            let mut plan = self.plan_commits(view, tip, objects.as_ref(), &mut history.nodes)?;
            if let Some((error, is_transient)) = complaint.take() {
                plan.record_failure(error, is_transient);
            }
            history.plan = Some(plan);
        }
        let plan = history.plan.as_mut().expect("it was made above");
        let mut step = CommitStep::default();
        match &objects {
            Some(objects) => {
                self.index_planned_commits(writer, view, objects, &history.nodes, plan, &mut step)?;
            }
            None => plan.todo.clear(),
        }
        step.n_left = plan.todo.len();
        if step.n_left == 0 {
            let removals: Vec<ManifestChange> =
                plan.gone.drain(..).map(|key| ManifestChange::Remove { key, is_secret: false }).collect();
            self.write_changes(writer, view, &removals, &mut step)?;
            step.notes = std::mem::take(&mut plan.notes);
            step.unread = plan.unread.take();
            step.has_older = plan.has_older;
            step.may_come_back = !step.notes.is_empty();
            step.notes.extend(describe_pathless(plan.n_pathless));
            history.plan = None;
        }
        self.histories.insert(view, history);
        Ok(step)
    }

    /// Discards unfinished work, after the index was emptied.
    pub fn forget_all(&mut self) {
        self.histories.clear();
    }

    /// Discards unfinished work of one worktree, because a new worktree may have its id now.
    pub fn forget_worktree(&mut self, view: WorktreeId) {
        self.histories.remove(&view);
    }

    /// Walks the history of a tip, and compares it with the index.
    fn plan_commits(
        &self,
        view: WorktreeId,
        tip: &Tip,
        objects: Option<&Objects>,
        nodes: &mut HashMap<ObjectId, CommitNode>,
    ) -> Result<CommitPlan, IndexError> {
        let mut plan = CommitPlan::new(tip);
        let mut indexed = self.reader.list_commits(view)?;
        match (&tip.head, objects) {
            (Ok(head), _) if self.limit == 0 => plan.has_older = head.is_some(),
            _ if self.limit == 0 => {}
            // A commit that cannot be read now may have been read before.
            (Err(error), _) => {
                plan.record_failure(error.clone(), tip.is_unread);
                return Ok(plan);
            }
            (Ok(Some(_)), None) => return Ok(plan),
            (Ok(None), _) => {}
            (Ok(Some(head)), Some(objects)) => {
                // The boundary of a shallow history can move without any new commit.
                nodes.retain(|_, node| !node.lacks_parents && !tip.is_shallow());
                let mut walk = CommitWalk::new(objects, nodes, *head);
                let found: Vec<(ObjectId, CommitNode)> = self.take_newest(&mut walk);
                plan.has_older = found.len() == self.limit && walk.next().is_some();
                plan.notes.append(&mut walk.gaps);
                plan.unread = walk.unreadable.take();
                for (id, _) in found.iter().rev() {
                    let is_partial = indexed.remove(&SourceKey::for_commit(id));
                    if is_partial != Some(false) {
                        plan.todo.push(*id);
                    }
                }
                *nodes = found.into_iter().collect();
            }
        }
        if plan.unread.is_none() {
            plan.gone = indexed.into_keys().collect();
        }
        self.progress.total_commits.store(plan.todo.len() as u64, Ordering::Relaxed);
        self.progress.done_commits.store(0, Ordering::Relaxed);
        Ok(plan)
    }

    /// Returns the newest commits of a walk, up to the limit.
    fn take_newest(&self, walk: &mut CommitWalk<'_>) -> Vec<(ObjectId, CommitNode)> {
        // Commits missing from an interrupted walk must not count as gone, so nothing is written after it.
        walk.take(self.limit).take_while(|_| !self.progress.is_cancelled()).collect()
    }

    /// Renders planned commits and writes them, until the time of a step is over.
    fn index_planned_commits(
        &self,
        writer: &mut IndexWriter,
        view: WorktreeId,
        objects: &Objects,
        nodes: &HashMap<ObjectId, CommitNode>,
        plan: &mut CommitPlan,
        step: &mut CommitStep,
    ) -> Result<(), IndexError> {
        let began = Instant::now();
        while !plan.todo.is_empty() && began.elapsed() < STEP_TIME_LIMIT {
            let mut changes = Vec::new();
            while changes.len() < MAX_BATCH_COMMITS && began.elapsed() < STEP_TIME_LIMIT {
                let Some(id) = plan.todo.pop() else { break };
                let key = SourceKey::for_commit(&id);
                // A file may have such a name, and must stay searchable.
                if self.reader.find_entry(view, &key)?.is_some_and(|entry| !entry.stat.is_commit()) {
                    continue;
                }
                let rendered = catch_panic(|| RenderedCommit::read(objects, nodes, id));
                match rendered {
                    Ok(Ok(rendered)) => {
                        plan.n_pathless += usize::from(rendered.is_partial);
                        changes.push(rendered.into_change(key));
                    }
                    Ok(Err(error)) => plan.record_failure(error.to_string(), error.is_unreadable()),
                    Err(_) => plan.notes.push(format!("git object {id}: reading it panicked")),
                }
            }
            self.write_changes(writer, view, &changes, step)?;
            self.progress.done_commits.fetch_add(changes.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Writes changes of a worktree, unless the daemon is stopping.
    fn write_changes(
        &self,
        writer: &mut IndexWriter,
        view: WorktreeId,
        changes: &[ManifestChange],
        step: &mut CommitStep,
    ) -> Result<(), IndexError> {
        if self.progress.is_cancelled() {
            return Err(IndexError::Cancelled);
        }
        if !changes.is_empty() {
            step.seq = Some(writer.apply_changes(view, changes, now_s())?.0);
        }
        Ok(())
    }
}

/// Returns the note about commits that are indexed without their changed paths, if there are any.
fn describe_pathless(n_pathless: usize) -> Option<String> {
    let note = "without their changed paths: this shallow or partial clone lacks objects that are needed to find them";
    (n_pathless > 0).then(|| format!("{n_pathless} commits are searched {note}"))
}

/// A rendered commit.
struct RenderedCommit {
    subject: String,
    /// A line `<oid> <date> <author>`, an empty line, and the part that [`message_and_paths`] returns.
    text: String,
    /// Whether the changed paths are still unknown.
    is_partial: bool,
}

/// Returns the part of a rendered commit that is embedded and shown: its message and changed paths.
pub(super) fn message_and_paths(text: &str) -> &str {
    text.split_once("\n\n").map_or(text, |(_, rest)| rest)
}

impl RenderedCommit {
    /// Reads a commit with its changed paths, and renders it.
    fn read(
        objects: &Objects,
        nodes: &HashMap<ObjectId, CommitNode>,
        id: ObjectId,
    ) -> Result<Self, GitError> {
        let commit = objects.read_commit(id)?;
        let paths = changed_paths(objects, nodes, id);
        Ok(Self::new(&commit, paths.ok().flatten()))
    }

    /// Renders a commit. `paths` are the first changed paths and their total number; `None` if they are unknown.
    fn new(commit: &Commit, paths: Option<(Vec<String>, usize)>) -> Self {
        let is_partial = paths.is_none();
        let mut message = format!("{}\n\n{}", commit.subject, commit.body);
        if message.len() > MOST_MESSAGE_BYTES {
            let kept = message.floor_char_boundary(MOST_MESSAGE_BYTES);
            let n_more = message.len() - kept;
            message.truncate(kept);
            message.push_str(&format!("\n… {n_more} bytes more"));
        }
        let message = redact(message.trim(), Syntax::Prose).into_owned();
        let mut text = format!("{} {} {}\n\n{message}\n", commit.id, commit.date, commit.author);
        let (paths, total) = paths.unwrap_or_default();
        if !paths.is_empty() {
            text.push('\n');
        }
        for path in &paths {
            text.push_str(path);
            text.push('\n');
        }
        if total > paths.len() {
            text.push_str(&format!("… {} paths more\n", total - paths.len()));
        }
        Self { subject: message.lines().next().unwrap_or_default().to_owned(), text, is_partial }
    }

    fn into_change(self, key: SourceKey) -> ManifestChange {
        let hash: [u8; 32] = blake3::hash(self.text.as_bytes()).into();
        let size = self.text.len() as u64;
        let stat = Stat { size, mtime_ns: 0, ctime_ns: 0, inode: 0, dev: 0, mode: Stat::COMMIT_MODE };
        let body = message_and_paths(&self.text);
        let header = self.text.lines().next().unwrap_or_default();
        let (oid, written) = header.split_once(' ').unwrap_or((header, ""));
        let mut index_words = [String::new(), String::new(), format!("{oid} ")];
        words::write_index_words(&self.subject, &mut index_words[1]);
        words::write_index_words(written, &mut index_words[2]);
        index_words[2].push(' ');
        words::write_index_words(body, &mut index_words[2]);
        let chunk = NewChunk {
            kind: ChunkKind::Commit,
            pieces: compute_word_pieces(&[&self.subject, body], &[]),
            bytes: (0, self.text.len()),
            lines: (1, u32::try_from(body.lines().count()).unwrap_or(u32::MAX).max(1)),
            symbol: None,
            text_hash: embedded_text_hash(ChunkKind::Commit, "", &self.subject, body),
            title: Some(self.subject),
            gets_vector: true,
            words: index_words,
            text: Some(self.text),
        };
        let blob = NewBlob {
            size,
            kind: LANG,
            extractor_version: VERSION,
            chunks: vec![chunk],
            ..NewBlob::default()
        };
        let blob = Some(Box::new(blob));
        let path_part = String::new();
        ManifestChange::Put { key, stat, racy: self.is_partial, hash, lang: LANG, path_part, blob }
    }
}

/// Returns the node of a commit from an earlier walk, or else reads it.
fn find_node(
    objects: &Objects,
    nodes: &HashMap<ObjectId, CommitNode>,
    id: ObjectId,
) -> Result<CommitNode, GitError> {
    nodes.get(&id).cloned().map_or_else(|| objects.read_commit_node(id), Ok)
}

/// Returns the first paths that differ from the first parent, and their total number; `None` at a shallow boundary.
fn changed_paths(
    objects: &Objects,
    nodes: &HashMap<ObjectId, CommitNode>,
    id: ObjectId,
) -> Result<Option<(Vec<String>, usize)>, GitError> {
    let commit = find_node(objects, nodes, id)?;
    if commit.lacks_parents {
        return Ok(None);
    }
    let parent = commit.parents.first().map(|parent| find_node(objects, nodes, *parent)).transpose()?;
    let changes = objects.compare_trees(parent.map(|parent| parent.tree), commit.tree, MOST_PATHS)?;
    // A change of type is a removal and an addition.
    let mut seen = HashSet::new();
    let paths = changes.paths.into_iter().map(|change| change.path);
    Ok(Some((paths.filter(|path| seen.insert(path.clone())).collect(), changes.total)))
}
