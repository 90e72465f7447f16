//! Params and results of counts and statistics.

use serde::{Deserialize, Serialize};

use super::Caller;

/// Params of `memory.tags`, `memory.containers` and `memory.stats`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TallyParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
}

/// A name and how many living memories have it.
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
    /// Most memories first, then by name.
    pub names: Vec<Tally>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A copy of memory.db.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupInfo {
    /// Where it is.
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
    /// Living memories that end within 24 hours.
    pub expiring: u64,
    /// When the next one ends.
    pub next_end: Option<String>,
    /// Links between living memories.
    pub links: u64,
    /// Links of which an end is in the archive.
    pub links_archived: u64,
    /// Bytes of all contents, archived ones too.
    pub content_bytes: u64,
    /// When the first of the living was added.
    pub oldest: Option<String>,
    /// When the last was.
    pub newest: Option<String>,
    /// The database.
    pub path: String,
    /// Its size, with what has not been moved into it yet.
    pub bytes: u64,
    /// Other databases of this repository, from when its state was kept elsewhere; what they hold is taken over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// Newest first.
    pub backups: Vec<BackupInfo>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}
