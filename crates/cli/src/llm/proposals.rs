//! Prints proposals of a language model, each with the command that carries it out. Nothing is changed.

use memod_proto::memory::Brief;
use memod_proto::{
    LlmCompareParams, LlmCompareResult, LlmPair, LlmSuggestParams, LlmSuggestResult, LlmSummariseParams,
    LlmSummariseResult,
};
use memod_terminal::text::{escape, escape_lines, paint, shell_word};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NONE, Output};

use super::{call_llm, show_dry_run};
use crate::args::{BriefArgs, DedupeArgs};

/// Prints a summary of a brief and returns the exit status. If there is no summary, prints why and returns `None`, so that the
/// caller prints the brief itself.
pub(crate) fn summarise_brief(
    text: &str,
    typed: &BriefArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<Option<u8>, CliError> {
    let params =
        LlmSummariseParams { cwd: context.cwd.clone(), text: text.to_owned(), dry_run: typed.dry_run };
    let result = call_llm("llm.summarise", &params, context).unwrap_or_else(|error| LlmSummariseResult {
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
        output.say("a language model wrote this from the output of `memo brief`");
        return Ok(Some(0));
    }
    output.say(&format!("no summary: {}", result.problem.unwrap_or_default()));
    Ok(None)
}

/// Prints the title and tags that a language model suggests for an added memory, as the commands that set them.
pub(crate) fn suggest_title_and_tags(
    id: &str,
    content: String,
    context: &CommandContext,
    output: &mut Output,
) {
    let params = LlmSuggestParams { cwd: context.cwd.clone(), content, dry_run: false };
    let result = call_llm("llm.suggest", &params, context).unwrap_or_else(|error| LlmSuggestResult {
        problem: Some(error.to_string()),
        ..LlmSuggestResult::default()
    });
    if let Some(problem) = &result.problem {
        output.say(&format!("no suggestion: {problem}"));
    }
    if let Some(title) = &result.title {
        output.say(&format!("suggested title: memo update {id} --title {}", shell_word(title)));
    }
    if !result.tags.is_empty() {
        let tags: Vec<String> = result.tags.iter().map(|tag| shell_word(tag)).collect();
        output.say(&format!("suggested tags: memo tag {id} {}", tags.join(" ")));
    }
}

/// Shows the request that `memo add --suggest` would send, and sends nothing.
pub(crate) fn show_suggestion(content: String, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = LlmSuggestParams { cwd: context.cwd.clone(), content, dry_run: true };
    let result: LlmSuggestResult = call_llm("llm.suggest", &params, context)?;
    show_dry_run(&result.requests, result.problem.as_deref(), output)
}

/// Prints pairs of memories that are near each other, with the verdict of a language model. Exits with 1 when nothing is
/// proposed.
pub(crate) fn compare_memories(
    typed: DedupeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let params = LlmCompareParams {
        cwd: context.cwd.clone(),
        container: typed.container,
        threshold: typed.threshold,
        dry_run: typed.dry_run,
        ..LlmCompareParams::default()
    };
    let result: LlmCompareResult = call_llm("llm.compare", &params, context)?;
    if typed.dry_run && (!result.pairs.is_empty() || result.problem.is_some()) {
        return show_dry_run(&result.requests, result.problem.as_deref(), output);
    }
    output.value(&result, |output| result.pairs.iter().try_for_each(|pair| show_pair(pair, output)))?;
    output.flush()?;
    let n_proposed = result.pairs.iter().filter(|pair| pair.command.is_some()).count();
    match &result.problem {
        _ if result.pairs.is_empty() => output.say("no two memories of a container are near each other"),
        Some(problem) => output
            .say(&format!("these memories are near each other in meaning, but were not compared: {problem}")),
        None if n_proposed == 0 => output.say("no memory repeats or contradicts another"),
        None => output.say("these are verdicts of a language model; nothing was changed"),
    }
    Ok(if n_proposed == 0 { EXIT_NONE } else { 0 })
}

fn show_pair(pair: &LlmPair, output: &mut Output) -> Result<(), CliError> {
    let verdict = pair.verdict.as_deref().unwrap_or("near");
    let head = format!("{verdict:<11}{:.2}", pair.cosine);
    output.line(&paint(output.styles.title, &escape(&head)))?;
    for Brief { id, line, .. } in [&pair.left, &pair.right] {
        output.line(&format!("  {}  {}", escape(id), escape(line)))?;
    }
    if let Some(reason) = &pair.reason {
        output.line(&format!("  {}", escape(reason)))?;
    }
    if let Some(command) = &pair.command {
        output.line(&format!("  $ {}", escape(command)))?;
    }
    output.line("")
}
