//! Keeps the index equal to the worktrees of a repository, and reports how fresh it is.
//!
//! `main_loop` owns the state of each worktree (`worktree`). Changes come in from `disk`, which watches the files of a
//! worktree and reconciles the index with them; `writer` writes what was extracted, and `embedding` computes the vectors.
//! `messages` has the events that go to the loop, and the jobs and tasks that come from it.
//!
//! The engine does not know the requests of the protocol. Their code asks [`Engine`] for a fresh worktree ([`freshness`]), reads
//! a snapshot of the index, and reads the files themselves through [`file_access`]. [`events`] publishes what has changed.

mod disk;
mod embedding;
mod engine;
mod main_loop;
mod messages;
mod start;
mod worktree;
mod writer;

pub mod errors;
pub mod events;
pub mod file_access;
pub mod freshness;
pub mod model_registry;
pub mod own_files;
pub mod threads;

pub use engine::{Engine, EngineOptions};
pub use events::observer::EngineObserver;
pub use start::{OpenedIndex, UnstartedEngine};
