//! Prints where a definition is used.

use std::time::Duration;

use memod_proto::{RefUse, RefsParams, RefsResult};

use super::{PATIENCE, n_asked, note_files, print_companions, print_definition, print_files};
use crate::args::RefsArgs;
use crate::budget::fit_rows;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, EXIT_NONE};
use crate::output::Output;
use crate::text::{behind, count, escape, paint};

/// Exits with 1 when nothing has that name, or nothing uses it.
pub(crate) fn refs(typed: RefsArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let config = memod_config::load(Some(&context.layout))?.config;
    let wait_ms = typed.list.fresh.wait_ms.unwrap_or(config.search.wait_ms);
    let mut client = context.connect()?;
    client.answer_within(PATIENCE + Duration::from_millis(wait_ms));
    let params = RefsParams {
        cwd: context.cwd.clone(),
        target: typed.target,
        limit: Some(n_asked(&typed.list)),
        with: typed.list.with.into_iter().map(Into::into).collect(),
        sync: typed.list.fresh.sync.into(),
        wait_ms: Some(wait_ms),
    };
    let mut result: RefsResult = client.call("refs", &params)?;
    let (is_files, most) = (typed.list.files, typed.list.limit);
    let print = |result: &RefsResult, output: &mut Output| {
        if !is_files {
            return print(result, context, output);
        }
        let paths = result.uses.iter().map(|of| (of.path.as_str(), of.cwd_path.as_ref()));
        print_files(paths, most, context, output)
    };
    if let Some(tokens) = typed.list.budget {
        let first =
            |n: usize| RefsResult { uses: result.uses.iter().take(n).cloned().collect(), ..result.clone() };
        let n_chars = |n| output.n_chars(&first(n), |output| print(&first(n), output));
        let n_fit = fit_rows(result.uses.len(), tokens, n_chars);
        result.uses.truncate(n_fit);
    }
    output.list(&result, |output| print(&result, output))?;
    if !output.json {
        output.flush()?;
        if is_files {
            note_files(result.uses.iter().map(|of| of.path.as_str()), most, output);
        }
        notes(&result, output);
    }
    Ok(if n_found(&result) == 0 { EXIT_NONE } else { 0 })
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
    print_companions(&result.memories, &result.commits, context, output)
}

fn print_use(of: &RefUse, width: usize, output: &mut Output) -> Result<(), CliError> {
    let number = paint(output.styles.line, &format!("{:width$}", of.line));
    let doubt = if of.certainty == "exact" { String::new() } else { format!("  ({})", of.certainty) };
    let within =
        of.within.as_ref().map(|title| format!("  in {}", paint(output.styles.title, &escape(title))));
    output.line(&format!("  {number}  {}{}{doubt}", escape(&of.text), within.unwrap_or_default()))
}

/// Returns the number of uses, also of those that are not shown.
fn n_found(result: &RefsResult) -> usize {
    let counts = result.counts;
    counts.exact + counts.likely + counts.by_name
}

/// Says what a result lacks.
fn notes(result: &RefsResult, output: &Output) {
    if let Some(cut) = &result.cut {
        output.say(&format!("not complete: {cut}"));
    }
    let n_found = n_found(result);
    if n_found == 0 && result.cut.is_none() {
        output.say("no use of it was found; `memo search` finds where it is mentioned");
    } else if n_found > result.uses.len() {
        let shown = count(result.uses.len() as u64, "use is", "uses are");
        output.say(&format!("{shown} shown of {n_found}; --limit and --budget show more"));
    }
    if !result.fresh {
        output.say(&behind(result.reason.as_deref()));
    }
}
