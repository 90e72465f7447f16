//! Waits for the index and reports on it.

use std::time::{Duration, Instant};

use memod_client::Client;
use memod_proto::{CwdParams, HooksResult, StatusParams, StatusResult, SyncResult};
use serde_json::json;

use super::args::{InitArgs, SyncArgs};
use super::context::CommandContext;
use super::error::{CliError, CliResult, EXIT_FAILED, EXIT_NONE};
use super::example_query::example_query;
use super::output::Output;
use super::progress::{self, Reached};
use super::text::{count, duration, escape, quoted};
use super::{ask, hooks, setup, status, text};

/// Time limit for the example of a query.
const EXAMPLE_WITHIN: Duration = Duration::from_secs(1);

/// Time limit for discarding the index.
const DISCARD_WITHIN: Duration = Duration::from_secs(120);

/// Installs hooks, indexes the repository and reports. Exits with 3 when the index does not become complete.
pub(super) fn init(typed: &InitArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let start = Instant::now();
    if typed.no_index {
        return set_up(typed, context, output);
    }
    let mut client = context.connect()?;
    if typed.force {
        discard(&mut client, context)?;
    }
    let hooks = if typed.no_hooks { None } else { hooks::install(&mut client, context, output) };
    index(&mut client, context, start, hooks.as_ref(), output)
}

/// Installs hooks and reports, without indexing: a daemon that runs already goes on.
fn set_up(typed: &InitArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let mut client = context.connect_to_memories()?;
    let hooks = if typed.no_hooks { None } else { hooks::install(&mut client, context, output) };
    let root = context.layout.root.display().to_string();
    if output.json {
        output.json(&json!({ "root": root, "indexed": false, "hooks": hooks }))?;
        return Ok(0);
    }
    status::row("repository", &escape(&root), output)?;
    status::row("index", &format!("left for the next search, or `{} sync`", context.memo), output)?;
    if let Some(hooks) = &hooks {
        status::row("hooks", &hooks::summary(hooks), output)?;
        if let Some(text) = setup::summary(&context.env) {
            status::row("agents", &escape(&text), output)?;
        }
    }
    Ok(0)
}

/// Rebuilds the index and reports as [`init`] does.
pub(super) fn reindex(context: &CommandContext, output: &mut Output) -> CliResult {
    let start = Instant::now();
    let mut client = context.connect()?;
    discard(&mut client, context)?;
    index(&mut client, context, start, None, output)
}

fn discard(client: &mut Client, context: &CommandContext) -> Result<(), CliError> {
    client.answer_within(DISCARD_WITHIN);
    let _: serde_json::Value = client.call("reindex", &CwdParams { cwd: context.cwd.clone() })?;
    Ok(())
}

/// Waits until the index is fresh. Exits with 1 when it does not become so in time.
pub(super) fn sync(typed: &SyncArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let mut client = context.connect()?;
    client.answer_within(Duration::from_secs(30) + Duration::from_millis(typed.wait_ms));
    let call = || client.call("sync", &ask::sync(typed, &context.cwd));
    let result: SyncResult = progress::while_calling(context, output, call)?;
    if output.json {
        output.json(&result)?;
    } else if result.fresh {
        output.line(&format!("up to date  {}", escape(&result.clock)))?;
    } else {
        output.say(&behind(&result));
    }
    Ok(if result.fresh { 0 } else { EXIT_NONE })
}

fn index(
    client: &mut Client,
    context: &CommandContext,
    start: Instant,
    hooks: Option<&HooksResult>,
    output: &mut Output,
) -> CliResult {
    let reached = progress::wait(client, &context.cwd, start, output)?;
    let params = StatusParams { cwd: context.cwd.clone(), ..StatusParams::default() };
    let status: StatusResult = client.call("status", &params)?;
    if output.json {
        print_json(&reached, &status, hooks, context, output)?;
    } else {
        print(&reached, &status, hooks, context, output)?;
        if let Some(text) = hooks.and_then(|_| setup::summary(&context.env)) {
            status::row("agents", &escape(&text), output)?;
        }
        if reached.last.fresh {
            client.answer_within(EXAMPLE_WITHIN);
            if let Some(query) = example_query(client, &context.cwd) {
                let next = format!("{} search {}", context.memo, quoted(&escape(&query)));
                status::row("next", &next, output)?;
            }
        }
    }
    Ok(if reached.last.fresh { 0 } else { EXIT_FAILED })
}

/// Returns the number of indexed files in the worktree that was asked about.
fn n_files(status: &StatusResult, context: &CommandContext) -> u64 {
    let root = context.layout.root.display().to_string();
    status.views.iter().find(|view| view.root == root).map_or(0, |view| view.files)
}

fn print_json(
    reached: &Reached,
    status: &StatusResult,
    hooks: Option<&HooksResult>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    output.json(&json!({
        "root": context.layout.root.display().to_string(),
        "files": n_files(status, context),
        "chunks": status.counts.chunks,
        "embeddings": status.counts.embeddings,
        "skipped": status.skipped,
        "lexical_ms": reached.lexical_ms,
        "full_ms": reached.full_ms,
        "fresh": reached.last.fresh,
        "reason": reached.last.reason,
        "degraded": status.degraded,
        "hooks": hooks,
    }))
}

fn print(
    reached: &Reached,
    status: &StatusResult,
    hooks: Option<&HooksResult>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let files = count(n_files(status, context), "file", "files");
    let root = escape(&context.layout.root.display().to_string());
    status::row("indexed", &format!("{files} of {root}"), output)?;
    let chunks = count(status.counts.chunks, "chunk", "chunks");
    let vectors = count(status.counts.embeddings, "embedding", "embeddings");
    status::row("index", &format!("{chunks}, {vectors}"), output)?;
    let time = |ms: Option<u64>| ms.map_or("not yet".to_owned(), |ms| format!("after {}", duration(ms)));
    let times = format!("by words {}, by meaning {}", time(reached.lexical_ms), time(reached.full_ms));
    status::row("searchable", &times, output)?;
    status::row("skipped", &status::skipped(status), output)?;
    if let Some(hooks) = hooks {
        status::row("hooks", &hooks::summary(hooks), output)?;
    }
    for problem in &status.degraded {
        status::row("degraded", &escape(problem), output)?;
    }
    if !reached.last.fresh {
        output.say(&behind(&reached.last));
    }
    Ok(())
}

fn behind(result: &SyncResult) -> String {
    let files = count(result.pending.files, "file", "files");
    let vectors = count(result.pending.embeddings, "embedding", "embeddings");
    format!("{}; {files} and {vectors} pending", text::behind(result.reason.as_deref()))
}
