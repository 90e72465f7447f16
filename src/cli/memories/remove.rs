//! Runs the verbs that archive and delete memories.

use super::request::{caller, notice};
use super::show;
use crate::cli::args::RemoveArgs;
use crate::cli::context::CommandContext;
use crate::cli::error::{CliError, CliResult, EXIT_NONE};
use crate::cli::output::Output;
use crate::cli::text::count;
use crate::proto::memory::{RemoveParams, RemoveResult};

/// The words for what is done to memories.
struct Removal {
    method: &'static str,
    verb: &'static str,
    done: &'static str,
}

pub(in crate::cli) fn forget(typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let done = "forgotten; `memo restore` brings it back, `memo list --archived` shows the archive";
    remove(&Removal { method: "memory.forget", verb: "forget", done }, typed, context, output)
}

pub(in crate::cli) fn purge(typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    remove(
        &Removal { method: "memory.purge", verb: "delete for good", done: "deleted" },
        typed,
        context,
        output,
    )
}

/// Shows what would be removed, asks, and removes exactly that. Exits with 1 when nothing was removed.
fn remove(removal: &Removal, typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let is_asked = !typed.yes && !typed.dry_run;
    if is_asked && !output.can_ask() {
        let message = format!("to {} memories needs a confirmation", removal.verb);
        return Err(CliError::Usage {
            message,
            hint: "--dry-run shows what would be removed, --yes does it",
        });
    }
    let selection = typed.filter.with_ids(typed.ids);
    let mut params = RemoveParams { caller: caller(context), selection, dry_run: !typed.yes, expect: None };
    let mut client = context.connect()?;
    let mut result: RemoveResult = client.call(removal.method, &params)?;
    if output.json {
        output.json(&result)?;
        return Ok(exit(&result));
    }
    output.keep(&result)?;
    result.memories.iter().try_for_each(|memory| show::brief(memory, output))?;
    output.flush()?;
    let what = count(result.memories.len() as u64, "memory", "memories");
    if is_asked && !result.memories.is_empty() {
        if !output.ask(&format!("{} {what}?", removal.verb))? {
            output.say("nothing was changed");
            return Ok(0);
        }
        (params.dry_run, params.expect) = (false, Some(result.digest));
        result = client.call(removal.method, &params)?;
    }
    match (result.memories.is_empty(), result.dry_run) {
        (true, _) => output.say("no such memories"),
        (false, true) => output.say(&format!("would {} {what}", removal.verb)),
        (false, false) => output.say(&format!("{what} {}", removal.done)),
    }
    notice(result.notice.as_ref(), output);
    Ok(exit(&result))
}

fn exit(result: &RemoveResult) -> u8 {
    if result.memories.is_empty() { EXIT_NONE } else { 0 }
}
