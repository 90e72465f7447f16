//! Prints the uses of a definition.

use std::time::Duration;

use memod_proto::{RefUse, RefsParams, RefsResult};
use memod_terminal::text::{escape_for_display, format_count, not_up_to_date_message, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::{
    ANSWER_TIMEOUT, count_entries_to_fetch, most_paths, print_memories_and_commits, print_paths,
    print_target_definitions, report_ambiguous_name, report_cut_file_list, report_files_read_as_text,
    report_unsearched_files,
};
use crate::args::RefsArgs;
use crate::searching::fit_to_budget::count_fitting_rows;

/// Prints the uses of a definition. Exits with 1 when nothing has that name, or nothing uses it.
pub(crate) fn print_uses(typed: RefsArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let config = memod_config::load_settings(Some(&context.layout))?.config;
    let wait_ms = typed.list.fresh.chosen_wait_ms(&config);
    let mut client = context.connect()?;
    client.set_answer_limit(ANSWER_TIMEOUT + Duration::from_millis(wait_ms.unwrap_or_default()));
    let params = RefsParams {
        cwd: context.cwd.clone(),
        target: typed.target,
        limit: count_entries_to_fetch(&typed.list),
        with: typed.list.with.into_iter().map(Into::into).collect(),
        sync: typed.list.fresh.sync.into(),
        wait_ms,
    };
    let mut result: RefsResult = client.call("refs", &params)?;
    let (is_files, most) = (typed.list.files, most_paths(typed.list.limit));
    let most_files = is_files.then_some(most);
    if let Some(tokens) = typed.list.budget {
        let n_fit = count_fitting_rows(result.uses.len(), tokens, |n| {
            let first = first_uses(&result, n);
            output.count_chars(&first, |output| print_uses_or_files(&first, most_files, context, output))
        });
        result.uses.truncate(n_fit);
    }
    output.write_list(&result, |output| print_uses_or_files(&result, most_files, context, output))?;
    if !output.write_json {
        output.flush()?;
        if is_files {
            report_cut_file_list(result.uses.iter().map(|found| found.path.as_str()), most, output);
        }
        report_ambiguous_name("refs", &result.definitions, result.definitions.len(), output);
        report_incomplete_uses(&result, context, output);
    }
    Ok(if count_uses(&result) == 0 { EXIT_NOTHING_FOUND } else { 0 })
}

/// Returns the result with only its first `n` uses.
fn first_uses(result: &RefsResult, n: usize) -> RefsResult {
    RefsResult { uses: result.uses.iter().take(n).cloned().collect(), ..result.clone() }
}

/// Prints the uses, or, if `most_files` is given, only the paths of their files, at most so many.
fn print_uses_or_files(
    result: &RefsResult,
    most_files: Option<usize>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let Some(most) = most_files else { return print_uses_by_file(result, context, output) };
    let paths = result.uses.iter().map(|found| (found.path.as_str(), found.cwd_path.as_ref()));
    print_paths(paths, most, context, output)
}

fn print_uses_by_file(
    result: &RefsResult,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    print_target_definitions(&result.definitions, result.definitions.len(), context, output)?;
    for uses_in_file in result.uses.chunk_by(|one, other| one.path == other.path) {
        output.write_line("")?;
        let first = &uses_in_file[0];
        let file = context.layout.root.join(&first.path);
        let path = output.styled_path(first.cwd_path.as_ref().unwrap_or(&first.path), &file);
        output.write_line(&path)?;
        let width = uses_in_file.iter().map(|found| found.line.to_string().len()).max().unwrap_or(1);
        // A line that uses the name several times is shown once.
        let mut lines = uses_in_file.chunk_by(|one, other| one.line == other.line);
        lines.try_for_each(|uses_in_line| print_use(&uses_in_line[0], width, output))?;
    }
    print_memories_and_commits(&result.memories, &result.commits, context, output)
}

fn print_use(found: &RefUse, width: usize, output: &mut Output) -> Result<(), CliError> {
    let number = paint(output.styles.line, &format!("{:width$}", found.line));
    let doubt = if found.certainty == "exact" { String::new() } else { format!("  ({})", found.certainty) };
    let within = found
        .within
        .as_ref()
        .map(|title| format!("  in {}", paint(output.styles.title, &escape_for_display(title))));
    output.write_line(&format!(
        "  {number}  {}{}{doubt}",
        escape_for_display(&found.text),
        within.unwrap_or_default()
    ))
}

/// Returns the number of uses that were found, including those that are not shown.
fn count_uses(result: &RefsResult) -> usize {
    let counts = result.counts;
    counts.exact + counts.likely + counts.by_name
}

/// Notes on stderr whether the result is incomplete or out of date.
fn report_incomplete_uses(result: &RefsResult, context: &CommandContext, output: &Output) {
    if let Some(cut) = &result.cut {
        output.write_note(&format!("not complete: {cut}"));
    }
    let n_found = count_uses(result);
    if n_found == 0 && result.cut.is_none() {
        output.write_note("no use was found; `memo search` finds where the name is mentioned");
    } else if n_found > result.uses.len() {
        let shown = format_count(result.uses.len() as u64, "use is", "uses are");
        output.write_note(&format!("{shown} shown of {n_found}; --limit and --budget show more"));
    }
    report_unsearched_files(&result.unsearched, result.n_more_unsearched, output);
    report_files_read_as_text(
        &result.read_as_text,
        result.n_more_read_as_text,
        &context.caller_dir(),
        output,
    );
    if !result.fresh {
        output.write_note(&not_up_to_date_message(result.reason.as_deref()));
    }
}
