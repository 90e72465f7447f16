//! Declares the flags of imports, exports and backups.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::memory_args::FilterArgs;

/// The system that an import comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
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
pub(crate) struct ImportArgs {
    /// A file or folder; `-` reads JSON lines from stdin
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// System that wrote the files [default: memod]
    #[arg(long, value_name = "SYSTEM", value_enum)]
    pub(crate) from: Option<ImportFormat>,
    /// Import into this container, whatever container the file names
    #[arg(short, long, value_name = "NAME")]
    pub(crate) container: Option<String>,
    /// Add these tags (comma-separated, or given again)
    #[arg(short, long, value_name = "TAG", value_delimiter = ',')]
    pub(crate) tag: Vec<String>,
    /// If a memory with the same id exists and differs, keep the one that was changed last
    #[arg(long)]
    pub(crate) merge: bool,
    /// Give each memory a new id, and change the links accordingly
    #[arg(long)]
    pub(crate) new_ids: bool,
    /// These are your own memories: keep sources such as `user` and `cli`, which otherwise become `import`
    #[arg(long)]
    pub(crate) own: bool,
    /// Maximum length of a Markdown chunk, tokens [default: 400]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(50..=4_000))]
    pub(crate) chunk_tokens: Option<u32>,
    /// Overlap between the chunks of a section, tokens [default: 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000))]
    pub(crate) overlap_tokens: Option<u32>,
    /// Also import texts that look like credentials
    #[arg(long)]
    pub(crate) allow_secret: bool,
    /// Show what would be imported, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DistilArgs {
    /// A session of Claude Code or Codex (.jsonl), an exported conversation, or a text
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// Show what would be sent to the language model, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Include the vectors, so that an import with the same model does not compute them
    #[arg(long)]
    pub(crate) include_vectors: bool,
    /// Include archived memories
    #[arg(long)]
    pub(crate) archived: bool,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// A new file, such as ~/memories.db [default: next to the daemon's own backups]
    #[arg(value_name = "PATH", value_parser = parse_backup_path)]
    pub(crate) path: Option<PathBuf>,
}

/// Refuses a bare word, which is probably a mistyped subcommand.
fn parse_backup_path(text: &str) -> Result<PathBuf, String> {
    if text.contains(['/', '\\', '.']) {
        Ok(PathBuf::from(text))
    } else {
        Err(format!("no subcommand; to write a backup there, type ./{text}"))
    }
}

#[derive(Debug, Args)]
pub(crate) struct RestoreBackupArgs {
    /// Backup to restore; `latest` is the newest of the daemon's own
    #[arg(value_name = "PATH|latest")]
    pub(crate) path: PathBuf,
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}
