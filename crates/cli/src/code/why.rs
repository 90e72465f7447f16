//! Prints the memories about a piece of code and its commits.

use std::time::Duration;

use memod_base::paths::CallerDir;
use memod_proto::anchor::AnchorState;
use memod_proto::{WhyCommit, WhyMemory, WhyParams, WhyResult};
use memod_terminal::text::{escape_for_display, format_commit_line, format_count, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use crate::args::WhyArgs;

/// Longest wait for an answer. The daemon searches history for at most ten seconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Lines of a commit message that are shown without `--full`; the other lines are counted.
const MOST_BODY_LINES: usize = 12;

/// Prints the memories about a piece of code and its commits. Exits with 1 when there are no memories, commits and uncommitted
/// lines.
pub(crate) fn print_why(typed: WhyArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let limit = usize::try_from(typed.limit).ok();
    let params = WhyParams { cwd: context.cwd.clone(), target: typed.target, limit };
    let mut client = context.connect()?;
    client.set_answer_limit(ANSWER_TIMEOUT);
    let result: WhyResult = client.call("why", &params)?;
    let dir = context.caller_dir();
    let most_lines = if typed.full { usize::MAX } else { MOST_BODY_LINES };
    output.write_list(&result, |output| print_why_result(&result, most_lines, &dir, output))?;
    if !output.write_json {
        output.flush()?;
        report_incomplete_history(&result, output);
    }
    let is_none = result.commits.is_empty() && result.uncommitted.is_empty() && result.memories.is_empty();
    Ok(if is_none { EXIT_NOTHING_FOUND } else { 0 })
}

fn print_why_result(
    result: &WhyResult,
    most_lines: usize,
    dir: &CallerDir,
    output: &mut Output,
) -> Result<(), CliError> {
    for memory in &result.memories {
        print_memory(memory, dir, output)?;
    }
    let has_more = !result.commits.is_empty() || !result.uncommitted.is_empty();
    if has_more && !result.memories.is_empty() {
        output.write_line("")?;
    }
    if !result.uncommitted.is_empty() {
        let lines = paint(output.styles.line, &describe_line_spans(&result.uncommitted));
        output.write_line(&format!("{}  {lines}", paint(output.styles.title, "not committed yet")))?;
    }
    for (nth, commit) in result.commits.iter().enumerate() {
        if nth > 0 || !result.uncommitted.is_empty() {
            output.write_line("")?;
        }
        print_commit(commit, &result.path, most_lines, dir, output)?;
    }
    Ok(())
}

/// Prints a memory: its id with the code that it is about and the state of that code, then a note if there is one, then its text.
pub(crate) fn print_memory(memory: &WhyMemory, dir: &CallerDir, output: &mut Output) -> Result<(), CliError> {
    let styles = output.styles;
    let bad = memory.state.filter(|state| *state != AnchorState::Fresh);
    let state = bad.map_or(String::new(), |state| format!("  {}", paint(styles.bad, state.as_str())));
    let about = paint(styles.line, &escape_for_display(&dir.display_path(&memory.about)));
    output.write_line(&format!("{}  {about}{state}", paint(styles.path, &escape_for_display(&memory.id))))?;
    if let Some(note) = &memory.note {
        output.write_line(&format!("    ({})", escape_for_display(note)))?;
    }
    output.write_line(&format!("    {}", escape_for_display(&memory.line)))
}

fn print_commit(
    commit: &WhyCommit,
    path: &str,
    most_lines: usize,
    dir: &CallerDir,
    output: &mut Output,
) -> Result<(), CliError> {
    let styles = output.styles;
    let mut head = format_commit_line(&commit.commit, &commit.subject, styles);
    if !commit.lines.is_empty() {
        head = format!("{head}  {}", paint(styles.line, &describe_line_spans(&commit.lines)));
    }
    if commit.path != path {
        let path = dir.relative_path(&commit.path);
        head = format!(
            "{head}  as {}",
            paint(styles.path, &escape_for_display(path.as_ref().unwrap_or(&commit.path)))
        );
    }
    output.write_line(&head)?;
    let n_lines = commit.body.lines().count();
    for line in commit.body.lines().take(most_lines) {
        output.write_line(format!("    {}", escape_for_display(line)).trim_end())?;
    }
    if n_lines > most_lines {
        let more = format_count((n_lines - most_lines) as u64, "more line", "more lines");
        output.write_line(&format!("    … {more} (--full shows them)"))?;
    }
    Ok(())
}

fn report_incomplete_history(result: &WhyResult, output: &Output) {
    if !output.is_text() && !result.uncommitted.is_empty() {
        output.write_note(&format!("not committed yet: {}", describe_line_spans(&result.uncommitted)));
    }
    if result.commits.is_empty() && result.uncommitted.is_empty() {
        output.write_note(&format!("{}: no commit found", result.path));
    }
    for moved in &result.moves {
        let head = format_commit_line(&moved.commit, &moved.subject, Default::default());
        output.write_note(&format!(
            "{} moved from {} by {head}",
            describe_line_spans(&moved.lines),
            escape_for_display(&moved.from)
        ));
    }
    if result.more {
        output.write_note("there are older commits: --limit shows more");
    }
    if !result.fresh {
        let reason = result.reason.as_deref().unwrap_or("history was not read to its end");
        let what = if result.complete { "as far as is known" } else { "not complete" };
        output.write_note(&format!("{what}: {reason}"));
    }
}

/// Returns spans of lines in words: `line 7`, `lines 1-3, 9`.
fn describe_line_spans(spans: &[(u32, u32)]) -> String {
    let texts: Vec<String> = spans
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    let noun = if matches!(spans, [(first, last)] if first == last) { "line" } else { "lines" };
    format!("{noun} {}", texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_lines() {
        assert_eq!(describe_line_spans(&[(7, 7)]), "line 7");
        assert_eq!(describe_line_spans(&[(1, 3), (9, 9)]), "lines 1-3, 9");
    }
}
