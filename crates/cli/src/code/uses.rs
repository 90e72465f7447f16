//! Prints the uses of a definition, its callers and callees, and what depends on it.

mod direct_uses;
mod listed_tests;
mod transitive_uses;

use std::collections::HashSet;
use std::time::Duration;

use memod_base::paths::CallerDir;
use memod_base::types::last_part;
use memod_proto::{RefDefinition, UnsearchedFile, WhyCommit, WhyMemory, describe_unsearched};
use memod_terminal::text::{escape_for_display, format_commit_line, format_count, paint, shell_word};
use memod_terminal::{CliError, CommandContext, Output};

use super::why::print_memory;
use crate::args::UsesListArgs;
pub(crate) use direct_uses::print_uses;
pub(crate) use transitive_uses::{print_impact, print_related_definitions, print_tests};

/// Most definitions of one name that are printed before what was found.
const MOST_NAMED_DEFINITIONS: usize = 8;

/// Longest wait for an answer about uses. The daemon follows uses for at most eight seconds, and may start again if files change.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

fn print_definition(
    definition: &RefDefinition,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let file = context.layout.root.join(&definition.path);
    let path = output.styled_path(definition.cwd_path.as_ref().unwrap_or(&definition.path), &file);
    let (styles, (first, last)) = (output.styles, definition.lines);
    let lines = paint(styles.line, &format!("{first}-{last}"));
    output.write_line(&format!(
        "{path}:{lines}  {}",
        paint(styles.title, &escape_for_display(&definition.title))
    ))
}

/// Prints the definitions of a target before what was found. Those of a whole file would be too many.
fn print_target_definitions(
    definitions: &[RefDefinition],
    n_definitions: usize,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    if definitions.len() > MOST_NAMED_DEFINITIONS && !have_one_name(definitions) {
        return Ok(());
    }
    let shown = &definitions[..definitions.len().min(MOST_NAMED_DEFINITIONS)];
    shown.iter().try_for_each(|definition| print_definition(definition, context, output))?;
    match n_definitions.saturating_sub(shown.len()) {
        0 => Ok(()),
        n_more => output.write_line(&format!("and {n_more} more of that name")),
    }
}

/// Returns whether all definitions have the same name, whatever their types.
fn have_one_name(definitions: &[RefDefinition]) -> bool {
    let mut names = definitions.iter().map(|definition| last_part(&definition.title));
    names.next().is_some_and(|first| names.all(|name| name == first))
}

/// Writes to stderr how to ask about one of several definitions of a name.
fn report_ambiguous_name(verb: &str, definitions: &[RefDefinition], n_definitions: usize, output: &Output) {
    let [first, others @ ..] = definitions else { return };
    let is_other = |other: &RefDefinition| (&other.path, &other.title) != (&first.path, &first.title);
    if have_one_name(definitions) && others.iter().any(is_other) {
        let path = first.cwd_path.as_ref().unwrap_or(&first.path);
        let (path, title) = (shell_word(&escape_for_display(path)), escape_for_display(&first.title));
        output.write_note(&format!(
            "{n_definitions} definitions have that name; `memo {verb} {path}#{title}` asks about one alone"
        ));
    }
}

/// Number of entries to fetch where `--files` lists their paths.
const ALL_ENTRIES: usize = 1_000_000;
/// Default number of paths that `--files` lists.
const MOST_PATHS: usize = 100;

/// The path of a file as the daemon names it, and as the caller names it if that differs.
type PathSpellings<'a> = (&'a str, Option<&'a String>);

/// Returns the number of entries to fetch: with `--files`, `--limit` counts paths, so all entries are fetched.
fn count_entries_to_fetch(list: &UsesListArgs) -> Option<usize> {
    if list.files { Some(ALL_ENTRIES) } else { list.limit }
}

/// Returns the number of paths that `--files` lists at most.
fn most_paths(limit: Option<usize>) -> usize {
    limit.unwrap_or(MOST_PATHS)
}

/// Prints each path once, and at most `most` paths.
fn print_paths<'a>(
    paths: impl Iterator<Item = PathSpellings<'a>>,
    most: usize,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut known = HashSet::new();
    for (path, cwd_path) in paths.filter(|(path, _)| known.insert(*path)).take(most) {
        let file = context.layout.root.join(path);
        output.write_line(&output.styled_path(cwd_path.map_or(path, String::as_str), &file))?;
    }
    Ok(())
}

/// Writes to stderr how many files are listed, if there are more than `most`.
fn report_cut_file_list<'a>(paths: impl Iterator<Item = &'a str>, most: usize, output: &Output) {
    let n_paths = paths.collect::<HashSet<&str>>().len();
    if n_paths > most {
        output.write_note(&format!("{most} of {n_paths} files are listed; --limit lists more"));
    }
}

/// Writes to stderr the files in which there may be uses though none was found.
fn report_unsearched_files(unsearched: &[UnsearchedFile], n_more: usize, output: &Output) {
    if let Some(named) = describe_unsearched(unsearched, n_more) {
        output.write_note(&format!("not searched: {named}"));
    }
}

/// Writes to stderr the files that have the name but were read as text only.
fn report_files_read_as_text(files: &[UnsearchedFile], n_more: usize, dir: &CallerDir, output: &Output) {
    let n_files = (files.len() + n_more) as u64;
    let of_caller = files.iter().map(|file| UnsearchedFile {
        path: dir.relative_path(&file.path).unwrap_or_else(|| file.path.clone()),
        why: file.why.clone(),
    });
    if let Some(named) = describe_unsearched(&of_caller.collect::<Vec<_>>(), n_more) {
        let files = format_count(n_files, "file with this name was", "files with this name were");
        output.write_note(&format!("{files} read as text only: {named}"));
    }
}

/// Prints the memories and commits that `--with` adds to the listed definitions.
fn print_memories_and_commits(
    memories: &[WhyMemory],
    commits: &[WhyCommit],
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    if !memories.is_empty() {
        output.write_line("")?;
    }
    memories.iter().try_for_each(|memory| print_memory(memory, &context.caller_dir(), output))?;
    if !commits.is_empty() {
        output.write_line("")?;
    }
    commits.iter().try_for_each(|found| {
        let head = format_commit_line(&found.commit, &found.subject, output.styles);
        output.write_line(&head)
    })
}
