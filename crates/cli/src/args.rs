//! Declares the command line: verbs, flags and their help.
//!
//! Types and help texts only; `build_params` turns them into requests.

mod agent_parser;
pub(crate) mod build_params;
mod code_args;
mod copied_place;
mod daemon_args;
mod demo_args;
mod exchange_args;
mod memo_verb;
mod memory_args;
mod parse_share;
mod relation_args;
mod uses_args;
mod verb_examples;
mod verb_families;
mod verb_groups;
mod verb_paths;
mod verb_rows;
mod verb_words;
mod writing_args;

use std::ffi::OsString;

use clap::Parser;
use memod_terminal::GlobalArgs;

pub(super) use code_args::{
    BriefArgs, ChangedArgs, ExplainArgs, FreshnessArgs, MapArgs, OpenArgs, OutlineArgs, QueryArgs,
    SearchArgs, ShowArgs, WhyArgs,
};
pub(super) use copied_place::{find_copied_place, is_printed_line};
pub(super) use daemon_args::{
    ConfigArgs, ConfigVerb, DoctorArgs, EventFormat, EventsArgs, GitHooksVerb, HookArgs, HooksVerb, InitArgs,
    LogsArgs, ManArgs, McpArgs, ModelArgs, ModelVerb, ProfileArg, ServeArgs, SetupArgs, SetupScope,
    StatusArgs, SyncArgs, TeamArgs, TeamVerb, TopicArg, UninstallArgs,
};
pub(super) use demo_args::DemoArgs;
pub(super) use exchange_args::{
    BackupArgs, DistilArgs, ExportArgs, ImportArgs, ImportFormat, RestoreBackupArgs,
};
pub(super) use memo_verb::MemoVerb;
pub(super) use memory_args::{
    GetArgs, HistoryArgs, IdArgs, IdsArgs, ListArgs, PromoteArgs, RecallArgs, RemovalConfirmArgs, RemoveArgs,
    ShareArgs, ShareWithArgs, SourceArg, SyncNotesArgs, TagArgs,
};
pub(super) use relation_args::{
    ConsolidateArgs, DedupeArgs, LinkingArgs, LinksArgs, RelatedArgs, ResolveArgs,
};
pub(super) use uses_args::{ImpactArgs, RefsArgs, TestsArgs, UsesArgs, UsesListArgs};
pub(super) use verb_examples::find_examples;
pub(super) use verb_families::{BackupVerb, DaemonControlVerb, ForgetVerb, LinkVerb, ShareVerb, TagVerb};
pub(super) use verb_groups::{build_full_command, parse_command_line};
pub(super) use verb_rows::find_row_schema;
pub(super) use verb_words::{find_dir_flag, find_verb, has_separate_value, replace_verb_word};
pub(super) use writing_args::{AddArgs, AppendArgs, TextArgs, UpdateArgs};

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
    after_help = "`memo WORDS` searches. `memo help --all` lists every verb, `memo VERB --help` explains one.\n\
        Exit status: 0 done, 1 nothing found or not all done, 2 wrong usage, 3 the daemon cannot be reached or failed."
)]
pub(super) struct CommandLine {
    #[command(flatten)]
    pub(super) global: GlobalArgs,
    #[command(subcommand)]
    pub(super) verb: MemoVerb,
    /// The full name of the verb, such as `search` or `config set`
    #[arg(skip)]
    pub(super) verb_name: String,
}

/// A command line that has only global flags.
#[derive(Debug, Parser)]
#[command(max_term_width = 100)]
struct FlagsOnlyCommandLine {
    #[command(flatten)]
    global: GlobalArgs,
}

/// Returns the global flags of a command line without a verb; `None` if the command line has anything else.
pub(super) fn parse_flags_without_verb(words: Vec<OsString>) -> Option<GlobalArgs> {
    FlagsOnlyCommandLine::try_parse_from(words).ok().map(|typed| typed.global)
}
