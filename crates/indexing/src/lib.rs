//! Compares worktrees and commits with index.db, and prepares the rows that differ.
//!
//! `compare` finds differences between manifest and disk, and `plan` (pure) decides what to do about each. `prepare` reads and
//! extracts files, through `extractor` in a separate process (`worker`). `pipeline` runs these on the caller's thread and sends
//! changes to the writer in `batches`. `commits` does the same for history, and `embedding` computes the vectors.

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
mod todo_list;
pub mod worker;

pub use batches::{AppliedChanges, ApplyChanges};
pub use commits::{CommitIndexer, CommitStep};
pub use embedding::{FailedTexts, VectorBatch, embed_chunks, embed_paths};
pub use extractor::Extractor;
pub use pipeline::{Indexer, ReadLimits, Reconciler};
pub use progress::{MissedFiles, Progress, ReconcileOutcome, ReconcilePhase, UnreadPath, WalkProgress};
pub use todo_list::ReconcileScope;

use memod_base::threads;
use memod_database::DatabaseError;
use memod_scan::ScanError;

/// Why a reconcile or a step of reading commits failed as a whole. The batches before the failure are written.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The worktree cannot be listed; nothing was deleted.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// No further thread can be started.
    #[error("cannot start a thread to read files: {0}; `ulimit -u` or `ulimit -v` may be too low")]
    Thread(#[source] std::io::Error),
    /// No further process can be started, or each one fails at once.
    #[error("cannot run `memod extract`, which parses files: {0}; `ulimit -u` or `ulimit -v` may be too low")]
    Extractor(#[source] std::io::Error),
    /// The code panicked. The open transaction was rolled back.
    #[error("panicked: {0}; `memo daemon logs` says more")]
    Panicked(String),
    /// The daemon is stopping.
    #[error("the daemon is stopping")]
    Cancelled,
    /// The index was emptied, or the worktree reopened, since the reconcile began, so its result must not be written.
    #[error("the index was emptied while files were compared")]
    Outdated,
}

impl IndexError {
    /// Runs a step of indexing. A panic becomes an error.
    ///
    /// # Errors
    /// When `run` fails or panics.
    pub fn catch_panic<T>(run: impl FnOnce() -> Result<T, Self>) -> Result<T, Self> {
        threads::catch_panic(run).unwrap_or_else(|why| Err(Self::Panicked(why)))
    }

    /// Returns the remedy, if it is known and not part of the message.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Scan(error) => error.hint(),
            Self::Database(error) => Some(error.hint()),
            Self::Thread(_) | Self::Extractor(_) | Self::Panicked(_) | Self::Cancelled | Self::Outdated => {
                None
            }
        }
    }
}
