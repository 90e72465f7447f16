//! Params and result of `memory.consolidate`.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller};
use crate::Caveats;

/// Params of `memory.consolidate`, which combines memories into one with all their tags, metadata and anchors, the
/// highest priority, the lowest confidence and the latest expiry.
///
/// For each key of metadata, the memory that was changed last takes precedence; the history keeps the other values. If
/// the memories saw different contents of one place, the result has an anchor for each, and is `drifted` while one of
/// these is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsolidateParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Ids of the memories, 2 to 100.
    pub ids: Vec<String>,
    /// Title of the new memory.
    pub title: Option<String>,
    /// Content of the new memory.
    pub summary: String,
    /// Container of the new memory; the common container of all originals when absent.
    pub container: Option<String>,
    /// Whether to store a text that looks like a credential.
    pub allow_secret: bool,
}

/// Params of `memory.auto_consolidate`, which combines memories with the same container and first tag into one of tier
/// `long`, and joins their texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AutoConsolidateParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Only this container.
    pub container: Option<String>,
    /// Minimum size of a group, 2 to 100; 3 when absent.
    pub min_count: usize,
    /// Only memories of tier `short`.
    pub short_only: bool,
    /// Whether to report the groups, and change nothing.
    pub dry_run: bool,
}

impl Default for AutoConsolidateParams {
    fn default() -> Self {
        Self { caller: Caller::default(), container: None, min_count: 3, short_only: false, dry_run: false }
    }
}

/// A group of memories that were combined, or would be in a dry run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsolidatedGroup {
    /// The new memory; its id is empty in a dry run.
    pub memory: Brief,
    /// The common tag, if the memories were grouped by it.
    pub tag: Option<String>,
    /// The originals, which are archived, oldest first.
    pub sources: Vec<Brief>,
    /// Why the memories were not combined.
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
    pub groups: Vec<ConsolidatedGroup>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}
