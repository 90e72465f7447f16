//! Runs `memo init`, `memo reindex` and `memo sync`: sets a repository up, and waits for its index.

use std::time::{Duration, Instant};

use memod_client::Client;
use memod_proto::{CwdParams, HooksResult, StatusParams, StatusResult, SyncResult};
use memod_terminal::progress::{self, IndexingMilestones};
use memod_terminal::text::{behind_message, escape, format_count, format_duration, quote_text};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_FAILED, EXIT_NONE, Output};
use serde_json::json;

use crate::args::build_params;
use crate::args::{InitArgs, SyncArgs};
use crate::daemon::status;
use crate::searching::example_query::example_query;
use crate::set_up::hooks;
use crate::set_up::setup;

/// Time limit for the daemon's answer with an example of a query.
const EXAMPLE_PATIENCE: Duration = Duration::from_secs(1);

/// Time limit for discarding the index.
const DISCARD_PATIENCE: Duration = Duration::from_secs(120);

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
    let mut client = context.connect_to_memories()?;
    let hooks = if typed.no_hooks { None } else { hooks::install_hooks(&mut client, context, output) };
    let root = context.layout.root.display().to_string();
    if output.json {
        output.json(&json!({ "root": root, "indexed": false, "hooks": hooks }))?;
        return Ok(0);
    }
    status::print_row("repository", &escape(&root), output)?;
    status::print_row("index", &format!("built by the next search, or by `{} sync`", context.memo), output)?;
    if let Some(hooks) = &hooks {
        status::print_row("hooks", &hooks::summarize_hooks(hooks), output)?;
        if let Some(text) = setup::summarize_setup(&context.env) {
            status::print_row("agents", &escape(&text), output)?;
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
    client.answer_within(DISCARD_PATIENCE);
    let _: serde_json::Value = client.call("reindex", &CwdParams { cwd: context.cwd.clone() })?;
    Ok(())
}

/// Waits until the index is up to date. Exits with 1 when the index is not up to date in time.
pub(crate) fn sync_index(typed: &SyncArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let mut client = context.connect()?;
    client.answer_within(Duration::from_secs(30) + Duration::from_millis(typed.wait_ms));
    let result: SyncResult = progress::show_while_calling(context, output, || {
        client.call("sync", &build_params::sync_params(typed, &context.cwd))
    })?;
    if output.json {
        output.json(&result)?;
    } else if result.fresh {
        output.line(&format!("up to date  {}", escape(&result.clock)))?;
    } else {
        output.say(&pending_message(&result));
    }
    Ok(if result.fresh { 0 } else { EXIT_NONE })
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
    if output.json {
        print_report_json(&milestones, &status, hooks, context, output)?;
    } else {
        print_report(&milestones, &status, hooks, context, output)?;
        if let Some(text) = hooks.and_then(|_| setup::summarize_setup(&context.env)) {
            status::print_row("agents", &escape(&text), output)?;
        }
        if milestones.last.fresh {
            client.answer_within(EXAMPLE_PATIENCE);
            if let Some(query) = example_query(client, &context.cwd) {
                let next = format!("{} search {}", context.memo, quote_text(&escape(&query)));
                status::print_row("next", &next, output)?;
            }
        }
    }
    Ok(if milestones.last.fresh { 0 } else { EXIT_FAILED })
}

/// Returns the number of indexed files in the worktree of the command.
fn count_files(status: &StatusResult, context: &CommandContext) -> u64 {
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
    output.json(&json!({
        "root": context.layout.root.display().to_string(),
        "files": count_files(status, context),
        "chunks": status.counts.chunks,
        "embeddings": status.counts.embeddings,
        "skipped": status.skipped,
        "lexical_ms": milestones.lexical_ms,
        "full_ms": milestones.full_ms,
        "fresh": milestones.last.fresh,
        "reason": milestones.last.reason,
        "degraded": status.degraded,
        "hooks": hooks,
    }))
}

fn print_report(
    milestones: &IndexingMilestones,
    status: &StatusResult,
    hooks: Option<&HooksResult>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let files = format_count(count_files(status, context), "file", "files");
    let root = escape(&context.layout.root.display().to_string());
    status::print_row("indexed", &format!("{files} of {root}"), output)?;
    let chunks = format_count(status.counts.chunks, "chunk", "chunks");
    let vectors = format_count(status.counts.embeddings, "embedding", "embeddings");
    status::print_row("index", &format!("{chunks}, {vectors}"), output)?;
    let times = format!(
        "by words {}, by meaning {}",
        format_milestone(milestones.lexical_ms),
        format_milestone(milestones.full_ms)
    );
    status::print_row("searchable", &times, output)?;
    status::print_row("skipped", &status::describe_skipped(status), output)?;
    if let Some(hooks) = hooks {
        status::print_row("hooks", &hooks::summarize_hooks(hooks), output)?;
    }
    for problem in &status.degraded {
        status::print_row("degraded", &escape(problem), output)?;
    }
    if !milestones.last.fresh {
        output.say(&pending_message(&milestones.last));
    }
    Ok(())
}

fn format_milestone(ms: Option<u64>) -> String {
    ms.map_or("not yet".to_owned(), |ms| format!("after {}", format_duration(ms)))
}

fn pending_message(result: &SyncResult) -> String {
    let files = format_count(result.pending.files, "file", "files");
    let vectors = format_count(result.pending.embeddings, "embedding", "embeddings");
    format!("{}; {files} and {vectors} pending", behind_message(result.reason.as_deref()))
}
