//! Declares the flags of the verbs that compare, link and merge memories.

use clap::{Args, ValueEnum};
use memod_proto::memory::LinkKind;
use memod_terminal::RowsArgs;

use super::parse_share::parse_share;

/// The reaction to a text that says nearly the same as another memory.
#[derive(Debug, Args)]
pub(crate) struct NearDuplicateArgs {
    /// Add the memory even if the container has one that says nearly the same
    #[arg(long, conflicts_with = "merge")]
    pub(crate) force: bool,
    /// If another memory says nearly the same, add the new tags and the longer text to that memory
    #[arg(long)]
    pub(crate) merge: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RelatedArgs {
    /// Id, or the beginning of one
    pub(crate) id: String,
    /// Maximum number of memories
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=200))]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DedupeArgs {
    /// Only memories of this container
    #[arg(short, long, value_name = "NAME")]
    pub(crate) container: Option<String>,
    /// Minimum cosine similarity, 0.5 to 1 [default: memory.near_cosine, 0.9]
    #[arg(long, value_name = "X", value_parser = parse_share)]
    pub(crate) threshold: Option<f64>,
    /// Merge each group as proposed, after asking
    #[arg(long)]
    pub(crate) merge: bool,
    /// Do not ask for confirmation
    #[arg(short, long, requires = "merge")]
    pub(crate) yes: bool,
    /// Ask the language model of llm.url which near memories say the same or contradict each other [default for --threshold: 0.6]
    #[arg(long, conflicts_with = "merge")]
    pub(crate) propose: bool,
    /// Show what --propose would send, and send nothing
    #[arg(long, requires = "propose")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConsolidateArgs {
    /// Ids, or beginnings of ids: 2 to 100
    #[arg(value_name = "ID", required_unless_present = "auto", conflicts_with = "auto")]
    pub(crate) ids: Vec<String>,
    /// Title of the new memory
    #[arg(long, value_name = "TEXT", conflicts_with = "auto")]
    pub(crate) title: Option<String>,
    /// Text of the new memory; `-` reads it from stdin
    #[arg(
        long,
        value_name = "TEXT",
        required_unless_present = "auto",
        conflicts_with = "auto",
        allow_hyphen_values = true
    )]
    pub(crate) summary: Option<String>,
    /// Container of the new memory if the originals differ; with --auto, only memories of this container
    #[arg(short, long, value_name = "NAME")]
    pub(crate) container: Option<String>,
    /// Store the text even if it looks like a credential
    #[arg(long, conflicts_with = "auto")]
    pub(crate) allow_secret: bool,
    /// Combine memories that share container and first tag (alphabetically), joining their texts; the result is of tier long
    #[arg(long)]
    pub(crate) auto: bool,
    /// Minimum number of memories in a group
    #[arg(long, value_name = "N", default_value_t = 3, requires = "auto", value_parser = clap::value_parser!(u64).range(2..=100))]
    pub(crate) min_count: u64,
    /// Only memories of tier short
    #[arg(long, requires = "auto")]
    pub(crate) short_only: bool,
    /// Show what would be combined, and change nothing
    #[arg(long, requires = "auto")]
    pub(crate) dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum LinkKindArg {
    /// Both are about the same thing
    RelatedTo,
    /// The first replaces the second
    Supersedes,
    /// Both cannot be true
    Contradicts,
    /// The first was made from the second
    DerivedFrom,
}

impl From<LinkKindArg> for LinkKind {
    fn from(arg: LinkKindArg) -> Self {
        match arg {
            LinkKindArg::RelatedTo => Self::RelatedTo,
            LinkKindArg::Supersedes => Self::Supersedes,
            LinkKindArg::Contradicts => Self::Contradicts,
            LinkKindArg::DerivedFrom => Self::DerivedFrom,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct LinkingArgs {
    /// Id of the first memory, or the beginning of one
    pub(crate) from: String,
    /// Id of the second memory, or the beginning of one
    pub(crate) to: String,
    /// Relation of the first to the second [default: related_to; for unlink: any]
    #[arg(short, long, value_enum)]
    pub(crate) kind: Option<LinkKindArg>,
}

#[derive(Debug, Args)]
pub(crate) struct LinksArgs {
    /// Id, or the beginning of one
    pub(crate) id: String,
    /// Maximum number of links between the memory and a listed one
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10))]
    pub(crate) depth: u64,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    /// Id of the memory that holds, or the beginning of the id
    pub(crate) winner: String,
    /// Id of the memory that no longer holds; required unless an option below is given
    pub(crate) loser: Option<String>,
    /// Keep your side of a conflict: the text that was written here, also during a rebase; a private memory becomes shared
    #[arg(long, conflicts_with_all = ["loser", "theirs", "both"])]
    pub(crate) ours: bool,
    /// Keep the other side of a conflict
    #[arg(long, conflicts_with_all = ["loser", "both"])]
    pub(crate) theirs: bool,
    /// Keep both memories; your private one gets a new id
    #[arg(long, conflicts_with_all = ["loser", "text"])]
    pub(crate) both: bool,
    /// Keep this text instead; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", conflicts_with = "loser")]
    pub(crate) text: Option<String>,
}
