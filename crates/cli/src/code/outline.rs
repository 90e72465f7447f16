//! Prints the definitions of a file, or the sections of a document.

use std::time::Duration;

use memod_proto::{OutlineParams, OutlineResult};
use memod_terminal::text::{escape_for_display, format_count, not_up_to_date_message, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use crate::args::OutlineArgs;
use crate::searching::fit_to_budget::count_fitting_rows;

/// Prints an outline. Exits with 1 when nothing has that name, or when the target defines nothing.
pub(crate) fn print_outline(typed: OutlineArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let config = memod_config::load_settings(Some(&context.layout))?.config;
    let wait_ms = typed.fresh.chosen_wait_ms(&config);
    let mut client = context.connect()?;
    client.set_answer_limit(Duration::from_secs(30) + Duration::from_millis(wait_ms.unwrap_or_default()));
    let params = OutlineParams {
        cwd: context.cwd.clone(),
        target: typed.target,
        depth: typed.depth,
        limit: typed.limit,
        sync: typed.fresh.sync.into(),
        wait_ms,
    };
    let mut result: OutlineResult = client.call("outline", &params)?;
    if let Some(tokens) = typed.budget {
        let n_fit = count_fitting_rows(result.items.len(), tokens, |n| {
            let first = first_items(&result, n);
            output.count_chars(&first, |output| print_items(&first, context, output))
        });
        result.items.truncate(n_fit);
    }
    output.write_list(&result, |output| print_items(&result, context, output))?;
    if !output.write_json {
        output.flush()?;
        report_incomplete_outline(&result, output);
    }
    Ok(if result.n_found == 0 { EXIT_NOTHING_FOUND } else { 0 })
}

/// Returns the result with only its first `n` items.
fn first_items(result: &OutlineResult, n: usize) -> OutlineResult {
    OutlineResult { items: result.items.iter().take(n).cloned().collect(), ..result.clone() }
}

fn print_items(
    result: &OutlineResult,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    for (nth, items_of_file) in result.items.chunk_by(|one, other| one.path == other.path).enumerate() {
        if nth > 0 {
            output.write_line("")?;
        }
        let first = &items_of_file[0];
        let file = context.layout.root.join(&first.path);
        let path = output.styled_path(first.cwd_path.as_ref().unwrap_or(&first.path), &file);
        output.write_line(&path)?;
        let lines = items_of_file.iter().map(|item| format!("{}-{}", item.lines.0, item.lines.1));
        let width = lines.clone().map(|lines| lines.len()).max().unwrap_or(0);
        for (item, lines) in items_of_file.iter().zip(lines) {
            let indent = "  ".repeat(item.depth as usize);
            let lines = paint(output.styles.line, &format!("{lines:>width$}"));
            output.write_line(&format!("  {lines}  {indent}{}", escape_for_display(&item.text)))?;
        }
    }
    Ok(())
}

/// Notes on stderr whether the result is incomplete or out of date.
fn report_incomplete_outline(result: &OutlineResult, output: &Output) {
    if let Some(cut) = &result.cut {
        output.write_note(&format!("not complete: {cut}"));
    }
    let (n_shown, n_found) = (result.items.len(), result.n_found);
    if n_found == 0 {
        output.write_note("the target has no known definitions or sections; `memo show` prints its text");
    } else if n_found > n_shown {
        let shown = format_count(n_shown as u64, "is", "are");
        output.write_note(&format!("{shown} shown of {n_found}; --depth, --limit and --budget set how many"));
    }
    if !result.fresh {
        output.write_note(&not_up_to_date_message(result.reason.as_deref()));
    }
}
