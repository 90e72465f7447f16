//! Runs `memo init`, `memo reindex` and `memo sync`: sets a repository up, and waits for its index.

use std::time::{Duration, Instant};

use memod_client::Client;
use memod_proto::{CwdParams, HooksResult, StatusParams, StatusResult, SyncResult};
use memod_terminal::progress::{self, IndexingMilestones};
use memod_terminal::text::{
    escape_for_display, format_count, format_duration, not_up_to_date_message, quote_text,
};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_FAILED, EXIT_NOTHING_FOUND, Output};
use serde_json::json;

use crate::args::build_params;
use crate::args::{InitArgs, SyncArgs};
use crate::daemon::status;
use crate::searching::example_query::{ExampleQuestion, choose_example_question};
use crate::set_up::hooks;
use crate::set_up::setup;

/// Time limit for the daemon's answer with an example of a query.
const EXAMPLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Time limit for discarding the index.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(120);

/// Installs hooks, indexes the repository and prints a report. Exits with 3 when the index does not become complete.
pub(crate) fn init_repository(typed: &InitArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let start = Instant::now();
    if typed.no_index {
        return install_without_indexing(typed, context, output);
    }
    let mut client = context.connect()?;
    if typed.force {
        discard_index(&mut client, context)?;
    }
    let hooks = if typed.no_hooks { None } else { hooks::install_hooks(&mut client, context, output) };
    wait_and_report(&mut client, context, start, hooks.as_ref(), output)
}

/// Installs hooks and prints a report, without waiting for the index. Starts no indexing, but a running daemon continues its own.
fn install_without_indexing(typed: &InitArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let mut client = context.connect_without_indexing()?;
    let hooks = if typed.no_hooks { None } else { hooks::install_hooks(&mut client, context, output) };
    let root = context.layout.root.display().to_string();
    if output.write_json {
        output.is_json_object(&json!({ "root": root, "indexed": false, "hooks": hooks }))?;
        return Ok(0);
    }
    status::print_field("repository", &escape_for_display(&root), output)?;
    status::print_field(
        "index",
        &format!("built by the next search, or by `{} sync`", context.memo_command),
        output,
    )?;
    if let Some(hooks) = &hooks {
        status::print_field("hooks", &hooks::summarize_hooks(hooks), output)?;
        if let Some(text) = setup::summarize_setup(&context.env) {
            status::print_field("agents", &escape_for_display(&text), output)?;
        }
    }
    Ok(0)
}

/// Discards the index, builds it again, and prints a report as [`init_repository`] does.
pub(crate) fn rebuild_index(context: &CommandContext, output: &mut Output) -> CliResult {
    let start = Instant::now();
    let mut client = context.connect()?;
    discard_index(&mut client, context)?;
    wait_and_report(&mut client, context, start, None, output)
}

fn discard_index(client: &mut Client, context: &CommandContext) -> Result<(), CliError> {
    client.set_answer_limit(DISCARD_TIMEOUT);
    let _: serde_json::Value = client.call("reindex", &CwdParams { cwd: context.cwd.clone() })?;
    Ok(())
}

/// Waits until the index is up to date. Exits with 1 when the index is not up to date in time.
pub(crate) fn sync_index(typed: &SyncArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let mut client = context.connect()?;
    client.set_answer_limit(Duration::from_secs(30) + Duration::from_millis(typed.wait_ms));
    let result: SyncResult = progress::show_progress_while_calling(context, output, || {
        client.call("sync", &build_params::sync_params(typed, &context.cwd))
    })?;
    if output.write_json {
        output.is_json_object(&result)?;
    } else if result.fresh {
        output.write_line(&format!("up to date  {}", escape_for_display(&result.clock)))?;
    } else {
        output.write_note(&pending_message(&result));
    }
    Ok(if result.fresh { 0 } else { EXIT_NOTHING_FOUND })
}

