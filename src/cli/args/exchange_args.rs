//! Declares the flags of imports, exports and backups.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::memory_args::FilterArgs;

/// Who wrote what is imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum From {
    /// `memo export`, JSON lines written by hand, or the memory.db of another repository
    #[default]
    Memod,
    /// Markdown files and folders outside the repository
    Markdown,
    /// A map of a repository: JSON, [{path, language?, symbols?, content?}]
    RepoMap,
    /// The database of memo: .memo/memo.db
    Memo,
    /// The database of memori: ~/.claude/memori.db
    Memori,
    /// The database of ai-memory: ai-memory.db
    AiMemory,
    /// Conversations exported from Claude: conversations.json
    Claude,
    /// Conversations exported from ChatGPT: conversations.json
    Chatgpt,
    /// An exported workspace of Slack: the unpacked folder
    Slack,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// A file or folder; `-` reads JSON lines from stdin
    #[arg(required = true, value_name = "PATH")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Who wrote it [default: memod]
    #[arg(long, value_name = "SYSTEM", value_enum)]
    pub(in crate::cli) from: Option<From>,
    /// Into this container, whatever the file says
    #[arg(short, long, value_name = "NAME")]
    pub(in crate::cli) container: Option<String>,
    /// With these tags too (comma-separated, or given again)
    #[arg(short, long, value_name = "TAG", value_delimiter = ',')]
    pub(in crate::cli) tag: Vec<String>,
    /// Where an id is here already and differs, keep the one that was changed last
    #[arg(long)]
    pub(in crate::cli) merge: bool,
    /// Give each memory a new id; links follow
    #[arg(long)]
    pub(in crate::cli) new_ids: bool,
    /// Longest chunk of Markdown, tokens [default: 400]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(50..=4_000))]
    pub(in crate::cli) chunk_tokens: Option<u32>,
    /// Overlap where a section is cut, tokens [default: 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000))]
    pub(in crate::cli) overlap_tokens: Option<u32>,
    /// Keep also what looks like a credential
    #[arg(long)]
    pub(in crate::cli) allow_secret: bool,
    /// Say what would be done, and change nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    /// The archive too
    #[arg(long)]
    pub(in crate::cli) archived: bool,
    /// Write into this file; it is there whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct BackupArgs {
    /// A file that is not there yet [default: among the daemon's own copies]
    #[arg(value_name = "PATH")]
    pub(in crate::cli) path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RestoreBackupArgs {
    /// The backup; `latest` is the newest of the daemon's own copies
    #[arg(value_name = "PATH|latest")]
    pub(in crate::cli) path: PathBuf,
    /// Do not ask
    #[arg(short, long)]
    pub(in crate::cli) yes: bool,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(in crate::cli) dry_run: bool,
}
