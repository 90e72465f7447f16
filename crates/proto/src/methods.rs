//! Lists the methods of the protocol with their params, results, effects, caveats and callers.

use crate::caveats::{AnswerPart, RequiredCaveats};

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
    pub required_caveats: RequiredCaveats,
    /// The memories that the method concerns, if it concerns any.
    pub memories: MemoriesOf,
    /// Whether the answer contains memories only if the param `with` requests them.
    pub memories_on_request: bool,
    /// Whether the method shows memories of the team, which may be out of date.
    pub shows_team: bool,
    /// Why the HTTP API does not offer the method; `None` if it does.
    ///
    /// HTTP offers only methods that change at most the memories and the index of this repository, which can be restored and
    /// rebuilt, and only methods with exactly one answer.
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

const fn read_only_method(
    name: &'static str,
    params: &'static str,
    result: &'static str,
    required_caveats: RequiredCaveats,
) -> Method {
    Method {
        name,
        params,
        result,
        only_reads: true,
        required_caveats,
        memories: MemoriesOf::Worktree,
        memories_on_request: false,
        shows_team: false,
        socket_only: None,
    }
}

const fn writing_method(
    name: &'static str,
    params: &'static str,
    result: &'static str,
    required_caveats: RequiredCaveats,
) -> Method {
    Method { only_reads: false, ..read_only_method(name, params, result, required_caveats) }
}

const NO_CAVEATS: RequiredCaveats = RequiredCaveats::Nothing;
const REPORT: RequiredCaveats = RequiredCaveats::Report;
const ALL: RequiredCaveats = RequiredCaveats::Fresh(&AnswerPart::ALL);
/// For advice: memories, and the code and commits that they are about.
const ADVICE: RequiredCaveats = RequiredCaveats::Fresh(&AnswerPart::OF_REPORT);
const MEMORIES: RequiredCaveats = RequiredCaveats::Fresh(&[AnswerPart::Memories]);
/// Memories, and whether the code that they are about has changed.
const STATES: RequiredCaveats = RequiredCaveats::Fresh(&[AnswerPart::Memories, AnswerPart::Code]);
const CODE: RequiredCaveats = RequiredCaveats::Fresh(&[AnswerPart::Code, AnswerPart::Unreadable]);
const HISTORY: RequiredCaveats =
    RequiredCaveats::Fresh(&[AnswerPart::Code, AnswerPart::Commits, AnswerPart::Unreadable]);
/// Paths of files, whether or not the files may be read.
const PATHS: RequiredCaveats = RequiredCaveats::Fresh(&[AnswerPart::Code]);
/// The parts of the worktree and its commits that can be read.
const INDEX: RequiredCaveats = RequiredCaveats::Fresh(&[AnswerPart::Code, AnswerPart::Commits]);

/// Why HTTP does not offer methods that ask a language model.
pub(crate) const ASKS_A_MODEL: &str = "it sends texts to a language model, which costs tokens";
const DECIDES_WHO_REACHES_DAEMON: &str = "it decides who reaches the daemon";
const CHANGES_WHAT_GIT_RUNS: &str = "it changes what git runs";

