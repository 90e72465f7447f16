//! Watches directories with inotify(7).
//!
//! All worktrees share one descriptor, which one thread reads. A directory is watched before it is listed, so a file in a new
//! directory is either listed or reported. Events keep the kernel's order: when a cookie comes back, all earlier changes
//! have been reported.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use inotify::{Event, EventMask, Inotify, WatchDescriptor, WatchMask, Watches};
use memod_base::threads::lock;
use memod_base::types::WorktreeId;

use super::{FsChange, Role, WatchError, WatchEvent};

/// Size of a read, about 1,000 events.
const BUFFER_BYTES: usize = 64 << 10;

/// All watched directories.
///
/// Invariant: `state` is not locked during a path lookup, because a hanging file system would block the reading thread and
/// with it every worktree.
pub struct Watch {
    state: Arc<Mutex<WatchTable>>,
}

struct WatchTable {
    /// `None` if other programs hold all inotify instances.
    watches: Option<Watches>,
    /// The owners of each watch: the kernel has one per directory, which worktrees may share.
    owners: HashMap<WatchDescriptor, Vec<WatchedDir>>,
    /// Number of watch descriptors removed so far.
    n_removed: u64,
}

struct WatchedDir {
    worktree: WorktreeId,
    role: Role,
    path: PathBuf,
}

impl Watch {
    /// Starts the thread that reads events, which passes each to `sink` and ends when `sink` returns false.
    ///
    /// Without an inotify instance no directory can be watched, and [`Watch::add_dir`] fails for each.
    ///
    /// # Errors
    /// When inotify is not available at all, or no thread can be started.
    pub fn start(sink: impl Fn(WatchEvent) -> bool + Send + 'static) -> Result<Self, WatchError> {
        let instance = Path::new("inotify instance");
        let inotify = match Inotify::init() {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
                return Ok(Self::without_inotify());
            }
            started => started.map_err(|error| WatchError::new(instance, error))?,
        };
        let state = WatchTable { watches: Some(inotify.watches()), owners: HashMap::new(), n_removed: 0 };
        let state = Arc::new(Mutex::new(state));
        let for_thread = Arc::clone(&state);
        std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || read_events(inotify, &for_thread, sink))
            .map_err(|error| WatchError::new(instance, error))?;
        Ok(Self { state })
    }

    fn without_inotify() -> Self {
        Self {
            state: Arc::new(Mutex::new(WatchTable { watches: None, owners: HashMap::new(), n_removed: 0 })),
        }
    }

    /// Watches one directory, without its subdirectories. Call it before listing the directory.
    ///
    /// # Errors
    /// [`WatchError::Exhausted`] when the limit is reached; the directory must be polled then.
    pub fn add_dir(&self, view: WorktreeId, role: Role, path: &Path) -> Result<(), WatchError> {
        let mask = WatchMask::CREATE
            | WatchMask::DELETE
            | WatchMask::MODIFY
            | WatchMask::CLOSE_WRITE
            | WatchMask::MOVE
            | WatchMask::ATTRIB
            | WatchMask::DELETE_SELF
            | WatchMask::MOVE_SELF
            | WatchMask::ONLYDIR
            | WatchMask::DONT_FOLLOW
            | WatchMask::EXCL_UNLINK;
        loop {
            let (watches, n_removed) = {
                let state = lock(&self.state);
                (state.watches.clone(), state.n_removed)
            };
            let Some(mut watches) = watches else {
                let source = io::Error::from_raw_os_error(libc::EMFILE);
                return Err(WatchError::Exhausted { path: path.to_owned(), source });
            };
            // The reading thread drops events that arrive before the directory is in the table. They precede the return of
            // this function, so the listing that follows shows their effect.
            let descriptor = watches.add(path, mask).map_err(|error| WatchError::new(path, error))?;
            if lock(&self.state).add_owner(
                descriptor,
                n_removed,
                WatchedDir { worktree: view, role, path: path.to_owned() },
            ) {
                return Ok(());
            }
        }
    }

    /// Stops watching every directory of a worktree.
    pub fn remove_worktree(&self, view: WorktreeId) {
        lock(&self.state).remove_where(|dir| dir.worktree == view);
    }

    /// Stops watching the directories of a worktree in this role that are not in `kept`, such as those that are ignored now.
    pub fn keep_dirs(&self, worktree: WorktreeId, role: Role, kept: &HashSet<PathBuf>) {
        lock(&self.state)
            .remove_where(|dir| (dir.worktree, dir.role) == (worktree, role) && !kept.contains(&dir.path));
    }

    /// Returns how many directories are watched.
    pub fn n_dirs(&self) -> u64 {
        lock(&self.state).owners.len() as u64
    }

    /// Returns the name of the mechanism that watches; `none` if no directory can be watched.
    pub fn backend(&self) -> &'static str {
        if lock(&self.state).watches.is_some() { "inotify" } else { "none" }
    }
}

