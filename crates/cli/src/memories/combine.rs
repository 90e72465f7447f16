//! Combines several memories into one.

use memod_proto::memory::{AutoConsolidateParams, ConsolidateParams, ConsolidateResult, Consolidated};

use super::request::{caller, or_stdin, say_redacted};
use super::show;
use crate::args::ConsolidateArgs;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, EXIT_NONE};
use crate::output::Output;
use crate::text::{count, escape};

/// Exits with 1 when nothing was combined, or not everything that was found.
pub(crate) fn consolidate(
    typed: ConsolidateArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let result: ConsolidateResult = match typed.auto {
        true => {
            let params = AutoConsolidateParams {
                caller: caller(context),
                container: typed.container,
                min_count: usize::try_from(typed.min_count).unwrap_or(usize::MAX),
                short_only: typed.short_only,
                dry_run: typed.dry_run,
            };
            context.connect()?.call("memory.auto_consolidate", &params)?
        }
        false => {
            let params = ConsolidateParams {
                caller: caller(context),
                ids: typed.ids,
                title: typed.title,
                summary: or_stdin(typed.summary.unwrap_or_default())?,
                container: typed.container,
                allow_secret: typed.allow_secret,
            };
            context.connect()?.call("memory.consolidate", &params)?
        }
    };
    output.value(&result, |output| {
        result.groups.iter().try_for_each(|group| write(group, result.dry_run, output))?;
        output.flush()?;
        say_redacted(result.redacted, output);
        if result.groups.is_empty() {
            output.say("no memories share container and first tag; nothing was changed");
        }
        Ok(())
    })?;
    output.say_caveats(&result.caveats);
    let is_done = !result.groups.is_empty() && result.groups.iter().all(|group| group.refused.is_none());
    Ok(if is_done { 0 } else { EXIT_NONE })
}

fn write(group: &Consolidated, dry_run: bool, output: &mut Output) -> Result<(), CliError> {
    let sources = count(group.sources.len() as u64, "memory", "memories");
    match (&group.refused, dry_run) {
        (Some(why), _) => {
            output.line(&format!("{}  not done: {}", escape(&group.memory.line), escape(why)))?;
        }
        (None, true) => output.line(&format!("{}  would hold {sources}", escape(&group.memory.line)))?,
        (None, false) => show::brief(&group.memory, output)?,
    }
    for source in &group.sources {
        output.line(&format!("  {}", show::brief_line(source, output)))?;
    }
    Ok(())
}
