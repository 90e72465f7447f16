//! What do FSEvents, kqueue or ReadDirectoryChangesW say changed?
//!
//! One recursive watch on each root, never changed afterwards: the operating system does the recursion.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::{FsChange, Role, WatchError, WatchEvent};
use crate::types::ViewId;

type Roots = Arc<Mutex<HashMap<PathBuf, (ViewId, Role)>>>;

/// All watched roots.
pub struct Watch {
    watcher: Mutex<RecommendedWatcher>,
    roots: Roots,
}

impl Watch {
    /// Hands everything to `sink`.
    ///
    /// # Errors
    /// When the operating system gives no watcher.
    pub fn start(sink: impl Fn(WatchEvent) -> bool + Send + 'static) -> Result<Self, WatchError> {
        let roots = Roots::default();
        let for_thread = Arc::clone(&roots);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            sink(translate(&for_thread, event));
        })
        .map_err(|error| into_error(Path::new("watcher"), error))?;
        Ok(Self { watcher: Mutex::new(watcher), roots })
    }

    /// Watches a directory and all below it; does nothing when one above it is watched for the same view.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn add_dir(&self, view: ViewId, role: Role, path: &Path) -> Result<(), WatchError> {
        let covered = |roots: &HashMap<PathBuf, (ViewId, Role)>| {
            path.ancestors().any(|above| roots.get(above) == Some(&(view, role)))
        };
        if covered(&self.roots.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(());
        }
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), (view, role));
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        watcher.watch(path, RecursiveMode::Recursive).map_err(|error| {
            // Else it would count as watched the next time.
            self.roots.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
            into_error(path, error)
        })
    }

    /// Stops watching every root of a view.
    pub fn remove_view(&self, view: ViewId) {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        roots.retain(|path, (owner, _)| *owner != view || watcher.unwatch(path).is_err());
    }

    /// Returns how many roots are watched.
    pub fn n_dirs(&self) -> u64 {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    /// Returns the name of the mechanism.
    pub fn backend(&self) -> &'static str {
        if cfg!(windows) { "windows" } else { "fsevents" }
    }
}

fn translate(roots: &Roots, event: notify::Result<Event>) -> WatchEvent {
    let Ok(event) = event else { return WatchEvent::Lost };
    if event.need_rescan() || event.paths.is_empty() {
        return WatchEvent::Lost;
    }
    let roots = roots.lock().unwrap_or_else(PoisonError::into_inner);
    let change = |path: PathBuf| {
        let (view, role) = path.ancestors().find_map(|above| roots.get(above)).copied()?;
        Some(FsChange { view, role, path })
    };
    WatchEvent::Changed(event.paths.into_iter().filter_map(change).collect())
}

fn into_error(path: &Path, error: notify::Error) -> WatchError {
    match error.kind {
        notify::ErrorKind::Io(source) => WatchError::new(path, source),
        _ => WatchError::Io { path: path.to_owned(), source: std::io::Error::other(error) },
    }
}
