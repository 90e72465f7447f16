//! Runs the verbs that archive and delete memories.

use memod_proto::memory::{RemoveParams, RemoveResult, Selection};
use memod_terminal::text::format_count;
use memod_terminal::{CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::print_memories;
use super::request::new_caller;
use super::unknown_filters::explain_unknown_filters;
use crate::args::{RemovalConfirmArgs, RemoveArgs};

/// The hint of the error if no user can be asked for a confirmation.
pub(crate) const CONFIRM_REMOVAL_HINT: &str = "--dry-run shows what would be removed, --yes does it";

/// A verb that removes memories.
struct RemovalVerb {
    method: &'static str,
    verb: &'static str,
    done_message: &'static str,
    none_message: &'static str,
    /// Whether the daemon removes only memories that a dry run has shown before.
    requires_dry_run: bool,
}

pub(crate) fn forget_memories(typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let done = "forgotten; `memo restore` brings it back, `memo list --archived` shows the archive";
    let removal = RemovalVerb {
        method: "memory.forget",
        verb: "forget",
        done_message: done,
        none_message: "no such memories",
        requires_dry_run: false,
    };
    remove_memories(&removal, typed.filter.into_selection(typed.ids), &typed.consent, context, output)
}

pub(crate) fn purge_memories(typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let removal = RemovalVerb {
        method: "memory.purge",
        verb: "permanently delete",
        done_message: "deleted for good",
        none_message: "the archive has no such memories; `memo forget` archives a memory, `memo forget purge` then deletes it",
        requires_dry_run: true,
    };
    remove_memories(&removal, typed.filter.into_selection(typed.ids), &typed.consent, context, output)
}

pub(crate) fn reset_memories(
    typed: &RemovalConfirmArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let removal = RemovalVerb {
        method: "memory.reset",
        verb: "permanently delete",
        done_message: "deleted for good",
        none_message: "there are no memories",
        requires_dry_run: true,
    };
    remove_memories(&removal, Selection::default(), typed, context, output)
}

/// Shows the memories to remove, asks for a confirmation, and removes exactly these memories. Exits with 1 when there are none.
fn remove_memories(
    removal: &RemovalVerb,
    selection: Selection,
    consent: &RemovalConfirmArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let is_asked = !consent.yes && !consent.dry_run;
    let shows_first = !consent.yes || removal.requires_dry_run;
    let mut params =
        RemoveParams { caller: new_caller(context), selection, dry_run: shows_first, expect: None };
    let mut client = context.connect()?;
    let mut result: RemoveResult = client.call(removal.method, &params)?;
    // Check for a terminal only after the dry run, so that an unknown id, or that there is nothing to remove, is reported first.
    if is_asked && !result.memories.is_empty() {
        let verb = match removal.method.trim_start_matches("memory.") {
            "forget" => "forget".to_owned(),
            subcommand => format!("forget {subcommand}"),
        };
        output.require_terminal(&format!("`memo {verb}`"), CONFIRM_REMOVAL_HINT)?;
    }
    if !output.write_json {
        result.memories.iter().try_for_each(|memory| print_memories::print_memory_brief(memory, output))?;
        output.flush()?;
    }
    // If no question follows the dry run, the caveats of the removal itself are printed later.
    let caveats = (is_asked || !shows_first || consent.dry_run).then(|| result.caveats.clone());
    caveats.iter().for_each(|caveats| output.write_caveats(caveats));
    let memories = format_count(result.memories.len() as u64, "memory", "memories");
    if is_asked
        && !result.memories.is_empty()
        && !output.ask_for_confirmation(&format!("{} {memories}?", removal.verb))?
    {
        output.write_note("nothing was changed");
        return Ok(0);
    }
    if shows_first && !consent.dry_run && (consent.yes || !result.memories.is_empty()) {
        (params.dry_run, params.expect) = (false, Some(result.digest));
        result = client.call(removal.method, &params)?;
    }
    if output.write_json {
        output.is_json_object(&result)?;
        return Ok(exit_status_of_removal(&result));
    }
    output.capture_result(&result)?;
    match (result.memories.is_empty(), result.dry_run) {
        (true, _) => {
            output.write_note(removal.none_message);
            if removal.method == "memory.forget" {
                let Selection { container, tags, .. } = &params.selection;
                explain_unknown_filters(container.as_deref(), tags, context, output);
            }
        }
        (false, true) => output.write_note(&format!("would {} {memories}", removal.verb)),
        (false, false) => output.write_note(&format!("{memories} {}", removal.done_message)),
    }
    if let Some(path) = &result.backup {
        output.write_note(&format!(
            "a backup is in {path}; `memo backup restore` with this path restores the memories"
        ));
    }
    if caveats.as_ref() != Some(&result.caveats) {
        output.write_caveats(&result.caveats);
    }
    Ok(exit_status_of_removal(&result))
}

fn exit_status_of_removal(result: &RemoveResult) -> u8 {
    if result.memories.is_empty() { EXIT_NOTHING_FOUND } else { 0 }
}
