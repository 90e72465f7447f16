//! Declares the flags of the verbs that follow uses.

use clap::{Args, ValueEnum};
use memod_proto::With;

use super::{FreshArgs, RowsArgs};

#[derive(Debug, Args)]
pub(in crate::cli) struct RefsArgs {
    /// A definition: a path from the current directory with its name or a line of it, or just the name
    #[arg(value_name = "PATH#SYMBOL|PATH:LINE|NAME")]
    pub(in crate::cli) target: String,
    #[command(flatten)]
    pub(in crate::cli) list: ReachListArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ReachArgs {
    /// A definition: a path from the current directory with its name or a line of it, or just the name
    #[arg(value_name = "PATH#SYMBOL|PATH:LINE|NAME")]
    pub(in crate::cli) target: String,
    /// Most steps from the definition, at most 8
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(in crate::cli) depth: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) list: ReachListArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ImpactArgs {
    /// A file, or a definition: a path from the current directory with its name or a line of it, or just the name; without one, what has
    /// changed since the last commit
    #[arg(value_name = "PATH|PATH#SYMBOL|PATH:LINE|NAME", conflicts_with = "since")]
    pub(in crate::cli) target: Option<String>,
    /// The definitions that have changed since a revision, a time or an age, as for `memo changed`
    #[arg(long, value_name = "REV")]
    pub(in crate::cli) since: Option<String>,
    /// Most steps from the definition, at most 8
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(in crate::cli) depth: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) list: ReachListArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ReachListArgs {
    /// Maximum number in the list; of paths with --files
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    pub(in crate::cli) limit: usize,
    /// Most tokens printed, the first of the list first; four characters count as one
    #[arg(short, long, value_name = "TOKENS")]
    pub(in crate::cli) budget: Option<usize>,
    /// Only the paths of what is listed, each once: pytest $(memo tests --files)
    #[arg(short = 'l', long, conflicts_with_all = ["format", "fields", "json", "with"])]
    pub(in crate::cli) files: bool,
    /// Also memories about what is listed, or the newest commits of its files (comma-separated); in text and --json
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub(in crate::cli) with: Vec<WithArg>,
    #[command(flatten)]
    pub(in crate::cli) rows: RowsArgs,
    #[command(flatten)]
    pub(in crate::cli) fresh: FreshArgs,
}

/// What is listed beside definitions and uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum WithArg {
    Memories,
    Commits,
}

impl From<WithArg> for With {
    fn from(typed: WithArg) -> Self {
        match typed {
            WithArg::Memories => Self::Memories,
            WithArg::Commits => Self::Commits,
        }
    }
}
