//! Prints what a file defines, or the sections of a document.

use std::time::Duration;

use memod_proto::{OutlineParams, OutlineResult};

use super::args::OutlineArgs;
use super::budget::fit_rows;
use super::context::CommandContext;
use super::error::{CliError, CliResult, EXIT_NONE};
use super::output::Output;
use super::text::{behind, count, escape, paint};

/// Exits with 1 when nothing has that name, or it defines nothing.
pub(super) fn outline(typed: OutlineArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let config = memod_config::load(Some(&context.layout))?.config;
    let wait_ms = typed.fresh.wait_ms.unwrap_or(config.search.wait_ms);
    let mut client = context.connect()?;
    client.answer_within(Duration::from_secs(30) + Duration::from_millis(wait_ms));
    let params = OutlineParams {
        cwd: context.cwd.clone(),
        target: typed.target,
        depth: typed.depth,
        limit: typed.limit,
        sync: typed.fresh.sync.into(),
        wait_ms: Some(wait_ms),
    };
    let mut result: OutlineResult = client.call("outline", &params)?;
    if let Some(tokens) = typed.budget {
        let first = |n: usize| OutlineResult {
            items: result.items.iter().take(n).cloned().collect(),
            ..result.clone()
        };
        let n_chars = |n| output.n_chars(&first(n), |output| print(&first(n), context, output));
        let n_fit = fit_rows(result.items.len(), tokens, n_chars);
        result.items.truncate(n_fit);
    }
    output.list(&result, |output| print(&result, context, output))?;
    if !output.json {
        output.flush()?;
        notes(&result, output);
    }
    Ok(if result.n_found == 0 { EXIT_NONE } else { 0 })
}

fn print(result: &OutlineResult, context: &CommandContext, output: &mut Output) -> Result<(), CliError> {
    for (nth, of_file) in result.items.chunk_by(|one, other| one.path == other.path).enumerate() {
        if nth > 0 {
            output.line("")?;
        }
        let first = &of_file[0];
        let file = context.layout.root.join(&first.path);
        let path = output.path(first.cwd_path.as_ref().unwrap_or(&first.path), &file);
        output.line(&path)?;
        let lines = of_file.iter().map(|item| format!("{}-{}", item.lines.0, item.lines.1));
        let width = lines.clone().map(|lines| lines.len()).max().unwrap_or(0);
        for (item, lines) in of_file.iter().zip(lines) {
            let indent = "  ".repeat(item.depth as usize);
            let lines = paint(output.styles.line, &format!("{lines:>width$}"));
            output.line(&format!("  {lines}  {indent}{}", escape(&item.text)))?;
        }
    }
    Ok(())
}

/// Says what a result lacks.
fn notes(result: &OutlineResult, output: &Output) {
    if let Some(cut) = &result.cut {
        output.say(&format!("not complete: {cut}"));
    }
    let (n_shown, n_found) = (result.items.len(), result.n_found);
    if n_found == 0 {
        output.say("it has no definitions or sections that are known; `memo show` prints it");
    } else if n_found > n_shown {
        let shown = count(n_shown as u64, "is", "are");
        output.say(&format!("{shown} shown of {n_found}; --depth, --limit and --budget say how many"));
    }
    if !result.fresh {
        output.say(&behind(result.reason.as_deref()));
    }
}
