//! Params and results of `memory.add` and `memory.update`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Caller, Contradicted, Memory, Tier};
use crate::proto::anchor::Anchor;

/// What is said of a memory besides its text; a part of the params of `memory.add` and `memory.update`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldParams {
    /// At most 512 bytes; an empty one is removed.
    pub title: Option<String>,
    /// Where the memory belongs; `project` for a new memory when absent.
    pub container: Option<String>,
    /// `long` for a new memory when absent. The lifetime counts from now.
    pub tier: Option<Tier>,
    /// When the memory expires: `3d`, `2h30m`, RFC 3339, a date, or `never` in an update. The tier decides when absent.
    pub ttl: Option<String>,
    /// 1 to 10; 5 for a new memory when absent.
    pub priority: Option<i64>,
    /// 0 to 1; 1 for a new memory when absent.
    pub confidence: Option<f64>,
    /// An object. An update lays it over the old metadata key by key, and null removes a key.
    pub metadata: Map<String, Value>,
    /// Store it although it looks like a credential.
    pub allow_secret: bool,
}

/// Params of `memory.add`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AddParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// At most 64 KiB; `<private>…</private>` is cut out before it is stored.
    pub content: String,
    /// Title, container, tier and so on.
    #[serde(flatten)]
    pub fields: FieldParams,
    /// At most 50 of 128 bytes.
    pub tags: Vec<String>,
    /// What of the code it is about: `PATH`, `PATH:10-20` or `PATH#SYMBOL`; the path relative to `cwd`, or absolute.
    pub about: Vec<String>,
    /// The same as another memod had it; what `about` names takes its place.
    pub anchors: Vec<Anchor>,
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
    /// Title, container, tier and so on.
    #[serde(flatten)]
    pub fields: FieldParams,
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
