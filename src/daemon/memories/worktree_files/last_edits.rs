//! Finds the author and the time of the last change of a memory file in the history of git.
//!
//! The author is that of the last commit which touched the file, provided that the file equals the committed version.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use memod_base::clock::now_ms;
use memod_base::paths::RepoLayout;
use memod_engine::file_access::file_access_progress::FileAccessProgress;
use memod_git::{GitError, ObjectId, Objects, Refs, Settings, UserDirs};
use memod_memory::file;
use memod_memory_db::{FILE_SOURCE, MemoryEvent, MemoryFileSnapshot, MemoryStore};

use crate::daemon::memories::memory_files::place_files::FileHash;
use crate::daemon::memories::rules::memory_rules::JobResult;

/// Longest search for the authors of all changed files. Authors that are not found by then stay unknown.
const AUTHOR_SEARCH_LIMIT: Duration = Duration::from_millis(300);
/// Longest time to find out which changed files are committed. The time of change of the remaining files stays unknown.
const COMMIT_CHECK_LIMIT: Duration = Duration::from_secs(3);
/// The checked-out commit, and the commit that `memo share sync` has fetched.
const HEADS: [&str; 2] = ["HEAD", "refs/worktree/memod/notes"];

/// The last edits of files, by name and hash. An edit that was not searched for is absent.
pub(super) type LastEdits = HashMap<(String, FileHash), FileEdit>;

/// The edit that gave a file its present text, as far as git knows.
#[derive(Clone, Default)]
pub(super) struct FileEdit {
    /// Author of the commit with the present text of the file.
    author: Option<String>,
    /// Time of that commit, or of the search if there is no such commit, unix ms.
    at: Option<i64>,
}

/// Sets the last edit of each changed file of a known memory. Returns the files whose edit was not searched for yet.
pub(super) fn set_last_edits(
    store: &mut MemoryStore,
    changed: &mut [MemoryFileSnapshot],
    edits: &LastEdits,
    now_ms: i64,
) -> JobResult<Vec<MemoryFileSnapshot>> {
    let is_known: Vec<bool> = store.read(now_ms, |rows| {
        Ok(changed
            .iter()
            .map(|file: &MemoryFileSnapshot| {
                file::parse_file_name(&file.name).map_or(Ok(false), |id| rows.records().has_memory(&id))
            })
            .collect::<Result<_, _>>()?)
    })?;
    let mut missing = Vec::new();
    for (file, is_known) in changed.iter_mut().zip(is_known) {
        match edits.get(&(file.name.clone(), file.hash)) {
            _ if !is_known => {}
            None => missing.push(file.clone()),
            Some(edit) => {
                file.edited_ms = edit.at;
                file.event = edit.author.clone().map(|author| MemoryEvent {
                    at: now_ms,
                    action: "update".to_owned(),
                    author,
                    source: FILE_SOURCE.to_owned(),
                    ..MemoryEvent::default()
                });
            }
        }
    }
    Ok(missing)
}

/// Searches the history of git for the last edits of files, and adds them to `edits`. Must not run on the thread that owns the
/// memories, because the search may be slow.
pub(super) fn search_last_edits(
    layout: &RepoLayout,
    files: Vec<MemoryFileSnapshot>,
    progress: &FileAccessProgress,
    edits: &mut LastEdits,
) {
    let began = Instant::now();
    layout.git_dir.iter().for_each(|dir| progress.begin_access(dir));
    let history = FileHistory::open(layout).ok().flatten();
    for file in files {
        layout.git_dir.iter().for_each(|dir| progress.begin_access(dir));
        let edit = match &history {
            None => FileEdit { author: None, at: Some(now_ms()) },
            Some(_) if began.elapsed() > COMMIT_CHECK_LIMIT => FileEdit::default(),
            Some(history) => history.find_edit(&file, began + AUTHOR_SEARCH_LIMIT).unwrap_or_default(),
        };
        edits.insert((file.name, file.hash), edit);
    }
    progress.end_access();
}

/// The commits whose histories may contain the files of a worktree.
struct FileHistory {
    objects: Objects,
    /// The commits, each with its tree.
    heads: Vec<(ObjectId, ObjectId)>,
}

impl FileHistory {
    fn open(layout: &RepoLayout) -> Result<Option<Self>, GitError> {
        let object_hash = Settings::read(layout, &UserDirs::read())?.object_hash;
        let Some(objects) = Objects::open(layout, object_hash)? else { return Ok(None) };
        let Some(refs) = Refs::new(layout, object_hash) else { return Ok(None) };
        let mut heads = Vec::new();
        for name in HEADS {
            if let Some(head) = refs.resolve_ref(name)? {
                heads.push((head, objects.read_commit_node(head)?.tree));
            }
        }
        Ok(Some(Self { objects, heads }))
    }

    /// Finds the last edit of a file. A file that no commit has was edited now, by an unknown author.
    ///
    /// # Errors
    /// When git's files cannot be read.
    fn find_edit(&self, file: &MemoryFileSnapshot, until: Instant) -> Result<FileEdit, GitError> {
        let path = format!("{}/{}", file::DIR, file.name);
        for (head, tree) in &self.heads {
            if !self.is_committed(*tree, &path, file)? {
                continue;
            }
            let log = self.objects.list_path_commits(*head, &path, 1, until)?;
            let Some(touch) = log.touches.first() else { return Ok(FileEdit::default()) };
            let commit = self.objects.read_commit(touch.id)?;
            // The time of the commit, not of its author: the author's time stays when a commit is amended.
            let at = Some(self.objects.read_commit_node(touch.id)?.time.saturating_mul(1_000));
            return Ok(FileEdit { author: Some(commit.author).filter(|author| !author.is_empty()), at });
        }
        Ok(FileEdit { author: None, at: Some(now_ms()) })
    }

    fn is_committed(&self, tree: ObjectId, path: &str, file: &MemoryFileSnapshot) -> Result<bool, GitError> {
        let Some(entry) = self.objects.find_tree_entry(tree, path)? else { return Ok(false) };
        let committed = self.objects.read_blob_at_most(entry.id, file::MAX_FILE_BYTES)?;
        let text = committed.and_then(|bytes| file::decode_file(&bytes).ok());
        Ok(text.is_some_and(|text| file::hash_file_text(&text) == file.hash))
    }
}
