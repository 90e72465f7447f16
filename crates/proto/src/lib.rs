//! Defines the types of the protocol: everything that crosses the socket.
//!
//! The format is JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>), one object per line, UTF-8. Only serializable
//! types live here. Unknown params are ignored; keys are added and never renamed. `rpc` holds the envelope, and the
//! other modules hold params and results. This file holds shared types, and the types with which a client finds a
//! daemon.

pub mod anchor;
mod caveats;
mod control;
pub mod exchange;
pub mod http;
mod lean_json;
pub mod memory;
mod methods;
mod path_errors;
mod queries;
mod rpc;
mod search_mode;
pub mod team;

use serde::{Deserialize, Serialize};

pub use self::caveats::{AnswerPart, Caveats, RequiredCaveats};
pub use self::control::event_params::{
    DriftCountsEvent, EventParams, LostEvent, MemoriesEvent, ProgressEvent, SubscribeParams, SubscribeResult,
    Topic, ViewsEvent,
};
pub use self::control::fetch_report::{FETCH_HUB_VARIABLE, FETCH_INDEX_VARIABLE, FetchReportLine};
pub use self::control::health::{
    AcknowledgeResult, Check, Counters, Counts, DaemonInfo, DoctorResult, ModelInfo, Sizes, StatusParams,
    StatusResult, ViewInfo, WatchInfo,
};
pub use self::control::hooks_result::{HookInfo, HookMethod, HooksParams, HooksResult};
pub use self::control::index_progress::{IndexProgress, IndexStep};
pub use self::control::llm::{
    LlmCandidate, LlmCompareParams, LlmCompareResult, LlmDistilParams, LlmDistilResult, LlmExpandParams,
    LlmExpandResult, LlmMessage, LlmPair, LlmRequest, LlmStatusResult, LlmSuggestParams, LlmSuggestResult,
    LlmSummariseParams, LlmSummariseResult, LlmUse,
};
pub use self::control::model::{ModelEntry, ModelParams, ModelsResult, NextModel};
pub use self::control::serve::{ServeParams, ServeResult};
pub use self::lean_json::{OrderedJson, round_score};
pub use self::methods::{METHODS, MemoriesOf, Method};
pub use self::path_errors::OUTSIDE_REMEDY;
pub use self::queries::advice::{Advice, AdviseParams, AdviseResult, Beginning, Evidence, Occasion};
pub use self::queries::brief_result::{BriefParams, BriefResult, BriefSection};
pub use self::queries::code_history::{
    ChangedCommit, ChangedFile, ChangedParams, ChangedResult, ChangedSymbols, FileStatus, WhyCommit,
    WhyMemory, WhyMove, WhyParams, WhyResult,
};
pub use self::queries::complete::{CompleteParams, CompleteResult, CompletionKind};
pub use self::queries::outline_item::{OutlineItem, OutlineParams, OutlineResult};
pub use self::queries::reached_definitions::{NeighbourLine, ReachParams, ReachResult, ReachedDefinition};
pub use self::queries::references::{
    AskedUses, RefCounts, RefDefinition, RefUse, ReferencePart, RefsParams, RefsResult, UnsearchedFile,
    describe_unsearched,
};
pub use self::queries::search::{
    Arms, CommitInfo, Copies, Explain, Factor, Hit, MapParams, MapResult, MemoryInfo, NO_FILE_MATCHES,
    NumberedLine, Parsed, ParsedFilter, SearchParams, SearchResult, Signal,
};
pub use self::queries::shown_part::{ShowParams, ShowResult, ShownPart};
pub use self::rpc::{
    ErrorData, HelloParams, HelloResult, MAX_JSON_DEPTH, RETRY_AFTER_MS, Request, Response, RpcError, code,
    max_nesting_depth,
};
pub use self::search_mode::SearchMode;

/// Version of the protocol. It is raised when a client must not talk to an older daemon.
pub const PROTOCOL: u32 = 1;

/// The amount of indexing that an answer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FreshnessLevel {
    /// The current snapshot; every hit is still checked against the disk.
    None,
    /// Everything written before the request, without embeddings.
    #[default]
    Fs,
    /// `fs` and the embeddings.
    Full,
    /// `fs` and an lstat pass over the manifest.
    Strict,
}

/// Remaining work of indexing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Number of files that differ from the index, or are suspected to.
    pub files: u64,
    /// Number of chunks without their vector.
    pub embeddings: u64,
}

/// Params of `sync`, which brings the index of the worktree of `cwd` up to date and waits for that.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SyncParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Required freshness of the index.
    pub sync: FreshnessLevel,
    /// Maximum wait, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `sync`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SyncResult {
    /// Whether the answer has the requested freshness.
    pub fresh: bool,
    /// Why the answer is not fresh.
    pub reason: Option<String>,
    /// Remaining work of indexing.
    pub pending: Pending,
    /// Clock of the index: `m1:<epoch>:<view>:<seq>`.
    pub clock: String,
    /// Current step of indexing and its progress; absent while nothing is indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<IndexProgress>,
    /// Failure of the last attempt, such as a full disk; the attempt is repeated. Absent while nothing fails.
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

/// The endpoint file, one line of JSON with the address of the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Path of the socket, or name of the pipe.
    pub socket: String,
    /// State directory for which the file was written, because a copied or moved repository takes the file along. May
    /// be empty.
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
    /// Whether the socket accepts connections.
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
    use memod_base::types::{ChunkKind, ReadRefusal};

    use super::anchor::AnchorState;
    use super::memory::{LinkKind, Tier};
    use super::*;

    #[test]
    fn words_are_those_of_json() {
        fn check<T: Copy + Serialize>(all: &[T], word: fn(T) -> &'static str) {
            for one in all {
                assert_eq!(serde_json::to_value(one).expect("a word"), word(*one));
            }
        }
        check(&ChunkKind::ALL, ChunkKind::as_str);
        check(&ReadRefusal::ALL, ReadRefusal::as_str);
        check(&AnchorState::ALL, AnchorState::as_str);
        check(&Tier::ALL, Tier::as_str);
        check(&LinkKind::ALL, LinkKind::as_str);
        check(&Occasion::ALL, Occasion::as_str);
        check(&Topic::ALL, Topic::as_str);
        check(&[SearchMode::Keyword, SearchMode::Vector, SearchMode::Hybrid], SearchMode::as_str);
        use HookMethod as Hook;
        check(&[Hook::None, Hook::WatchOnly, Hook::File, Hook::Chained, Hook::Config], Hook::as_str);
    }
}
