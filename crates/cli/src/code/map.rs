//! Runs `memo map`: prints the code map.

use memod_proto::MapResult;
use memod_terminal::text::{escape_for_display, escape_lines, not_up_to_date_message};
use memod_terminal::{CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use crate::args::MapArgs;
use crate::args::build_params;

/// Prints the code map. Exits with 1 when the map is empty, or when it has no file of a path that was named.
pub(crate) fn print_map(typed: MapArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = build_params::map_params(typed, &context.cwd);
    let result: MapResult = context.connect()?.call("map", &params)?;
    output.write_result(&result, |output| match escape_lines(&result.text).trim_end_matches('\n') {
        "" => Ok(()),
        text => output.write_line(text),
    })?;
    if !output.write_json {
        output.flush()?;
        for path in &result.unmapped {
            output.write_note(&format!("{}: no file with symbols", escape_for_display(path)));
        }
        for path in &result.unfocused {
            output.write_note(&format!("--focus {}: no file with symbols", escape_for_display(path)));
        }
        if !result.unmapped.is_empty() || !result.unfocused.is_empty() {
            output.write_hint(
                "paths start at the current directory; `memo map` alone shows files with symbols",
            );
        }
        if !result.fresh {
            output.write_note(&not_up_to_date_message(result.reason.as_deref()));
        }
        if result.files == 0 && result.unmapped.is_empty() {
            output.write_note("no symbols in this worktree, or the budget is too small for one");
        }
    }
    Ok(if result.files == 0 || !result.unmapped.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}
