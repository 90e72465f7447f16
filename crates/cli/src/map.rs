//! Prints the code map.

use memod_proto::MapResult;

use super::args::MapArgs;
use super::ask;
use super::context::CommandContext;
use super::error::{CliResult, EXIT_NONE};
use super::output::Output;
use super::text::{behind, escape, escape_lines};

/// Exits with 1 when there is nothing to show, or nothing of a path that was named.
pub(super) fn map(typed: MapArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = ask::map(typed, &context.cwd);
    let result: MapResult = context.connect()?.call("map", &params)?;
    output.value(&result, |output| match escape_lines(&result.text).trim_end_matches('\n') {
        "" => Ok(()),
        text => output.line(text),
    })?;
    if !output.json {
        output.flush()?;
        for path in &result.unmapped {
            output.say(&format!("{}: no file with symbols", escape(path)));
        }
        for path in &result.unfocused {
            output.say(&format!("--focus {}: no file with symbols", escape(path)));
        }
        if !result.unmapped.is_empty() || !result.unfocused.is_empty() {
            output.hint("paths start at the current directory; `memo map` alone shows files with symbols");
        }
        if !result.fresh {
            output.say(&behind(result.reason.as_deref()));
        }
        if result.files == 0 && result.unmapped.is_empty() {
            output.say("no symbols in this worktree, or the budget is too small for one");
        }
    }
    Ok(if result.files == 0 || !result.unmapped.is_empty() { EXIT_NONE } else { 0 })
}
