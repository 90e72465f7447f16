//! Declares the flags of the verbs that follow uses.

use clap::{Args, ValueEnum};
use memod_proto::ReferencePart;
use memod_terminal::RowsArgs;

use super::FreshArgs;

#[derive(Debug, Args)]
pub(crate) struct RefsArgs {
    /// A definition: a path from the current directory with its name or a line of it, or just the name
    #[arg(value_name = "PATH#SYMBOL|PATH:LINE|NAME")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) list: UsesListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UsesArgs {
    /// A definition: a path from the current directory with its name or a line of it, or just the name
    #[arg(value_name = "PATH#SYMBOL|PATH:LINE|NAME")]
    pub(crate) target: String,
    /// Most steps from the definition, at most 8
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) depth: Option<u32>,
    #[command(flatten)]
    pub(crate) list: UsesListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ImpactArgs {
    /// A file, or a definition: a path from the current directory with its name or a line of it, or just the name; without one, what has
    /// changed since the last commit
    #[arg(value_name = "PATH|PATH#SYMBOL|PATH:LINE|NAME", conflicts_with = "since")]
    pub(crate) target: Option<String>,
    /// The definitions that have changed since a revision, a time or an age, as for `memo changed`
    #[arg(long, value_name = "REV")]
    pub(crate) since: Option<String>,
    /// Most steps from the definition, at most 8
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) depth: Option<u32>,
    #[command(flatten)]
    pub(crate) list: UsesListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UsesListArgs {
    /// Maximum number in the list; of paths with --files
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// Most tokens printed, the first of the list first; four characters count as one
    #[arg(short, long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,
    /// Only the paths of what is listed, each once: pytest $(memo tests --files)
    #[arg(short = 'l', long, conflicts_with_all = ["format", "fields", "json", "with"])]
    pub(crate) files: bool,
    /// Also memories about what is listed, or the newest commits of its files (comma-separated); in text and --json
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub(crate) with: Vec<WithArg>,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) fresh: FreshArgs,
}

/// A list that comes beside definitions and uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WithArg {
    Memories,
    Commits,
}

impl From<WithArg> for ReferencePart {
    fn from(arg: WithArg) -> Self {
        match arg {
            WithArg::Memories => Self::Memories,
            WithArg::Commits => Self::Commits,
        }
    }
}
