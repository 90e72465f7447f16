//! Runs `memo import`: chooses the reader of a format.

use super::files::is_database;
use super::send::Sender;
use super::{chats, database, jsonl, markdown, repo_map, slack};
use crate::args::{From, ImportArgs};
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, EXIT_NONE};
use crate::output::Output;

/// Exits with 1 when something was refused; everything else is imported then.
pub(crate) fn import(typed: &ImportArgs, context: &CommandContext, output: &mut Output) -> CliResult {
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
        From::Slack => slack::read(path, &mut sender)?,
        From::Claude | From::Chatgpt => chats::read(from, path, &mut sender)?,
    }
    let done = sender.end()?;
    done.show(output)?;
    Ok(if done.refused.is_empty() { 0 } else { EXIT_NONE })
}

/// Refuses flags that contradict each other.
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
    if typed.own && from != From::Memod {
        let message = "--own is for what --from memod says";
        return is_wrong(message, "leave it out: what comes from another system was not written here");
    }
    Ok(())
}
