//! Params and results of counts and statistics.

use serde::{Deserialize, Serialize};

use super::Caller;
use crate::Caveats;

/// Params of `memory.tags`, `memory.containers` and `memory.stats`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TallyParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
}

/// A name with its number of living memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Name of the tag, container or tier.
    pub name: String,
    /// Number of living memories.
    pub memories: u64,
}

/// Result of `memory.tags` and `memory.containers`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TallyResult {
    /// Names, sorted by number of memories, then alphabetically.
    pub names: Vec<Tally>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// A backup of memory.db.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupInfo {
    /// Path of the backup.
    pub path: String,
    /// Size of the backup, bytes.
    pub bytes: u64,
}

/// Result of `memory.stats`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StatsResult {
    /// Number of living memories.
    pub living: u64,
    /// Number of forgotten and expired memories.
    pub archived: u64,
    /// Number of living memories by tier.
    pub tiers: Vec<Tally>,
    /// Number of living memories by container.
    pub containers: Vec<Tally>,
    /// Number of living memories that expire within 24 hours.
    pub expiring: u64,
    /// Time of the next expiry.
    pub next_end: Option<String>,
    /// Number of links between living memories.
    pub links: u64,
    /// Number of links with an archived end.
    pub links_archived: u64,
    /// Size of all contents, including archived ones, bytes.
    pub content_bytes: u64,
    /// Creation time of the oldest living memory.
    pub oldest: Option<String>,
    /// Creation time of the newest living memory.
    pub newest: Option<String>,
    /// Path of the database.
    pub path: String,
    /// Size of the database, including the write-ahead log, bytes.
    pub bytes: u64,
    /// Other databases of this repository, from former locations of its state; their memories are merged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// Backups, newest first.
    pub backups: Vec<BackupInfo>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}
