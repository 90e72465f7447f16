//! Defines the reports that a download process sends to the client that started it.

use serde::{Deserialize, Serialize};

/// Environment variable with the address of the package index, for `memod fetch`. Other users see the arguments of a
/// process, but not its environment.
pub const FETCH_INDEX_VARIABLE: &str = "MEMOD_FETCH_INDEX";

/// Environment variable with the address of the hub, for `memod fetch`.
pub const FETCH_HUB_VARIABLE: &str = "MEMOD_FETCH_HUB";

/// A line that `memod fetch` prints. The last line is `done` or `failed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum FetchReportLine {
    /// The present step.
    Note {
        /// A sentence for people.
        text: String,
    },
    /// Progress of one file.
    Progress {
        /// Name of the file.
        what: String,
        /// Number of bytes that are present.
        done: u64,
        /// Size of the file, bytes; 0 if it is unknown.
        total: u64,
    },
    /// Everything is present.
    Done,
    /// Something cannot be fetched.
    Failed {
        /// Message with the subject, its source and the cause.
        error: String,
        /// The remedy.
        hint: Option<String>,
    },
}