impl WatchTable {
    /// Adds a directory to the table, and returns true. Returns false if descriptors were removed since their number was
    /// `n_removed`: this one may be among them, and the directory must be watched again.
    fn add_owner(&mut self, descriptor: WatchDescriptor, n_removed: u64, dir: WatchedDir) -> bool {
        if self.n_removed != n_removed {
            return false;
        }
        let owners = self.owners.entry(descriptor).or_default();
        match owners.iter_mut().find(|known| (known.worktree, known.role) == (dir.worktree, dir.role)) {
            Some(known) => known.path = dir.path, // the directory may have been renamed
            None => owners.push(dir),
        }
        true
    }

    /// Stops watching the directories for which `gone` returns true.
    fn remove_where(&mut self, mut gone: impl FnMut(&WatchedDir) -> bool) {
        let Self { watches, owners, n_removed } = self;
        owners.retain(|descriptor, dirs| {
            dirs.retain(|dir| !gone(dir));
            if let (Some(watches), true) = (watches.as_mut(), dirs.is_empty()) {
                // This fails if the directory is gone already, which is fine.
                let _ = watches.remove(descriptor.clone());
                *n_removed += 1;
            }
            !dirs.is_empty()
        });
    }

    /// Returns the changes that an event means for the owners of its directory; none if the event is not about a path.
    fn translate_event(&mut self, event: &Event<&std::ffi::OsStr>) -> Vec<FsChange> {
        if event.mask.contains(EventMask::IGNORED) {
            self.owners.remove(&event.wd);
            self.n_removed += 1;
            return Vec::new();
        }
        let change = |dir: &WatchedDir| {
            let path = event.name.map_or_else(|| dir.path.clone(), |name| dir.path.join(name));
            FsChange { worktree: dir.worktree, role: dir.role, path }
        };
        let mut changes: Vec<FsChange> =
            self.owners.get(&event.wd).into_iter().flatten().map(change).collect();
        if event.mask.contains(EventMask::MOVED_FROM | EventMask::ISDIR) {
            // Watches follow the inode, so below a renamed directory they would report the old names. For an owner that
            // does not watch the parent this is the only event, and the directory may be back by now, unwatched.
            for left in changes.clone() {
                self.remove_where(|dir| {
                    let is_gone = dir.path.starts_with(&left.path);
                    if is_gone && (dir.worktree, dir.role) != (left.worktree, left.role) {
                        changes.push(FsChange {
                            worktree: dir.worktree,
                            role: dir.role,
                            path: dir.path.clone(),
                        });
                    }
                    is_gone
                });
            }
        }
        changes
    }
}

