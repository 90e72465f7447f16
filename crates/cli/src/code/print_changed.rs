//! Prints the result of `memo changed`.

use std::path::Path;
use std::time::Duration;

use memod_proto::{ChangedCommit, ChangedFile, ChangedParams, ChangedResult, FileStatus};
use memod_terminal::text::{escape_for_display, format_commit_line, format_count, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::typed_revision::join_time_words;
use crate::args::ChangedArgs;

/// Longest wait for the comparison, in addition to the time for which the daemon waits for freshness. The daemon compares
/// definitions for at most ten seconds.
const COMPARE_TIME: Duration = Duration::from_secs(90);

/// Most definitions of one kind of change that are listed for a file, unless it is the only file.
const MOST_DEFINITIONS: usize = 20;

/// Prints the files and definitions that changed. Exits with 1 when nothing changed.
pub(crate) fn print_changed(typed: ChangedArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let config = memod_config::load_settings(Some(&context.layout))?.config;
    let wait_ms = typed.fresh.chosen_wait_ms(&config);
    let mut revs = join_time_words(typed.revs)?.into_iter();
    let since = revs.next();
    let params = ChangedParams {
        cwd: context.cwd.clone(),
        since: since.or(typed.since),
        until: revs.next(),
        path: typed.paths,
        limit: usize::try_from(typed.limit).ok(),
        sync: typed.fresh.sync.into(),
        wait_ms,
    };
    let mut client = context.connect()?;
    client.set_answer_limit(COMPARE_TIME + Duration::from_millis(wait_ms.unwrap_or_default()));
    let result: ChangedResult = client.call("changed", &params)?;
    let root = &context.layout.root;
    output.write_list(&result, |output| print_changes(&result, root, output))?;
    if !output.write_json {
        output.flush()?;
        report_change_counts(&result, output);
    }
    Ok(if result.total == 0 && result.commits.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

fn print_changes(result: &ChangedResult, root: &Path, output: &mut Output) -> Result<(), CliError> {
    let most = if result.files.len() == 1 { usize::MAX } else { MOST_DEFINITIONS };
    result.files.iter().try_for_each(|file| print_file(file, most, root, output))?;
    if !result.files.is_empty() && !result.commits.is_empty() {
        output.write_line("")?;
    }
    for ChangedCommit { commit, subject } in &result.commits {
        output.write_line(&format_commit_line(commit, subject, output.styles))?;
    }
    Ok(())
}

fn report_change_counts(result: &ChangedResult, output: &Output) {
    let since = match (&result.base, &result.subject) {
        (Some(base), subject) => {
            format_commit_line(base, subject.as_deref().unwrap_or_default(), Default::default())
        }
        (None, _) => "before the first commit".to_owned(),
    };
    let total = format_count(result.total as u64, "file", "files");
    match &result.until {
        Some(ChangedCommit { commit, subject }) => {
            let until = format_commit_line(commit, subject, Default::default());
            output.write_note(&format!("{total} changed from {since} to {until}"));
        }
        None => output.write_note(&format!("{total} changed since {since}")),
    }
    if result.left_out > 0 {
        output.write_note(&format!(
            "{} not shown: --limit shows more",
            format_count(result.left_out as u64, "file", "files")
        ));
    }
    if result.commits_left_out > 0 {
        let older = format_count(result.commits_left_out as u64, "older commit", "older commits");
        output.write_note(&format!("{older} not shown: `git log` shows all"));
    }
    for reason in result.reason.iter().chain(&result.cut) {
        output.write_note(&format!("not complete: {reason}"));
    }
}

fn print_file(file: &ChangedFile, most: usize, root: &Path, output: &mut Output) -> Result<(), CliError> {
    let styles = output.styles;
    let letter = match file.status {
        FileStatus::Added => "A",
        FileStatus::Modified => "M",
        FileStatus::Removed => "D",
        FileStatus::Renamed => "R",
    };
    let mut line = format!(
        "{} {}",
        paint(styles.title, letter),
        output.styled_path(file.cwd_path.as_ref().unwrap_or(&file.path), &root.join(&file.path))
    );
    if let Some(from) = file.cwd_from.as_ref().or(file.from.as_ref()) {
        line = format!("{line}  from {}", paint(styles.path, &escape_for_display(from)));
    }
    output.write_line(&line)?;
    let Some(symbols) = &file.symbols else { return Ok(()) };
    let lists = [
        ("+", &symbols.added, styles.good),
        ("~", &symbols.changed, styles.line),
        ("-", &symbols.removed, styles.bad),
    ];
    for (mark, names, style) in lists {
        let mark = paint(style, mark);
        for name in names.iter().take(most) {
            output.write_line(&format!("    {mark} {}", escape_for_display(name)))?;
        }
        if names.len() > most {
            let path = escape_for_display(file.cwd_path.as_ref().unwrap_or(&file.path));
            let n_more = names.len() - most;
            output.write_line(&format!("    {mark} {n_more} more: memo changed -- {path}"))?;
        }
    }
    Ok(())
}
