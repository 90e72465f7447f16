//! Prints proposals of a language model, each with the command that carries it out. Nothing is changed.

use memod_proto::memory::Brief;
use memod_proto::{
    LlmCompareParams, LlmCompareResult, LlmPair, LlmSuggestParams, LlmSuggestResult, LlmSummariseParams,
    LlmSummariseResult,
};
use memod_terminal::text::{escape_for_display, escape_lines, paint, shell_word};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

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
        output.write_result(&result, |output| {
            output.write_bytes(escape_lines(summary).as_bytes())?;
            output.write_line("")
        })?;
        output.flush()?;
        output.write_note("a language model wrote this from the output of `memo brief`");
        return Ok(Some(0));
    }
    output.write_note(&format!("no summary: {}", result.problem.unwrap_or_default()));
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
        output.write_note(&format!("no suggestion: {problem}"));
    }
    if let Some(title) = &result.title {
        output.write_note(&format!("suggested title: memo update {id} --title {}", shell_word(title)));
    }
    if !result.tags.is_empty() {
        let tags: Vec<String> = result.tags.iter().map(|tag| shell_word(tag)).collect();
        output.write_note(&format!("suggested tags: memo tag {id} {}", tags.join(" ")));
    }
}

/// Shows the request that `memo add --suggest` would send, and sends nothing.
pub(crate) fn show_suggestion_request(
    content: String,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let params = LlmSuggestParams { cwd: context.cwd.clone(), content, dry_run: true };
    let result: LlmSuggestResult = call_llm("llm.suggest", &params, context)?;
    show_dry_run(&result.requests, result.problem.as_deref(), output)
}

/// Prints pairs of memories that are near each other, with the verdict of a language model. Exits with 1 when nothing is
/// proposed.
pub(crate) fn print_memory_comparisons(
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
    output
        .write_result(&result, |output| result.pairs.iter().try_for_each(|pair| show_pair(pair, output)))?;
    output.flush()?;
    let n_proposed = result.pairs.iter().filter(|pair| pair.command.is_some()).count();
    match &result.problem {
        _ if result.pairs.is_empty() => {
            output.write_note("no two memories of a container are near each other");
        }
        Some(problem) => output.write_note(&format!(
            "these memories are near each other in meaning, but were not compared: {problem}"
        )),
        None if n_proposed == 0 => output.write_note("no memory repeats or contradicts another"),
        None => output.write_note("these are verdicts of a language model; nothing was changed"),
    }
    Ok(if n_proposed == 0 { EXIT_NOTHING_FOUND } else { 0 })
}

fn show_pair(pair: &LlmPair, output: &mut Output) -> Result<(), CliError> {
    let verdict = pair.verdict.as_deref().unwrap_or("near");
    let head = format!("{verdict:<11}{:.2}", pair.cosine);
    output.write_line(&paint(output.styles.title, &escape_for_display(&head)))?;
    for Brief { id, line, .. } in [&pair.left, &pair.right] {
        output.write_line(&format!("  {}  {}", escape_for_display(id), escape_for_display(line)))?;
    }
    if let Some(reason) = &pair.reason {
        output.write_line(&format!("  {}", escape_for_display(reason)))?;
    }
    if let Some(command) = &pair.command {
        output.write_line(&format!("  $ {}", escape_for_display(command)))?;
    }
    output.write_line("")
}
