//! Declares the flags of the verbs about code, documents and history.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use memod_base::types::{ChunkKind, FileClass};
use memod_config::Config;
use memod_terminal::{RowsArgs, SearchModeArg};

use super::memory_args::MemoryScopeArgs;
use super::parse_share::parse_share;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FreshnessArg {
    /// Wait for nothing; hits are still checked against the disk
    None,
    /// Index everything written before the command
    Fs,
    /// As `fs`, and compute the embeddings
    Full,
    /// As `fs`, and check every file on disk
    Strict,
}

impl From<FreshnessArg> for memod_proto::FreshnessLevel {
    fn from(arg: FreshnessArg) -> Self {
        match arg {
            FreshnessArg::None => Self::None,
            FreshnessArg::Fs => Self::Fs,
            FreshnessArg::Full => Self::Full,
            FreshnessArg::Strict => Self::Strict,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct FreshnessArgs {
    /// What must be indexed before the answer
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = FreshnessArg::Fs)]
    pub(crate) sync: FreshnessArg,
    /// Maximum wait, milliseconds [default: search.wait_ms, 1000; up to 5000 while the first index is built]
    #[arg(long, value_name = "MS", value_parser = wait_parser())]
    pub(crate) wait_ms: Option<u64>,
}

impl FreshnessArgs {
    /// Returns how long the daemon may wait, if the flag or a setting says it. Otherwise the daemon decides, and waits longer while
    /// the first index is built.
    pub(crate) fn chosen_wait_ms(&self, config: &Config) -> Option<u64> {
        let is_set = config.search.wait_ms != Config::default().search.wait_ms;
        self.wait_ms.or(is_set.then_some(config.search.wait_ms))
    }
}

/// Flags of a search that select hits without a query.
const FILTERS: [&str; 14] = [
    "kind",
    "only",
    "path",
    "lang",
    "container",
    "tag",
    "since",
    "until",
    "tier",
    "author",
    "agent",
    "source",
    "min_priority",
    "meta",
];

/// The query and the filters of `memo search` and `memo explain`.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// Words, "phrases", prefix*, AND OR NOT, ( ), filters; after `--` also words that start with a dash
    ///
    /// Filters: path: lang: kind: only: symbol: tag: container: author: after: before:, as in `retry path:src/** NOT kind:doc`.
    /// Operators and filters hold for every hit, also for those found by meaning.
    /// A query of filters alone lists all that match, newest first.
    #[arg(value_name = "QUERY", required_unless_present_any = FILTERS)]
    pub(crate) query: Vec<String>,
    /// How to match
    #[arg(short, long, value_enum, default_value_t = SearchModeArg::Hybrid)]
    pub(crate) mode: SearchModeArg,
    /// Only these kinds of hits (comma-separated, or given again)
    #[arg(short, long, value_name = "KIND", value_delimiter = ',', value_parser = kind_parser())]
    pub(crate) kind: Vec<ChunkKind>,
    /// Only files of these classes: code, docs, test, fixture, snapshot, example, benchmark, config, generated, vendored,
    /// lock, licence, changelog, translation, migration, declaration (comma-separated, or given again)
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = FileClass::parse)]
    pub(crate) only: Vec<FileClass>,
    /// Only paths that match this glob, relative to the current directory; a glob without `/` matches names at any depth; `!GLOB`
    /// excludes paths (may be given again)
    #[arg(short, long, value_name = "GLOB")]
    pub(crate) path: Vec<String>,
    /// No paths that match this glob (may be given again)
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Only these languages: rust, python, markdown… (comma-separated, or given again)
    #[arg(long, value_name = "LANG", value_delimiter = ',')]
    pub(crate) lang: Vec<String>,
    #[command(flatten)]
    pub(crate) memories: MemoryScopeArgs,
    /// Minimum score of a hit, 0 to 1 [default: search.threshold, 0]
    #[arg(long, value_name = "SCORE", value_parser = parse_share, allow_hyphen_values = true)]
    pub(crate) threshold: Option<f64>,
    /// Maximum number of hits, 1 to 200 [default: search.limit, 10]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=200))]
    pub(crate) limit: Option<u64>,
    /// Show N lines after each line that matches
    #[arg(short = 'A', long, value_name = "N", value_parser = lines_parser())]
    pub(crate) after_context: Option<usize>,
    /// Show N lines before each line that matches
    #[arg(short = 'B', long, value_name = "N", value_parser = lines_parser())]
    pub(crate) before_context: Option<usize>,
    /// Show N lines before and after each line that matches (-C is the directory)
    #[arg(long, value_name = "N", value_parser = lines_parser())]
    pub(crate) context: Option<usize>,
    /// Print the whole definition, section, message or memory of each hit instead of its best lines
    #[arg(long, conflicts_with_all = ["after_context", "before_context", "context"])]
    pub(crate) full: bool,
    /// Have a cross-encoder compare the first 20 hits with the query; see `memo model list`
    #[arg(long)]
    pub(crate) rerank: bool,
    /// Ask the language model of llm.url for other words, and add their hits; see `memo llm`
    #[arg(long)]
    pub(crate) expand: bool,
    #[command(flatten)]
    pub(crate) fresh: FreshnessArgs,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) find: QueryArgs,
    /// Maximum number of tokens to print, four characters each: first the matching lines of as many hits as fit, best first, then
    /// whole definitions; a note counts the hits that do not fit
    #[arg(short, long, value_name = "TOKENS", conflicts_with_all = ["files", "vimgrep", "full", "after_context", "before_context", "context"])]
    pub(crate) budget: Option<usize>,
    /// Print only the paths of the files found, one per line, without commits and memories
    #[arg(short = 'l', long, conflicts_with_all = ["vimgrep", "full", "format", "after_context", "before_context", "context"])]
    pub(crate) files: bool,
    /// Print matching lines as PATH:LINE:COLUMN:TEXT, for editors; a hit without a matching line prints its first line
    #[arg(long, conflicts_with_all = ["full", "format", "after_context", "before_context", "context"])]
    pub(crate) vimgrep: bool,
    /// Show what --expand would send to the language model, without sending or searching
    #[arg(long, requires = "expand")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) find: QueryArgs,
    /// Only the hit at this rank, starting at 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=200).map(|n| n as usize))]
    pub(crate) hit: Option<usize>,
    /// Only hits of this path, memory or commit
    #[arg(long, value_name = "PATH|ID")]
    pub(crate) of: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ChangedArgs {
    /// A revision, a time or an age: HEAD~3, main, 2026-11-01, friday, 3d, 2h30m [default: HEAD]; two of them, or A..B, are
    /// compared without the worktree. A time means the last commit that was committed before it, as in `git log --since`
    #[arg(value_name = "REV|TIME", num_args = 0..=6, conflicts_with = "since")]
    pub(crate) revs: Vec<String>,
    /// Only these files, and those below these directories, relative to the current directory
    #[arg(value_name = "PATH", last = true)]
    pub(crate) paths: Vec<String>,
    /// The revision, time or age, instead of the argument REV|TIME
    #[arg(short, long, value_name = "REV|TIME")]
    pub(crate) since: Option<String>,
    /// Maximum number of files
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) fresh: FreshnessArgs,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// A path relative to the current directory, alone or with a line, lines or the name of a definition; or just a name
    #[arg(value_name = "PATH[:LINE|#SYMBOL]|NAME")]
    pub(crate) target: String,
    /// Maximum number of commits
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(crate) limit: u64,
    /// Print the whole message of each commit instead of its first 12 lines
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OutlineArgs {
    /// A path relative to the current directory, alone or with a definition or line in the file; or the name of a definition
    #[arg(value_name = "PATH|PATH#SYMBOL|NAME")]
    pub(crate) target: String,
    /// Maximum depth of nesting
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) depth: Option<u32>,
    /// Maximum number of lines; if there are more, the most deeply nested are left out first [default: 1000]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Maximum number of tokens to print, from the start of the file; four characters count as one
    #[arg(short, long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) fresh: FreshnessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A path relative to the current directory, alone or with a line, lines or the name of a definition; just a name; or the
    /// number of a hit of the last search
    #[arg(value_name = "PATH[:LINE|:FIRST-LAST|#SYMBOL]|NAME|N")]
    pub(crate) target: String,
    /// Print only the text, without the path and line numbers
    #[arg(long)]
    pub(crate) plain: bool,
    #[command(flatten)]
    pub(crate) fresh: FreshnessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// The number of a hit of the last search in this terminal; or a path or name, as for `memo show`
    #[arg(value_name = "N|PATH[:LINE|#SYMBOL]|NAME")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) fresh: FreshnessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MapArgs {
    /// Only files below these directories, or these files, relative to the current directory
    #[arg(value_name = "DIR|FILE")]
    pub(crate) paths: Vec<String>,
    /// Maximum number of tokens to print
    #[arg(short, long, value_name = "TOKENS", default_value_t = 1024)]
    pub(crate) budget: usize,
    /// Files or directories to favour in the ranking, relative to the current directory
    #[arg(short, long, value_name = "PATH", num_args = 1..)]
    pub(crate) focus: Vec<String>,
    /// What must be indexed before the answer
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = FreshnessArg::Fs)]
    pub(crate) sync: FreshnessArg,
}

#[derive(Debug, Args)]
pub(crate) struct BriefArgs {
    /// Ask the language model of llm.url for a summary; if it gives none, the brief itself is shown
    #[arg(long)]
    pub(crate) summarise: bool,
    /// Show what --summarise would send, and send nothing
    #[arg(long, requires = "summarise")]
    pub(crate) dry_run: bool,
    /// Maximum number of tokens to print
    #[arg(short, long, value_name = "TOKENS", default_value_t = 2048)]
    pub(crate) budget: usize,
    /// What must be indexed before the answer
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = FreshnessArg::Fs)]
    pub(crate) sync: FreshnessArg,
}

fn kind_parser() -> impl TypedValueParser<Value = ChunkKind> {
    PossibleValuesParser::new(ChunkKind::ALL.map(ChunkKind::as_str))
        .map(|word| ChunkKind::parse(&word).expect("the parser accepts only names of kinds"))
}

fn lines_parser() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(..=200).map(|n| n as usize)
}

pub(super) fn wait_parser() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(..=600_000)
}
