//! Declares the flags of the verbs that are not about memories.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};

use super::memory_args::MemoryScopeArgs;
use super::rows_args::RowsArgs;
use crate::proto;
use crate::types::{FileClass, Kind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ModeArg {
    /// Words, paths and symbols
    Keyword,
    /// Meaning only
    Vector,
    /// Both, fused
    Hybrid,
}

impl From<ModeArg> for proto::Mode {
    fn from(typed: ModeArg) -> Self {
        match typed {
            ModeArg::Keyword => Self::Keyword,
            ModeArg::Vector => Self::Vector,
            ModeArg::Hybrid => Self::Hybrid,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SyncLevel {
    /// Wait for nothing; hits are still checked against the disk
    None,
    /// Everything written before the command
    Fs,
    /// Also the embeddings
    Full,
    /// `fs`, and check every file on disk
    Strict,
}

impl From<SyncLevel> for proto::Sync {
    fn from(typed: SyncLevel) -> Self {
        match typed {
            SyncLevel::None => Self::None,
            SyncLevel::Fs => Self::Fs,
            SyncLevel::Full => Self::Full,
            SyncLevel::Strict => Self::Strict,
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct InitArgs {
    /// Do not install git hooks
    #[arg(long)]
    pub(in crate::cli) no_hooks: bool,
}

/// How fresh an answer must be, and how long to wait for it.
#[derive(Debug, Args)]
pub(in crate::cli) struct FreshArgs {
    /// What must be indexed before the answer
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = SyncLevel::Fs)]
    pub(in crate::cli) sync: SyncLevel,
    /// Maximum wait, milliseconds [default: search.wait_ms, 1000]
    #[arg(long, value_name = "MS", value_parser = wait_parser())]
    pub(in crate::cli) wait_ms: Option<u64>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SearchArgs {
    /// Words, "phrases", prefix*, AND OR NOT, ( ), filters; after `--` also words that start with a dash
    ///
    /// Filters: path: lang: kind: only: symbol: tag: container: author: after: before:, as in `retry path:src/** NOT kind:doc`.
    /// Operators and filters hold for every hit, also for those found by meaning.
    #[arg(required = true, value_name = "QUERY")]
    pub(in crate::cli) query: Vec<String>,
    /// How to match
    #[arg(short, long, value_enum, default_value_t = ModeArg::Hybrid)]
    pub(in crate::cli) mode: ModeArg,
    /// Only these kinds of hits (comma-separated, or given again)
    #[arg(short, long, value_name = "KIND", value_delimiter = ',', value_parser = kind_parser())]
    pub(in crate::cli) kind: Vec<Kind>,
    /// Only files of these classes: code, docs, test, fixture, snapshot, example, benchmark, config, generated, vendored,
    /// lock, licence, changelog, translation, migration, declaration (comma-separated, or given again)
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = FileClass::parse)]
    pub(in crate::cli) only: Vec<FileClass>,
    /// Only paths that match this glob, from the current directory; without `/` a name at any depth; after `!` only
    /// others (may be given again)
    #[arg(short, long, value_name = "GLOB")]
    pub(in crate::cli) path: Vec<String>,
    /// No paths that match this glob (may be given again)
    #[arg(long, value_name = "GLOB")]
    pub(in crate::cli) exclude: Vec<String>,
    /// Only these languages: rust, python, markdown… (comma-separated, or given again)
    #[arg(short, long, value_name = "LANG", value_delimiter = ',')]
    pub(in crate::cli) lang: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) memories: MemoryScopeArgs,
    /// Minimum score of a hit, 0 to 1
    #[arg(long, value_name = "SCORE", value_parser = share, allow_hyphen_values = true)]
    pub(in crate::cli) threshold: Option<f64>,
    /// Maximum number of hits, 1 to 200 [default: search.limit, 10]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=200))]
    pub(in crate::cli) limit: Option<u64>,
    /// The whole definition, section, message or memory of each hit instead of its best lines
    #[arg(long, conflicts_with_all = ["files", "vimgrep"])]
    pub(in crate::cli) full: bool,
    /// Only the paths of the files that were found, one a line; commits and memories are left out
    #[arg(long, conflicts_with_all = ["vimgrep", "format"])]
    pub(in crate::cli) files: bool,
    /// The lines of each snippet that match as PATH:LINE:COLUMN:TEXT, which editors read; of a hit without one its first
    #[arg(long, conflicts_with = "format")]
    pub(in crate::cli) vimgrep: bool,
    /// Have a cross-encoder compare the first 20 hits with the query; see `memo model list`
    #[arg(long)]
    pub(in crate::cli) rerank: bool,
    #[command(flatten)]
    pub(in crate::cli) fresh: FreshArgs,
    #[command(flatten)]
    pub(in crate::cli) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExplainArgs {
    #[command(flatten)]
    pub(in crate::cli) search: SearchArgs,
    /// Only the hit at this rank, starting at 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=200).map(|n| n as usize))]
    pub(in crate::cli) hit: Option<usize>,
    /// Only hits of this path, memory or commit
    #[arg(long, value_name = "PATH|ID")]
    pub(in crate::cli) of: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ChangedArgs {
    /// A revision, a time or an age: HEAD~3, main, 2026-11-01, 3d, 2h30m [default: HEAD]
    #[arg(value_name = "REV|TIME", conflicts_with = "since")]
    pub(in crate::cli) rev: Option<String>,
    /// The same as the argument
    #[arg(short, long, value_name = "REV|TIME")]
    pub(in crate::cli) since: Option<String>,
    /// Maximum number of files
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(in crate::cli) limit: u64,
    #[command(flatten)]
    pub(in crate::cli) fresh: FreshArgs,
    #[command(flatten)]
    pub(in crate::cli) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct WhyArgs {
    /// A path from the current directory, alone or with a line, lines or the name of a definition
    #[arg(value_name = "PATH[:LINE|#SYMBOL]")]
    pub(in crate::cli) target: String,
    /// Maximum number of commits
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(in crate::cli) limit: u64,
    #[command(flatten)]
    pub(in crate::cli) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ShowArgs {
    /// A path from the current directory, alone or with a line, lines or the name of a definition; or just a name
    #[arg(value_name = "PATH[:LINE|:FIRST-LAST|#SYMBOL]|NAME")]
    pub(in crate::cli) target: String,
    /// Only the text, without its place and the numbers of its lines
    #[arg(long)]
    pub(in crate::cli) plain: bool,
    #[command(flatten)]
    pub(in crate::cli) fresh: FreshArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct MapArgs {
    /// Only files below these directories, or these files, relative to the current directory
    #[arg(value_name = "DIR|FILE")]
    pub(in crate::cli) paths: Vec<String>,
    /// Most tokens printed
    #[arg(short, long, value_name = "TOKENS", default_value_t = 1024)]
    pub(in crate::cli) budget: usize,
    /// Files or directories to favour in the ranking, relative to the current directory
    #[arg(short, long, value_name = "PATH", num_args = 1..)]
    pub(in crate::cli) focus: Vec<String>,
    /// What must be indexed before the answer
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = SyncLevel::Fs)]
    pub(in crate::cli) sync: SyncLevel,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct BriefArgs {
    /// Most tokens printed
    #[arg(short, long, value_name = "TOKENS", default_value_t = 2048)]
    pub(in crate::cli) budget: usize,
    /// What must be indexed before the answer
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = SyncLevel::Fs)]
    pub(in crate::cli) sync: SyncLevel,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct StatusArgs {
    /// List every indexed file, one per line
    #[arg(long, group = "list")]
    pub(in crate::cli) files: bool,
    /// List every skipped file with its reason
    #[arg(long, group = "list")]
    pub(in crate::cli) skipped: bool,
    /// End each line of a list with NUL, and print names as they are
    #[arg(short = 'z', long, visible_short_alias = '0', requires = "list")]
    pub(in crate::cli) null: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SyncArgs {
    /// What must be indexed
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = SyncLevel::Fs)]
    pub(in crate::cli) sync: SyncLevel,
    /// How long to wait, milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000, value_parser = wait_parser())]
    pub(in crate::cli) wait_ms: u64,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct McpArgs {
    /// Which tools to offer
    #[arg(long, value_enum, default_value_t = ProfileArg::Default)]
    pub(in crate::cli) profile: ProfileArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ProfileArg {
    /// Eight tools, one of which runs any verb
    Default,
    /// Also a tool for each verb about memories
    Full,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LogsArgs {
    /// Number of lines, from the end
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(in crate::cli) lines: usize,
    /// Keep printing as the log grows
    #[arg(short, long)]
    pub(in crate::cli) follow: bool,
}

/// What happens in the session of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum AgentEvent {
    /// A session begins
    SessionStart,
    /// A prompt was submitted
    Prompt,
    /// A file is about to be edited
    BeforeEdit,
}

impl From<AgentEvent> for proto::Occasion {
    fn from(typed: AgentEvent) -> Self {
        match typed {
            AgentEvent::SessionStart => Self::SessionStart,
            AgentEvent::Prompt => Self::Prompt,
            AgentEvent::BeforeEdit => Self::BeforeEdit,
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct HookArgs {
    /// What happens
    #[arg(value_enum)]
    pub(in crate::cli) event: AgentEvent,
    /// The prompt, or the files, instead of JSON on stdin
    #[arg(value_name = "TEXT")]
    pub(in crate::cli) text: Vec<String>,
    /// Whose form to print: claude-code, codex, gemini, cursor, vscode; text for any other [default: the form that the JSON
    /// is of]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) agent: Option<String>,
    /// Show what would be told and why, and remember nothing
    #[arg(long)]
    pub(in crate::cli) explain: bool,
    /// Most tokens told [default: 400, at the start of a session 1200]
    #[arg(short, long, value_name = "TOKENS")]
    pub(in crate::cli) budget: Option<usize>,
    /// Time after which it gives up, milliseconds
    #[arg(long, value_name = "MS", default_value_t = 300, value_parser = wait_parser())]
    pub(in crate::cli) within_ms: u64,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct HooksArgs {
    #[command(subcommand)]
    pub(in crate::cli) what: Option<HooksVerb>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum HooksVerb {
    /// Install the hooks where no other hook is in the way; exits with 1 when some could not be installed
    ///
    /// Uses `hook.memo` in the repository's configuration with git 2.54 or later, and files in `.git/hooks` otherwise.
    Install {
        /// Also extend existing shell hooks, use the directory of core.hooksPath, and take names that git-lfs may want
        #[arg(long)]
        chain: bool,
    },
    /// Remove the hooks and restore every file as it was
    Uninstall,
    /// Show how each hook is installed
    Status,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ModelArgs {
    #[command(subcommand)]
    pub(in crate::cli) what: Option<ModelVerb>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ModelVerb {
    /// List the models that are installed, and those that are known by name
    List,
    /// Show which model answers, which one is to follow, and how far that is
    Status,
    /// Use a model in this repository; the present one answers until all vectors are made, or for `search --rerank`
    Use {
        /// `builtin`, or the name of a model that is installed or known; a known one is downloaded first
        #[arg(value_name = "MODEL")]
        name: String,
        /// Write the user's own settings, for all repositories
        #[arg(long)]
        user: bool,
    },
    /// Install a model from a folder, laid out as sentence-transformers writes it
    ///
    /// Takes `model.onnx`, `onnx/model.onnx` or the only file that ends in `.onnx`, and `tokenizer.json`. The model is
    /// tried in a process of its own before it takes the place of another one.
    Import {
        /// The folder
        folder: std::path::PathBuf,
        /// Its name from now on, instead of the one that the folder suggests
        #[arg(long)]
        name: Option<String>,
    },
    /// Delete an installed model
    Remove {
        /// Its name
        #[arg(value_name = "MODEL")]
        name: String,
    },
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SetupArgs {
    /// The agents; without any, those that are found
    #[arg(value_name = "AGENT", value_parser = PossibleValuesParser::new(crate::setup::ids()))]
    pub(in crate::cli) agents: Vec<String>,
    /// Only show what would be changed
    #[arg(long)]
    pub(in crate::cli) show: bool,
    /// Take out what `memo setup` has written
    #[arg(long)]
    pub(in crate::cli) undo: bool,
    /// Whose files to change [default: user, project for agents-md]
    #[arg(long, value_name = "SCOPE", value_enum)]
    pub(in crate::cli) scope: Option<SetupScope>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SetupScope {
    /// Your own files, for all projects
    User,
    /// Files in this worktree, for all who work on it
    Project,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ConfigArgs {
    #[command(subcommand)]
    pub(in crate::cli) what: Option<ConfigVerb>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ConfigVerb {
    /// Print one setting
    Get {
        /// Name of the setting, as listed by `memo config`: search.limit
        key: String,
    },
    /// Change one setting in the repository's file; comments are kept
    Set {
        /// Name of the setting, as listed by `memo config`: search.limit
        key: String,
        /// The new value
        value: String,
        /// Change the user's file, which applies to all repositories
        #[arg(long)]
        user: bool,
    },
    /// Remove one setting from the repository's file; exits with 1 when it is not set there
    Unset {
        /// Name of the setting, as listed by `memo config`: search.limit
        key: String,
        /// Remove it from the user's file
        #[arg(long)]
        user: bool,
    },
    /// Print the paths of the settings files
    Path,
    /// Print a settings file with every default, commented out
    Template,
}

fn kind_parser() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::as_str))
        .map(|word| Kind::parse(&word).expect("the parser lets only kinds through"))
}

/// Parses a number from 0 to 1. NaN is refused: every score would pass it.
pub(in crate::cli) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "not between 0 and 1".to_owned())
}

fn wait_parser() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(..=600_000)
}
