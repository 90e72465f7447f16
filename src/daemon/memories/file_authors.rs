//! Finds out who has changed the file of a memory, and when, as far as git knows.
//!
//! That is who wrote the commit that touched it last, where the file is as that commit has it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_engine::clock::now_ms;
use memod_engine::look_progress::LookProgress;
use memod_git::{GitError, ObjectId, Objects, Refs, Settings, UserDirs};
use memod_memory::file;
use memod_memory_db::{FROM_FILE, FileState, MemoryEvent, MemoryStore};

use super::file_disk::Hash;
use super::rules::Done;

/// Longest search for all authors of one look. Who is not found by then is not named.
const MOST: Duration = Duration::from_millis(300);
/// Longest search for whether the files of one look are committed. Of others it is not known when they were changed.
const MOST_OF_ALL: Duration = Duration::from_secs(3);
/// What is checked out, and what `memo sync-notes` has brought.
const HEADS: [&str; 2] = ["HEAD", "refs/worktree/memod/notes"];

/// The last edits of files, by name and hash; one that was not searched for is absent.
pub(super) type Authors = HashMap<(String, Hash), FileEdit>;

/// The edit that made a file what it is, as far as git knows.
#[derive(Clone, Default)]
pub(super) struct FileEdit {
    /// Author of the commit that has the file as it is.
    author: Option<String>,
    /// Time of that commit, or of the look that found no such commit, unix ms.
    at: Option<i64>,
}

/// Sets who has changed the files of memories that are known. Returns those for which that was not searched yet.
pub(super) fn set_authors(
    store: &mut MemoryStore,
    changed: &mut [FileState],
    authors: &Authors,
    now_ms: i64,
) -> Done<Vec<FileState>> {
    let is_known: Vec<bool> = store.read(now_ms, |rows| {
        let has = |file: &FileState| file::id_of(&file.name).map_or(Ok(false), |id| rows.has(&id));
        Ok(changed.iter().map(has).collect::<Result<_, _>>()?)
    })?;
    let mut missing = Vec::new();
    for (file, is_known) in changed.iter_mut().zip(is_known) {
        match authors.get(&(file.name.clone(), file.hash)) {
            _ if !is_known => {}
            None => missing.push(file.clone()),
            Some(edit) => {
                file.edited = edit.at;
                file.event = edit.author.clone().map(|author| MemoryEvent {
                    at: now_ms,
                    action: "update".to_owned(),
                    author,
                    source: FROM_FILE.to_owned(),
                    ..MemoryEvent::default()
                });
            }
        }
    }
    Ok(missing)
}

/// Searches who has changed files, where git knows. Not for the thread that owns the memories: git's files may be slow.
pub(super) fn find_authors(
    layout: &RepoLayout,
    files: Vec<FileState>,
    progress: &LookProgress,
    authors: &mut Authors,
) {
    let began = Instant::now();
    layout.git_dir.iter().for_each(|dir| progress.ask(dir));
    let history = History::open(layout).ok().flatten();
    for file in files {
        layout.git_dir.iter().for_each(|dir| progress.ask(dir));
        let edit = match &history {
            None => FileEdit { author: None, at: Some(now_ms()) },
            Some(_) if began.elapsed() > MOST_OF_ALL => FileEdit::default(),
            Some(history) => history.find_edit(&file, began + MOST).unwrap_or_default(),
        };
        authors.insert((file.name, file.hash), edit);
    }
    progress.end();
}

/// The histories that files of a worktree may be of.
struct History {
    objects: Objects,
    /// Commits with their trees.
    heads: Vec<(ObjectId, ObjectId)>,
}

impl History {
    fn open(layout: &RepoLayout) -> Result<Option<Self>, GitError> {
        let object_hash = Settings::read(layout, &UserDirs::read())?.object_hash;
        let Some(objects) = Objects::open(layout, object_hash)? else { return Ok(None) };
        let Some(refs) = Refs::new(layout, object_hash) else { return Ok(None) };
        let mut heads = Vec::new();
        for name in HEADS {
            if let Some(head) = refs.find(name)? {
                heads.push((head, objects.node(head)?.tree));
            }
        }
        Ok(Some(Self { objects, heads }))
    }

    /// Finds the last edit of a file.
    ///
    /// # Errors
    /// When git's files cannot be read.
    fn find_edit(&self, file: &FileState, until: Instant) -> Result<FileEdit, GitError> {
        let path = format!("{}/{}", file::DIR, file.name);
        for (head, tree) in &self.heads {
            if !self.is_committed(*tree, &path, file)? {
                continue;
            }
            let log = self.objects.log(*head, &path, 1, until)?;
            let Some(touch) = log.touches.first() else { return Ok(FileEdit::default()) };
            let commit = self.objects.commit(touch.id)?;
            // The author's time stays where a commit is amended.
            let at = Some(self.objects.node(touch.id)?.time.saturating_mul(1_000));
            return Ok(FileEdit { author: Some(commit.author).filter(|author| !author.is_empty()), at });
        }
        Ok(FileEdit { author: None, at: Some(now_ms()) })
    }

    fn is_committed(&self, tree: ObjectId, path: &str, file: &FileState) -> Result<bool, GitError> {
        let Some(entry) = self.objects.entry(tree, path)? else { return Ok(false) };
        let committed = self.objects.blob(entry.id, file::MAX_FILE)?;
        let text = committed.and_then(|bytes| file::text_of(&bytes).ok());
        Ok(text.is_some_and(|text| file::hash(&text) == file.hash))
    }
}
