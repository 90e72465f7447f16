//! Params and results of `memory.add` and `memory.update`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Caller, Contradicted, Memory, Tier};
use crate::proto::anchor::Anchor;

/// Params of `memory.add`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AddParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// At most 64 KiB; `<private>…</private>` is cut out before it is stored.
    pub content: String,
    /// At most 512 bytes.
    pub title: Option<String>,
    /// `project` when absent.
    pub container: Option<String>,
    /// At most 50 of 128 bytes.
    pub tags: Vec<String>,
    /// `long` when absent.
    pub tier: Option<Tier>,
    /// `3d`, `2h30m`, RFC 3339 or a date; else the tier says.
    pub ttl: Option<String>,
    /// 5 when absent.
    pub priority: Option<i64>,
    /// 1 when absent.
    pub confidence: Option<f64>,
    /// An object.
    pub metadata: Map<String, Value>,
    /// What of the code it is about: `PATH`, `PATH:10-20` or `PATH#SYMBOL`; the path relative to `cwd`, or absolute.
    pub about: Vec<String>,
    /// The same as another memod had it; what `about` names takes its place.
    pub anchors: Vec<Anchor>,
    /// Store it although it looks like a credential.
    pub allow_secret: bool,
    /// Store it although another memory of the container says nearly the same.
    pub force: bool,
    /// Add to that other memory what is new, instead.
    pub merge: bool,
}

/// Result of `memory.add`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AddResult {
    /// False: the same text was there already, and nothing was changed, unless it was `merged`.
    pub created: bool,
    /// What is new in it was added to the memory that said nearly the same.
    pub merged: bool,
    /// What it may contradict.
    pub contradicted: Vec<Contradicted>,
    /// Parts that were cut out as private.
    pub redacted: usize,
    /// The memory as it is kept.
    pub memory: Memory,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.update`: what is absent stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which one.
    pub id: String,
    /// Instead of the content.
    pub content: Option<String>,
    /// A paragraph behind the content.
    pub append: Option<String>,
    /// Empty takes it away.
    pub title: Option<String>,
    /// Where it belongs from now on.
    pub container: Option<String>,
    /// Counted from now.
    pub tier: Option<Tier>,
    /// As for `memory.add`, counted from now; `never` takes it away.
    pub ttl: Option<String>,
    /// 1 to 10.
    pub priority: Option<i64>,
    /// 0 to 1.
    pub confidence: Option<f64>,
    /// Laid over the metadata key by key; null takes a key away.
    pub metadata: Map<String, Value>,
    /// Take `metadata` instead of what was there.
    pub replace_metadata: bool,
    /// Tags that it gets.
    pub add_tags: Vec<String>,
    /// Tags that it loses.
    pub remove_tags: Vec<String>,
    /// What of the code it is about from now on, too; as for `memory.add`.
    pub add_about: Vec<String>,
    /// What it is no longer about.
    pub remove_about: Vec<String>,
    /// The same as another memod had it; what `add_about` names takes its place.
    pub anchors: Vec<Anchor>,
    /// Store it although it looks like a credential.
    pub allow_secret: bool,
}

/// Params of `memory.confirm`: what the memory says still holds of what it is about, as that is now. `busy` where the memory
/// is changed meanwhile.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfirmParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which one.
    pub id: String,
    /// Found by the daemon.
    pub anchors: Vec<Anchor>,
}

/// Result of `memory.update` and `memory.confirm`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateResult {
    /// Names of the fields that are others now.
    pub changed: Vec<String>,
    /// Parts that were cut out as private.
    pub redacted: usize,
    /// The memory as it is kept.
    pub memory: Memory,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}
