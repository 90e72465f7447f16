//! Declares the command line: verbs, flags and their help.
//!
//! Types and help texts only; `ask` turns them into requests.

mod bench_args;
mod code_args;
mod daemon_args;
mod exchange_args;
mod memo_verb;
mod memory_args;
mod relation_args;
mod rows_args;
mod uses_args;
mod verb_groups;
mod verb_paths;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

pub(super) use bench_args::{BenchArgs, BenchVerb, CandidatesArgs, QualityArgs};
pub(super) use code_args::{
    BriefArgs, ChangedArgs, ExplainArgs, FindArgs, FreshArgs, MapArgs, OpenArgs, OutlineArgs, SearchArgs,
    ShowArgs, WhyArgs,
};
pub(super) use daemon_args::{
    ConfigArgs, ConfigVerb, DoctorArgs, EventFormat, EventsArgs, HookArgs, HooksArgs, HooksVerb, InitArgs,
    LogsArgs, ManArgs, McpArgs, ModelArgs, ModelVerb, ProfileArg, ServeArgs, SetupArgs, SetupScope,
    StatusArgs, SyncArgs, TeamArgs, TeamVerb, TopicArg, UninstallArgs,
};
pub(super) use exchange_args::{
    BackupArgs, DistilArgs, ExportArgs, ImportArgs, ImportFormat, RestoreBackupArgs,
};
pub(super) use memo_verb::MemoVerb;
pub(super) use memory_args::{
    AddArgs, AppendArgs, ConsentArgs, GetArgs, HistoryArgs, IdArgs, IdsArgs, ListArgs, PromoteArgs,
    RecallArgs, RecentArgs, RemoveArgs, ShareArgs, ShareWithArgs, SourceArg, SyncNotesArgs, TagArgs,
    TextArgs, UpdateArgs,
};
pub(super) use relation_args::{
    ConsolidateArgs, DedupeArgs, LinkingArgs, LinksArgs, RelatedArgs, ResolveArgs,
};
pub(super) use rows_args::{RowFormat, RowsArgs};
pub(super) use uses_args::{ImpactArgs, RefsArgs, UsesArgs, UsesListArgs};
pub(super) use verb_groups::parse_command_line;

/// Search a repository and its history by words and meaning, and keep memories about it
///
/// The first command that needs the daemon starts it; it exits when idle.
#[derive(Debug, Parser)]
#[command(
    name = "memo",
    bin_name = "memo",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "Exit status: 0 done, 1 nothing found or not all done, 2 wrong usage, 3 the daemon cannot be reached or failed."
)]
pub(super) struct CommandLine {
    #[command(flatten)]
    pub(super) global: GlobalArgs,
    #[command(subcommand)]
    pub(super) verb: MemoVerb,
    /// The verb as it is typed, such as `search` or `config set`
    #[arg(skip)]
    pub(super) name: String,
}

/// A command line of flags alone.
#[derive(Debug, Parser)]
struct FlagsAlone {
    #[command(flatten)]
    global: GlobalArgs,
}

/// Returns the flags of a command line whose only fault is that it has no verb.
pub(super) fn flags_without_verb(words: Vec<OsString>) -> Option<GlobalArgs> {
    FlagsAlone::try_parse_from(words).ok().map(|typed| typed.global)
}

/// Flags that every verb takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct GlobalArgs {
    /// Print JSON on stdout, errors included; `full` with hashes, parts of scores and what is null
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "lean",
        hide_possible_values = true
    )]
    pub(super) json: Option<JsonForm>,
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(super) dir: Option<PathBuf>,
    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorMode::Auto, global = true)]
    pub(super) color: ColorMode,
    /// Print only errors on stderr
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Do not show a long answer through a pager
    #[arg(long, global = true)]
    pub(super) no_pager: bool,
    /// The client that asks, as memories are stamped with it
    #[arg(skip = "cli")]
    pub(super) client: &'static str,
    /// Name of the agent that asks, as it gave it to the MCP server
    #[arg(skip)]
    pub(super) agent: Option<String>,
}

/// How much of a result is printed as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum JsonForm {
    /// What a program or an agent uses
    Lean,
    /// All that crosses the socket
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorMode {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}
