//! Lists the methods of the protocol with their params, results, effects, caveats and callers.

use crate::caveats::{AnswerDuty, AnswerPart};

/// One method of the protocol.
#[derive(Debug)]
pub struct Method {
    /// Name of the method in requests.
    pub name: &'static str,
    /// Name of the type of the params; empty if the method has none.
    pub params: &'static str,
    /// Name of the type of the result; empty for an empty object.
    pub result: &'static str,
    /// Whether the method changes nothing, so that a client without an answer may repeat the request.
    pub only_reads: bool,
    /// The caveats that the answer must carry if something could not be read.
    pub owes: AnswerDuty,
    /// The memories that the method concerns, if it concerns any.
    pub memories: MemoriesOf,
    /// Whether the answer contains memories only if the param `with` requests them.
    pub memories_on_request: bool,
    /// Whether the method shows memories of the team, which may be out of date.
    pub shows_team: bool,
    /// Why the HTTP API does not offer the method; `None` if it does.
    ///
    /// A mistake in a browser page can reach only the memories and the index of this repository, which can be restored
    /// and rebuilt. A request over HTTP has exactly one answer.
    pub socket_only: Option<&'static str>,
}

/// The memories that a method concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoriesOf {
    /// Memories of the caller's worktree.
    Worktree,
    /// Memories of the caller's worktree, and memories that only another worktree has.
    AllWorktrees,
    /// All memories of the repository.
    Repository,
}

impl Method {
    /// Returns the method with this name.
    pub fn find_method(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name)
    }

    const fn concerning(self, memories: MemoriesOf) -> Self {
        Self { memories, ..self }
    }

    const fn with_memories_on_request(self) -> Self {
        Self { memories_on_request: true, ..self }
    }

    const fn shows_team(self) -> Self {
        Self { shows_team: true, ..self }
    }

    const fn only_on_socket(self, why: &'static str) -> Self {
        Self { socket_only: Some(why), ..self }
    }
}

const fn reads(name: &'static str, params: &'static str, result: &'static str, owes: AnswerDuty) -> Method {
    Method {
        name,
        params,
        result,
        only_reads: true,
        owes,
        memories: MemoriesOf::Worktree,
        memories_on_request: false,
        shows_team: false,
        socket_only: None,
    }
}

const fn writes(name: &'static str, params: &'static str, result: &'static str, owes: AnswerDuty) -> Method {
    Method { only_reads: false, ..reads(name, params, result, owes) }
}

const NOTHING: AnswerDuty = AnswerDuty::Nothing;
const REPORT: AnswerDuty = AnswerDuty::Report;
const ALL: AnswerDuty = AnswerDuty::Fresh(&AnswerPart::ALL);
/// For advice: memories, and the code and commits that they are about.
const ADVICE: AnswerDuty = AnswerDuty::Fresh(&AnswerPart::OF_REPORT);
const MEMORIES: AnswerDuty = AnswerDuty::Fresh(&[AnswerPart::Memories]);
/// Memories, and whether the code that they are about has changed.
const STATES: AnswerDuty = AnswerDuty::Fresh(&[AnswerPart::Memories, AnswerPart::Code]);
const CODE: AnswerDuty = AnswerDuty::Fresh(&[AnswerPart::Code, AnswerPart::Unreadable]);
const HISTORY: AnswerDuty =
    AnswerDuty::Fresh(&[AnswerPart::Code, AnswerPart::Commits, AnswerPart::Unreadable]);
/// Paths of files, whether or not the files may be read.
const PATHS: AnswerDuty = AnswerDuty::Fresh(&[AnswerPart::Code]);
/// The parts of the worktree and its commits that can be read.
const INDEX: AnswerDuty = AnswerDuty::Fresh(&[AnswerPart::Code, AnswerPart::Commits]);

/// Why HTTP does not offer methods that ask a language model.
pub(crate) const ASKS_A_MODEL: &str = "it sends texts to a language model, which costs tokens";
const DECIDES_WHO_REACHES: &str = "it decides who reaches the daemon";
const CHANGES_WHAT_GIT_RUNS: &str = "it changes what git runs";

