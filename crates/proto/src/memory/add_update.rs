//! Params and results of `memory.add` and `memory.update`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Caller, Contradicted, Memory, Tier};
use crate::Caveats;
use crate::anchor::Anchor;

/// The fields of a memory besides its text; a part of the params of `memory.add` and `memory.update`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldParams {
    /// Title, at most 512 bytes; an empty one removes the title.
    pub title: Option<String>,
    /// Container of the memory, or `auto` for the name of the repository; for a new memory, the setting
    /// `memory.container` when absent.
    pub container: Option<String>,
    /// Tier, which sets the lifetime from now on; `long` for a new memory when absent.
    pub tier: Option<Tier>,
    /// Expiry: `3d`, `2h30m`, RFC 3339, a date, or `never` in an update; the tier decides when absent.
    pub ttl: Option<String>,
    /// Priority, 1 to 10; 5 for a new memory when absent.
    pub priority: Option<i64>,
    /// Confidence, 0 to 1; 1 for a new memory when absent.
    pub confidence: Option<f64>,
    /// An object. An update merges it into the old metadata key by key, and null removes a key.
    pub metadata: Map<String, Value>,
    /// Whether to store a text that looks like a credential.
    pub allow_secret: bool,
}

/// Params of `memory.add`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AddParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Text, at most 64 KiB; `<private>…</private>` is removed before it is stored.
    pub content: String,
    /// Title, container, tier and so on.
    #[serde(flatten)]
    pub fields: FieldParams,
    /// Tags, at most 50, each at most 128 bytes.
    pub tags: Vec<String>,
    /// Origin of the memory, if it is not the caller: `user`, `agent`, `hook` or `import`.
    pub source: Option<String>,
    /// Code that the memory is about: `PATH`, `PATH:10-20` or `PATH#SYMBOL`, with the path relative to `cwd` or
    /// absolute.
    pub about: Vec<String>,
    /// Anchors exported by another memod; `about` replaces them.
    pub anchors: Vec<Anchor>,
    /// Whether to store a near-duplicate of another memory in the container, as with `memory.refuse_near` off.
    pub force: bool,
    /// Whether to merge a near-duplicate into that other memory instead.
    pub merge: bool,
}

/// Result of `memory.add`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AddResult {
    /// Whether a memory was created. If not, the same text existed already, and nothing was changed unless `merged`.
    pub created: bool,
    /// Whether the text was merged into a memory that says nearly the same.
    pub merged: bool,
    /// Memories that the new text may contradict.
    pub contradicted: Vec<Contradicted>,
    /// Number of private parts that were removed.
    pub redacted: usize,
    /// Warning that the stored text may be a credential, although it does not look like one.
    #[serde(rename = "doubt", skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The stored memory.
    pub memory: Memory,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.update`; absent fields keep their values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory.
    pub id: String,
    /// New text.
    pub content: Option<String>,
    /// A paragraph to append to the text.
    pub append: Option<String>,
    /// Title, container, tier and so on.
    #[serde(flatten)]
    pub fields: FieldParams,
    /// Whether `metadata` replaces all former metadata.
    pub replace_metadata: bool,
    /// Tags to add.
    pub add_tags: Vec<String>,
    /// Tags to remove.
    pub remove_tags: Vec<String>,
    /// Code to add to the anchors, as in `about` of `memory.add`.
    pub add_about: Vec<String>,
    /// Code to remove from the anchors.
    pub remove_about: Vec<String>,
    /// Anchors exported by another memod; `add_about` replaces them.
    pub anchors: Vec<Anchor>,
}

/// Params of `memory.confirm`, which confirms that a memory still holds for the present code. It fails with `busy` if
/// the memory changes in the meantime.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfirmParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory.
    pub id: String,
    /// Anchors to the present code; set by the daemon.
    pub anchors: Vec<Anchor>,
}

/// Result of `memory.update` and `memory.confirm`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateResult {
    /// Names of changed fields.
    pub changed: Vec<String>,
    /// Number of private parts that were removed.
    pub redacted: usize,
    /// Warning that the stored text may be a credential, although it does not look like one.
    #[serde(rename = "doubt", skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The stored memory.
    pub memory: Memory,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}
