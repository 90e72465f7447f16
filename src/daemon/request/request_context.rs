//! Holds the context of one request: the shared state, its origin, its worktree, and the caveats of its answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use memod_base::paths::RepoLayout;
use tokio::sync::OnceCell;

use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::request::worktree_memories::WorktreeMemories;
use crate::daemon::shared::Shared;
use crate::daemon::shared::client_connection::ClientConnection;
use crate::daemon::shared::memory_scope::WHOLE_REPOSITORY;

/// The context of one request, or of work of the daemon itself. It is created once, and passed to every thread that works for the
/// request.
pub(in crate::daemon) struct RequestContext {
    /// The engine, and the state that requests share.
    pub(in crate::daemon) shared: Arc<Shared>,
    /// The caveats of the answer.
    pub(in crate::daemon) caveats: NotedCaveats,
    origin: RequestOrigin,
    /// Number of the worktree whose memories the request reads; not set before the files of memories there were examined.
    worktree: OnceLock<i64>,
    /// Whether the request waits for the first index longer than for changes.
    waits_for_first_index: AtomicBool,
    /// The first directory that the request named, and the worktree around that directory.
    pub(super) located: OnceCell<(String, RepoLayout)>,
}

/// Where a request comes from.
pub(in crate::daemon) enum RequestOrigin {
    /// A connection of the socket, which is gone once all references are dropped.
    Socket(Weak<ClientConnection>),
    /// HTTP, or work of the daemon itself.
    Other,
}

impl RequestContext {
    pub(in crate::daemon) fn new(shared: &Arc<Shared>, origin: RequestOrigin) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::clone(shared),
            caveats: NotedCaveats::default(),
            origin,
            worktree: OnceLock::new(),
            waits_for_first_index: AtomicBool::default(),
            located: OnceCell::new(),
        })
    }

    /// Returns whether the request came over the socket.
    pub(super) fn is_of_socket(&self) -> bool {
        matches!(self.origin, RequestOrigin::Socket(_))
    }

    /// Returns a weak reference to the connection of the request, which cannot be upgraded if there is none or it has ended.
    pub(in crate::daemon) fn connection(&self) -> Weak<ClientConnection> {
        match &self.origin {
            RequestOrigin::Socket(connection) => Weak::clone(connection),
            RequestOrigin::Other => Weak::new(),
        }
    }

    /// Binds the request to the memories of a worktree; later calls have no effect.
    pub(in crate::daemon) fn set_worktree(&self, worktree: i64) {
        let _ = self.worktree.set(worktree);
    }

    /// Makes the request wait for the first index longer than for changes.
    pub(super) fn wait_for_first_index(&self) {
        self.waits_for_first_index.store(true, Ordering::Relaxed);
    }

    /// Returns whether the request waits for the first index longer than for changes.
    pub(super) fn waits_for_first_index(&self) -> bool {
        self.waits_for_first_index.load(Ordering::Relaxed)
    }

    /// Returns access to the memories as the worktree of the request has them, or to those of the whole repository.
    pub(in crate::daemon) fn memories(&self) -> WorktreeMemories<'_> {
        let worktree = self.worktree.get().copied().unwrap_or(WHOLE_REPOSITORY);
        WorktreeMemories { thread: &self.shared.memories, worktree }
    }
}
