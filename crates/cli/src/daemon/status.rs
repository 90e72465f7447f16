//! Prints the state of the daemon and the index.

use indicatif::HumanCount;
use memod_base::paths::CallerDir;
use memod_proto::{StatusResult, ViewInfo};
use memod_terminal::progress;
use memod_terminal::text::{
    escape_for_display, format_bytes, format_count, format_duration, paint, shorten_head,
};
use memod_terminal::{CliError, CliResult, CommandContext, Output};

use crate::args::StatusArgs;
use crate::args::build_params;

pub(crate) fn show_status(typed: &StatusArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let status: StatusResult =
        context.connect()?.call("status", &build_params::status_params(typed, &context.cwd))?;
    let dir = context.caller_dir();
    output.write_result(&status, |output| {
        if typed.files {
            print_entries(
                status.files.iter().flatten().map(|path| path_for_caller(path, &dir)),
                typed.null,
                output,
            )
        } else if typed.skipped {
            let files = status.skipped_files.iter().flatten();
            print_entries(
                files.map(|(path, reason)| format!("{reason}\t{}", path_for_caller(path, &dir))),
                typed.null,
                output,
            )
        } else {
            print_status(&status, output)
        }
    })?;
    Ok(0)
}

/// Returns a path relative to the caller's directory, or unchanged if that is not possible.
fn path_for_caller(path: &str, dir: &CallerDir) -> String {
    dir.relative_path(path).unwrap_or_else(|| path.to_owned())
}

/// Writes the entries: escaped, one per line, or with `null` unescaped and each terminated by NUL.
fn print_entries(
    entries: impl Iterator<Item = String>,
    null: bool,
    output: &mut Output,
) -> Result<(), CliError> {
    for entry in entries {
        if null {
            output.write_bytes(entry.as_bytes())?;
            output.write_bytes(b"\0")?;
        } else {
            output.write_line(&escape_for_display(&entry))?;
        }
    }
    Ok(())
}

/// Writes a line of a report: a label, and a text that the caller has escaped.
pub(crate) fn print_field(label: &str, text: &str, output: &mut Output) -> Result<(), CliError> {
    let label = paint(output.styles.title, &format!("{label:<10}"));
    output.write_line(format!("{label} {text}").trim_end())
}

fn print_status(status: &StatusResult, output: &mut Output) -> Result<(), CliError> {
    let daemon = &status.daemon;
    let up = format_duration(daemon.uptime_s.max(1).saturating_mul(1_000));
    let memory = format_bytes(daemon.rss_bytes);
    let text = format!("{}, pid {}, up {up}, {memory}", escape_for_display(&daemon.version), daemon.pid);
    print_field("daemon", &text, output)?;
    print_field("repository", &escape_for_display(&status.repo), output)?;
    print_field("state", &escape_for_display(&status.state_dir), output)?;
    print_field("socket", &escape_for_display(&status.socket), output)?;
    for view in &status.views {
        print_field("worktree", &describe_worktree(view), output)?;
    }
    let counts = &status.counts;
    let index = [
        format_count(counts.blobs, "blob", "blobs"),
        format_count(counts.chunks, "chunk", "chunks"),
        format_count(counts.embeddings, "embedding", "embeddings"),
        format_count(counts.memories, "memory", "memories"),
    ];
    print_field("index", &index.join(", "), output)?;
    let anchors = status.anchors.to_string();
    if !anchors.is_empty() {
        print_field("anchors", &anchors, output)?;
    }
    if let Some(progress) = &status.progress {
        print_field("indexing", &progress::describe_step(progress), output)?;
    }
    print_field("pending", &describe_pending(status), output)?;
    print_field("skipped", &describe_skipped(status), output)?;
    let watched = format_count(status.watch.dirs, "directory", "directories");
    print_field("watch", &format!("{}, {watched}", escape_for_display(&status.watch.backend)), output)?;
    print_field("hooks", &escape_for_display(&status.hooks), output)?;
    print_field("model", &describe_model(status), output)?;
    print_field("counters", &describe_counters(status), output)?;
    for problem in &status.degraded {
        print_field("degraded", &paint(output.styles.bad, &escape_for_display(problem)), output)?;
    }
    Ok(())
}

fn describe_worktree(view: &ViewInfo) -> String {
    let state = if view.fresh { "up to date" } else { "not known to be up to date" };
    let mut files = format_count(view.files, "file", "files");
    if view.commits > 0 {
        let newest = if view.older_commits { "newest " } else { "" };
        files = format!("{files}, {newest}{}", format_count(view.commits, "commit", "commits"));
    }
    let head = view
        .head
        .as_deref()
        .map_or(String::new(), |head| format!(" ({})", escape_for_display(shorten_head(head))));
    format!("{}{head}, {files}, {state}", escape_for_display(&view.root))
}

fn describe_pending(status: &StatusResult) -> String {
    match (status.pending.files, status.pending.embeddings) {
        (0, 0) => "nothing".to_owned(),
        (files, vectors) => {
            format!(
                "{}, {}",
                format_count(files, "file", "files"),
                format_count(vectors, "embedding", "embeddings")
            )
        }
    }
}

/// Describes the embedding model, the next model if one follows, and where nearest vectors are searched.
fn describe_model(status: &StatusResult) -> String {
    let model = &status.model;
    let vectors = match status.vectors.as_str() {
        "" => String::new(), // an older daemon
        place => format!(", vectors {}", escape_for_display(place)),
    };
    let next = model.next.as_ref().map_or(String::new(), |next| {
        format!(
            "; {} follows, {} of {} embedded",
            escape_for_display(&next.id),
            next.done,
            format_count(next.total, "chunk", "chunks")
        )
    });
    format!(
        "{}, {} dimensions, {}{vectors}{next}",
        escape_for_display(&model.id),
        model.dims,
        escape_for_display(&model.state)
    )
}

/// Returns the number of skipped files for each reason, in words.
pub(crate) fn describe_skipped(status: &StatusResult) -> String {
    if status.skipped.is_empty() {
        return "nothing".to_owned();
    }
    let reasons =
        status.skipped.iter().map(|(reason, n)| format!("{} {}", HumanCount(*n), escape_for_display(reason)));
    format!("{} (memo status --skipped lists them)", reasons.collect::<Vec<_>>().join(", "))
}

fn describe_counters(status: &StatusResult) -> String {
    let counters = &status.counters;
    let parts = [
        format_count(counters.events, "event", "events"),
        format_count(counters.rescans, "rescan", "rescans"),
        format_count(counters.reconciles, "reconcile", "reconciles"),
        format_count(counters.parses, "parse", "parses"),
        format_count(counters.embeds, "embed", "embeds"),
        format_count(counters.queries, "query", "queries"),
    ];
    parts.join(", ")
}
