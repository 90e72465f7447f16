//! Prints the text of a file, of some of its lines, or of a definition.

use std::time::Duration;

use memod_proto::{ShowParams, ShowResult, ShownPart};
use memod_terminal::text::{escape_for_display, escape_lines, format_count, not_up_to_date_message, paint};
use memod_terminal::{CliError, CliResult, CommandContext, Output, RowsArgs};

use crate::args::{FreshnessArgs, GetArgs, IdsArgs, ShowArgs};
use crate::memories::get_memories;
use crate::searching::last_search::{self, LastHit};

/// Prints the text of a target or of a hit. Exits with 1 when nothing has that name.
pub(crate) fn show_code(typed: ShowArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let target = match typed.target.parse::<usize>() {
        Ok(nth) => match last_search::find_last_hit(nth, context, output)? {
            LastHit::Memory(id) => {
                let typed = GetArgs { ids: IdsArgs { ids: vec![id] }, rows: RowsArgs::default() };
                return get_memories(typed, context, output);
            }
            // A hit of one line is shown with the definition around it.
            LastHit::File { path, lines: (first, last), .. } if first == last => {
                format!("{}:{first}", path.display())
            }
            LastHit::File { path, lines: (first, last), .. } => {
                format!("{}:{first}-{last}", path.display())
            }
        },
        Err(_) => typed.target,
    };
    let result = fetch_parts(target, &typed.fresh, context)?;
    output.write_result(&result, |output| {
        if typed.plain {
            return result
                .parts
                .iter()
                .try_for_each(|part| output.write_bytes(escape_lines(&part.text).as_bytes()));
        }
        print_parts(&result, context, output)
    })?;
    if !output.write_json {
        output.flush()?;
        report_incomplete_text(&result, output);
    }
    Ok(0)
}

/// Asks the daemon for the file, lines or definitions that a target names, and returns their text.
pub(crate) fn fetch_parts(
    target: String,
    fresh: &FreshnessArgs,
    context: &CommandContext,
) -> Result<ShowResult, CliError> {
    let config = memod_config::load_settings(Some(&context.layout))?.config;
    let wait_ms = fresh.chosen_wait_ms(&config);
    let mut client = context.connect()?;
    client.set_answer_limit(Duration::from_secs(30) + Duration::from_millis(wait_ms.unwrap_or_default()));
    let (cwd, sync) = (context.cwd.clone(), fresh.sync.into());
    Ok(client.call("show", &ShowParams { cwd, target, sync, wait_ms })?)
}

fn print_parts(result: &ShowResult, context: &CommandContext, output: &mut Output) -> Result<(), CliError> {
    for (nth, part) in result.parts.iter().enumerate() {
        if nth > 0 {
            output.write_line("")?;
        }
        print_part(part, context, output)?;
    }
    Ok(())
}

fn print_part(part: &ShownPart, context: &CommandContext, output: &mut Output) -> Result<(), CliError> {
    let styles = output.styles;
    let (first, last) = part.lines;
    let file = context.layout.root.join(&part.path);
    let path = output.styled_path(part.cwd_path.as_ref().unwrap_or(&part.path), &file);
    let title =
        part.title.as_ref().map(|title| format!("  {}", paint(styles.title, &escape_for_display(title))));
    let lines = paint(styles.line, &format!("{first}-{last}"));
    let overloads = match part.n_overloads {
        0 => String::new(),
        n => format!("  ({})", format_count(n as u64, "overload", "overloads")),
    };
    output.write_line(&format!("{path}:{lines}{}{overloads}", title.unwrap_or_default()))?;
    let width = last.to_string().len();
    for (number, line) in (first..).zip(part.text.lines()) {
        let number = paint(styles.line, &format!("{number:width$}"));
        output.write_line(format!("  {number}  {}", escape_lines(line)).trim_end())?;
    }
    Ok(())
}

/// Notes on stderr whether the result is incomplete or out of date.
pub(crate) fn report_incomplete_text(result: &ShowResult, output: &Output) {
    if result.left_out > 0 {
        let more = format_count(result.left_out as u64, "more definition has", "more definitions have");
        output.write_note(&format!("{more} this name: name the file too, as in PATH#SYMBOL"));
    }
    if !result.fresh {
        output.write_note(&not_up_to_date_message(result.reason.as_deref()));
    }
}
