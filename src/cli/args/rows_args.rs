//! Declares the flags of the verbs that list: which fields, in which format.

use clap::{Args, ValueEnum};

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// For people; with --fields: a line a row, tabs between
    Text,
    /// All in one object
    Json,
    /// An object a line, nothing around
    Jsonl,
    /// RFC 4180, with a header
    Csv,
    /// A table in Markdown
    Md,
    /// An element a row
    Xml,
    /// Names once, then a line a row, `|` between: few tokens
    Toon,
    /// The same, with fewer fields
    ToonCompact,
}

/// What every verb that lists takes.
#[derive(Clone, Debug, Default, Args)]
pub(in crate::cli) struct RowsArgs {
    /// How to print
    #[arg(long, value_enum, conflicts_with = "json")]
    pub(in crate::cli) format: Option<Format>,
    /// Only these fields, in this order (comma-separated); a wrong one lists them
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub(in crate::cli) fields: Vec<String>,
}

impl RowsArgs {
    /// Returns whether JSON was asked for, as one object or as lines.
    pub(in crate::cli) fn is_json(&self) -> bool {
        matches!(self.format, Some(Format::Json | Format::Jsonl))
    }
}
