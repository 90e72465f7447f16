//! Declares the flags of the verbs that follow uses.

use clap::{Args, ValueEnum};
use memod_proto::ReferencePart;
use memod_terminal::RowsArgs;

use super::FreshnessArgs;

#[derive(Debug, Args)]
pub(crate) struct RefsArgs {
    /// A definition: a path relative to the current directory with the definition's name or a line in it, or just the name
    #[arg(value_name = "PATH#SYMBOL|PATH:LINE|NAME")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) list: UsesListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UsesArgs {
    /// A definition: a path relative to the current directory with the definition's name or a line in it, or just the name
    #[arg(value_name = "PATH#SYMBOL|PATH:LINE|NAME")]
    pub(crate) target: String,
    /// Maximum number of steps from the definition, 1 to 8
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) depth: Option<u32>,
    #[command(flatten)]
    pub(crate) list: UsesListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ImpactArgs {
    /// A file, or a definition: a path from the current directory with its name or a line of it, or just the name [default: what
    /// has changed since the last commit]
    #[arg(value_name = "PATH|PATH#SYMBOL|PATH:LINE|NAME", conflicts_with = "since")]
    pub(crate) target: Option<String>,
    /// Definitions that have changed since a revision, a time or an age, as for `memo changed`
    #[arg(long, value_name = "REV")]
    pub(crate) since: Option<String>,
    /// Maximum number of steps from the definition, 1 to 8
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) depth: Option<u32>,
    /// Also list and follow uses that have only the name in common
    #[arg(short, long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) list: UsesListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TestsArgs {
    /// A file, or a definition: a path from the current directory with its name or a line of it, or just the name [default: what
    /// has changed since the last commit]
    #[arg(value_name = "PATH|PATH#SYMBOL|PATH:LINE|NAME", conflicts_with = "since")]
    pub(crate) target: Option<String>,
    /// The change in words; tests with these words come first
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    /// Definitions that have changed since a revision, a time or an age, as for `memo changed`
    #[arg(long, value_name = "REV")]
    pub(crate) since: Option<String>,
    /// Maximum number of steps from the definition, 1 to 8
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) depth: Option<u32>,
    /// Also list tests that have only a name or words in common
    #[arg(short, long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) list: UsesListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UsesListArgs {
    /// Maximum number of definitions or uses; with --files, of paths [default: 100; tests: 20, at most 5 of a file]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Maximum number of tokens to print, from the start of the list; four characters count as one
    #[arg(short, long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,
    /// Print only the paths of the listed files, each once, for another program
    #[arg(short = 'l', long, conflicts_with_all = ["format", "fields", "json", "with"])]
    pub(crate) files: bool,
    /// Also list `memories` about the definitions, the newest `commits` of their files, or both (comma-separated); not with --format
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub(crate) with: Vec<WithArg>,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) fresh: FreshnessArgs,
}

/// A list that is shown in addition to definitions and uses.
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
