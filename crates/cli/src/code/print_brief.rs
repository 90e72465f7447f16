//! Prints the result of `memo brief`.

use memod_proto::{BriefParams, BriefResult};
use memod_terminal::text::{escape_lines, not_up_to_date_message};
use memod_terminal::{CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use crate::args::BriefArgs;
use crate::llm;

/// Prints a brief, or its summary. Exits with 1 when there is nothing to show.
pub(crate) fn print_brief(typed: &BriefArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params =
        BriefParams { cwd: context.cwd.clone(), budget: Some(typed.budget), sync: typed.sync.into() };
    let result: BriefResult = context.connect()?.call("brief", &params)?;
    if typed.summarise && !result.text.is_empty() {
        let summarised = llm::summarise_brief(&result.text, typed, context, output)?;
        if let Some(exit) = summarised {
            return Ok(exit);
        }
    }
    output.write_result(&result, |output| output.write_bytes(escape_lines(&result.text).as_bytes()))?;
    if !output.write_json {
        output.flush()?;
        if !result.fresh {
            output.write_note(&not_up_to_date_message(result.reason.as_deref()));
        }
        if result.text.is_empty() {
            output.write_note("nothing to show, or the budget is too small for it");
        }
    }
    Ok(if result.text.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}
