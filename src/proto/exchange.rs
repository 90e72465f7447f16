//! Params and results of imports, exports and backups.
//!
//! A big import is many requests, each of them one transaction: others are served in between, and what was interrupted is
//! begun again, for what is in already is known by its id or its text.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::anchor::Anchor;
use super::memory::{Caller, Memory, Selection, Tier};

/// The name in the first line of an export.
pub const FORMAT: &str = "memod-memories";
/// The newest version of that format.
pub const FORMAT_VERSION: u32 = 1;
/// Most drafts and links of one request.
pub const MOST_DRAFTS: usize = 1_000;

/// A memory on its way in. What is absent gets what `memory.add` would give it. Times are RFC 3339.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the others are those of `Memory`")]
pub struct Draft {
    /// Its place in the file it comes from, 1-based, for messages.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u64,
    /// Whole; the memory gets this id.
    pub id: Option<String>,
    /// System and name there (`memori:57446832-…`), where it has no id of ours: it gets the same id each time.
    pub original: Option<String>,
    pub content: String,
    pub title: Option<String>,
    pub container: Option<String>,
    pub tags: Vec<String>,
    pub tier: Option<Tier>,
    pub expires_at: Option<String>,
    pub priority: Option<i64>,
    pub confidence: Option<f64>,
    pub source: Option<String>,
    pub author: Option<String>,
    pub created: Option<String>,
    pub updated: Option<String>,
    pub last_access: Option<String>,
    pub access_count: u64,
    pub metadata: Map<String, Value>,
    pub archived_at: Option<String>,
    pub archived_why: Option<String>,
    pub key: Option<String>,
    pub anchors: Vec<Anchor>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One memory refers to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkDraft {
    /// Its place in the file it comes from, 1-based, for messages.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u64,
    /// Id of the one that refers.
    pub source: String,
    /// Id of the one that is referred to.
    pub target: String,
    /// `related_to`, `supersedes`, `contradicts` or `derived_from`.
    pub kind: String,
    /// When it was made.
    pub created: Option<String>,
}

/// What was imported under one key is to be what the source says now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// The key; every draft of the request gets it.
    pub key: String,
    /// A number of the caller's choice for this import, the same in all its requests.
    pub run: i64,
    /// With this request the source is told whole: what is kept of it and was not among the drafts is archived.
    pub is_last: bool,
}

/// Params of `memory.import`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// At most [`MOST_DRAFTS`].
    pub drafts: Vec<Draft>,
    /// After the drafts; at most [`MOST_DRAFTS`].
    pub links: Vec<LinkDraft>,
    /// One source, and all of it.
    pub snapshot: Option<Snapshot>,
    /// Where an id is known and its memory differs, the one that was changed last stays.
    pub merge: bool,
    /// Keep also what looks like a credential.
    pub allow_secret: bool,
    /// Say what would be done, and change nothing.
    pub dry_run: bool,
}

/// Params of `memory.import_markdown`: one document, as a snapshot under its key.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MarkdownParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute.
    pub path: String,
    /// All of it; at most 1 MiB.
    pub text: String,
    /// Where the memories belong.
    pub container: Option<String>,
    /// What they are tagged with.
    pub tags: Vec<String>,
    /// Longest chunk, tokens of four characters; 400 when absent.
    pub chunk_tokens: Option<usize>,
    /// Overlap where one section is cut; 80 when absent.
    pub overlap_tokens: Option<usize>,
    /// Keep also what looks like a credential.
    pub allow_secret: bool,
    /// Say what would be done, and change nothing.
    pub dry_run: bool,
}

/// What became of a draft or a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportStatus {
    /// It is new.
    Added,
    /// It was there already.
    #[default]
    Same,
    /// It took the place of an older one.
    Updated,
    /// What is here was changed later, and stays.
    Older,
    /// It is not taken; `why` says why.
    Refused,
}

/// What became of one draft or link, in the order they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Imported {
    /// As it was given.
    pub line: u64,
    /// What became of it.
    pub fate: ImportStatus,
    /// The memory that it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Result of `memory.import` and `memory.import_markdown`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportResult {
    /// For each draft.
    pub drafts: Vec<Imported>,
    /// For each link.
    pub links: Vec<Imported>,
    /// Memories of the snapshot's key that its source has no more.
    pub archived: u64,
    /// Parts that were cut out as private.
    pub redacted: u64,
    /// Why nothing of a document was taken, or not all of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.import_keys`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KeysParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// What the keys begin with.
    pub beginning: String,
}

/// Result of `memory.import_keys`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KeysResult {
    /// Keys that living memories have, in order.
    pub keys: Vec<String>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.read_database`: a page of what another system keeps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute.
    pub path: String,
    /// `memod`, `memo`, `memori` or `ai-memory`.
    pub system: String,
    /// What the page before said in `next`.
    pub after: Option<String>,
}

/// Result of `memory.read_database`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseResult {
    /// Memories of this page.
    pub drafts: Vec<Draft>,
    /// Links of this page, by the drafts' `id` or `original`.
    pub links: Vec<LinkDraft>,
    /// Rows of this page that cannot be read.
    pub unreadable: Vec<Imported>,
    /// Where the next page begins; none: this was the last.
    pub next: Option<String>,
    /// What is to be known of this database.
    pub notes: Vec<String>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.export`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which.
    #[serde(flatten)]
    pub selection: Selection,
    /// The archive instead of the living.
    pub archived: bool,
    /// What the page before said in `next`.
    pub after: i64,
}

/// Result of `memory.export`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportResult {
    /// In the order they came here.
    pub memories: Vec<Memory>,
    /// The links that lead from these, living and archived.
    pub links: Vec<LinkDraft>,
    /// Where the next page begins; none: this was the last.
    pub next: Option<i64>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.backup`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute, and nothing is there yet; none: among the daemon's own copies.
    pub path: Option<String>,
}

/// Result of `memory.backup`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupResult {
    /// Where it is.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Memories in it, archived ones too.
    pub memories: u64,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.restore_backup`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute; none: the newest of the daemon's own copies.
    pub path: Option<String>,
    /// Compare, and change nothing.
    pub dry_run: bool,
}

/// Result of `memory.restore_backup`; all counts are of the time before, archived memories too.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreResult {
    /// The backup.
    pub path: String,
    /// Whether it was only compared.
    pub dry_run: bool,
    /// Memories here.
    pub here: u64,
    /// Memories in the backup.
    pub there: u64,
    /// Memories that are not in the backup: they go.
    pub only_here: u64,
    /// Memories that are in the backup alone: they come back.
    pub only_there: u64,
    /// Memories that have changed since.
    pub differ: u64,
    /// Where what was here is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}
