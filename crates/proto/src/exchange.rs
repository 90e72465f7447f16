//! Params and results of imports, exports and backups.
//!
//! A large import consists of many requests. Each is one transaction, and other requests are served in between. An
//! interrupted import can be repeated, because existing memories are recognised by id or text.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::anchor::Anchor;
use super::caveats::Caveats;
use super::memory::{Caller, Memory, Selection, StoredVector, Tier};

/// Name of the format, in the first line of an export.
pub const EXPORT_FORMAT: &str = "memod-memories";
/// Newest version of that format.
pub const FORMAT_VERSION: u32 = 1;
/// Maximum number of drafts, and of links, in one request.
pub const MOST_DRAFTS: usize = 1_000;

/// A memory to import. Absent fields get the defaults of `memory.add`. Times are RFC 3339.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the others are those of `Memory`")]
pub struct Draft {
    /// Position in the source file, 1-based, for messages.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u64,
    /// Complete id for the memory.
    pub id: Option<String>,
    /// System and name in it (`memori:57446832-…`), for a memory without an id of memod; the same original always gets
    /// the same id.
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
    /// Vector of the memory. It is used instead of a new one if it belongs to the model in use and to the stored title
    /// and content.
    #[serde(deserialize_with = "deserialize_vector")]
    pub vector: Option<StoredVector>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Parses a vector. A malformed one becomes empty, which matches no model, so that its memory is still imported.
fn deserialize_vector<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Option<StoredVector>, D::Error> {
    let given = Option::<Value>::deserialize(deserializer)?;
    Ok(given.map(|value| StoredVector::deserialize(value).unwrap_or_default()))
}

/// A link to import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkDraft {
    /// Position in the source file, 1-based, for messages.
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
    /// Key for every draft of the request.
    pub key: String,
    /// A number that the caller chooses for this import, the same in all its requests.
    pub run: i64,
    /// Whether this is the last request; it archives the memories of the key that were not among the drafts.
    pub is_last: bool,
}

/// Params of `memory.import`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Memories, at most [`MOST_DRAFTS`]; `memories`, the name in a result of `memory.export`, is accepted too.
    #[serde(alias = "memories")]
    pub drafts: Vec<Draft>,
    /// Links, at most [`MOST_DRAFTS`]; they are stored after the drafts.
    pub links: Vec<LinkDraft>,
    /// Set if the import replaces a source.
    pub snapshot: Option<Snapshot>,
    /// Whether the version that was changed last stays, if a memory with the same id exists and differs.
    pub merge: bool,
    /// Whether to keep sources such as `user` and `cli`, which mark a memory as written here; otherwise they become
    /// `import`.
    pub own: bool,
    /// Whether to store texts that look like credentials.
    pub allow_secret: bool,
    /// Whether to report the outcomes, and change nothing.
    pub dry_run: bool,
}

/// Params of `memory.import_markdown`, which imports one document as a snapshot under its key.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MarkdownParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute path of the document.
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
    /// Whether to store texts that look like credentials.
    pub allow_secret: bool,
    /// Whether to report the outcomes, and change nothing.
    pub dry_run: bool,
}

/// The outcome of a draft or a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportStatus {
    /// The draft or link is new.
    Added,
    /// The draft or link existed already.
    #[default]
    Same,
    /// The draft or link replaced an older version.
    Updated,
    /// The existing version was changed later and stays.
    Older,
    /// The draft or link was refused; `why` gives the reason.
    Refused,
}

/// The outcome of one draft or link, in the order of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportOutcome {
    /// The `line` of the draft or link.
    pub line: u64,
    /// The outcome.
    pub fate: ImportStatus,
    /// Id of the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why the draft or link was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl ImportOutcome {
    /// Returns whether the draft was stored.
    pub fn is_stored(&self) -> bool {
        matches!(self.fate, ImportStatus::Added | ImportStatus::Updated)
    }
}

/// Result of `memory.import` and `memory.import_markdown`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportResult {
    /// Outcomes of the drafts.
    pub drafts: Vec<ImportOutcome>,
    /// Outcomes of the links.
    pub links: Vec<ImportOutcome>,
    /// Number of memories that were archived, because the source no longer contains them.
    pub archived: u64,
    /// Number of private parts that were removed.
    pub redacted: u64,
    /// Reasons why a document was not imported, or only in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.import_keys`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KeysParams {
    /// The caller, with its working directory, kind of client and agent name.
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
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.read_database`, which reads a page of another system's database.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute path of the database.
    pub path: String,
    /// `memod`, `memo`, `memori` or `ai-memory`.
    pub system: String,
    /// The `next` of the previous page.
    pub after: Option<String>,
}

/// Result of `memory.read_database`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseResult {
    /// Memories of this page.
    pub drafts: Vec<Draft>,
    /// Links of this page, which refer to drafts by `id` or `original`.
    pub links: Vec<LinkDraft>,
    /// Rows of this page that cannot be read.
    pub unreadable: Vec<ImportOutcome>,
    /// Start of the next page; null for the last one.
    pub next: Option<String>,
    /// Notes on this database.
    pub notes: Vec<String>,
    /// A notice for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.export`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Conditions.
    #[serde(flatten)]
    pub selection: Selection,
    /// Whether to export archived instead of living memories.
    pub archived: bool,
    /// Whether to include the vector of each memory.
    pub include_vectors: bool,
    /// The `next` of the previous page.
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
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.backup`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute path of a new file; null for a file next to the daemon's own backups.
    pub path: Option<String>,
}

/// Result of `memory.backup`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupResult {
    /// Path of the backup.
    pub path: String,
    /// Size of the backup, bytes.
    pub bytes: u64,
    /// Number of memories in the backup, including archived ones.
    pub memories: u64,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.restore_backup`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Absolute path; null for the newest of the daemon's own backups.
    pub path: Option<String>,
    /// Whether to compare only.
    pub dry_run: bool,
}

/// Result of `memory.restore_backup`. All counts are from before the restore and include archived memories.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreResult {
    /// Path of the backup.
    pub path: String,
    /// Whether the backup was only compared.
    pub dry_run: bool,
    /// Number of memories in the present database.
    pub here: u64,
    /// Number of memories in the backup.
    pub there: u64,
    /// Number of memories that are not in the backup and are removed.
    pub only_here: u64,
    /// Number of memories that only the backup has and that come back.
    pub only_there: u64,
    /// Number of memories that have changed since the backup, other than by recalls, and are reverted.
    pub differ: u64,
    /// Number of files of shared memories that are written as in the backup, because commands of memod have changed or
    /// removed them.
    pub files_written: u64,
    /// Number of files that commands of memod have written since the backup, and that are removed.
    pub files_removed: u64,
    /// Number of memories whose files git, an editor or a person has changed since the backup. The files stay, and the
    /// counts above leave these memories out.
    pub files_kept: u64,
    /// Number of files of the backup that git or a person has removed since. Memories that no other worktree has are
    /// in the archive.
    pub files_gone: u64,
    /// Path of a backup of the state before the restore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}
