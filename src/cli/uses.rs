//! Prints what uses a definition, what it calls, and what depends on it.

mod reach;
mod refs;

use std::collections::HashSet;
use std::time::Duration;

use super::context::CommandContext;
use super::error::CliError;
use super::output::Output;
use super::text::{commit_head, escape, paint};
use super::why::print_memory;
use crate::proto::{RefDefinition, WhyCommit, WhyMemory};
pub(super) use reach::{impact, reach};
pub(super) use refs::refs;

/// The daemon follows uses for at most eight seconds, and may repeat that if files change meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// Prints each path once, given as the daemon and the caller name it.
fn print_files<'a>(
    paths: impl Iterator<Item = (&'a str, Option<&'a String>)>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut known = HashSet::new();
    for (path, cwd_path) in paths.filter(|(path, _)| known.insert(*path)) {
        let file = context.layout.root.join(path);
        output.line(&output.path(cwd_path.map_or(path, String::as_str), &file))?;
    }
    Ok(())
}

/// Prints memories and commits about what was listed.
fn print_companions(
    memories: &[WhyMemory],
    commits: &[WhyCommit],
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    if !memories.is_empty() {
        output.line("")?;
    }
    memories.iter().try_for_each(|memory| print_memory(memory, &context.dir(), output))?;
    if !commits.is_empty() {
        output.line("")?;
    }
    commits.iter().try_for_each(|found| {
        let head = commit_head(&found.commit, &found.subject, output.styles);
        output.line(&head)
    })
}
