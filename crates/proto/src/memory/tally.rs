//! Params and results of counts and statistics.

use serde::{Deserialize, Serialize};

use super::Caller;
use crate::Caveats;

/// Params of `memory.tags`, `memory.containers` and `memory.stats`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TallyParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
}

/// A name with its number of living memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Tag or container.
    pub name: String,
    /// Living memories.
    pub memories: u64,
}

/// Result of `memory.tags` and `memory.containers`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TallyResult {
    /// Names by number of memories, then alphabetically.
    pub names: Vec<Tally>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// A backup of memory.db.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupInfo {
    /// Its path.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// Result of `memory.stats`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StatsResult {
    /// Living memories.
    pub living: u64,
    /// Forgotten and expired ones.
    pub archived: u64,
    /// Living memories by tier.
    pub tiers: Vec<Tally>,
    /// Living memories by container.
    pub containers: Vec<Tally>,
    /// Living memories that expire within 24 hours.
    pub expiring: u64,
    /// Time of the next expiry.
    pub next_end: Option<String>,
    /// Links between living memories.
    pub links: u64,
    /// Links with an archived end.
    pub links_archived: u64,
    /// Bytes of all contents, including archived ones.
    pub content_bytes: u64,
    /// Creation time of the oldest living memory.
    pub oldest: Option<String>,
    /// Creation time of the newest living memory.
    pub newest: Option<String>,
    /// The database.
    pub path: String,
    /// Its size, including the write-ahead log.
    pub bytes: u64,
    /// Other databases of this repository, from when its state was elsewhere; their memories are merged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// Backups, newest first.
    pub backups: Vec<BackupInfo>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}
