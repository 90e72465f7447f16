//! Runs `memo import`, with the reader of the format.

use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::draft_sender::DraftSender;
use super::import_chats::import_chats;
use super::import_database::import_database;
use super::import_jsonl::import_jsonl;
use super::import_markdown::import_markdown;
use super::import_repo_map::import_repo_map;
use super::import_slack::import_slack;
use super::limited_files::is_database;
use crate::args::{ImportArgs, ImportFormat};

/// Imports memories. Exits with 1 when an entry was refused; the other entries are imported.
pub(crate) fn import_memories(
    typed: &ImportArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let source = typed.from.unwrap_or_default();
    check_flags(typed, source)?;
    let mut sender = DraftSender::new(typed, context)?;
    let path = typed.paths[0].as_path();
    match source {
        ImportFormat::Memod if is_database(path) => import_database("memod", path, &mut sender)?,
        ImportFormat::Memod => import_jsonl(path, typed.new_ids, &mut sender)?,
        ImportFormat::Memo => import_database("memo", path, &mut sender)?,
        ImportFormat::Memori => import_database("memori", path, &mut sender)?,
        ImportFormat::AiMemory => import_database("ai-memory", path, &mut sender)?,
        ImportFormat::Markdown => import_markdown(&typed.paths, typed, &mut sender)?,
        ImportFormat::RepoMap => import_repo_map(path, &mut sender)?,
        ImportFormat::Slack => import_slack(path, &mut sender)?,
        ImportFormat::Claude | ImportFormat::Chatgpt => import_chats(source, path, &mut sender)?,
    }
    let summary = sender.finish_import()?;
    summary.print_summary(output)?;
    Ok(if summary.refused.is_empty() { 0 } else { EXIT_NOTHING_FOUND })
}

/// Fails if the flags contradict each other.
fn check_flags(typed: &ImportArgs, source: ImportFormat) -> Result<(), CliError> {
    if typed.paths.len() > 1 && source != ImportFormat::Markdown {
        return usage_error("only --from markdown takes several paths", "import them one after the other");
    }
    if source != ImportFormat::Markdown && (typed.chunk_tokens.is_some() || typed.overlap_tokens.is_some()) {
        return usage_error(
            "only Markdown is cut into chunks",
            "leave out --chunk-tokens and --overlap-tokens",
        );
    }
    if typed.new_ids && (source != ImportFormat::Memod || typed.merge) {
        let message = "--new-ids works only with --from memod, and without --merge";
        return usage_error(
            message,
            "leave it out: memories that were imported before are recognized by their ids",
        );
    }
    if typed.own && source != ImportFormat::Memod {
        let message = "--own works only with --from memod";
        return usage_error(
            message,
            "leave --own out: it keeps the authors and sources of your own memories, which another system does not have",
        );
    }
    Ok(())
}

fn usage_error(message: &str, hint: &'static str) -> Result<(), CliError> {
    Err(CliError::Usage { message: message.to_owned(), hint })
}
