//! Runs the verbs that archive and delete memories.

use memod_proto::memory::{RemoveParams, RemoveResult, Selection};

use super::request::caller;
use super::show;
use crate::args::{ConsentArgs, RemoveArgs};
use crate::context::CommandContext;
use crate::error::{CliResult, EXIT_NONE};
use crate::output::Output;
use crate::text::count;

/// What to type where nobody can be asked whether something may be removed.
pub(crate) const REMOVE_HINT: &str = "--dry-run shows what would be removed, --yes does it";

/// The words for what is done to memories.
struct Removal {
    method: &'static str,
    verb: &'static str,
    done: &'static str,
    /// Whether the daemon deletes only what a dry run has shown.
    requires_dry_run: bool,
}

pub(crate) fn forget(typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let done = "forgotten; `memo restore` brings it back, `memo list --archived` shows the archive";
    let removal = Removal { method: "memory.forget", verb: "forget", done, requires_dry_run: false };
    remove(&removal, typed.filter.with_ids(typed.ids), &typed.consent, context, output)
}

pub(crate) fn purge(typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let removal =
        Removal { method: "memory.purge", verb: "delete for good", done: "deleted", requires_dry_run: true };
    remove(&removal, typed.filter.with_ids(typed.ids), &typed.consent, context, output)
}

pub(crate) fn reset(typed: &ConsentArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let removal =
        Removal { method: "memory.reset", verb: "delete for good", done: "deleted", requires_dry_run: true };
    remove(&removal, Selection::default(), typed, context, output)
}

/// Shows what would be removed, asks, and removes exactly that. Exits with 1 when nothing was removed.
fn remove(
    removal: &Removal,
    selection: Selection,
    consent: &ConsentArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let is_asked = !consent.yes && !consent.dry_run;
    let shows_first = !consent.yes || removal.requires_dry_run;
    let mut params = RemoveParams { caller: caller(context), selection, dry_run: shows_first, expect: None };
    let mut client = context.connect()?;
    let mut result: RemoveResult = client.call(removal.method, &params)?;
    // After the request, which is only a dry run: an unknown id is told before a confirmation is asked for.
    if is_asked {
        output.can_ask(&format!("to {} memories", removal.verb), REMOVE_HINT)?;
    }
    if !output.json {
        result.memories.iter().try_for_each(|memory| show::brief(memory, output))?;
        output.flush()?;
    }
    // Where nobody is asked, what would be done is done next, and told then.
    let told = (is_asked || !shows_first || consent.dry_run).then(|| result.caveats.clone());
    told.iter().for_each(|told| output.say_caveats(told));
    let what = count(result.memories.len() as u64, "memory", "memories");
    if is_asked && !result.memories.is_empty() && !output.ask(&format!("{} {what}?", removal.verb))? {
        output.say("nothing was changed");
        return Ok(0);
    }
    if shows_first && !consent.dry_run && (consent.yes || !result.memories.is_empty()) {
        (params.dry_run, params.expect) = (false, Some(result.digest));
        result = client.call(removal.method, &params)?;
    }
    if output.json {
        output.json(&result)?;
        return Ok(exit(&result));
    }
    output.keep(&result)?;
    match (result.memories.is_empty(), result.dry_run) {
        (true, _) => output.say("no such memories"),
        (false, true) => output.say(&format!("would {} {what}", removal.verb)),
        (false, false) => output.say(&format!("{what} {}", removal.done)),
    }
    if let Some(path) = &result.backup {
        output.say(&format!("a backup is in {path}; `memo restore-backup` with this path brings them back"));
    }
    if told.as_ref() != Some(&result.caveats) {
        output.say_caveats(&result.caveats);
    }
    Ok(exit(&result))
}

fn exit(result: &RemoveResult) -> u8 {
    if result.memories.is_empty() { EXIT_NONE } else { 0 }
}
