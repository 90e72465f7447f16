//! Watches directory trees on macOS and Windows.
//!
//! Each root has one recursive watch, which never changes. Events go to the same owners as on Linux: those with the
//! directory in their worktree, and those that watch exactly that directory of git.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use memod_base::threads::lock;
use memod_base::types::WorktreeId;
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::{FsChange, Role, WatchError, WatchEvent};

/// The owners of each watched root. Worktrees may share a root, as they share the common dir.
type Owners = HashMap<PathBuf, Vec<(WorktreeId, Role)>>;
type SharedOwners = Arc<Mutex<Owners>>;

/// All watched roots.
///
/// Invariant: `roots` is not locked during a call of the watcher, which may wait for its thread, which locks `roots`.
pub struct Watch {
    watcher: Mutex<RecommendedWatcher>,
    roots: SharedOwners,
}

impl Watch {
    /// Starts the watcher of the operating system, which passes each event to `sink`.
    ///
    /// # Errors
    /// When the operating system provides no watcher.
    pub fn start(sink: impl Fn(WatchEvent) -> bool + Send + 'static) -> Result<Self, WatchError> {
        let roots = SharedOwners::default();
        let for_thread = Arc::clone(&roots);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let event = translate_event(&lock(&for_thread), event);
            sink(event);
        })
        .map_err(|error| into_error(Path::new("watcher"), error))?;
        Ok(Self { watcher: Mutex::new(watcher), roots })
    }

    /// Watches a directory and, for a worktree, everything below it. Does nothing if the directory is watched already.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn add_dir(&self, worktree: WorktreeId, role: Role, path: &Path) -> Result<(), WatchError> {
        let mut watcher = lock(&self.watcher);
        // Register the owner before the first event.
        if !add_owner(&mut lock(&self.roots), (worktree, role), path) {
            return Ok(());
        }
        watcher.watch(path, RecursiveMode::Recursive).map_err(|error| {
            lock(&self.roots).remove(path); // otherwise the directory would count as watched the next time
            into_error(path, error)
        })
    }

    /// Stops watching the roots that only this worktree owns.
    pub fn remove_worktree(&self, worktree: WorktreeId) {
        let mut watcher = lock(&self.watcher);
        let left = remove_owner(&mut lock(&self.roots), worktree);
        for path in left {
            let _ = watcher.unwatch(&path); // this fails if the directory is gone, which is fine
        }
    }

    /// Does nothing: a root is watched with everything below it.
    #[expect(clippy::unused_self, reason = "inotify watches each directory")]
    pub fn keep_dirs(&self, _worktree: WorktreeId, _role: Role, _kept: &HashSet<PathBuf>) {}

    /// Returns the number of watched roots.
    pub fn n_dirs(&self) -> u64 {
        lock(&self.roots).len() as u64
    }

    /// Returns the name of the mechanism that watches.
    pub fn backend(&self) -> &'static str {
        if cfg!(windows) { "windows" } else { "fsevents" }
    }
}

/// Adds an owner of a directory; returns whether the directory needs a new watch.
fn add_owner(roots: &mut Owners, owner: (WorktreeId, Role), path: &Path) -> bool {
    let n_above = if owner.1 == Role::Worktree { usize::MAX } else { 1 };
    let mut covering = path.ancestors().take(n_above);
    if covering.any(|above| roots.get(above).is_some_and(|owners| owners.contains(&owner))) {
        return false;
    }
    let owners = roots.entry(path.to_owned()).or_default();
    owners.push(owner);
    owners.len() == 1
}

/// Removes a worktree from all owners; returns the directories that have no owner left.
fn remove_owner(roots: &mut Owners, worktree: WorktreeId) -> Vec<PathBuf> {
    let left = roots.extract_if(|_, owners| {
        owners.retain(|(owner, _)| *owner != worktree);
        owners.is_empty()
    });
    left.map(|(path, _)| path).collect()
}

fn translate_event(roots: &Owners, event: notify::Result<Event>) -> WatchEvent {
    let Ok(event) = event else { return WatchEvent::Lost };
    if event.need_rescan() || event.paths.is_empty() {
        return WatchEvent::Lost;
    }
    WatchEvent::Changed(event.paths.iter().flat_map(|path| changes_for_owners(roots, path)).collect())
}

/// Returns the changes that an event means for each owner of a root around its path.
fn changes_for_owners(roots: &Owners, path: &Path) -> Vec<FsChange> {
    let mut changes = Vec::new();
    for (n_below, above) in path.ancestors().enumerate() {
        for (worktree, role) in roots.get(above).into_iter().flatten().copied() {
            if role == Role::Worktree || n_below <= 1 {
                changes.push(FsChange { worktree, role, path: path.to_owned() });
            }
        }
    }
    changes
}

fn into_error(path: &Path, error: notify::Error) -> WatchError {
    match error.kind {
        notify::ErrorKind::Io(source) => WatchError::new(path, source),
        _ => WatchError::Io { path: path.to_owned(), source: std::io::Error::other(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_is_told_what_is_its_own() {
        let (main, linked) = (WorktreeId(1), WorktreeId(2));
        let mut roots = Owners::new();
        let mut add = |worktree, role, path: &str| add_owner(&mut roots, (worktree, role), Path::new(path));
        assert!(add(main, Role::Worktree, "/r"));
        assert!(!add(main, Role::Worktree, "/r/src"), "below what is watched");
        assert!(add(main, Role::Git, "/r/.git"));
        assert!(!add(linked, Role::Git, "/r/.git"), "shared");
        assert!(add(linked, Role::Git, "/r/.git/worktrees/l"));
        assert!(add(main, Role::Git, "/r/.git/info"), "watched for itself alone");
        assert!(add(linked, Role::Worktree, "/r/l"));
        let check = |roots: &Owners, path: &str, expected: &[(WorktreeId, Role)]| {
            let told = changes_for_owners(roots, Path::new(path));
            let told: Vec<_> = told.into_iter().map(|change| (change.worktree, change.role)).collect();
            assert_eq!(told, expected, "{path}");
        };
        let (tree, git) = ((main, Role::Worktree), (main, Role::Git));
        check(&roots, "/r/src/a", &[tree]);
        check(&roots, "/r/.git/config", &[git, (linked, Role::Git), tree]);
        check(&roots, "/r/.git/objects/ab/c", &[tree]);
        check(&roots, "/r/.git/worktrees/l/HEAD", &[(linked, Role::Git), tree]);
        check(&roots, "/r/.git/info/exclude", &[git, tree]);
        check(&roots, "/r/l/a", &[(linked, Role::Worktree), tree]);
        check(&roots, "/elsewhere", &[]);

        let mut left = remove_owner(&mut roots, linked);
        left.sort();
        assert_eq!(left, [Path::new("/r/.git/worktrees/l"), Path::new("/r/l")], "the shared one stays");
        check(&roots, "/r/.git/config", &[git, tree]);
    }
}
