//! Params and result of `memory.consolidate`.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller};

/// Params of `memory.consolidate`: memories become one, which has all their tags, metadata and anchors, the highest
/// priority, the lowest confidence and the latest end of them.
///
/// Of one key of metadata it has the value of the memory that was changed last; its history has the others. A place that
/// they saw differently is among its anchors as each of them saw it, so that it is `drifted` as long as one of them is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsolidateParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// 2 to 100.
    pub ids: Vec<String>,
    /// Heading of the one that they become.
    pub title: Option<String>,
    /// Its content.
    pub summary: String,
    /// Where it belongs; absent: where all of them are.
    pub container: Option<String>,
    /// Store it although it looks like a credential.
    pub allow_secret: bool,
}

/// Params of `memory.auto_consolidate`: memories that share container and first tag become one, which holds all their texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AutoConsolidateParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Only this container.
    pub container: Option<String>,
    /// Fewest that become one, 2 to 100; 3 when absent.
    pub min_count: usize,
    /// Only memories of tier `short`.
    pub short_only: bool,
    /// Show what would be done, and change nothing.
    pub dry_run: bool,
}

impl Default for AutoConsolidateParams {
    fn default() -> Self {
        Self { caller: Caller::default(), container: None, min_count: 3, short_only: false, dry_run: false }
    }
}

/// Memories that have become one, or would.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Consolidated {
    /// The one; its id is empty in a dry run.
    pub memory: Brief,
    /// The tag that they share, where they were found by it.
    pub tag: Option<String>,
    /// What it was made of, oldest first; in the archive now.
    pub sources: Vec<Brief>,
    /// Why they did not become one.
    pub refused: Option<String>,
}

/// Result of `memory.consolidate` and `memory.auto_consolidate`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsolidateResult {
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// Private parts that were cut out of the summary.
    pub redacted: usize,
    /// One for `memory.consolidate`.
    pub groups: Vec<Consolidated>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}
