//! Defines the reports of the process that downloads to the client that started it.

use serde::{Deserialize, Serialize};

/// Variable with the address of the package index, for `memod fetch`. Other users see the arguments of a process, but not its
/// environment.
pub const INDEX_VARIABLE: &str = "MEMOD_FETCH_INDEX";

/// Variable with the address of the hub, as above.
pub const HUB_VARIABLE: &str = "MEMOD_FETCH_HUB";

/// A line of `memod fetch`. `done` or `failed` is the last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum FetchReport {
    /// The present step.
    Note {
        /// A sentence for people.
        text: String,
    },
    /// How much of a file is there.
    Progress {
        /// The file.
        what: String,
        /// Bytes that are there.
        done: u64,
        /// Its size, bytes; 0 if nobody knows.
        total: u64,
    },
    /// All is there.
    Done,
    /// Something cannot be fetched.
    Failed {
        /// The subject, its source and the cause.
        error: String,
        /// The remedy.
        hint: Option<String>,
    },
}
