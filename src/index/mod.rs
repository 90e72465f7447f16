//! Keeps index.db equal to the worktrees.
//!
//! `compare` finds where manifest and disk differ and `plan` (pure) what that means, `prepare` reads and extracts it,
//! with `extractor` in a process of its own (`worker`), `pipeline` runs them on the caller's thread and hands what is to be
//! written to another in `batches`, `commits` does the same for history, `embedding` gives vectors to what was written.

mod batches;
mod commits;
mod compare;
mod embedding;
mod extractor;
mod pipeline;
mod plan;
mod prepare;
mod progress;
mod secret_files;
pub mod worker;

pub use batches::{Applied, Apply};
pub use commits::{CommitStep, Commits};
pub use embedding::{Batch, Failed, embed_chunks, embed_paths};
pub use extractor::Extractor;
pub use pipeline::{Indexer, Reading, Reconciler, Scope};
pub use progress::{Missed, Progress, ReconcileOutcome, Unread, WalkProgress};

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::embed::panic_message;
use crate::scan::ScanError;
use crate::store::StoreError;

/// A reconcile failed as a whole. The batches before the failure are written.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The worktree cannot be listed; nothing was deleted.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No further thread can be started.
    #[error("cannot start a thread to read files: {0}; `ulimit -u` may be too low")]
    Thread(#[source] std::io::Error),
    /// No further process can be started, or each one fails at once.
    #[error("cannot run `memod extract`, which parses files: {0}; `ulimit -u` or the memory may be too low")]
    Extractor(#[source] std::io::Error),
    /// The code panicked. The transaction under way was rolled back.
    #[error("panicked: {0}; `memo logs` says more")]
    Panicked(String),
    /// The daemon is stopping.
    #[error("the daemon is stopping")]
    Cancelled,
    /// The index was emptied, or the worktree opened anew, since the reconcile began: what it compared with is gone.
    #[error("the index was emptied meanwhile")]
    Outdated,
}

impl IndexError {
    /// Runs a step of indexing. A panic becomes an error.
    ///
    /// # Errors
    /// What `run` failed with, or that it panicked.
    pub fn caught<T>(run: impl FnOnce() -> Result<T, Self>) -> Result<T, Self> {
        catch_unwind(AssertUnwindSafe(run))
            .unwrap_or_else(|panic| Err(Self::Panicked(panic_message(&*panic).to_owned())))
    }

    /// Returns the remedy, if it is known and not part of the message.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Scan(error) => error.hint(),
            Self::Store(error) => Some(error.hint()),
            Self::Thread(_) | Self::Extractor(_) | Self::Panicked(_) | Self::Cancelled | Self::Outdated => {
                None
            }
        }
    }
}
