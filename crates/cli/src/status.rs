//! Prints the state of the daemon and the index.

use indicatif::HumanCount;
use memod_proto::{StatusResult, ViewInfo};

use super::args::StatusArgs;
use super::ask;
use super::context::CommandContext;
use super::error::{CliError, CliResult};
use super::output::Output;
use super::progress;
use super::text::{bytes, count, duration, escape, paint, short_head};

pub(super) fn status(typed: &StatusArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let status: StatusResult = context.connect()?.call("status", &ask::status(typed, &context.cwd))?;
    let dir = context.dir();
    let shown = |path: &String| dir.shown(path).unwrap_or_else(|| path.clone());
    output.value(&status, |output| {
        if typed.files {
            list(status.files.iter().flatten().map(shown), typed.null, output)
        } else if typed.skipped {
            let files = status.skipped_files.iter().flatten();
            list(files.map(|(path, reason)| format!("{reason}\t{}", shown(path))), typed.null, output)
        } else {
            print(&status, output)
        }
    })?;
    Ok(0)
}

/// Writes one entry per line, escaped, or unescaped and terminated by NUL.
fn list(entries: impl Iterator<Item = String>, null: bool, output: &mut Output) -> Result<(), CliError> {
    for entry in entries {
        if null {
            output.raw(entry.as_bytes())?;
            output.raw(b"\0")?;
        } else {
            output.line(&escape(&entry))?;
        }
    }
    Ok(())
}

/// Writes a line of a report: a label and its text, which the caller has escaped.
pub(super) fn row(label: &str, text: &str, output: &mut Output) -> Result<(), CliError> {
    let label = paint(output.styles.title, &format!("{label:<10}"));
    output.line(format!("{label} {text}").trim_end())
}

fn print(status: &StatusResult, output: &mut Output) -> Result<(), CliError> {
    let daemon = &status.daemon;
    let up = duration(daemon.uptime_s.max(1).saturating_mul(1_000));
    let memory = bytes(daemon.rss_bytes);
    let text = format!("{}, pid {}, up {up}, {memory}", escape(&daemon.version), daemon.pid);
    row("daemon", &text, output)?;
    row("repository", &escape(&status.repo), output)?;
    row("state", &escape(&status.state_dir), output)?;
    row("socket", &escape(&status.socket), output)?;
    for view in &status.views {
        row("worktree", &worktree(view), output)?;
    }
    let counts = &status.counts;
    let index = [
        count(counts.blobs, "blob", "blobs"),
        count(counts.chunks, "chunk", "chunks"),
        count(counts.embeddings, "embedding", "embeddings"),
        count(counts.memories, "memory", "memories"),
    ];
    row("index", &index.join(", "), output)?;
    let anchors = status.anchors.to_string();
    if !anchors.is_empty() {
        row("anchors", &anchors, output)?;
    }
    if let Some(progress) = &status.progress {
        row("indexing", &progress::step(progress), output)?;
    }
    row("pending", &pending(status), output)?;
    row("skipped", &skipped(status), output)?;
    let watched = count(status.watch.dirs, "directory", "directories");
    row("watch", &format!("{}, {watched}", escape(&status.watch.backend)), output)?;
    row("hooks", &escape(&status.hooks), output)?;
    row("model", &model(status), output)?;
    row("counters", &counters(status), output)?;
    for problem in &status.degraded {
        row("degraded", &paint(output.styles.bad, &escape(problem)), output)?;
    }
    Ok(())
}

fn worktree(view: &ViewInfo) -> String {
    let state = if view.fresh { "up to date" } else { "not known to be up to date" };
    let mut files = count(view.files, "file", "files");
    if view.commits > 0 {
        let newest = if view.older_commits { "newest " } else { "" };
        files = format!("{files}, {newest}{}", count(view.commits, "commit", "commits"));
    }
    let head = view.head.as_deref().map_or(String::new(), |head| format!(" ({})", escape(short_head(head))));
    format!("{}{head}, {files}, {state}", escape(&view.root))
}

fn pending(status: &StatusResult) -> String {
    match (status.pending.files, status.pending.embeddings) {
        (0, 0) => "nothing".to_owned(),
        (files, vectors) => {
            format!("{}, {}", count(files, "file", "files"), count(vectors, "embedding", "embeddings"))
        }
    }
}

/// Returns which model embeds, and where the nearest vectors are found.
fn model(status: &StatusResult) -> String {
    let model = &status.model;
    let vectors = match status.vectors.as_str() {
        "" => String::new(), // an older daemon
        place => format!(", vectors {}", escape(place)),
    };
    let next = model.next.as_ref().map_or(String::new(), |next| {
        format!(
            "; {} follows, {} of {} embedded",
            escape(&next.id),
            next.done,
            count(next.total, "chunk", "chunks")
        )
    });
    format!("{}, {} dimensions, {}{vectors}{next}", escape(&model.id), model.dims, escape(&model.state))
}

/// Returns the number of refused files for each reason.
pub(super) fn skipped(status: &StatusResult) -> String {
    if status.skipped.is_empty() {
        return "nothing".to_owned();
    }
    let reasons = status.skipped.iter().map(|(reason, n)| format!("{} {}", HumanCount(*n), escape(reason)));
    format!("{} (memo status --skipped lists them)", reasons.collect::<Vec<_>>().join(", "))
}

fn counters(status: &StatusResult) -> String {
    let counters = &status.counters;
    let parts = [
        count(counters.events, "event", "events"),
        count(counters.rescans, "rescan", "rescans"),
        count(counters.reconciles, "reconcile", "reconciles"),
        count(counters.parses, "parse", "parses"),
        count(counters.embeds, "embed", "embeds"),
        count(counters.queries, "query", "queries"),
    ];
    parts.join(", ")
}
