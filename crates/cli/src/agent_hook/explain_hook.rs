//! Explains to a person what a hook would print for an agent, and why.

use memod_proto::{Advice, AdviseParams, AdviseResult};
use memod_terminal::text::{escape_for_display, escape_lines};
use memod_terminal::{CliError, CliResult, EXIT_NOTHING_FOUND, GlobalArgs, Output};

use super::{SilenceReason, advise_params, find_context, read_input};
use crate::args::HookArgs;

/// Prints the answer of a hook with its reasons. Exits with 1 when the answer is empty. The daemon does not record the advice as
/// delivered.
pub(super) fn explain_hook(typed: &HookArgs, global: &GlobalArgs, output: &mut Output) -> CliResult {
    let result = match fetch_explained_advice(typed, global) {
        Ok(result) => result,
        Err(SilenceReason::Cli(error)) => return Err(error),
        Err(silence) => AdviseResult { silent: Some(silence.to_string()), ..AdviseResult::default() },
    };
    output.write_result(&result, |output| print_advice(&result, output))?;
    output.write_caveats(&result.caveats);
    Ok(if result.text.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

fn fetch_explained_advice(typed: &HookArgs, global: &GlobalArgs) -> Result<AdviseResult, SilenceReason> {
    let input = read_input(typed)?;
    let context = find_context(global.dir.as_deref(), &input)?;
    let params = AdviseParams { explain: true, ..advise_params(typed, &input, &context) };
    Ok(context.connect()?.call("advise", &params)?)
}

fn print_advice(result: &AdviseResult, output: &mut Output) -> Result<(), CliError> {
    match &result.silent {
        Some(silent) => output.write_line(&format!("silent: {}", escape_for_display(silent)))?,
        None => {
            output.write_line(&format!("advice: {} of {} tokens", result.tokens, result.budget))?;
            output.write_bytes(escape_lines(&result.text).as_bytes())?;
        }
    }
    for item in &result.items {
        output.write_line("")?;
        print_advice_item(item, output)?;
    }
    Ok(())
}

fn print_advice_item(item: &Advice, output: &mut Output) -> Result<(), CliError> {
    let score = item.score.map_or(String::new(), |score| format!("  {score:+.2}"));
    let reason = item.reason.as_deref().unwrap_or("included");
    output.write_line(&format!("{}{score}  {}", escape_for_display(&item.id), escape_for_display(reason)))?;
    for evidence in item.evidence.iter().filter(|evidence| evidence.share.abs() >= 0.005) {
        output.write_line(&format!("  {:+.2}  {} {:.2}", evidence.share, evidence.name, evidence.value))?;
    }
    Ok(())
}
