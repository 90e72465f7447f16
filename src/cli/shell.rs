//! Runs `memo shell`: several commands from a prompt or from stdin.
//!
//! On a terminal with a prompt, history and completion, elsewhere line by line. A line that fails does not end it.

mod line;
mod prompt;
mod shell_history;

use std::io::IsTerminal;

use super::args::{CommandLine, Global};
use super::context::CommandContext;
use super::error::{CliResult, EXIT_USAGE};
use crate::paths::IoContext;
use line::{Line, read};
use prompt::Prompt;

/// Runs one command line and returns its exit status.
type Obey = fn(CommandLine) -> u8;

/// Obeys lines until there are no more.
///
/// On a terminal the exit status is 0; else that of the last line that had another one, so that a script notices.
pub(super) fn shell(global: &Global, context: &CommandContext, obey: Obey) -> CliResult {
    if std::io::stdin().is_terminal() { interactive(global, context, obey) } else { script(global, obey) }
}

fn interactive(global: &Global, context: &CommandContext, obey: Obey) -> CliResult {
    let mut prompt = Prompt::new(context, global.dir.clone())?;
    while let Some(text) = prompt.line()? {
        let line = read(&text, global);
        prompt.remember(&text, &line);
        if matches!(line, Line::End) {
            break;
        }
        run(line, obey);
    }
    Ok(0)
}

fn script(global: &Global, obey: Obey) -> CliResult {
    let mut exit = 0;
    let mut text = String::new();
    // Through the buffer that `add -` reads from too: it takes the rest.
    while std::io::stdin().read_line(&mut text).at("read", std::path::Path::new("stdin"))? > 0 {
        let line = read(&text, global);
        if matches!(line, Line::End) {
            break;
        }
        exit = Some(run(line, obey)).filter(|exit| *exit != 0).unwrap_or(exit);
        text.clear();
    }
    Ok(exit)
}

fn run(line: Line, obey: Obey) -> u8 {
    match line {
        Line::Verb(typed) => obey(*typed),
        Line::Wrong => EXIT_USAGE,
        Line::Help => {
            let _ = <CommandLine as clap::CommandFactory>::command().print_help();
            0
        }
        Line::Nothing | Line::End => 0,
    }
}
