//! The types of the protocol: everything that crosses the socket.
//!
//! JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>), one object a line, UTF-8. Only serializable
//! types live here. Unknown params are ignored; keys are added and never renamed. `rpc` holds the envelope, the other
//! modules params and results. This file has what they share, and how a client finds a daemon.

mod advice;
pub mod anchor;
mod brief_result;
mod caveats;
mod code_history;
mod complete;
mod event_params;
pub mod exchange;
mod fetch_report;
mod health;
mod hooks_result;
pub mod http;
mod index_progress;
mod lean_json;
mod llm;
pub mod memory;
mod methods;
mod model;
mod outline_item;
mod path_errors;
mod reached_definitions;
mod references;
mod rpc;
mod search;
mod serve;
mod shown_part;
pub mod team;

use serde::{Deserialize, Serialize};

pub use self::advice::{Advice, AdviseParams, AdviseResult, Beginning, Evidence, Occasion};
pub use self::brief_result::{BriefParams, BriefResult, BriefSection};
pub use self::caveats::{AnswerDuty, AnswerPart, Caveats};
pub use self::code_history::{
    ChangedCommit, ChangedFile, ChangedParams, ChangedResult, ChangedSymbols, FileStatus, WhyCommit,
    WhyMemory, WhyMove, WhyParams, WhyResult,
};
pub use self::complete::{CompleteParams, CompleteResult, CompletionKind};
pub use self::event_params::{
    DriftEvent, EventParams, LostEvent, MemoriesEvent, ProgressEvent, SubscribeParams, SubscribeResult,
    Topic, ViewsEvent,
};
pub use self::fetch_report::{FetchReport, HUB_VARIABLE, INDEX_VARIABLE};
pub use self::health::{
    AcknowledgeResult, Check, Counters, Counts, DaemonInfo, DoctorResult, ModelInfo, Sizes, StatusParams,
    StatusResult, ViewInfo, WatchInfo,
};
pub use self::hooks_result::{HookInfo, HookMethod, HooksParams, HooksResult};
pub use self::index_progress::{IndexProgress, IndexStep};
pub use self::lean_json::{OrderedJson, rounded_score};
pub use self::llm::{
    LlmCandidate, LlmCompareParams, LlmCompareResult, LlmDistilParams, LlmDistilResult, LlmExpandParams,
    LlmExpandResult, LlmMessage, LlmPair, LlmRequest, LlmStatusResult, LlmSuggestParams, LlmSuggestResult,
    LlmSummariseParams, LlmSummariseResult, LlmUse,
};
pub use self::methods::{METHODS, MemoriesOf, Method};
pub use self::model::{ModelEntry, ModelParams, ModelsResult, NextModel};
pub use self::outline_item::{OutlineItem, OutlineParams, OutlineResult};
pub use self::path_errors::OUTSIDE_REMEDY;
pub use self::reached_definitions::{ReachParams, ReachResult, ReachedDefinition};
pub use self::references::{RefCounts, RefDefinition, RefUse, ReferencePart, RefsParams, RefsResult};
pub use self::rpc::{
    ErrorData, HelloParams, HelloResult, MAX_DEPTH, RETRY_AFTER_MS, Request, Response, RpcError, code,
    nesting_depth,
};
pub use self::search::{
    Arms, CommitInfo, Copies, Explain, Factor, Hit, MapParams, MapResult, MemoryInfo, NO_FILE_MATCHES,
    Parsed, ParsedFilter, SearchMode, SearchParams, SearchResult, Signal,
};
pub use self::serve::{ServeParams, ServeResult};
pub use self::shown_part::{ShowParams, ShowResult, ShownPart};

/// Version of the protocol; raised when a client must not talk to an older daemon.
pub const PROTOCOL: u32 = 1;

/// How much must be indexed before the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FreshnessLevel {
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

/// The amount of work that indexing still has.
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
    pub sync: FreshnessLevel,
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
