//! Prints what a language model proposes. Nothing is done: each proposal comes with the command that would do it.

use memod_proto::memory::Brief;
use memod_proto::{
    LlmCompareParams, LlmCompareResult, LlmPair, LlmSuggestParams, LlmSuggestResult, LlmSummariseParams,
    LlmSummariseResult,
};

use super::{ask, show_dry_run};
use crate::args::{BriefArgs, DedupeArgs};
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, EXIT_NONE};
use crate::output::Output;
use crate::text::{escape, escape_lines, paint, shell_word};

/// Prints a summary of a brief, or why there is none: then the caller shows the brief itself. Returns the exit code; `None` if that is to be done.
pub(crate) fn summarise(
    text: &str,
    typed: &BriefArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<Option<u8>, CliError> {
    let params =
        LlmSummariseParams { cwd: context.cwd.clone(), text: text.to_owned(), dry_run: typed.dry_run };
    let result = ask("llm.summarise", &params, context).unwrap_or_else(|error| LlmSummariseResult {
        problem: Some(error.to_string()),
        ..LlmSummariseResult::default()
    });
    if typed.dry_run {
        return show_dry_run(&result.requests, result.problem.as_deref(), output).map(Some);
    }
    if let Some(summary) = &result.summary {
        output.value(&result, |output| {
            output.raw(escape_lines(summary).as_bytes())?;
            output.line("")
        })?;
        output.flush()?;
        output.say("a language model says so of what `memo brief` prints");
        return Ok(Some(0));
    }
    output.say(&format!("no summary: {}", result.problem.unwrap_or_default()));
    Ok(None)
}

/// Prints a title and tags for a memory that was added, and the commands that give it them.
pub(crate) fn suggest(id: &str, content: String, context: &CommandContext, output: &mut Output) {
    let params = LlmSuggestParams { cwd: context.cwd.clone(), content, dry_run: false };
    let result = ask("llm.suggest", &params, context).unwrap_or_else(|error| LlmSuggestResult {
        problem: Some(error.to_string()),
        ..LlmSuggestResult::default()
    });
    if let Some(problem) = &result.problem {
        output.say(&format!("no suggestion: {problem}"));
    }
    if let Some(title) = &result.title {
        output.say(&format!("a title: memo update {id} --title {}", shell_word(title)));
    }
    if !result.tags.is_empty() {
        let tags: Vec<String> = result.tags.iter().map(|tag| shell_word(tag)).collect();
        output.say(&format!("tags: memo tag {id} {}", tags.join(" ")));
    }
}

/// Shows what would be sent for a suggestion.
pub(crate) fn show_suggestion(content: String, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = LlmSuggestParams { cwd: context.cwd.clone(), content, dry_run: true };
    let result: LlmSuggestResult = ask("llm.suggest", &params, context)?;
    show_dry_run(&result.requests, result.problem.as_deref(), output)
}

/// Prints pairs of memories that are near each other, with what a language model says of them. Exits with 1 when nothing is proposed.
pub(crate) fn compare(typed: DedupeArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = LlmCompareParams {
        cwd: context.cwd.clone(),
        container: typed.container,
        threshold: typed.threshold,
        dry_run: typed.dry_run,
        ..LlmCompareParams::default()
    };
    let result: LlmCompareResult = ask("llm.compare", &params, context)?;
    if typed.dry_run && (!result.pairs.is_empty() || result.problem.is_some()) {
        return show_dry_run(&result.requests, result.problem.as_deref(), output);
    }
    output.value(&result, |output| result.pairs.iter().try_for_each(|pair| show_pair(pair, output)))?;
    output.flush()?;
    let n_proposed = result.pairs.iter().filter(|pair| pair.command.is_some()).count();
    match &result.problem {
        _ if result.pairs.is_empty() => output.say("no two memories of a container are near each other"),
        Some(problem) => output.say(&format!("near each other, but nothing is said of them: {problem}")),
        None if n_proposed == 0 => output.say("none says the same as another one or contradicts it"),
        None => output.say("a language model says so; nothing was changed"),
    }
    Ok(if n_proposed == 0 { EXIT_NONE } else { 0 })
}

fn show_pair(pair: &LlmPair, output: &mut Output) -> Result<(), CliError> {
    let verdict = pair.verdict.as_deref().unwrap_or("near");
    let head = format!("{verdict:<11}{:.2}", pair.cosine);
    output.line(&paint(output.styles.title, &escape(&head)))?;
    let line = |memory: &Brief| format!("  {}  {}", escape(&memory.id), escape(&memory.line));
    output.line(&line(&pair.left))?;
    output.line(&line(&pair.right))?;
    if let Some(reason) = &pair.reason {
        output.line(&format!("  {}", escape(reason)))?;
    }
    if let Some(command) = &pair.command {
        output.line(&format!("  $ {}", escape(command)))?;
    }
    output.line("")
}
