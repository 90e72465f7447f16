//! The types of the protocol: everything that crosses the socket.
//!
//! JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>), one object a line, UTF-8. Only serializable
//! types live here. Unknown params are ignored; keys are added and never renamed. `rpc` holds the envelope, the other
//! modules params and results. This file has what they share, and how a client finds a daemon.

mod advice;
pub mod anchor;
mod brief;
mod caveats;
mod code_history;
mod complete;
mod events;
pub mod exchange;
mod fetch;
mod health;
mod hooks;
pub mod http;
mod index_progress;
mod lean;
mod llm;
pub mod memory;
mod model;
mod outline_item;
mod path_errors;
mod reach;
mod references;
mod rpc;
mod search;
mod serve;
mod shown_part;
pub mod team;

use serde::{Deserialize, Serialize};

pub use self::advice::{Advice, AdviseParams, AdviseResult, Beginning, Evidence, Occasion};
pub use self::brief::{BriefParams, BriefResult, BriefSection};
pub use self::caveats::{AnswerPart, Caveats, Owes};
pub use self::code_history::{
    ChangedCommit, ChangedFile, ChangedParams, ChangedResult, ChangedSymbols, FileStatus, WhyCommit,
    WhyMemory, WhyMove, WhyParams, WhyResult,
};
pub use self::complete::{CompleteParams, CompleteResult, CompletionKind};
pub use self::events::{
    DriftEvent, EventParams, LostEvent, MemoriesEvent, ProgressEvent, SubscribeParams, SubscribeResult,
    Topic, ViewsEvent,
};
pub use self::fetch::{FetchReport, HUB_VARIABLE, INDEX_VARIABLE};
pub use self::health::{
    AcknowledgeResult, Check, Counters, Counts, DaemonInfo, DoctorResult, ModelInfo, Sizes, StatusParams,
    StatusResult, ViewInfo, WatchInfo,
};
pub use self::hooks::{HookInfo, HookMethod, HooksParams, HooksResult};
pub use self::index_progress::{IndexProgress, IndexStep};
pub use self::lean::{Ordered, rounded_score};
pub use self::llm::{
    LlmCandidate, LlmCompareParams, LlmCompareResult, LlmDistilParams, LlmDistilResult, LlmExpandParams,
    LlmExpandResult, LlmMessage, LlmPair, LlmRequest, LlmStatusResult, LlmSuggestParams, LlmSuggestResult,
    LlmSummariseParams, LlmSummariseResult, LlmUse,
};
pub use self::model::{ModelEntry, ModelParams, ModelsResult, NextModel};
pub use self::outline_item::{OutlineItem, OutlineParams, OutlineResult};
pub use self::path_errors::OUTSIDE_REMEDY;
pub use self::reach::{ReachParams, ReachResult, ReachedDefinition};
pub use self::references::{RefCounts, RefDefinition, RefUse, RefsParams, RefsResult, With};
pub use self::rpc::{
    ErrorData, HelloParams, HelloResult, MAX_DEPTH, RETRY_AFTER_MS, Request, Response, RpcError, code, depth,
};
pub use self::search::{
    Arms, CommitInfo, Copies, Explain, Factor, Hit, MapParams, MapResult, MemoryInfo, Mode, NO_FILE_MATCHES,
    Parsed, ParsedFilter, SearchParams, SearchResult, Signal,
};
pub use self::serve::{ServeParams, ServeResult};
pub use self::shown_part::{ShowParams, ShowResult, ShownPart};

/// Version of the protocol; raised when a client must not talk to an older daemon.
pub const PROTOCOL: u32 = 1;

/// One method of the protocol.
#[derive(Debug)]
pub struct Method {
    /// Its name in requests.
    pub name: &'static str,
    /// Name of the type of its params; empty if it has none.
    pub params: &'static str,
    /// Name of the type of its result; empty for an empty object.
    pub result: &'static str,
    /// Whether it changes nothing, so that a client without an answer may ask again.
    pub only_reads: bool,
    /// What its answer owes where something could not be read.
    pub owes: Owes,
}

impl Method {
    /// Returns the method of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name)
    }
}

const fn reads(name: &'static str, params: &'static str, result: &'static str, owes: Owes) -> Method {
    Method { name, params, result, only_reads: true, owes }
}

const fn writes(name: &'static str, params: &'static str, result: &'static str, owes: Owes) -> Method {
    Method { name, params, result, only_reads: false, owes }
}

const NOTHING: Owes = Owes::Nothing;
const REPORT: Owes = Owes::Report;
const ALL: Owes = Owes::Fresh(&AnswerPart::ALL);
/// Memories, and the code that they are about.
const ADVICE: Owes = Owes::Fresh(&AnswerPart::OF_REPORT);
const MEMORIES: Owes = Owes::Fresh(&[AnswerPart::Memories]);
/// Memories, and whether the code that they are about is as it was.
const STATES: Owes = Owes::Fresh(&[AnswerPart::Memories, AnswerPart::Code]);
const CODE: Owes = Owes::Fresh(&[AnswerPart::Code, AnswerPart::Unreadable]);
const HISTORY: Owes = Owes::Fresh(&[AnswerPart::Code, AnswerPart::Commits, AnswerPart::Unreadable]);
/// The paths of files, whether or not these may be read.
const PATHS: Owes = Owes::Fresh(&[AnswerPart::Code]);
/// What of the worktree and its commits can be read.
const INDEX: Owes = Owes::Fresh(&[AnswerPart::Code, AnswerPart::Commits]);

