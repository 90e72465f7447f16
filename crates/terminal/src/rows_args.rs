//! Declares the flags of the verbs that list: the fields to print, and the format.

use clap::{Args, ValueEnum};

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// Lines for people; with --fields, one line per row with tabs between fields
    Text,
    /// One object with all rows
    Json,
    /// One object per line
    Jsonl,
    /// RFC 4180, with a header
    Csv,
    /// A Markdown table
    Md,
    /// One element per row
    Xml,
    /// Field names once, then one line per row, separated by `|`: few tokens
    Toon,
    /// As `toon`, with fewer fields
    ToonCompact,
}

/// The flags of every verb that lists.
#[derive(Clone, Debug, Default, Args)]
pub struct RowsArgs {
    /// Output format
    #[arg(long, value_enum, conflicts_with = "json")]
    pub format: Option<RowFormat>,
    /// Print only these fields, in this order (comma-separated); an unknown name prints the names of all fields
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub fields: Vec<String>,
}

impl RowsArgs {
    /// Returns whether `--format` asks for JSON, as one object or as lines.
    pub fn is_json(&self) -> bool {
        matches!(self.format, Some(RowFormat::Json | RowFormat::Jsonl))
    }
}
