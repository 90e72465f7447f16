//! Prints what uses a definition, what it calls, and what depends on it.

use std::time::Duration;

use memod_proto::{ReachParams, ReachResult, ReachedDefinition};

use super::{PATIENCE, n_asked, note_files, print_companions, print_definition, print_files};
use crate::args::{ImpactArgs, ReachArgs, ReachListArgs};
use crate::budget::fit_rows;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, EXIT_NONE};
use crate::output::Output;
use crate::text::{behind, count, escape, paint};

/// How what was found is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Each below what led to it, with the line of the use.
    Tree,
    /// One line each.
    Flat,
}

/// Exits with 1 when nothing has that name, or nothing was found.
pub(crate) fn reach(
    method: &str,
    typed: ReachArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let params = ReachParams { target: Some(typed.target), depth: typed.depth, ..ReachParams::default() };
    let form = if method == "implements" { Form::Flat } else { Form::Tree };
    ask(method, (params, form), &typed.list, context, output)
}

/// As [`reach`], of what depends on a definition, a file or a change.
pub(crate) fn impact(
    method: &str,
    typed: ImpactArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let params = ReachParams {
        target: typed.target,
        since: typed.since,
        depth: typed.depth,
        ..ReachParams::default()
    };
    ask(method, (params, Form::Flat), &typed.list, context, output)
}

fn ask(
    method: &str,
    (params, form): (ReachParams, Form),
    list: &ReachListArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let config = memod_config::load(Some(&context.layout))?.config;
    let wait_ms = list.fresh.wait_ms.unwrap_or(config.search.wait_ms);
    let mut client = context.connect()?;
    client.answer_within(PATIENCE + Duration::from_millis(wait_ms));
    let params = ReachParams {
        cwd: context.cwd.clone(),
        limit: Some(n_asked(list)),
        with: list.with.iter().copied().map(Into::into).collect(),
        sync: list.fresh.sync.into(),
        wait_ms: Some(wait_ms),
        ..params
    };
    let mut result: ReachResult = client.call(method, &params)?;
    let print = |result: &ReachResult, output: &mut Output| {
        if !list.files {
            return print(result, form, context, output);
        }
        let paths = result.found.iter().map(|found| (found.path.as_str(), found.cwd_path.as_ref()));
        print_files(paths, list.limit, context, output)
    };
    if let Some(tokens) = list.budget {
        let first = |n: usize| ReachResult {
            found: result.found.iter().take(n).cloned().collect(),
            ..result.clone()
        };
        let n_chars = |n| output.n_chars(&first(n), |output| print(&first(n), output));
        let n_fit = fit_rows(result.found.len(), tokens, n_chars);
        result.found.truncate(n_fit);
    }
    output.list(&result, |output| print(&result, output))?;
    if !output.json {
        output.flush()?;
        if list.files {
            note_files(result.found.iter().map(|found| found.path.as_str()), list.limit, output);
        }
        notes(method, &result, output);
    }
    Ok(if result.n_found == 0 { EXIT_NONE } else { 0 })
}

fn print(
    result: &ReachResult,
    form: Form,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    if let [only] = result.definitions.as_slice() {
        print_definition(only, context, output)?;
        output.line("")?;
    }
    for removed in &result.removed {
        output.line(&format!("removed  {}", escape(removed)))?;
    }
    if !result.removed.is_empty() {
        output.line("")?;
    }
    match form {
        Form::Flat => result.found.iter().try_for_each(|found| print_flat(found, context, output))?,
        Form::Tree => print_below(None, 0, result, context, output)?,
    }
    print_companions(&result.memories, &result.commits, context, output)
}

/// Prints what was reached from a definition, each with what was reached from it.
fn print_below(
    via: Option<usize>,
    depth: usize,
    result: &ReachResult,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let is_root = |found: &ReachedDefinition| found.via.is_none_or(|via| via >= result.found.len());
    for (place, found) in result.found.iter().enumerate() {
        let is_here = via.map_or_else(|| is_root(found), |via| found.via == Some(via));
        if is_here {
            let indent = "  ".repeat(depth);
            output.line(&format!("{indent}{}{}", place_of(found, context, output), doubt(found)))?;
            let line = paint(output.styles.line, &found.line.to_string());
            output.line(&format!("{indent}  {line}  {}", escape(&found.text)))?;
            print_below(Some(place), depth + 1, result, context, output)?;
        }
    }
    Ok(())
}

fn print_flat(
    found: &ReachedDefinition,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let steps = if found.depth > 1 { format!("  {} steps", found.depth) } else { String::new() };
    let test = if found.is_test { "  test" } else { "" };
    output.line(&format!("{}{test}{steps}{}", place_of(found, context, output), doubt(found)))
}

fn place_of(found: &ReachedDefinition, context: &CommandContext, output: &Output) -> String {
    let file = context.layout.root.join(&found.path);
    let path = output.path(found.cwd_path.as_ref().unwrap_or(&found.path), &file);
    let (styles, (first, last)) = (output.styles, found.lines);
    match &found.title {
        Some(title) => {
            let lines = paint(styles.line, &format!("{first}-{last}"));
            format!("{path}:{lines}  {}", paint(styles.title, &escape(title)))
        }
        None => format!("{path}:{}", paint(styles.line, &first.to_string())),
    }
}

fn doubt(found: &ReachedDefinition) -> String {
    if found.certainty == "exact" { String::new() } else { format!("  ({})", found.certainty) }
}

/// Says what a result lacks.
fn notes(method: &str, result: &ReachResult, output: &Output) {
    if let Some(cut) = &result.cut {
        output.say(&format!("not complete: {cut}"));
    }
    match (result.n_found, result.n_definitions) {
        // What was not looked at may use it.
        (0, _) if result.cut.is_some() => {}
        (0, 0) => output.say("no definition has changed"),
        (0, _) => output.say(nothing(method)),
        (n_found, _) if n_found > result.found.len() => {
            let shown = count(result.found.len() as u64, "is", "are");
            output.say(&format!("{shown} shown of {n_found}; --limit and --budget show more"));
        }
        _ => {}
    }
    if result.n_untold > 0 {
        let calls = count(result.n_untold as u64, "call is", "calls are");
        output.say(&format!(
            "{calls} not listed: of what is defined elsewhere, or of a name that many definitions have"
        ));
    }
    if !result.fresh {
        output.say(&behind(result.reason.as_deref()));
    }
}

fn nothing(method: &str) -> &'static str {
    match method {
        "callers" => "nothing calls it that is known; `memo refs` lists all uses",
        "callees" => "it calls nothing that is defined here",
        "implements" => "no type names it as its base",
        "tests" => {
            "no test reaches it that is known; `memo search --only tests NAME` finds those that mention it"
        }
        _ => "nothing is known to depend on it",
    }
}
