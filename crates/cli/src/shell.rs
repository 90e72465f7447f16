//! Runs `memo shell`: several commands from a prompt or from stdin.
//!
//! A terminal gets a prompt, history and completion; other input is read line by line. A failing line does not end the
//! shell.

mod line;
mod prompt;
mod shell_history;

use std::io::IsTerminal;

use memod_base::paths::IoContext;

use super::args::{CommandLine, Global};
use super::context::CommandContext;
use super::error::{CliResult, EXIT_USAGE};
use line::{Line, read};
use prompt::Prompt;

/// Runs one command line and returns its exit status.
type Obey = fn(CommandLine) -> u8;

/// Runs lines until the input ends.
///
/// The exit status is 0 on a terminal, and otherwise that of the last line that failed, so that scripts notice.
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
    // `add -` reads the rest of the input, so both must use the same buffer.
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
