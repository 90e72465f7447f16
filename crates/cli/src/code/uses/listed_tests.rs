//! Prints tests by file, the lines that replace what they test by a fake, and the documents that name it.

use memod_proto::{NeighbourLine, ReachResult, ReachedDefinition};
use memod_terminal::text::{escape_for_display, paint};
use memod_terminal::{CliError, CommandContext, Output};

use super::transitive_uses::{describe_certainty, describe_lines, style_file_path};

/// Prints the tests of each file below its path; a test that is alone in its file on one line with the path.
pub(super) fn print_tests_by_file(
    result: &ReachResult,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    for of_file in result.found.chunk_by(|one, other| one.path == other.path) {
        let path = style_file_path(&of_file[0], context, output);
        let n_more: usize = of_file.iter().map(|found| found.n_more_in_file).sum();
        if let ([only], 0) = (of_file, n_more) {
            let lines = paint(output.styles.line, &describe_lines(only));
            output.write_line(&format!("{path}:{lines}{}", describe_test(only, output)))?;
            continue;
        }
        output.write_line(&path)?;
        for found in of_file {
            let lines = paint(output.styles.line, &describe_lines(found));
            output.write_line(&format!("  {lines}{}", describe_test(found, output)))?;
        }
        if n_more > 0 {
            output.write_line(&format!("  and {n_more} more"))?;
        }
    }
    Ok(())
}

/// Prints the lines that replace the subject of the tests by a fake, and those that name it or say how its tests run.
pub(super) fn print_neighbours(
    result: &ReachResult,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    for (heading, lines) in [("replaced by a fake:", &result.fakes), ("see also:", &result.neighbours)] {
        if lines.is_empty() {
            continue;
        }
        output.write_line("")?;
        output.write_line(heading)?;
        for NeighbourLine { path, cwd_path, line, text } in lines {
            let file = context.layout.root.join(path);
            let path = output.styled_path(cwd_path.as_ref().unwrap_or(path), &file);
            let line = paint(output.styles.line, &line.to_string());
            output.write_line(&format!("{path}:{line}  {}", escape_for_display(text)))?;
        }
    }
    Ok(())
}

/// Returns the name of a test, whether it is run with several inputs, and how sure it is.
fn describe_test(found: &ReachedDefinition, output: &Output) -> String {
    let name = found.test.as_ref().or(found.title.as_ref());
    let name = name.map(|name| paint(output.styles.title, &escape_for_display(name)));
    let name = name.map(|name| format!("  {name}")).unwrap_or_default();
    let inputs = if found.is_parametrised { "  several inputs" } else { "" };
    format!("{name}{inputs}{}", describe_certainty(found))
}
