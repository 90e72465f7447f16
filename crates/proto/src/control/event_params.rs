//! Params and result of `subscribe`, and the events that follow.

use serde::{Deserialize, Serialize};

use crate::IndexProgress;

/// The subject of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// Progress of indexing.
    Progress,
    /// Whether the index of a worktree is up to date, and which changes it has taken in.
    Views,
    /// Changes of memories.
    Memories,
    /// Number of memories about code that has changed or is gone.
    Drift,
}

impl Topic {
    /// All topics.
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

/// Params of `subscribe`. A second call on a connection replaces the first. The subscription ends with `unsubscribe`,
/// or when the peer closes its sending side.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SubscribeParams {
    /// Absolute path inside the worktree to observe.
    pub cwd: String,
    /// Only these topics; empty means all. An unknown topic is an error that lists the known ones.
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
    /// Indexing has advanced or ended.
    Progress(ProgressEvent),
    /// The state of a worktree's index has changed.
    Views(ViewsEvent),
    /// Memories have changed.
    Memories(MemoriesEvent),
    /// The numbers of memories about code that has changed or is gone are different now.
    Drift(DriftCountsEvent),
    /// Events were dropped, because the subscriber reads too slowly.
    Lost(LostEvent),
}

/// An event of the topic `progress`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgressEvent {
    /// Time of the event.
    pub time: String,
    /// Top directory of the worktree.
    pub worktree: String,
    /// Current step of indexing and its progress; null once indexing has ended.
    pub progress: Option<IndexProgress>,
}

/// An event of the topic `views`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewsEvent {
    /// Time of the event.
    pub time: String,
    /// Top directory of the worktree.
    pub worktree: String,
    /// Content of the worktree's HEAD: a commit or a branch; null if it is unknown, or if the worktree is gone.
    pub head: Option<String>,
    /// Whether no change is known to be pending.
    pub fresh: bool,
    /// Why the index is not fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An event of the topic `memories`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoriesEvent {
    /// Time of the event.
    pub time: String,
    /// Full ids of the memories; empty after `salvage` and `restore_backup`, because all may have changed.
    pub ids: Vec<String>,
    /// Last action in the history of the memories, such as `add`, `update` or `forget`; `purge` or `reset` for deleted
    /// memories, `salvage` after the repair of memory.db, `restore_backup` after `memory.restore_backup`.
    pub change: String,
}

/// An event of the topic `drift`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriftCountsEvent {
    /// Time of the event.
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
    /// Time of the event.
    pub time: String,
    /// Number of dropped events, which the subscriber had not read when newer events came.
    pub n: u64,
}
