//! Prints the callers and callees of a definition, and what depends on it.

use std::path::Path;
use std::time::Duration;

use memod_proto::{ReachParams, ReachResult, ReachedDefinition};
use memod_terminal::text::{escape_for_display, format_count, not_up_to_date_message, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::listed_tests::{print_neighbours, print_tests_by_file};
use super::{
    ANSWER_TIMEOUT, MOST_NAMED_DEFINITIONS, count_entries_to_fetch, have_one_name, most_paths,
    print_memories_and_commits, print_paths, print_target_definitions, report_ambiguous_name,
    report_cut_file_list, report_files_read_as_text, report_unsearched_files,
};
use crate::args::{ImpactArgs, TestsArgs, UsesArgs, UsesListArgs};
use crate::code::typed_revision::is_revision_or_time;
use crate::searching::fit_to_budget::count_fitting_rows;

/// How the definitions are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UsesForm {
    /// Each definition below the one from which it was reached, with the line of the use.
    Tree,
    /// A line for each definition, without nesting.
    Flat,
    /// The definitions of each file below its path.
    ByFile,
    /// Tests: those of each file below its path, with what replaces and names their subject.
    Tests,
}

/// Prints the callers, callees or implementations of a definition. Exits with 1 when nothing has that name, or nothing was
/// found.
pub(crate) fn print_related_definitions(
    method: &str,
    typed: UsesArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let params = ReachParams { target: Some(typed.target), depth: typed.depth, ..ReachParams::default() };
    let form = if method == "implements" { UsesForm::Flat } else { UsesForm::Tree };
    fetch_and_print_definitions(method, params, form, &typed.list, context, output)
}

/// As [`print_related_definitions`], for what depends on a definition, a file or a change.
pub(crate) fn print_impact(typed: ImpactArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = ReachParams {
        target: typed.target,
        since: typed.since,
        depth: typed.depth,
        all: typed.all,
        ..ReachParams::default()
    };
    let params = read_revision(params, context, output);
    fetch_and_print_definitions("impact", params, UsesForm::ByFile, &typed.list, context, output)
}

/// As [`print_impact`], for the tests among them.
pub(crate) fn print_tests(typed: TestsArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let words = typed.words.join(" ");
    let params = ReachParams {
        target: typed.target,
        query: (!words.is_empty()).then_some(words),
        since: typed.since,
        depth: typed.depth,
        all: typed.all,
        ..ReachParams::default()
    };
    let params = read_revision(params, context, output);
    fetch_and_print_definitions("tests", params, UsesForm::Tests, &typed.list, context, output)
}

/// Returns the params with a target that can only be a revision as the older side of a comparison.
fn read_revision(mut params: ReachParams, context: &CommandContext, output: &mut Output) -> ReachParams {
    if let Some(revision) =
        params.target.take_if(|target| is_revision_or_time(target, Path::new(&context.cwd)))
    {
        output.write_note(&format!("understood as `--since {}`", escape_for_display(&revision)));
        params.since = Some(revision);
    }
    params
}

fn fetch_and_print_definitions(
    method: &str,
    params: ReachParams,
    form: UsesForm,
    list: &UsesListArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let config = memod_config::load_settings(Some(&context.layout))?.config;
    let wait_ms = list.fresh.chosen_wait_ms(&config);
    let mut client = context.connect()?;
    client.set_answer_limit(ANSWER_TIMEOUT + Duration::from_millis(wait_ms.unwrap_or_default()));
    let params = ReachParams {
        cwd: context.cwd.clone(),
        limit: count_entries_to_fetch(list),
        with: list.with.iter().copied().map(Into::into).collect(),
        sync: list.fresh.sync.into(),
        wait_ms,
        ..params
    };
    let mut result: ReachResult = client.call(method, &params)?;
    if let Some(tokens) = list.budget {
        let n_fit = count_fitting_rows(result.found.len(), tokens, |n| {
            let first = first_definitions(&result, n);
            output
                .count_chars(&first, |output| print_definitions_or_files(&first, form, list, context, output))
        });
        result.found.truncate(n_fit);
    }
    output.write_list(&result, |output| print_definitions_or_files(&result, form, list, context, output))?;
    if !output.write_json {
        output.flush()?;
        if list.files {
            let paths = result.found.iter().map(|found| found.path.as_str());
            report_cut_file_list(paths, most_paths(list.limit), output);
        }
        report_ambiguous_name(method, &result.definitions, result.n_definitions, output);
        report_incomplete_definitions(method, &result, context, output);
    }
    Ok(if result.n_found == 0 { EXIT_NOTHING_FOUND } else { 0 })
}

