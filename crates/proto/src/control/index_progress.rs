//! Defines the progress of indexing, as `sync` and `status` return it.

use serde::{Deserialize, Serialize};

/// The progress of indexing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexProgress {
    /// The step.
    pub step: IndexStep,
    /// Number of files, commits or chunks of this step that are done.
    pub done: u64,
    /// Total number of files, commits or chunks of this step; absent while files or commits are being listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Number of bytes read from files; present only while files are being read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_bytes: Option<u64>,
    /// Total number of bytes to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
}

/// The steps of indexing, in order. Embeddings are also computed while commits are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IndexStep {
    /// Files are being listed.
    Listing,
    /// Files that differ from the index are being read.
    Reading,
    /// Commits are being read.
    Commits,
    /// Vectors are being computed; keyword search already finds everything.
    Embedding,
}

impl IndexProgress {
    /// Returns the progress of a step from the numbers `(done, total)`; a total of 0 means that it is unknown.
    pub fn from_step(step: IndexStep, (done, total): (u64, u64)) -> Self {
        let is_known = total > 0;
        let done = if is_known { done.min(total) } else { done };
        Self { step, done, total: is_known.then_some(total), done_bytes: None, total_bytes: None }
    }

    /// Returns the progress of listing, which has no known total.
    pub fn listing(n_found: u64) -> Self {
        Self::from_step(IndexStep::Listing, (n_found, 0))
    }

    /// Returns the progress of reading.
    pub fn reading(files: (u64, u64), (done_bytes, total_bytes): (u64, u64)) -> Self {
        let (done_bytes, total_bytes) = (Some(done_bytes), Some(total_bytes));
        Self { done_bytes, total_bytes, ..Self::from_step(IndexStep::Reading, files) }
    }

    /// Returns the progress of embedding, or `None` if no chunk waits for its vector.
    pub fn embedding(n_pending: u64, n_chunks: u64) -> Option<Self> {
        let total = n_chunks.max(n_pending);
        (n_pending > 0).then(|| Self::from_step(IndexStep::Embedding, (total - n_pending, total)))
    }
}
