//! Calls the language model through the daemon, and shows its requests and their cost.

mod proposals;

use std::time::Duration;

use memod_proto::{CwdParams, LlmExpandParams, LlmExpandResult, LlmRequest, LlmStatusResult};
use memod_terminal::text::{escape_for_display, escape_lines, format_count, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use crate::daemon::status::print_field;

pub(super) use self::proposals::{
    print_memory_comparisons, show_suggestion_request, suggest_title_and_tags, summarise_brief,
};

/// Time that a call waits for the daemon in addition to the daemon's own time limit for the task.
const LEEWAY: Duration = Duration::from_secs(30);

/// Shows the server and the tokens that were used today. Exits with 1 when no language model can be used.
pub(super) fn show_llm_status(context: &CommandContext, output: &mut Output) -> CliResult {
    let params = CwdParams { cwd: context.cwd.clone() };
    let status: LlmStatusResult = context.connect_without_indexing()?.call("llm.status", &params)?;
    output.write_full_result(&status, |output| {
        if !status.url.is_empty() {
            print_field("server", &escape_for_display(&status.url), output)?;
            let model = if status.model.is_empty() { "chosen by the server" } else { &status.model };
            print_field("model", &escape_for_display(model), output)?;
        }
        if !status.key_env.is_empty() {
            print_field("key", &format!("from {}", escape_for_display(&status.key_env)), output)?;
        }
        let spent = format_count(status.tokens, "token", "tokens");
        let requests = format_count(status.requests, "request", "requests");
        let limit = format_count(status.tokens_a_day, "token", "tokens");
        print_field("today", &format!("{spent} of {limit} a day, {requests}, in all repositories"), output)?;
        for used in &status.uses {
            print_field(
                "",
                &format!(
                    "{}  {}",
                    escape_for_display(&used.purpose),
                    format_count(used.tokens, "token", "tokens")
                ),
                output,
            )?;
        }
        print_field("stored in", &escape_for_display(&status.file), output)?;
        if let Some(why) = &status.last_error {
            let at = status.last_error_at.as_deref().unwrap_or_default();
            print_field(
                "failed",
                &format!("{}  {}", escape_for_display(at), escape_for_display(why)),
                output,
            )?;
        }
        if let Some(problem) = &status.problem {
            print_field("problem", &paint(output.styles.bad, &escape_for_display(problem)), output)?;
        }
        Ok(())
    })?;
    output.flush()?;
    if let Some(hint) = status.hint.as_deref().filter(|_| !output.write_json) {
        output.write_hint(hint);
    }
    Ok(if status.problem.is_some() { EXIT_NOTHING_FOUND } else { 0 })
}

/// Shows the requests that a search with `--expand` would send to the language model, and sends nothing.
pub(super) fn show_expansion_requests(
    query: &[String],
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let params = LlmExpandParams { cwd: context.cwd.clone(), query: query.join(" "), dry_run: true };
    let result: LlmExpandResult = call_llm("llm.expand", &params, context)?;
    show_dry_run(&result.requests, result.problem.as_deref(), output)
}

/// Calls a method of the daemon that waits for a language model.
pub(super) fn call_llm<P: serde::Serialize, R: serde::de::DeserializeOwned>(
    method: &str,
    params: &P,
    context: &CommandContext,
) -> Result<R, CliError> {
    let settings = memod_config::load_settings(Some(&context.layout))?.config.llm;
    let mut client = context.connect()?;
    client.set_answer_limit(LEEWAY + Duration::from_secs(settings.task_seconds));
    Ok(client.call(method, params)?)
}

/// Shows the requests of a dry run, which are not sent: the address, the tokens and each message unchanged. Exits with 1 when there
/// are none.
pub(super) fn show_dry_run(requests: &[LlmRequest], problem: Option<&str>, output: &mut Output) -> CliResult {
    if output.write_json {
        output.is_json_object(&serde_json::json!({ "requests": requests, "problem": problem }))?;
    } else {
        for request in requests {
            show_request(request, output)?;
        }
        output.flush()?;
        if let Some(problem) = problem {
            output.write_note(problem);
        }
        output.write_note("nothing was sent; --json shows the body byte for byte");
    }
    Ok(if requests.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

fn show_request(request: &LlmRequest, output: &mut Output) -> Result<(), CliError> {
    print_field("to", &escape_for_display(&request.url), output)?;
    let model = if request.model.is_empty() { "chosen by the server" } else { &request.model };
    print_field("model", &escape_for_display(model), output)?;
    let tokens = format_count(request.tokens, "token", "tokens");
    print_field(
        "tokens",
        &format!("about {tokens}, and at most {} for the answer", request.most_answer_tokens),
        output,
    )?;
    if request.cut > 0 {
        let parts =
            format_count(request.cut as u64, "credential or private part", "credentials or private parts");
        print_field("cut", &parts, output)?;
    }
    for message in &request.messages {
        output.write_line(&format!("{}:", escape_for_display(&message.role)))?;
        output.write_bytes(escape_lines(&message.content).as_bytes())?;
        output.write_line("")?;
    }
    output.write_line("")
}
