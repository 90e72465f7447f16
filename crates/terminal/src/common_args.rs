//! Declares the flags that several commands take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use memod_proto::SearchMode;

/// Flags that every verb takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Print JSON on stdout, also for errors; `full` adds hashes, the parts of scores, and fields that are null
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
    pub json: Option<JsonForm>,
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub dir: Option<PathBuf>,
    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorMode::Auto, global = true)]
    pub color: ColorMode,
    /// Print only errors on stderr
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Do not show a long answer through a pager
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// The client that sends the request; the daemon stores its name with each memory that it adds
    #[arg(skip = "cli")]
    pub client: &'static str,
    /// Name of the agent that sends the request, as the agent gave it to the MCP server
    #[arg(skip)]
    pub agent: Option<String>,
}

/// Which fields of a result are printed as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum JsonForm {
    /// The fields that programs and agents use
    Lean,
    /// All fields of the answer
    Full,
}

/// When results have colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorMode {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Also in files and pipes
    Always,
    /// Nowhere
    Never,
}

/// How a query is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SearchModeArg {
    /// Words, paths and symbols
    Keyword,
    /// Meaning only
    Vector,
    /// Both, fused
    Hybrid,
}

impl From<SearchModeArg> for SearchMode {
    fn from(arg: SearchModeArg) -> Self {
        match arg {
            SearchModeArg::Keyword => Self::Keyword,
            SearchModeArg::Vector => Self::Vector,
            SearchModeArg::Hybrid => Self::Hybrid,
        }
    }
}