/// Every method with the types of its params and its result, and what that owes.
///
/// The reference of the protocol and the description of the HTTP API are made from this table and the named types.
pub const METHODS: &[Method] = &[
    reads("hello", "HelloParams", "HelloResult", NOTHING),
    reads("search", "SearchParams", "SearchResult", ALL),
    reads("brief", "BriefParams", "BriefResult", ALL),
    writes("advise", "AdviseParams", "AdviseResult", ADVICE),
    reads("map", "MapParams", "MapResult", CODE),
    reads("show", "ShowParams", "ShowResult", CODE),
    reads("outline", "OutlineParams", "OutlineResult", CODE),
    reads("refs", "RefsParams", "RefsResult", ALL),
    reads("callers", "ReachParams", "ReachResult", ALL),
    reads("callees", "ReachParams", "ReachResult", ALL),
    reads("impact", "ReachParams", "ReachResult", ALL),
    reads("tests", "ReachParams", "ReachResult", ALL),
    reads("implements", "ReachParams", "ReachResult", ALL),
    reads("why", "WhyParams", "WhyResult", ALL),
    reads("changed", "ChangedParams", "ChangedResult", HISTORY),
    reads("complete", "CompleteParams", "CompleteResult", PATHS),
    reads("status", "StatusParams", "StatusResult", REPORT),
    reads("sync", "SyncParams", "SyncResult", INDEX),
    reads("subscribe", "SubscribeParams", "SubscribeResult", NOTHING),
    reads("unsubscribe", "", "", NOTHING),
    writes("reindex", "CwdParams", "", NOTHING),
    reads("doctor", "CwdParams", "DoctorResult", REPORT),
    writes("doctor.acknowledge", "CwdParams", "AcknowledgeResult", NOTHING),
    writes("stop", "", "", NOTHING),
    writes("serve.start", "ServeParams", "ServeResult", NOTHING),
    writes("serve.stop", "CwdParams", "ServeResult", NOTHING),
    reads("serve.status", "CwdParams", "ServeResult", NOTHING),
    writes("hooks.install", "HooksParams", "HooksResult", NOTHING),
    writes("hooks.uninstall", "HooksParams", "HooksResult", NOTHING),
    reads("hooks.status", "HooksParams", "HooksResult", NOTHING),
    reads("model.list", "CwdParams", "ModelsResult", NOTHING),
    writes("model.import", "ModelParams", "ModelsResult", NOTHING),
    writes("model.use", "ModelParams", "ModelsResult", NOTHING),
    writes("model.remove", "ModelParams", "ModelsResult", NOTHING),
    reads("llm.status", "CwdParams", "LlmStatusResult", NOTHING),
    writes("llm.expand", "LlmExpandParams", "LlmExpandResult", NOTHING),
    writes("llm.summarise", "LlmSummariseParams", "LlmSummariseResult", NOTHING),
    writes("llm.compare", "LlmCompareParams", "LlmCompareResult", MEMORIES),
    writes("llm.suggest", "LlmSuggestParams", "LlmSuggestResult", MEMORIES),
    writes("llm.distil", "LlmDistilParams", "LlmDistilResult", NOTHING),
    reads("team.status", "TeamParams", "TeamStatusResult", NOTHING),
    writes("team.sync", "TeamParams", "TeamStatusResult", NOTHING),
    writes("team.leave", "TeamParams", "TeamLeaveResult", NOTHING),
    reads("team.members", "TeamParams", "TeamMembersResult", NOTHING),
    writes("memory.add", "AddParams", "AddResult", STATES),
    reads("memory.get", "IdsParams", "MemoriesResult", STATES),
    reads("memory.list", "ListParams", "MemoriesResult", STATES),
    writes("memory.update", "UpdateParams", "UpdateResult", STATES),
    writes("memory.confirm", "ConfirmParams", "UpdateResult", STATES),
    writes("memory.forget", "RemoveParams", "RemoveResult", MEMORIES),
    writes("memory.restore", "IdsParams", "MemoriesResult", STATES),
    writes("memory.purge", "RemoveParams", "RemoveResult", MEMORIES),
    writes("memory.reset", "RemoveParams", "RemoveResult", MEMORIES),
    reads("memory.tags", "TallyParams", "TallyResult", MEMORIES),
    reads("memory.containers", "TallyParams", "TallyResult", MEMORIES),
    reads("memory.history", "IdsParams", "HistoryResult", MEMORIES),
    reads("memory.stats", "TallyParams", "StatsResult", MEMORIES),
    writes("memory.recall", "RecallParams", "RecallResult", STATES),
    writes("memory.promote", "PromoteParams", "UpdateResult", STATES),
    writes("memory.share", "ShareParams", "ShareResult", MEMORIES),
    writes("memory.unshare", "ShareParams", "ShareResult", MEMORIES),
    writes("memory.resolve_file", "ResolveFileParams", "ResolveFileResult", STATES),
    reads("memory.check_files", "CheckFilesParams", "CheckFilesResult", NOTHING),
    writes("memory.restore_file", "RestoreFileParams", "RestoreFileResult", MEMORIES),
    writes("memory.consolidate", "ConsolidateParams", "ConsolidateResult", MEMORIES),
    writes("memory.auto_consolidate", "AutoConsolidateParams", "ConsolidateResult", MEMORIES),
    writes("memory.link", "LinkParams", "LinkResult", MEMORIES),
    writes("memory.unlink", "LinkParams", "LinkResult", MEMORIES),
    reads("memory.links", "LinksParams", "LinksResult", MEMORIES),
    writes("memory.resolve", "ResolveParams", "ResolveResult", MEMORIES),
    reads("memory.related", "RelatedParams", "RelatedResult", MEMORIES),
    writes("memory.dedupe", "DedupeParams", "DedupeResult", MEMORIES),
    writes("memory.merge", "MergeParams", "MergeResult", STATES),
    writes("memory.import", "ImportParams", "ImportResult", MEMORIES),
    writes("memory.import_markdown", "MarkdownParams", "ImportResult", MEMORIES),
    reads("memory.import_keys", "KeysParams", "KeysResult", MEMORIES),
    writes("memory.read_database", "DatabaseParams", "DatabaseResult", NOTHING),
    reads("memory.export", "ExportParams", "ExportResult", MEMORIES),
    writes("memory.backup", "BackupParams", "BackupResult", MEMORIES),
    writes("memory.restore_backup", "RestoreParams", "RestoreResult", MEMORIES),
];