/// Returns the result with only its first `n` definitions.
fn first_definitions(result: &ReachResult, n: usize) -> ReachResult {
    ReachResult { found: result.found.iter().take(n).cloned().collect(), ..result.clone() }
}

/// Prints the definitions, or with `--files` the paths of their files.
fn print_definitions_or_files(
    result: &ReachResult,
    form: UsesForm,
    list: &UsesListArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    if !list.files {
        return print_definitions(result, form, context, output);
    }
    let paths = result.found.iter().map(|found| (found.path.as_str(), found.cwd_path.as_ref()));
    print_paths(paths, most_paths(list.limit), context, output)
}

fn print_definitions(
    result: &ReachResult,
    form: UsesForm,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let is_printed = result.definitions.len() <= MOST_NAMED_DEFINITIONS || have_one_name(&result.definitions);
    if is_printed && !result.definitions.is_empty() {
        print_target_definitions(&result.definitions, result.n_definitions, context, output)?;
        output.write_line("")?;
    }
    for removed in &result.removed {
        output.write_line(&format!("removed  {}", escape_for_display(removed)))?;
    }
    if !result.removed.is_empty() {
        output.write_line("")?;
    }
    match form {
        UsesForm::Flat => {
            result.found.iter().try_for_each(|found| print_definition_line(found, context, output))?;
        }
        UsesForm::ByFile => print_definitions_by_file(result, context, output)?,
        UsesForm::Tests => {
            print_tests_by_file(result, context, output)?;
            print_neighbours(result, context, output)?;
        }
        UsesForm::Tree => print_uses_below(None, 0, result, context, output)?,
    }
    print_memories_and_commits(&result.memories, &result.commits, context, output)
}

/// Prints the definitions that were reached from the definition with the index `via`, or from the target if `via` is `None`. Below
/// each, prints those that were reached from it.
fn print_uses_below(
    via: Option<usize>,
    depth: usize,
    result: &ReachResult,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let n_found = result.found.len();
    for (index, found) in result.found.iter().enumerate() {
        let is_child = match via {
            Some(via) => found.via == Some(via),
            None => found.via.is_none_or(|via| via >= n_found),
        };
        if is_child {
            let indent = "  ".repeat(depth);
            // The text of a callee is in the file of the callee, and the call is in that of its caller.
            let call =
                found.text_line.map(|_| format!("  called on line {}", found.line)).unwrap_or_default();
            output.write_line(&format!(
                "{indent}{}{call}{}",
                describe_location(found, context, output),
                describe_certainty(found)
            ))?;
            let line = paint(output.styles.line, &found.text_line.unwrap_or(found.line).to_string());
            output.write_line(&format!("{indent}  {line}  {}", escape_for_display(&found.text)))?;
            print_uses_below(Some(index), depth + 1, result, context, output)?;
        }
    }
    Ok(())
}

/// Returns the path of the file of a definition, relative to the caller's directory, with a link to the file.
pub(super) fn style_file_path(
    found: &ReachedDefinition,
    context: &CommandContext,
    output: &Output,
) -> String {
    let file = context.layout.root.join(&found.path);
    output.styled_path(found.cwd_path.as_ref().unwrap_or(&found.path), &file)
}

/// Prints the path of each file, and below it a line for each of its definitions.
fn print_definitions_by_file(
    result: &ReachResult,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    for of_file in result.found.chunk_by(|one, other| one.path == other.path) {
        output.write_line(&style_file_path(&of_file[0], context, output))?;
        let lines = of_file.iter().map(describe_lines).collect::<Vec<_>>();
        let width = lines.iter().map(String::len).max().unwrap_or_default();
        for (found, lines) in of_file.iter().zip(lines) {
            let lines = paint(output.styles.line, &format!("{lines:>width$}"));
            let title = found.title.as_deref().unwrap_or("(top of the file)");
            let title = paint(output.styles.title, &escape_for_display(title));
            output.write_line(&format!("  {lines}  {title}{}", describe_step(found)))?;
        }
    }
    Ok(())
}

