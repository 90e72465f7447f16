//! Params and result of `subscribe`, and the events that follow.

use serde::{Deserialize, Serialize};

use super::IndexProgress;

/// The subject of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// How far indexing is.
    Progress,
    /// Whether the index of a worktree is up to date, and what it has taken up.
    Views,
    /// Which memories have changed.
    Memories,
    /// How many memories are about code that has changed or is gone.
    Drift,
}

impl Topic {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Progress, Self::Views, Self::Memories, Self::Drift];

    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Progress => "progress",
            Self::Views => "views",
            Self::Memories => "memories",
            Self::Drift => "drift",
        }
    }
}

/// Params of `subscribe`. A second call on a connection replaces the first; `unsubscribe` or the end of what the peer sends
/// ends the subscription.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SubscribeParams {
    /// Absolute path inside the worktree whose events are wanted.
    pub cwd: String,
    /// Only these topics; empty means all. An unknown one is an error that lists them.
    pub topics: Vec<Topic>,
}

/// Result of `subscribe`. Events follow it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SubscribeResult {
    /// The topics of the events that follow.
    pub topics: Vec<Topic>,
    /// Top directory of the worktree.
    pub worktree: String,
}

/// Params of the notification `event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "topic", rename_all = "lowercase")]
pub enum EventParams {
    /// Indexing has got further, or has ended.
    Progress(ProgressEvent),
    /// The state of a worktree's index has changed.
    Views(ViewsEvent),
    /// Memories have changed.
    Memories(MemoriesEvent),
    /// Other numbers of memories are about code that has changed or is gone.
    Drift(DriftEvent),
    /// The subscriber reads too slowly: events were dropped.
    Lost(LostEvent),
}

/// An event of the topic `progress`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgressEvent {
    /// Time.
    pub time: String,
    /// Top directory of the worktree.
    pub worktree: String,
    /// What is being indexed, and how far; null once nothing is.
    pub progress: Option<IndexProgress>,
}

/// An event of the topic `views`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewsEvent {
    /// Time.
    pub time: String,
    /// Top directory of the worktree.
    pub worktree: String,
    /// Content of its HEAD: a commit or a branch; null if it is not known, or the worktree is gone.
    pub head: Option<String>,
    /// Whether nothing is known to be pending.
    pub fresh: bool,
    /// Why it is not fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An event of the topic `memories`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoriesEvent {
    /// Time.
    pub time: String,
    /// Full ids of the memories; none after `salvage` and `restore_backup`, when all may have changed.
    pub ids: Vec<String>,
    /// The last action in their history, such as `add`, `update` or `forget`; `purge` or `reset` for deleted ones,
    /// `salvage` after the repair of memory.db, `restore_backup` after `memory.restore_backup`.
    pub change: String,
}

/// An event of the topic `drift`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriftEvent {
    /// Time.
    pub time: String,
    /// Top directory of the worktree.
    pub worktree: String,
    /// Number of memories with a changed anchor.
    pub drifted: u64,
    /// Number of memories with an anchor that is gone.
    pub orphaned: u64,
}

/// An event of the topic `lost`, which belongs to every subscription.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LostEvent {
    /// Time.
    pub time: String,
    /// Number of events that were dropped, because they waited for this subscriber and others came.
    pub n: u64,
}
