//! Declares the flags of imports, exports and backups.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::memory_args::FilterArgs;

/// The system that an import comes from.
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
    /// A Slack workspace export: the unpacked folder
    Slack,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// A file or folder; `-` reads JSON lines from stdin
    #[arg(required = true, value_name = "PATH")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// The system it comes from [default: memod]
    #[arg(long, value_name = "SYSTEM", value_enum)]
    pub(in crate::cli) from: Option<From>,
    /// Import into this container, overriding the file
    #[arg(short, long, value_name = "NAME")]
    pub(in crate::cli) container: Option<String>,
    /// Add these tags (comma-separated, or given again)
    #[arg(short, long, value_name = "TAG", value_delimiter = ',')]
    pub(in crate::cli) tag: Vec<String>,
    /// If a memory with the same id exists and differs, keep the one that was changed last
    #[arg(long)]
    pub(in crate::cli) merge: bool,
    /// Give each memory a new id and adapt the links
    #[arg(long)]
    pub(in crate::cli) new_ids: bool,
    /// These are your own memories: keep sources such as `user` and `cli`, which otherwise become `import`
    #[arg(long)]
    pub(in crate::cli) own: bool,
    /// Maximum length of a Markdown chunk, tokens [default: 400]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(50..=4_000))]
    pub(in crate::cli) chunk_tokens: Option<u32>,
    /// Overlap between the chunks of a section, tokens [default: 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000))]
    pub(in crate::cli) overlap_tokens: Option<u32>,
    /// Also import texts that look like credentials
    #[arg(long)]
    pub(in crate::cli) allow_secret: bool,
    /// Show what would be imported, and change nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DistilArgs {
    /// A session of Claude Code or Codex (.jsonl), an exported conversation, or a text
    #[arg(value_name = "FILE")]
    pub(in crate::cli) path: PathBuf,
    /// Show what would be sent to the language model, and send nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    /// Include the vectors, so that an import with the same model need not make them
    #[arg(long)]
    pub(in crate::cli) include_vectors: bool,
    /// Include the archive
    #[arg(long)]
    pub(in crate::cli) archived: bool,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(in crate::cli) force: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct BackupArgs {
    /// A new file [default: next to the daemon's own backups]
    #[arg(value_name = "PATH")]
    pub(in crate::cli) path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RestoreBackupArgs {
    /// The backup; `latest` is the newest of the daemon's own
    #[arg(value_name = "PATH|latest")]
    pub(in crate::cli) path: PathBuf,
    /// Do not ask
    #[arg(short, long)]
    pub(in crate::cli) yes: bool,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(in crate::cli) dry_run: bool,
}
