//! Finds out who has changed the file of a memory, as far as git knows.
//!
//! That is who wrote the commit that touched it last, where the file is as that commit has it.

use std::time::{Duration, Instant};

use super::rules::Done;
use crate::daemon::clock::now_ms;
use crate::git::{GitError, ObjectId, Objects, Refs, Settings, UserDirs};
use crate::memory::file;
use crate::paths::RepoLayout;
use crate::store::{FROM_FILE, FileState, MemoryEvent, MemoryStore};

/// Longest search for all authors of one look. Who is not found by then is not named.
const MOST: Duration = Duration::from_millis(300);
/// What is checked out, and what `memo sync-notes` has brought.
const HEADS: [&str; 2] = ["HEAD", "refs/worktree/memod/notes"];

/// Sets who has changed the files of memories that are known.
pub(super) fn set_authors_of_known(
    layout: &RepoLayout,
    store: &mut MemoryStore,
    changed: &mut [FileState],
    now_ms: i64,
) -> Done<()> {
    if changed.is_empty() {
        return Ok(());
    }
    let is_known: Vec<bool> = store.read(now_ms, |rows| {
        let has = |file: &FileState| file::id_of(&file.name).map_or(Ok(false), |id| rows.has(&id));
        Ok(changed.iter().map(has).collect::<Result<_, _>>()?)
    })?;
    let known = changed.iter_mut().zip(is_known).filter(|(_, is_known)| *is_known);
    set_authors(layout, known.map(|(file, _)| file).collect());
    Ok(())
}

/// Sets who has changed files, where git knows.
fn set_authors(layout: &RepoLayout, files: Vec<&mut FileState>) {
    let until = Instant::now() + MOST;
    if files.is_empty() {
        return;
    }
    let Ok(Some(history)) = History::open(layout) else { return };
    for file in files {
        file.event = history.author(file, until).map(|author| MemoryEvent {
            at: now_ms(),
            action: "update".to_owned(),
            author,
            source: FROM_FILE.to_owned(),
            ..MemoryEvent::default()
        });
    }
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
