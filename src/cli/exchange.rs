//! How do memories come in from files, and go out into one?

mod args;
mod backup;
mod chats;
mod database;
mod export;
mod jsonl;
mod lines;
mod markdown;
mod repo_map;
mod send;

use std::path::{Path, PathBuf};

use self::args::From;
pub(super) use self::args::{BackupArgs, ExportArgs, ImportArgs, RestoreBackupArgs};
pub(super) use self::backup::{back_up, restore};
pub(super) use self::export::export;
use self::send::Sender;
use super::context::CommandContext;
use super::error::EXIT_NONE;
use super::output::Output;
use super::{CliError, CliResult};
use crate::paths::{IoContext, canonical};

/// Exits with 1 when something was refused; all else is in then.
pub(super) fn import(typed: &ImportArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let from = typed.from.unwrap_or_default();
    check(typed, from)?;
    let mut sender = Sender::new(typed, context)?;
    let path = typed.paths[0].as_path();
    match from {
        From::Memod if is_database(path) => database::read("memod", path, &mut sender)?,
        From::Memod => jsonl::read(path, typed.new_ids, &mut sender)?,
        From::Memo => database::read("memo", path, &mut sender)?,
        From::Memori => database::read("memori", path, &mut sender)?,
        From::AiMemory => database::read("ai-memory", path, &mut sender)?,
        From::Markdown => markdown::read(&typed.paths, typed, &mut sender)?,
        From::RepoMap => repo_map::read(path, &mut sender)?,
        From::Claude | From::Chatgpt | From::Slack => chats::read(from, path, &mut sender)?,
    }
    let done = sender.end()?;
    done.show(output)?;
    Ok(if done.refused.is_empty() { 0 } else { EXIT_NONE })
}

/// Refuses what cannot be meant together.
fn check(typed: &ImportArgs, from: From) -> Result<(), CliError> {
    let is_wrong = |message: &str, hint| Err(CliError::Usage { message: message.to_owned(), hint });
    if typed.paths.len() > 1 && from != From::Markdown {
        return is_wrong("only --from markdown takes several paths", "import them one after the other");
    }
    if from != From::Markdown && (typed.chunk_tokens.is_some() || typed.overlap_tokens.is_some()) {
        return is_wrong("only Markdown is cut into chunks", "leave out --chunk-tokens and --overlap-tokens");
    }
    if typed.new_ids && (from != From::Memod || typed.merge) {
        let message = "--new-ids is for what --from memod says, without --merge";
        return is_wrong(message, "without it, what came before is known again by its id");
    }
    Ok(())
}

/// Returns whether a file begins as SQLite's do.
fn is_database(path: &Path) -> bool {
    begins_with(path, b"SQLite format 3\0")
}

/// Reads nothing but regular files: another process may hold the other end of anything else.
fn begins_with(path: &Path, magic: &[u8]) -> bool {
    use std::io::Read as _;
    let mut start = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
    let mut read = || std::fs::File::open(path)?.take(magic.len() as u64).read_to_end(&mut start);
    is_file && read().is_ok() && start == magic
}

/// Returns the path without links and dots, as it is known by in keys.
fn absolute(path: &Path) -> Result<String, CliError> {
    let absolute = canonical(path)?;
    absolute.into_os_string().into_string().map_err(|path| CliError::NotUtf8(PathBuf::from(path)))
}

/// Reads a file whole that its user named: at most so many bytes of UTF-8.
fn text_of(path: &Path, most_bytes: u64) -> Result<String, CliError> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).at("open", path)?;
    file.take(most_bytes + 1).read_to_end(&mut bytes).at("read", path)?;
    let refuse = |why: String, hint| CliError::Usage { message: format!("{}: {why}", path.display()), hint };
    if bytes.len() as u64 > most_bytes {
        return Err(refuse(format!("over {} MiB", most_bytes >> 20), "import it in parts"));
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(refuse("a zip file".to_owned(), "unpack it, and import what is in it"));
    }
    if bytes.starts_with(lines::BOM) {
        bytes.drain(..lines::BOM.len());
    }
    String::from_utf8(bytes).map_err(|_| refuse("not UTF-8".to_owned(), "the file must be a text"))
}