/// Every method of the protocol.
///
/// The reference of the protocol and the description of the HTTP API are generated from this table and the named
/// types.
pub const METHODS: &[Method] = &[
    reads("hello", "HelloParams", "HelloResult", NOTHING),
    reads("search", "SearchParams", "SearchResult", ALL),
    reads("brief", "BriefParams", "BriefResult", ALL),
    writes("advise", "AdviseParams", "AdviseResult", ADVICE),
    reads("map", "MapParams", "MapResult", CODE),
    reads("show", "ShowParams", "ShowResult", CODE),
    reads("outline", "OutlineParams", "OutlineResult", CODE),
    reads("refs", "RefsParams", "RefsResult", ALL).with_memories_on_request(),
    reads("callers", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    reads("callees", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    reads("impact", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    reads("tests", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    reads("implements", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    reads("why", "WhyParams", "WhyResult", ALL),
    reads("changed", "ChangedParams", "ChangedResult", HISTORY),
    reads("complete", "CompleteParams", "CompleteResult", PATHS),
    reads("status", "StatusParams", "StatusResult", REPORT),
    reads("sync", "SyncParams", "SyncResult", INDEX),
    reads("subscribe", "SubscribeParams", "SubscribeResult", NOTHING)
        .only_on_socket("a stream of events is GET /v1/events"),
    reads("unsubscribe", "", "", NOTHING).only_on_socket("a stream of events ends with its connection"),
    writes("reindex", "CwdParams", "", NOTHING),
    reads("doctor", "CwdParams", "DoctorResult", REPORT),
    writes("doctor.acknowledge", "CwdParams", "AcknowledgeResult", NOTHING),
    writes("stop", "", "", NOTHING).only_on_socket("it ends the daemon for everybody"),
    writes("serve.start", "ServeParams", "ServeResult", NOTHING).only_on_socket(DECIDES_WHO_REACHES),
    writes("serve.stop", "CwdParams", "ServeResult", NOTHING).only_on_socket(DECIDES_WHO_REACHES),
    reads("serve.status", "CwdParams", "ServeResult", NOTHING).only_on_socket("it shows the token"),
    writes("hooks.install", "HooksParams", "HooksResult", NOTHING).only_on_socket(CHANGES_WHAT_GIT_RUNS),
    writes("hooks.uninstall", "HooksParams", "HooksResult", NOTHING).only_on_socket(CHANGES_WHAT_GIT_RUNS),
    reads("hooks.status", "HooksParams", "HooksResult", NOTHING),
    reads("model.list", "CwdParams", "ModelsResult", NOTHING),
    writes("model.import", "ModelParams", "ModelsResult", NOTHING)
        .only_on_socket("it reads a folder anywhere and installs a program for all repositories"),
    writes("model.use", "ModelParams", "ModelsResult", NOTHING)
        .only_on_socket("it changes the model for everybody, and all vectors are computed again"),
    writes("model.remove", "ModelParams", "ModelsResult", NOTHING)
        .only_on_socket("it deletes a model of all repositories"),
    reads("llm.status", "CwdParams", "LlmStatusResult", NOTHING),
    writes("llm.expand", "LlmExpandParams", "LlmExpandResult", NOTHING).only_on_socket(ASKS_A_MODEL),
    writes("llm.summarise", "LlmSummariseParams", "LlmSummariseResult", NOTHING).only_on_socket(ASKS_A_MODEL),
    writes("llm.compare", "LlmCompareParams", "LlmCompareResult", MEMORIES).only_on_socket(ASKS_A_MODEL),
    writes("llm.suggest", "LlmSuggestParams", "LlmSuggestResult", MEMORIES).only_on_socket(ASKS_A_MODEL),
    writes("llm.distil", "LlmDistilParams", "LlmDistilResult", NOTHING).only_on_socket(ASKS_A_MODEL),
    reads("team.status", "TeamParams", "TeamStatusResult", NOTHING),
    writes("team.sync", "TeamParams", "TeamStatusResult", NOTHING),
    writes("team.leave", "TeamParams", "TeamLeaveResult", NOTHING),
    reads("team.members", "TeamParams", "TeamMembersResult", NOTHING),
    writes("memory.add", "AddParams", "AddResult", STATES),
    reads("memory.get", "IdsParams", "MemoriesResult", STATES).shows_team(),
    reads("memory.list", "ListParams", "MemoriesResult", STATES).shows_team(),
    writes("memory.update", "UpdateParams", "UpdateResult", STATES),
    writes("memory.confirm", "ConfirmParams", "UpdateResult", STATES),
    writes("memory.forget", "RemoveParams", "RemoveResult", MEMORIES),
    writes("memory.restore", "IdsParams", "MemoriesResult", STATES).concerning(MemoriesOf::AllWorktrees),
    writes("memory.purge", "RemoveParams", "RemoveResult", MEMORIES),
    writes("memory.reset", "RemoveParams", "RemoveResult", MEMORIES),
    reads("memory.tags", "TallyParams", "TallyResult", MEMORIES),
    reads("memory.containers", "TallyParams", "TallyResult", MEMORIES),
    reads("memory.history", "IdsParams", "HistoryResult", MEMORIES)
        .shows_team()
        .concerning(MemoriesOf::AllWorktrees),
    reads("memory.stats", "TallyParams", "StatsResult", MEMORIES),
    writes("memory.recall", "RecallParams", "RecallResult", STATES).shows_team(),
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
    reads("memory.links", "LinksParams", "LinksResult", MEMORIES).shows_team(),
    writes("memory.resolve", "ResolveParams", "ResolveResult", MEMORIES),
    reads("memory.related", "RelatedParams", "RelatedResult", MEMORIES).shows_team(),
    writes("memory.dedupe", "DedupeParams", "DedupeResult", MEMORIES),
    writes("memory.merge", "MergeParams", "MergeResult", STATES),
    writes("memory.import", "ImportParams", "ImportResult", MEMORIES),
    writes("memory.import_markdown", "MarkdownParams", "ImportResult", MEMORIES),
    reads("memory.import_keys", "KeysParams", "KeysResult", MEMORIES).concerning(MemoriesOf::Repository),
    writes("memory.read_database", "DatabaseParams", "DatabaseResult", NOTHING)
        .only_on_socket("it reads a file anywhere"),
    reads("memory.export", "ExportParams", "ExportResult", MEMORIES).concerning(MemoriesOf::Repository),
    writes("memory.backup", "BackupParams", "BackupResult", MEMORIES).concerning(MemoriesOf::Repository),
    writes("memory.restore_backup", "RestoreParams", "RestoreResult", MEMORIES)
        .concerning(MemoriesOf::Repository),
];
