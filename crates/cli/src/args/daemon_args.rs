//! Declares the flags of the verbs about the daemon, the set-up and the settings.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::agent_parser::agent_parser;
use super::code_args::{FreshnessArg, wait_parser};

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Do not install git hooks
    #[arg(long)]
    pub(crate) no_hooks: bool,
    /// Do not index yet; the next search or `memo sync` builds the index
    #[arg(long, conflicts_with = "force")]
    pub(crate) no_index: bool,
    /// Discard the index and build it again; memories are kept
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// List every indexed file, one per line
    #[arg(long, group = "list")]
    pub(crate) files: bool,
    /// List every skipped file with its reason
    #[arg(long, group = "list")]
    pub(crate) skipped: bool,
    /// End each line of a list with NUL, and print names as they are
    #[arg(short = 'z', long, visible_short_alias = '0', requires = "list")]
    pub(crate) null: bool,
}

/// How fresh the index must be, and how long to wait until it is.
#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// What must be indexed
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = FreshnessArg::Fs)]
    pub(crate) sync: FreshnessArg,
    /// Maximum wait in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000, value_parser = wait_parser())]
    pub(crate) wait_ms: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Port to listen on [default: any free one]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Stop the HTTP server
    #[arg(long, conflicts_with_all = ["port", "open", "status"])]
    pub(crate) stop: bool,
    /// Print the address of a running HTTP server, without starting one; exits with 1 if none runs
    #[arg(long, conflicts_with_all = ["port", "open"])]
    pub(crate) status: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The verb, such as `search` or `config set` [default: memo itself]
    #[arg(value_name = "VERB", conflicts_with = "to")]
    pub(crate) verb: Vec<String>,
    /// Write the pages of all verbs into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Which tools to offer
    #[arg(long, value_enum, default_value_t = ProfileArg::Default)]
    pub(crate) profile: ProfileArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// Eight tools, one of which runs any verb
    Default,
    /// Also a tool for each verb about memories
    Full,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Acknowledge the reported repairs, then run the checks; deletes nothing
    #[arg(long)]
    pub(crate) ack: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Number of lines, from the end
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) lines: usize,
    /// Keep printing lines as they are added to the log
    #[arg(short, long)]
    pub(crate) follow: bool,
}

/// The subject of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopicArg {
    /// Progress of indexing
    Progress,
    /// State of the index, and its updates
    Views,
    /// Changes of memories
    Memories,
    /// Number of memories about code that has changed or is gone
    Drift,
}

impl From<TopicArg> for memod_proto::Topic {
    fn from(arg: TopicArg) -> Self {
        match arg {
            TopicArg::Progress => Self::Progress,
            TopicArg::Views => Self::Views,
            TopicArg::Memories => Self::Memories,
            TopicArg::Drift => Self::Drift,
        }
    }
}

/// The format of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// Lines for people
    Text,
    /// One object per line, as with --json
    Jsonl,
}

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// Only events of this topic; several may be given [default: all]
    #[arg(long, value_name = "TOPIC", value_enum)]
    pub(crate) topic: Vec<TopicArg>,
    /// Stop after N events
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) count: Option<u64>,
    /// Output format
    #[arg(long, value_enum, conflicts_with = "json")]
    pub(crate) format: Option<EventFormat>,
}

/// An event in the session of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentEvent {
    /// A session begins
    SessionStart,
    /// A prompt was submitted
    Prompt,
    /// A file is about to be edited
    BeforeEdit,
}