/// Returns the lines of a definition; for the top of a file, the line of the use.
pub(super) fn describe_lines(found: &ReachedDefinition) -> String {
    match found.lines {
        (first, last) if found.title.is_some() || found.test.is_some() => format!("{first}-{last}"),
        (first, _) => first.to_string(),
    }
}

/// Returns whether a definition is a test, how many uses led to it, how sure they are, and which removed name it uses.
fn describe_step(found: &ReachedDefinition) -> String {
    let steps = if found.depth > 1 { format!("  {} steps", found.depth) } else { String::new() };
    let test = if found.is_test { "  test" } else { "" };
    let old_name = found.old_name.as_ref();
    let old_name =
        old_name.map(|name| format!("  still uses {}", escape_for_display(name))).unwrap_or_default();
    format!("{test}{steps}{}{old_name}", describe_certainty(found))
}

fn print_definition_line(
    found: &ReachedDefinition,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    output.write_line(&format!("{}{}", describe_location(found, context, output), describe_step(found)))
}

fn describe_location(found: &ReachedDefinition, context: &CommandContext, output: &Output) -> String {
    let file = context.layout.root.join(&found.path);
    let path = output.styled_path(found.cwd_path.as_ref().unwrap_or(&found.path), &file);
    let lines = paint(output.styles.line, &describe_lines(found));
    let title = found.title.as_ref().map(|title| paint(output.styles.title, &escape_for_display(title)));
    let title = title.map(|title| format!("  {title}")).unwrap_or_default();
    format!("{path}:{lines}{title}")
}

pub(super) fn describe_certainty(found: &ReachedDefinition) -> String {
    if found.certainty == "exact" { String::new() } else { format!("  ({})", found.certainty) }
}

/// Notes on stderr whether the result is incomplete or out of date.
fn report_incomplete_definitions(
    method: &str,
    result: &ReachResult,
    context: &CommandContext,
    output: &Output,
) {
    if let Some(cut) = &result.cut {
        output.write_note(&format!("not complete: {cut}"));
    }
    match (result.n_found, result.n_definitions) {
        // Nothing was found, but not every file was searched.
        (0, _) if result.cut.is_some() => {}
        (0, 0) => output.write_note("no definition has changed"),
        (0, _) => output.write_note(nothing_found_message(method)),
        (n_found, _) if n_found > result.found.len() => {
            let shown = format_count(result.found.len() as u64, "is", "are");
            output.write_note(&format!("{shown} shown of {n_found}; --limit and --budget show more"));
        }
        _ => {}
    }
    report_unsearched_files(&result.unsearched, result.n_more_unsearched, output);
    report_files_read_as_text(
        &result.read_as_text,
        result.n_more_read_as_text,
        &context.caller_dir(),
        output,
    );
    if result.n_by_name > 0 {
        let more = format_count(result.n_by_name as u64, "more has", "more have");
        output.write_note(&format!("{more} only a name in common: --all lists them"));
    }
    if result.n_similar > 0 {
        let more = format_count(result.n_similar as u64, "file has", "files have");
        output.write_note(&format!("{more} only similar words: --all lists them"));
    }
    if result.n_passing > 0 {
        let more = format_count(result.n_passing as u64, "more definition uses", "more definitions use");
        output.write_note(&format!(
            "{more} it without a call, for example as an argument: `memo refs` lists all uses"
        ));
    }
    if result.n_untold > 0 {
        let calls = format_count(result.n_untold as u64, "call is", "calls are");
        output.write_note(&format!(
            "{calls} not listed, because the callee is defined elsewhere or many definitions have its name"
        ));
    }
    if !result.fresh {
        output.write_note(&not_up_to_date_message(result.reason.as_deref()));
    }
}

fn nothing_found_message(method: &str) -> &'static str {
    match method {
        "callers" => "no caller is known; `memo refs` lists all uses",
        "callees" => "the target calls no definition of this repository",
        "implements" => "no type extends or implements the target",
        "tests" => {
            "no test is known to reach the target; `memo search --only tests NAME` finds tests that name it"
        }
        _ => "no dependent definition is known",
    }
}
