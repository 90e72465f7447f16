//! Runs `memo shell`: several commands from a prompt or from stdin.
//!
//! On a terminal the shell has a prompt, a history and completion; other input is read line by line. A line that fails does not end
//! the shell.

mod prompt;
mod shell_history;
mod shell_line;

use std::io::IsTerminal;

use memod_base::paths::IoContext;
use memod_terminal::{CliResult, CommandContext, EXIT_USAGE, GlobalArgs};

use super::args::CommandLine;
use prompt::ShellPrompt;
use shell_line::{ShellLine, parse_line};

/// A function that runs one command line and returns its exit status.
type RunCommand = fn(CommandLine) -> u8;

/// Runs lines until the input ends.
///
/// The exit status is 0 on a terminal, and otherwise that of the last line that failed, so that scripts notice the failure.
pub(super) fn run_shell(global: &GlobalArgs, context: &CommandContext, run_command: RunCommand) -> CliResult {
    if std::io::stdin().is_terminal() {
        run_interactively(global, context, run_command)
    } else {
        run_lines_from_stdin(global, run_command)
    }
}

fn run_interactively(global: &GlobalArgs, context: &CommandContext, run_command: RunCommand) -> CliResult {
    let mut prompt = ShellPrompt::new(context, global.dir.clone())?;
    while let Some(text) = prompt.read_line()? {
        let line = parse_line(&text, global);
        prompt.add_to_history(&text, &line);
        if matches!(line, ShellLine::Exit) {
            break;
        }
        run_line(line, run_command);
    }
    Ok(0)
}

fn run_lines_from_stdin(global: &GlobalArgs, run_command: RunCommand) -> CliResult {
    let mut exit = 0;
    let mut text = String::new();
    // `add -` reads the rest of stdin, so the shell must use the same buffer of stdin.
    while std::io::stdin().read_line(&mut text).at("read", std::path::Path::new("stdin"))? > 0 {
        let line = parse_line(&text, global);
        if matches!(line, ShellLine::Exit) {
            break;
        }
        exit = Some(run_line(line, run_command)).filter(|exit| *exit != 0).unwrap_or(exit);
        text.clear();
    }
    Ok(exit)
}

fn run_line(line: ShellLine, run_command: RunCommand) -> u8 {
    match line {
        ShellLine::Command(typed) => run_command(*typed),
        ShellLine::Wrong => EXIT_USAGE,
        ShellLine::Empty | ShellLine::Exit => 0,
    }
}
