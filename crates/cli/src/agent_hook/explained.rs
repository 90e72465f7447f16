//! Shows a person what a hook would tell an agent, and why.

use memod_proto::{Advice, AdviseParams, AdviseResult};

use super::{Silence, context, params, read_input};
use crate::args::{Global, HookArgs};
use crate::error::{CliError, CliResult, EXIT_NONE};
use crate::output::Output;
use crate::text::{escape, escape_lines};

/// Exits with 1 when nothing would be told. Remembers nothing.
pub(super) fn explain(typed: &HookArgs, global: &Global, output: &mut Output) -> CliResult {
    let result = match ask(typed, global) {
        Ok(result) => result,
        Err(Silence::Cli(error)) => return Err(error),
        Err(silence) => AdviseResult { silent: Some(silence.to_string()), ..AdviseResult::default() },
    };
    output.value(&result, |output| print(&result, output))?;
    output.say_caveats(&result.caveats);
    Ok(if result.text.is_empty() { EXIT_NONE } else { 0 })
}

fn ask(typed: &HookArgs, global: &Global) -> Result<AdviseResult, Silence> {
    let input = read_input(typed)?;
    let context = context(global.dir.as_deref(), &input)?;
    let params = AdviseParams { explain: true, ..params(typed, &input, &context) };
    Ok(context.connect()?.call("advise", &params)?)
}

fn print(result: &AdviseResult, output: &mut Output) -> Result<(), CliError> {
    match &result.silent {
        Some(silent) => output.line(&format!("silent: {}", escape(silent)))?,
        None => {
            output.line(&format!("told: {} of {} tokens", result.tokens, result.budget))?;
            output.raw(escape_lines(&result.text).as_bytes())?;
        }
    }
    for item in &result.items {
        output.line("")?;
        item_lines(item, output)?;
    }
    Ok(())
}

fn item_lines(item: &Advice, output: &mut Output) -> Result<(), CliError> {
    let score = item.score.map_or(String::new(), |score| format!("  {score:+.2}"));
    let reason = item.reason.as_deref().unwrap_or("told");
    output.line(&format!("{}{score}  {}", escape(&item.id), escape(reason)))?;
    for evidence in item.evidence.iter().filter(|evidence| evidence.share.abs() >= 0.005) {
        output.line(&format!("  {:+.2}  {} {:.2}", evidence.share, evidence.name, evidence.value))?;
    }
    Ok(())
}
