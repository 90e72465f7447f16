//! What must be redone?
//!
//! `plan` (pure) compares the manifest with the disk, `prepare` reads and extracts what differs, `pipeline`
//! runs both and writes, `embedding` gives vectors to what was written.

mod embedding;
mod pipeline;
mod plan;
mod prepare;
mod strikes;

pub use embedding::{Batch, embed_chunks, embed_paths};
pub use pipeline::{Indexer, Outcome, Progress, Scope};

use crate::paths::PathError;
use crate::scan::ScanError;
use crate::store::StoreError;

/// A reconcile failed as a whole. The manifest is as it was, or as far as it had come.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The worktree cannot be listed; nothing was deleted.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The database refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of ours cannot be used.
    #[error(transparent)]
    File(#[from] PathError),
    /// Not one thread more may be started.
    #[error("cannot start a thread to read files: {0}; `ulimit -u` may be too low")]
    Thread(#[source] std::io::Error),
    /// The daemon ends.
    #[error("the daemon is stopping")]
    Cancelled,
}