/// Every method of the protocol.
///
/// The reference of the protocol and the description of the HTTP API are generated from this table and the named
/// types.
pub const METHODS: &[Method] = &[
    read_only_method("hello", "HelloParams", "HelloResult", NO_CAVEATS),
    read_only_method("search", "SearchParams", "SearchResult", ALL),
    read_only_method("brief", "BriefParams", "BriefResult", ALL),
    writing_method("advise", "AdviseParams", "AdviseResult", ADVICE),
    read_only_method("map", "MapParams", "MapResult", CODE),
    read_only_method("show", "ShowParams", "ShowResult", CODE),
    read_only_method("outline", "OutlineParams", "OutlineResult", CODE),
    read_only_method("refs", "RefsParams", "RefsResult", ALL).with_memories_on_request(),
    read_only_method("callers", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    read_only_method("callees", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    read_only_method("impact", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    read_only_method("tests", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    read_only_method("implements", "ReachParams", "ReachResult", ALL).with_memories_on_request(),
    read_only_method("why", "WhyParams", "WhyResult", ALL),
    read_only_method("changed", "ChangedParams", "ChangedResult", HISTORY),
    read_only_method("complete", "CompleteParams", "CompleteResult", PATHS),
    read_only_method("status", "StatusParams", "StatusResult", REPORT),
    read_only_method("sync", "SyncParams", "SyncResult", INDEX),
    read_only_method("subscribe", "SubscribeParams", "SubscribeResult", NO_CAVEATS)
        .only_on_socket("a stream of events is GET /v1/events"),
    read_only_method("unsubscribe", "", "", NO_CAVEATS)
        .only_on_socket("a stream of events ends with its connection"),
    writing_method("reindex", "CwdParams", "", NO_CAVEATS),
    read_only_method("doctor", "CwdParams", "DoctorResult", REPORT),
    writing_method("doctor.acknowledge", "CwdParams", "AcknowledgeResult", NO_CAVEATS),
    writing_method("stop", "", "", NO_CAVEATS).only_on_socket("it ends the daemon for everybody"),
    writing_method("serve.start", "ServeParams", "ServeResult", NO_CAVEATS)
        .only_on_socket(DECIDES_WHO_REACHES_DAEMON),
    writing_method("serve.stop", "CwdParams", "ServeResult", NO_CAVEATS)
        .only_on_socket(DECIDES_WHO_REACHES_DAEMON),
    read_only_method("serve.status", "CwdParams", "ServeResult", NO_CAVEATS)
        .only_on_socket("it shows the token"),
    writing_method("hooks.install", "HooksParams", "HooksResult", NO_CAVEATS)
        .only_on_socket(CHANGES_WHAT_GIT_RUNS),
    writing_method("hooks.uninstall", "HooksParams", "HooksResult", NO_CAVEATS)
        .only_on_socket(CHANGES_WHAT_GIT_RUNS),
    read_only_method("hooks.status", "HooksParams", "HooksResult", NO_CAVEATS),
    read_only_method("model.list", "CwdParams", "ModelsResult", NO_CAVEATS),
    writing_method("model.import", "ModelParams", "ModelsResult", NO_CAVEATS)
        .only_on_socket("it reads a folder anywhere and installs a program for all repositories"),
    writing_method("model.use", "ModelParams", "ModelsResult", NO_CAVEATS)
        .only_on_socket("it changes the model for everybody, and all vectors are computed again"),
    writing_method("model.remove", "ModelParams", "ModelsResult", NO_CAVEATS)
        .only_on_socket("it deletes a model of all repositories"),
    read_only_method("llm.status", "CwdParams", "LlmStatusResult", NO_CAVEATS),
    writing_method("llm.expand", "LlmExpandParams", "LlmExpandResult", NO_CAVEATS)
        .only_on_socket(ASKS_A_MODEL),
    writing_method("llm.summarise", "LlmSummariseParams", "LlmSummariseResult", NO_CAVEATS)
        .only_on_socket(ASKS_A_MODEL),
    writing_method("llm.compare", "LlmCompareParams", "LlmCompareResult", MEMORIES)
        .only_on_socket(ASKS_A_MODEL),
    writing_method("llm.suggest", "LlmSuggestParams", "LlmSuggestResult", MEMORIES)
        .only_on_socket(ASKS_A_MODEL),
    writing_method("llm.distil", "LlmDistilParams", "LlmDistilResult", NO_CAVEATS)
        .only_on_socket(ASKS_A_MODEL),
    read_only_method("team.status", "TeamParams", "TeamStatusResult", NO_CAVEATS),
    writing_method("team.sync", "TeamParams", "TeamStatusResult", NO_CAVEATS),
    writing_method("team.leave", "TeamParams", "TeamLeaveResult", NO_CAVEATS),
    read_only_method("team.members", "TeamParams", "TeamMembersResult", NO_CAVEATS),
    writing_method("memory.add", "AddParams", "AddResult", STATES),
    read_only_method("memory.get", "IdsParams", "MemoriesResult", STATES).shows_team(),
    read_only_method("memory.list", "ListParams", "MemoriesResult", STATES).shows_team(),
    writing_method("memory.update", "UpdateParams", "UpdateResult", STATES),
    writing_method("memory.confirm", "ConfirmParams", "UpdateResult", STATES),
    writing_method("memory.forget", "RemoveParams", "RemoveResult", MEMORIES),
    writing_method("memory.restore", "IdsParams", "MemoriesResult", STATES)
        .concerning(MemoriesOf::AllWorktrees),
    writing_method("memory.purge", "RemoveParams", "RemoveResult", MEMORIES),
    writing_method("memory.reset", "RemoveParams", "RemoveResult", MEMORIES),
    read_only_method("memory.tags", "TallyParams", "TallyResult", MEMORIES),
    read_only_method("memory.containers", "TallyParams", "TallyResult", MEMORIES),
    read_only_method("memory.history", "IdsParams", "HistoryResult", MEMORIES)
        .shows_team()
        .concerning(MemoriesOf::AllWorktrees),
    read_only_method("memory.stats", "TallyParams", "StatsResult", MEMORIES),
    writing_method("memory.recall", "RecallParams", "RecallResult", STATES).shows_team(),
    writing_method("memory.promote", "PromoteParams", "UpdateResult", STATES),
    writing_method("memory.share", "ShareParams", "ShareResult", MEMORIES),
    writing_method("memory.unshare", "ShareParams", "ShareResult", MEMORIES),
    writing_method("memory.resolve_file", "ResolveFileParams", "ResolveFileResult", STATES),
    read_only_method("memory.check_files", "CheckFilesParams", "CheckFilesResult", NO_CAVEATS),
    writing_method("memory.restore_file", "RestoreFileParams", "RestoreFileResult", MEMORIES),
    writing_method("memory.consolidate", "ConsolidateParams", "ConsolidateResult", MEMORIES),
    writing_method("memory.auto_consolidate", "AutoConsolidateParams", "ConsolidateResult", MEMORIES),
    writing_method("memory.link", "LinkParams", "LinkResult", MEMORIES),
    writing_method("memory.unlink", "LinkParams", "LinkResult", MEMORIES),
    read_only_method("memory.links", "LinksParams", "LinksResult", MEMORIES).shows_team(),
    writing_method("memory.resolve", "ResolveParams", "ResolveResult", MEMORIES),
    read_only_method("memory.related", "RelatedParams", "RelatedResult", MEMORIES).shows_team(),
    writing_method("memory.dedupe", "DedupeParams", "DedupeResult", MEMORIES),
    writing_method("memory.merge", "MergeParams", "MergeResult", STATES),
    writing_method("memory.import", "ImportParams", "ImportResult", MEMORIES),
    writing_method("memory.import_markdown", "MarkdownParams", "ImportResult", MEMORIES),
    read_only_method("memory.import_keys", "KeysParams", "KeysResult", MEMORIES)
        .concerning(MemoriesOf::Repository),
    writing_method("memory.read_database", "DatabaseParams", "DatabaseResult", NO_CAVEATS)
        .only_on_socket("it reads a file anywhere"),
    read_only_method("memory.export", "ExportParams", "ExportResult", MEMORIES)
        .concerning(MemoriesOf::Repository),
    writing_method("memory.backup", "BackupParams", "BackupResult", MEMORIES)
        .concerning(MemoriesOf::Repository),
    writing_method("memory.restore_backup", "RestoreParams", "RestoreResult", MEMORIES)
        .concerning(MemoriesOf::Repository),
];
