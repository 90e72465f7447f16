//! Params and results of imports, exports and backups.
//!
//! A large import consists of many requests, each of them one transaction, so that other requests are served in between. An
//! interrupted import can be repeated, because existing memories are recognised by id or text.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::anchor::Anchor;
use super::caveats::Caveats;
use super::memory::{Caller, Memory, Selection, StoredVector, Tier};

/// The name in the first line of an export.
pub const FORMAT: &str = "memod-memories";
/// The newest version of that format.
pub const FORMAT_VERSION: u32 = 1;
/// Most drafts and links of one request.
pub const MOST_DRAFTS: usize = 1_000;

/// A memory to import. Absent fields get the defaults of `memory.add`. Times are RFC 3339.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the others are those of `Memory`")]
pub struct Draft {
    /// Its place in the source file, 1-based, for messages.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u64,
    /// A complete id, which the memory gets.
    pub id: Option<String>,
    /// System and name there (`memori:57446832-…`), if it has no id of ours: it gets the same id each time.
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
    pub agent: Option<String>,
    pub created: Option<String>,
    pub updated: Option<String>,
    pub last_access: Option<String>,
    pub access_count: u64,
    pub metadata: Map<String, Value>,
    pub archived_at: Option<String>,
    pub archived_why: Option<String>,
    pub key: Option<String>,
    pub anchors: Vec<Anchor>,
    /// Used instead of a new one if it is of the model in use, and of the title and content that are stored.
    #[serde(deserialize_with = "deserialize_vector")]
    pub vector: Option<StoredVector>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Parses a vector. One of another form is empty, which fits no model: the memory need not be refused for it.
fn deserialize_vector<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Option<StoredVector>, D::Error> {
    let given = Option::<Value>::deserialize(deserializer)?;
    Ok(given.map(|value| StoredVector::deserialize(value).unwrap_or_default()))
}

/// A link to import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkDraft {
    /// Its place in the source file, 1-based, for messages.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u64,
    /// Id of the first memory.
    pub source: String,
    /// Id of the second memory.
    pub target: String,
    /// `related_to`, `supersedes`, `contradicts` or `derived_from`.
    pub kind: String,
    /// Creation time.
    pub created: Option<String>,
}

/// Makes the memories of a key equal to their source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// The key, which every draft of the request gets.
    pub key: String,
    /// A number that the caller chooses for this import, the same in all its requests.
    pub run: i64,
    /// Whether this is the last request: memories of the key that were not among the drafts are archived.
    pub is_last: bool,
}

/// Params of `memory.import`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Memories, at most [`MOST_DRAFTS`]; also as `memories`, as `memory.export` gives them.
    #[serde(alias = "memories")]
    pub drafts: Vec<Draft>,
    /// Links, which are stored after the drafts; at most [`MOST_DRAFTS`].
    pub links: Vec<LinkDraft>,
    /// Set if the import replaces a source.
    pub snapshot: Option<Snapshot>,
    /// If a memory with the same id exists and differs, the one that was changed last stays.
    pub merge: bool,
    /// Keep sources such as `user` and `cli`, which say that a memory was written here; without it they become `import`.
    pub own: bool,
    /// Also store texts that look like credentials.
    pub allow_secret: bool,
    /// Report what would be done, and change nothing.
    pub dry_run: bool,
}

/// Params of `memory.import_markdown`: one document, as a snapshot under its key.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MarkdownParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute.
    pub path: String,
    /// The whole text; at most 1 MiB.
    pub text: String,
    /// Container of the memories.
    pub container: Option<String>,
    /// Tags of the memories.
    pub tags: Vec<String>,
    /// Maximum length of a chunk, tokens of four characters; 400 when absent.
    pub chunk_tokens: Option<usize>,
    /// Overlap between the chunks of a section; 80 when absent.
    pub overlap_tokens: Option<usize>,
    /// Also store texts that look like credentials.
    pub allow_secret: bool,
    /// Report what would be done, and change nothing.
    pub dry_run: bool,
}

/// The outcome of a draft or a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportStatus {
    /// It is new.
    Added,
    /// It existed.
    #[default]
    Same,
    /// It replaced an older one.
    Updated,
    /// The existing one was changed later and stays.
    Older,
    /// It was refused; `why` gives the reason.
    Refused,
}

/// The outcome of one draft or link, in the order of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Imported {
    /// The `line` of the draft or link.
    pub line: u64,
    /// The outcome.
    pub fate: ImportStatus,
    /// Id of its memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Imported {
    /// Returns whether the draft is what is stored now.
    pub fn is_stored(&self) -> bool {
        matches!(self.fate, ImportStatus::Added | ImportStatus::Updated)
    }
}

/// Result of `memory.import` and `memory.import_markdown`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportResult {
    /// Outcomes of the drafts.
    pub drafts: Vec<Imported>,
    /// Outcomes of the links.
    pub links: Vec<Imported>,
    /// Number of archived memories that the source does not have any more.
    pub archived: u64,
    /// Number of private parts that were removed.
    pub redacted: u64,
    /// Why a document was not imported, or only in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.import_keys`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KeysParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Prefix of the keys.
    pub beginning: String,
}

/// Result of `memory.import_keys`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KeysResult {
    /// Keys of living memories, in order.
    pub keys: Vec<String>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.read_database`: reads a page of the database of another system.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute.
    pub path: String,
    /// `memod`, `memo`, `memori` or `ai-memory`.
    pub system: String,
    /// The `next` of the page before.
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
    /// Start of the next page; null for the last one.
    pub next: Option<String>,
    /// Notes on this database.
    pub notes: Vec<String>,
    /// For the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.export`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Conditions.
    #[serde(flatten)]
    pub selection: Selection,
    /// Whether to export archived instead of living memories.
    pub archived: bool,
    /// Whether each memory has its vector.
    pub include_vectors: bool,
    /// The `next` of the page before.
    pub after: i64,
}

/// Result of `memory.export`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportResult {
    /// Memories in order of insertion.
    pub memories: Vec<Memory>,
    /// Links from these memories, living and archived.
    pub links: Vec<LinkDraft>,
    /// Start of the next page; null for the last one.
    pub next: Option<i64>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.backup`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute path of a new file; null for a file next to the daemon's own backups.
    pub path: Option<String>,
}

/// Result of `memory.backup`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupResult {
    /// Its path.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Number of memories in it, including archived ones.
    pub memories: u64,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.restore_backup`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute path; null for the newest of the daemon's own backups.
    pub path: Option<String>,
    /// Only compare.
    pub dry_run: bool,
}

/// Result of `memory.restore_backup`. All counts are from before and include archived memories.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreResult {
    /// The backup.
    pub path: String,
    /// Whether it was only compared.
    pub dry_run: bool,
    /// Number of memories here.
    pub here: u64,
    /// Number of memories in the backup.
    pub there: u64,
    /// Memories that are not in the backup and are removed.
    pub only_here: u64,
    /// Memories that only the backup has and that come back.
    pub only_there: u64,
    /// Memories that have changed since the backup, in other ways than by recalls, and are reverted.
    pub differ: u64,
    /// Files of shared memories that are written again as in the backup, because verbs have changed or removed them.
    pub files_written: u64,
    /// Files that verbs have written since, and that are removed.
    pub files_removed: u64,
    /// Memories whose files git, an editor or a person has changed since: these hold, and the memories are not counted above.
    pub files_kept: u64,
    /// Files of the backup that git or a person has removed since: what no other worktree has is in the archive.
    pub files_gone: u64,
    /// Path of a backup of the former state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}