/// How much must be indexed before the answer; design 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sync {
    /// The current snapshot; every hit is still checked against the disk.
    None,
    /// Everything written before the request, lexically.
    #[default]
    Fs,
    /// `fs` and the embeddings.
    Full,
    /// `fs` and an lstat pass over the manifest.
    Strict,
}

/// What is still to be indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Files known or suspected to differ from the index.
    pub files: u64,
    /// Chunks without their vector.
    pub embeddings: u64,
}

/// Params of `sync`: bring the view of `cwd` up to date and wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SyncParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// How fresh the index must be.
    pub sync: Sync,
    /// How long to wait, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `sync`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SyncResult {
    /// Whether the promise of the requested level holds.
    pub fresh: bool,
    /// Why it does not hold.
    pub reason: Option<String>,
    /// What is still to be indexed.
    pub pending: Pending,
    /// `m1:<epoch>:<view>:<seq>`.
    pub clock: String,
    /// What is being indexed at the moment, and how far; absent while nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<IndexProgress>,
    /// What failed when it was tried last, such as on a full disk; it is tried again. Absent while nothing fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Params of the methods that need only a directory, such as `reindex` and `doctor`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CwdParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
}

/// The endpoint file, one line of JSON: where the daemon listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Path of the socket, or name of the pipe.
    pub socket: String,
    /// The state dir that it was written for, because the file is copied and moved with its repository. May be empty.
    #[serde(default)]
    pub state_dir: String,
    /// Process id of the daemon.
    pub pid: u32,
    /// `CARGO_PKG_VERSION` of the daemon.
    pub version: String,
    /// [`PROTOCOL`] of the daemon.
    pub protocol: u32,
}

/// The one line that a starting daemon prints: `{"ready":true}` or `{"error":…,"hint":…}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ready {
    /// The socket accepts connections.
    pub ready: bool,
    /// Why the daemon cannot start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[cfg(test)]
mod tests {
    use memod_base::types::{Kind, Refusal};

    use super::anchor::State;
    use super::memory::{LinkKind, Tier};
    use super::*;

    #[test]
    fn words_are_those_of_json() {
        fn check<T: Copy + Serialize>(all: &[T], word: fn(T) -> &'static str) {
            for one in all {
                assert_eq!(serde_json::to_value(one).expect("a word"), word(*one));
            }
        }
        check(&Kind::ALL, Kind::as_str);
        check(&Refusal::ALL, Refusal::as_str);
        check(&State::ALL, State::as_str);
        check(&Tier::ALL, Tier::as_str);
        check(&LinkKind::ALL, LinkKind::as_str);
        check(&Occasion::ALL, Occasion::as_str);
        check(&Topic::ALL, Topic::as_str);
        check(&[Mode::Keyword, Mode::Vector, Mode::Hybrid], Mode::as_str);
        use HookMethod as Hook;
        check(&[Hook::None, Hook::WatchOnly, Hook::File, Hook::Chained, Hook::Config], Hook::as_str);
    }
}
