//! Lists the arguments of the verbs that write the text and the fields of a memory.

use std::path::PathBuf;

use clap::Args;
use memod_proto::memory::FieldParams;
use serde_json::Value;

use super::memory_args::{SourceArg, TierArg, parse_metadata};
use super::relation_args::NearDuplicateArgs;

/// Where a text comes from: the command line, stdin or a file.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct TextArgs {
    /// The text; `-` reads it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Read the text from this file
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// The fields of a memory besides its text.
#[derive(Debug, Args)]
pub(crate) struct FieldsArgs {
    /// Title, at most 512 bytes
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Container [default for a new memory: memory.container]; only letters, digits and dashes are kept; `auto` is the name of the
    /// repository
    #[arg(short, long, value_name = "NAME")]
    container: Option<String>,
    /// Lifetime [default for a new memory: long]
    #[arg(long, value_enum)]
    tier: Option<TierArg>,
    /// Expiry: 3d, 2h30m, 2026-11-01, RFC 3339 or never [default for a new memory: as for its tier]
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    ttl: Option<String>,
    /// Priority, 1 to 10 [default for a new memory: 5]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    priority: Option<i64>,
    /// Confidence, 0 to 1 [default for a new memory: 1]
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = parse_finite)]
    confidence: Option<f64>,
    /// A metadata entry; the value is JSON or plain text (may be given again)
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_metadata)]
    meta: Vec<(String, Value)>,
    /// Store the text even if it looks like a credential
    #[arg(long)]
    pub(crate) allow_secret: bool,
}

impl From<FieldsArgs> for FieldParams {
    fn from(arg: FieldsArgs) -> Self {
        let FieldsArgs { title, container, tier, ttl, priority, confidence, meta, allow_secret } = arg;
        let (tier, metadata) = (tier.map(Into::into), meta.into_iter().collect());
        Self { title, container, tier, ttl, priority, confidence, metadata, allow_secret }
    }
}

/// Parses a finite number, because JSON has no other numbers.
fn parse_finite(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    number.is_finite().then_some(number).ok_or_else(|| "not a finite number".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    #[command(flatten)]
    pub(crate) text: TextArgs,
    /// Tags (comma-separated, or given again)
    #[arg(short, long, value_name = "TAG", value_delimiter = ',')]
    pub(crate) tag: Vec<String>,
    /// Code that the memory is about; the path is relative to the current directory (may be given again)
    #[arg(short, long, value_name = "PATH[:LINES|#SYMBOL]")]
    pub(crate) about: Vec<String>,
    #[command(flatten)]
    pub(crate) fields: FieldsArgs,
    #[command(flatten)]
    pub(crate) near: NearDuplicateArgs,
    /// Source of the memory [default: agent if an agent is named, else cli]
    #[arg(long, value_enum)]
    pub(crate) source: Option<SourceArg>,
    /// Name of the agent that adds the memory [default: MEMO_AGENT]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Ask the language model of llm.url for a title and tags, and show the commands that would set them
    #[arg(long)]
    pub(crate) suggest: bool,
    /// Show what --suggest would send; add and send nothing
    #[arg(long, requires = "suggest")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Id, or the beginning of one
    pub(crate) id: String,
    /// New text; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) content: Option<String>,
    /// Append this line to the text; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "content")]
    pub(crate) append: Option<String>,
    #[command(flatten)]
    pub(crate) fields: FieldsArgs,
    /// Remove all metadata that --meta does not give
    #[arg(long)]
    pub(crate) replace: bool,
    /// Code that the memory is also about (may be given again)
    #[arg(short, long, value_name = "PATH[:LINES|#SYMBOL]")]
    pub(crate) about: Vec<String>,
    /// Code that the memory is no longer about (may be given again)
    #[arg(long, value_name = "PATH[:LINES|#SYMBOL]")]
    pub(crate) no_about: Vec<String>,
}

#[derive(Debug, Args)]
#[command(override_usage = "memo append [OPTIONS] <ID> <TEXT|--file <FILE>>")]
pub(crate) struct AppendArgs {
    /// Id, or the beginning of one
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) text: TextArgs,
    /// Store the text even if it looks like a credential
    #[arg(long)]
    pub(crate) allow_secret: bool,
}
