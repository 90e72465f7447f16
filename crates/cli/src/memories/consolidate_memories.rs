//! Runs `memo consolidate`: combines several memories into one.

use memod_proto::memory::{AutoConsolidateParams, ConsolidateParams, ConsolidateResult, ConsolidatedGroup};
use memod_terminal::text::{escape_for_display, format_count};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::print_memories;
use super::request::{new_caller, read_text_or_stdin, report_redacted_parts};
use crate::args::ConsolidateArgs;

/// Combines memories. Exits with 1 when no group was combined, or when a group was refused.
pub(crate) fn consolidate_memories(
    typed: ConsolidateArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let result: ConsolidateResult = match typed.auto {
        true => {
            let params = AutoConsolidateParams {
                caller: new_caller(context),
                container: typed.container,
                min_count: usize::try_from(typed.min_count).unwrap_or(usize::MAX),
                short_only: typed.short_only,
                dry_run: typed.dry_run,
            };
            context.connect()?.call("memory.auto_consolidate", &params)?
        }
        false => {
            let params = ConsolidateParams {
                caller: new_caller(context),
                ids: typed.ids,
                title: typed.title,
                summary: read_text_or_stdin(typed.summary.unwrap_or_default())?,
                container: typed.container,
                allow_secret: typed.allow_secret,
            };
            context.connect()?.call("memory.consolidate", &params)?
        }
    };
    output.write_result(&result, |output| {
        result.groups.iter().try_for_each(|group| print_group(group, result.dry_run, output))?;
        output.flush()?;
        report_redacted_parts(result.redacted, output);
        if result.groups.is_empty() {
            output.write_note("no memories share container and first tag; nothing was changed");
        }
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    let is_done = !result.groups.is_empty() && result.groups.iter().all(|group| group.refused.is_none());
    Ok(if is_done { 0 } else { EXIT_NOTHING_FOUND })
}

fn print_group(group: &ConsolidatedGroup, dry_run: bool, output: &mut Output) -> Result<(), CliError> {
    let sources = format_count(group.sources.len() as u64, "memory", "memories");
    match (&group.refused, dry_run) {
        (Some(why), _) => {
            output.write_line(&format!(
                "{}  not combined: {}",
                escape_for_display(&group.memory.line),
                escape_for_display(why)
            ))?;
        }
        (None, true) => output
            .write_line(&format!("{}  would combine {sources}", escape_for_display(&group.memory.line)))?,
        (None, false) => print_memories::print_memory_brief(&group.memory, output)?,
    }
    for source in &group.sources {
        output.write_line(&format!("  {}", print_memories::format_memory_brief(source, output)))?;
    }
    Ok(())
}
