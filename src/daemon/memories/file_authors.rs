//! Finds out who has changed the file of a memory, as far as git knows.
//!
//! That is who wrote the commit that touched it last, where the file is as that commit has it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::file_disk::Hash;
use super::look_progress::LookProgress;
use super::rules::Done;
use crate::git::{GitError, ObjectId, Objects, Refs, Settings, UserDirs};
use crate::memory::file;
use crate::paths::RepoLayout;
use crate::store::{FROM_FILE, FileState, MemoryEvent, MemoryStore};

/// Longest search for all authors of one look. Who is not found by then is not named.
const MOST: Duration = Duration::from_millis(300);
/// What is checked out, and what `memo sync-notes` has brought.
const HEADS: [&str; 2] = ["HEAD", "refs/worktree/memod/notes"];

/// Who has changed files, by name and hash, as far as was searched; `None` where git does not know.
pub(super) type Authors = HashMap<(String, Hash), Option<String>>;

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
            Some(author) => {
                file.event = author.clone().map(|author| MemoryEvent {
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
    let until = Instant::now() + MOST;
    layout.git_dir.iter().for_each(|dir| progress.ask(dir));
    let history = History::open(layout).ok().flatten();
    for file in files {
        layout.git_dir.iter().for_each(|dir| progress.ask(dir));
        let history = history.as_ref().filter(|_| Instant::now() < until);
        let author = history.and_then(|history| history.author(&file, until));
        authors.insert((file.name, file.hash), author);
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

    fn author(&self, file: &FileState, until: Instant) -> Option<String> {
        self.heads.iter().find_map(|head| self.author_in(*head, file, until))
    }

    fn author_in(
        &self,
        (head, tree): (ObjectId, ObjectId),
        file: &FileState,
        until: Instant,
    ) -> Option<String> {
        let path = format!("{}/{}", file::DIR, file.name);
        let entry = self.objects.entry(tree, &path).ok()??;
        let committed = self.objects.blob(entry.id, file::MAX_FILE).ok()??;
        if file::text_of(&committed).ok().map(|text| file::hash(&text)) != Some(file.hash) {
            return None; // it is not committed as it is
        }
        let log = self.objects.log(head, &path, 1, until).ok()?;
        let author = self.objects.commit(log.touches.first()?.id).ok()?.author;
        (!author.is_empty()).then_some(author)
    }
}