/// Passes all events to `sink`, until that returns false or inotify fails.
fn read_events(mut inotify: Inotify, state: &Mutex<WatchTable>, sink: impl Fn(WatchEvent) -> bool) {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let events = match inotify.read_events_blocking(&mut buffer) {
            Ok(events) => events,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                tracing::error!(%error, "inotify cannot be read");
                sink(WatchEvent::Lost);
                return;
            }
        };
        let mut changes: Vec<FsChange> = Vec::new();
        let mut lost = false;
        {
            let mut state = lock(state);
            for event in events {
                lost |= event.mask.contains(EventMask::Q_OVERFLOW);
                for change in state.translate_event(&event) {
                    if changes.last() != Some(&change) {
                        changes.push(change);
                    }
                }
            }
        }
        // Order is significant: a cookie in `changes` must not hide what was lost by the overflow.
        let goes_on =
            (!lost || sink(WatchEvent::Lost)) && (changes.is_empty() || sink(WatchEvent::Changed(changes)));
        if !goes_on {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;

    fn wait_for(receiver: &Receiver<WatchEvent>, path: &Path) {
        loop {
            let event = receiver.recv_timeout(Duration::from_secs(10)).expect("the event comes in time");
            if let WatchEvent::Changed(changes) = event
                && changes.iter().any(|change| change.path == path)
            {
                return;
            }
        }
    }

    #[test]
    fn writes_renames_and_deletions_are_reported_under_their_new_names() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let (sender, receiver) = channel();
        let watch = Watch::start(move |event| sender.send(event).is_ok()).unwrap();
        let view = WorktreeId(1);
        fs::create_dir(root.join("a")).unwrap();
        watch.add_dir(view, Role::Worktree, root).unwrap();
        watch.add_dir(view, Role::Worktree, &root.join("a")).unwrap();
        assert_eq!(watch.n_dirs(), 2);

        fs::write(root.join("a/f"), "x").unwrap();
        wait_for(&receiver, &root.join("a/f"));
        fs::rename(root.join("a"), root.join("b")).unwrap();
        wait_for(&receiver, &root.join("b"));
        assert_eq!(watch.n_dirs(), 1, "the old name is no longer watched");
        watch.add_dir(view, Role::Worktree, &root.join("b")).unwrap();
        fs::write(root.join("b/g"), "x").unwrap();
        wait_for(&receiver, &root.join("b/g"));
        fs::remove_dir_all(root.join("b")).unwrap();
        wait_for(&receiver, &root.join("b"));
    }

    #[test]
    fn views_that_share_a_directory_are_both_told() {
        let temp = tempfile::tempdir().unwrap();
        let (sender, receiver) = channel();
        let watch = Watch::start(move |event| sender.send(event).is_ok()).unwrap();
        let (one, two) = (WorktreeId(1), WorktreeId(2));
        for (view, role) in [(one, Role::Git), (two, Role::Worktree), (two, Role::Git)] {
            watch.add_dir(view, role, temp.path()).unwrap();
        }
        assert_eq!(watch.n_dirs(), 1);
        let told = |name: &str, n_owners: usize| {
            fs::write(temp.path().join(name), "").unwrap();
            let mut seen = std::collections::HashSet::new();
            while seen.len() < n_owners {
                let WatchEvent::Changed(changes) = receiver.recv_timeout(Duration::from_secs(10)).unwrap()
                else {
                    panic!("nothing was lost")
                };
                let named = changes.into_iter().filter(|change| change.path.ends_with(name));
                seen.extend(named.map(|change| (change.worktree, change.role)));
            }
            seen
        };
        assert_eq!(told("a", 3).len(), 3);
        watch.remove_worktree(two);
        assert_eq!(told("b", 1).into_iter().collect::<Vec<_>>(), [(one, Role::Git)]);
    }

    #[test]
    fn a_descriptor_that_was_given_back_meanwhile_is_not_believed() {
        let (temp, (sender, receiver)) = (tempfile::tempdir().unwrap(), channel());
        let watch = Watch::start(move |event| sender.send(event).is_ok()).unwrap();
        let dir =
            || WatchedDir { worktree: WorktreeId(1), role: Role::Worktree, path: temp.path().to_owned() };
        let (mut watches, n_removed) = {
            let state = lock(&watch.state);
            (state.watches.clone().unwrap(), state.n_removed)
        };
        let stale = watches.add(temp.path(), WatchMask::CREATE).unwrap();
        watch.add_dir(WorktreeId(1), Role::Worktree, temp.path()).unwrap();
        watch.remove_worktree(WorktreeId(1));
        assert!(!lock(&watch.state).add_owner(stale, n_removed, dir()), "nothing would come of it any more");
        watch.add_dir(WorktreeId(1), Role::Worktree, temp.path()).unwrap();
        fs::write(temp.path().join("a"), "").unwrap();
        wait_for(&receiver, &temp.path().join("a"));
    }

    #[test]
    fn without_an_instance_every_directory_must_be_polled() {
        let (watch, temp) = (Watch::without_inotify(), tempfile::tempdir().unwrap());
        let error = watch.add_dir(WorktreeId(1), Role::Worktree, temp.path()).unwrap_err();
        assert!(matches!(error, WatchError::Exhausted { .. }), "{error}");
        watch.remove_worktree(WorktreeId(1));
        assert_eq!((watch.n_dirs(), watch.backend()), (0, "none"));
    }

    #[test]
    fn a_missing_directory_is_gone_not_an_error_of_the_system() {
        let watch = Watch::start(|_| true).unwrap();
        let error = watch.add_dir(WorktreeId(1), Role::Worktree, Path::new("/nonexistent/dir")).unwrap_err();
        assert!(matches!(error, WatchError::Gone(_)), "{error}");
    }
}