impl From<AgentEvent> for memod_proto::Occasion {
    fn from(arg: AgentEvent) -> Self {
        match arg {
            AgentEvent::SessionStart => Self::SessionStart,
            AgentEvent::Prompt => Self::Prompt,
            AgentEvent::BeforeEdit => Self::BeforeEdit,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Event in the session of the agent
    #[arg(value_enum)]
    pub(crate) event: AgentEvent,
    /// The prompt, or the paths of files, instead of JSON on stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Agent whose output format is used: claude-code, codex, gemini, cursor, vscode; any other name prints text [default: guessed
    /// from the JSON input]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Show the advice and the reasons, without recording it
    #[arg(long)]
    pub(crate) explain: bool,
    /// Maximum number of tokens of advice [default: 400, at the start of a session 1200]
    #[arg(short, long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,
    /// Maximum time for the answer, milliseconds
    #[arg(long, value_name = "MS", default_value_t = 300, value_parser = wait_parser())]
    pub(crate) within_ms: u64,
}

#[derive(Debug, Args)]
pub(crate) struct HooksArgs {
    #[command(subcommand)]
    pub(crate) what: Option<HooksVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HooksVerb {
    #[command(flatten)]
    Git(GitHooksVerb),
    /// Print advice for a coding agent, called by the agent's hooks
    ///
    /// Reads the JSON of the agent's hook on stdin and prints what that agent expects: at the start of a session the brief, for a
    /// prompt the memories that are clearly relevant, before an edit the memories about the file. Prints nothing if nothing is
    /// relevant, and each piece of advice once per session. Never waits longer than --within-ms. Exits with 1 for wrong usage, and
    /// with 0 whatever else happens. With --explain, exits with 1 when there is no advice.
    Agent(HookArgs),
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum GitHooksVerb {
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
pub(crate) struct CompletionsArgs {
    /// The shell to complete in
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct TeamArgs {
    #[command(subcommand)]
    pub(crate) what: Option<TeamVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TeamVerb {
    /// Show the server, queued changes and conflicts; exits with 1 while there is no connection
    Status,
    /// Ask for the password of the server, and store it in a file that only you can read
    ///
    /// Without a terminal the first line of stdin is the password. A password in libpq's own file, ~/.pgpass, is used too.
    Login {
        /// Remove the stored password
        #[arg(long)]
        forget: bool,
    },
    /// Exchange changes with the team now, in both directions
    Push,
    /// Exchange changes with the team now, as `push` does
    Pull,
    /// Keep the team's memories as private ones; first remove the repository from team.repositories
    Leave,
    /// List the roles that may see this repository
    ///
    /// The first role of PostgreSQL that connects and may create a schema owns the tables. With psql, that role lets others in:
    /// `INSERT INTO memod.member(role, repository, may_write) VALUES('ann', 'github.com/acme/*', true)`.
    Members,
}

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ModelVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// List the installed models, and those that can be downloaded by name
    List,
    /// Show the current model, and the next one with the progress of its vectors
    Status,
    /// Use a model in this repository: one that makes vectors, or one for `search --rerank`; the current model answers until all
    /// vectors are made
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
    /// tried in a separate process before it replaces another.
    Import {
        /// Folder of the model
        folder: PathBuf,
        /// Name of the model [default: from the folder]
        #[arg(long)]
        name: Option<String>,
    },
    /// Delete an installed model
    Remove {
        /// Name of the model
        #[arg(value_name = "MODEL")]
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Agents to set up [default: all that are found]
    #[arg(value_name = "AGENT", value_parser = agent_parser())]
    pub(crate) agents: Vec<String>,
    /// Only show what would be changed
    #[arg(long)]
    pub(crate) show: bool,
    /// Remove what `memo setup` has written
    #[arg(long)]
    pub(crate) undo: bool,
    /// Files to change [default: user, project for agents-md]
    #[arg(long, value_name = "SCOPE", value_enum)]
    pub(crate) scope: Option<SetupScope>,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Show what would be removed, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Export the memories into this new file [default: memod-memories-DATE.jsonl beside the state dir]
    #[arg(long, value_name = "PATH")]
    pub(crate) export: Option<PathBuf>,
    /// Do not undo `memo setup`, so that agents still use memod in other repositories
    #[arg(long)]
    pub(crate) keep_setup: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetupScope {
    /// Your own files, for all projects
    User,
    /// Files in this worktree, for everybody who uses the repository
    Project,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ConfigVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
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
        /// Remove the setting from the user's file
        #[arg(long)]
        user: bool,
    },
    /// Print the paths of the settings files
    Path,
    /// Print a settings file with every default, commented out
    Template,
}
