//! Keeps the index equal to the worktrees of a repository, and reports how fresh it is.
//!
//! `main_loop` owns the state of each worktree (`worktree`), `disk` accesses its file system, `worker` writes and `embedding`
//! makes vectors. Events go to the loop, and jobs and tasks come from it. The engine knows no request: one asks [`Engine`] for a
//! worktree that is fresh, and reads its snapshot.

mod disk;
mod doorbell;
mod embedding;
mod engine;
mod index_file;
mod main_loop;
mod observer;
mod reconcile;
mod scrub;
mod start;
mod vector_copy;
mod watch_queue;
mod worker;
mod worktree;
mod worktree_news;

pub mod clock;
pub mod disk_reads;
pub mod errors;
pub mod file_access_progress;
pub mod gates;
pub mod index_repair;
pub mod loop_event;
pub mod model_registry;
pub mod own_files;
pub mod subscriptions;
pub mod threads;

pub use engine::{Engine, EngineParts, FreshnessRequest};
pub use observer::EngineObserver;
pub use start::{OpenedIndex, UnstartedEngine};
