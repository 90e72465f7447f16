//! Prints where a definition is used.

use std::time::Duration;

use crate::proto::{RefDefinition, RefUse, RefsParams, RefsResult};

use super::args::RefsArgs;
use super::context::CommandContext;
use super::error::{CliError, CliResult};
use super::output::Output;
use super::text::{behind, count, escape, paint};

/// Exits with 1 when nothing has that name, or nothing uses it.
pub(super) fn refs(typed: RefsArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let config = crate::config::load(Some(&context.layout))?.config;
    let wait_ms = typed.fresh.wait_ms.unwrap_or(config.search.wait_ms);
    let mut client = context.connect()?;
    client.answer_within(Duration::from_secs(30) + Duration::from_millis(wait_ms));
    let params = RefsParams {
        cwd: context.cwd.clone(),
        target: typed.target,
        limit: Some(typed.limit),
        sync: typed.fresh.sync.into(),
        wait_ms: Some(wait_ms),
    };
    let result: RefsResult = client.call("refs", &params)?;
    output.value(&result, |output| print(&result, context, output))?;
    if !output.json {
        output.flush()?;
        notes(&result, output);
    }
    Ok(u8::from(result.uses.is_empty()))
}

fn print(result: &RefsResult, context: &CommandContext, output: &mut Output) -> Result<(), CliError> {
    for definition in &result.definitions {
        print_definition(definition, context, output)?;
    }
    for of_file in result.uses.chunk_by(|one, other| one.path == other.path) {
        output.line("")?;
        let first = &of_file[0];
        let file = context.layout.root.join(&first.path);
        let path = output.path(first.cwd_path.as_ref().unwrap_or(&first.path), &file);
        output.line(&path)?;
        let width = of_file.iter().map(|of| of.line.to_string().len()).max().unwrap_or(1);
        // A line is shown once, however often it uses the name.
        let mut of_lines = of_file.chunk_by(|one, other| one.line == other.line);
        of_lines.try_for_each(|of_line| print_use(&of_line[0], width, output))?;
    }
    Ok(())
}

fn print_definition(
    definition: &RefDefinition,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let file = context.layout.root.join(&definition.path);
    let path = output.path(definition.cwd_path.as_ref().unwrap_or(&definition.path), &file);
    let (styles, (first, last)) = (output.styles, definition.lines);
    let lines = paint(styles.line, &format!("{first}-{last}"));
    output.line(&format!("{path}:{lines}  {}", paint(styles.title, &escape(&definition.title))))
}

fn print_use(of: &RefUse, width: usize, output: &mut Output) -> Result<(), CliError> {
    let number = paint(output.styles.line, &format!("{:width$}", of.line));
    let doubt = if of.certainty == "exact" { String::new() } else { format!("  ({})", of.certainty) };
    let within =
        of.within.as_ref().map(|title| format!("  in {}", paint(output.styles.title, &escape(title))));
    output.line(&format!("  {number}  {}{}{doubt}", escape(&of.text), within.unwrap_or_default()))
}

/// Says what a result lacks.
fn notes(result: &RefsResult, output: &Output) {
    let counts = result.counts;
    let n_found = counts.exact + counts.likely + counts.by_name;
    if n_found == 0 {
        output.say("no use of it was found; `memo search` finds where it is mentioned");
    } else if n_found > result.uses.len() {
        let shown = count(result.uses.len() as u64, "use is", "uses are");
        output.say(&format!("{shown} shown of {n_found}; --limit shows more"));
    }
    if !result.fresh {
        output.say(&behind(result.reason.as_deref()));
    }
}
