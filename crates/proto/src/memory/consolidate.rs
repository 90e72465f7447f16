//! Params and result of `memory.consolidate`.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller};
use crate::Caveats;

/// Params of `memory.consolidate`: combines memories into one with all their tags, metadata and anchors, the highest
/// priority, the lowest confidence and the latest expiry.
///
/// For each key of metadata, the memory that was changed last takes precedence; the history has the other values. If the
/// memories saw different contents of one place, each is among the anchors, and the result is `drifted` while one is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsolidateParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// 2 to 100.
    pub ids: Vec<String>,
    /// Title of the new memory.
    pub title: Option<String>,
    /// Its content.
    pub summary: String,
    /// Container of the new memory; by default that of all originals.
    pub container: Option<String>,
    /// Store it although it looks like a credential.
    pub allow_secret: bool,
}

/// Params of `memory.auto_consolidate`: combines memories that share container and first tag into ones of tier `long`,
/// joining their texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AutoConsolidateParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Only this container.
    pub container: Option<String>,
    /// Minimum size of a group, 2 to 100; 3 when absent.
    pub min_count: usize,
    /// Only memories of tier `short`.
    pub short_only: bool,
    /// Report what would be combined, and change nothing.
    pub dry_run: bool,
}

impl Default for AutoConsolidateParams {
    fn default() -> Self {
        Self { caller: Caller::default(), container: None, min_count: 3, short_only: false, dry_run: false }
    }
}

/// Memories that were combined, or would be.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Consolidated {
    /// The new memory; its id is empty in a dry run.
    pub memory: Brief,
    /// The common tag, if they were grouped by it.
    pub tag: Option<String>,
    /// The originals, oldest first, which are archived.
    pub sources: Vec<Brief>,
    /// Why they were not combined.
    pub refused: Option<String>,
}

/// Result of `memory.consolidate` and `memory.auto_consolidate`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsolidateResult {
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// Number of private parts that were removed from the summary.
    pub redacted: usize,
    /// The groups; exactly one for `memory.consolidate`.
    pub groups: Vec<Consolidated>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}
