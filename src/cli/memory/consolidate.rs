//! How do many memories become one?

use clap::Args;

use super::{caller, notice, or_stdin, say_redacted, show};
use crate::cli::context::CommandContext;
use crate::cli::error::EXIT_NONE;
use crate::cli::output::Output;
use crate::cli::text::{count, escape};
use crate::cli::{CliError, CliResult};
use crate::proto::memory::{AutoConsolidateParams, ConsolidateParams, ConsolidateResult, Consolidated};

#[derive(Debug, Args)]
pub(in crate::cli) struct ConsolidateArgs {
    /// Ids, or beginnings of ids: 2 to 100
    #[arg(value_name = "ID", required_unless_present = "auto", conflicts_with = "auto")]
    ids: Vec<String>,
    /// A heading for the one that they become
    #[arg(long, value_name = "TEXT", conflicts_with = "auto")]
    title: Option<String>,
    /// What it says; `-` reads it from stdin
    #[arg(
        long,
        value_name = "TEXT",
        required_unless_present = "auto",
        conflicts_with = "auto",
        allow_hyphen_values = true
    )]
    summary: Option<String>,
    /// Where it belongs, if they are not all in one container; with --auto: only this one
    #[arg(short, long, value_name = "NAME")]
    container: Option<String>,
    /// Keep it although it looks like a credential
    #[arg(long, conflicts_with = "auto")]
    allow_secret: bool,
    /// Those that share container and first tag (of the alphabet) become one, which holds all their texts
    #[arg(long)]
    auto: bool,
    /// Fewest that become one
    #[arg(long, value_name = "N", default_value_t = 3, requires = "auto", value_parser = clap::value_parser!(u64).range(2..=100))]
    min_count: u64,
    /// Only memories of tier short
    #[arg(long, requires = "auto")]
    short_only: bool,
    /// Show what would be done, and change nothing
    #[arg(long, requires = "auto")]
    dry_run: bool,
}

/// Exits with 1 when there are none, or not all that were found became one.
pub(in crate::cli) fn consolidate(
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
    notice(result.notice.as_ref(), output);
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