fn wait_and_report(
    client: &mut Client,
    context: &CommandContext,
    start: Instant,
    hooks: Option<&HooksResult>,
    output: &mut Output,
) -> CliResult {
    let milestones = progress::wait_until_indexed(client, &context.cwd, start, output)?;
    let params = StatusParams { cwd: context.cwd.clone(), ..StatusParams::default() };
    let status: StatusResult = client.call("status", &params)?;
    if output.write_json {
        print_report_json(&milestones, &status, hooks, context, output)?;
    } else {
        print_init_report(&milestones, &status, hooks, context, output)?;
        if let Some(text) = hooks.and_then(|_| setup::summarize_setup(&context.env)) {
            status::print_field("agents", &escape_for_display(&text), output)?;
        }
        if milestones.last_poll.fresh {
            client.set_answer_limit(EXAMPLE_TIMEOUT);
            let words = match choose_example_question(client, &context.cwd) {
                Some(ExampleQuestion::Callers(name)) => Some(("callers", name)),
                Some(ExampleQuestion::Search(query)) => {
                    Some(("search", quote_text(&escape_for_display(&query))))
                }
                None => None,
            };
            if let Some((verb, argument)) = words {
                let next = format!("{} {verb} {argument}", context.memo_command);
                status::print_field("next", &next, output)?;
            }
        }
    }
    Ok(if milestones.last_poll.fresh { 0 } else { EXIT_FAILED })
}

/// Returns the number of indexed files in the worktree of the command.
fn count_indexed_files(status: &StatusResult, context: &CommandContext) -> u64 {
    let root = context.layout.root.display().to_string();
    status.views.iter().find(|view| view.root == root).map_or(0, |view| view.files)
}

fn print_report_json(
    milestones: &IndexingMilestones,
    status: &StatusResult,
    hooks: Option<&HooksResult>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    output.is_json_object(&json!({
        "root": context.layout.root.display().to_string(),
        "files": count_indexed_files(status, context),
        "chunks": status.counts.chunks,
        "embeddings": status.counts.embeddings,
        "skipped": status.skipped,
        "lexical_ms": milestones.lexical_ms,
        "full_ms": milestones.full_ms,
        "fresh": milestones.last_poll.fresh,
        "reason": milestones.last_poll.reason,
        "degraded": status.degraded,
        "hooks": hooks,
    }))
}

fn print_init_report(
    milestones: &IndexingMilestones,
    status: &StatusResult,
    hooks: Option<&HooksResult>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let files = format_count(count_indexed_files(status, context), "file", "files");
    let root = escape_for_display(&context.layout.root.display().to_string());
    status::print_field("indexed", &format!("{files} of {root}"), output)?;
    let chunks = format_count(status.counts.chunks, "chunk", "chunks");
    let vectors = format_count(status.counts.embeddings, "embedding", "embeddings");
    status::print_field("index", &format!("{chunks}, {vectors}"), output)?;
    let times = format!(
        "by words {}, by meaning {}",
        format_milestone(milestones.lexical_ms),
        format_milestone(milestones.full_ms)
    );
    status::print_field("searchable", &times, output)?;
    status::print_field("skipped", &status::describe_skipped(status), output)?;
    if let Some(hooks) = hooks {
        status::print_field("hooks", &hooks::summarize_hooks(hooks), output)?;
    }
    for problem in &status.degraded {
        status::print_field("degraded", &escape_for_display(problem), output)?;
    }
    if !milestones.last_poll.fresh {
        output.write_note(&pending_message(&milestones.last_poll));
    }
    Ok(())
}

fn format_milestone(ms: Option<u64>) -> String {
    ms.map_or("not yet".to_owned(), |ms| format!("after {}", format_duration(ms)))
}

fn pending_message(result: &SyncResult) -> String {
    let files = format_count(result.pending.files, "file", "files");
    let vectors = format_count(result.pending.embeddings, "embedding", "embeddings");
    format!("{}; {files} and {vectors} pending", not_up_to_date_message(result.reason.as_deref()))
}
