//! Parses one line of `memo shell`.

use memod_terminal::{ColorMode, GlobalArgs, JsonForm, write_message};

use crate::args::{CommandLine, MemoVerb, parse_command_line};
use crate::help::usage::report_usage_error;

/// Most lines that the history keeps.
pub(super) const MAX_HISTORY_LINES: usize = 1_000;

/// A parsed line of the shell.
pub(super) enum ShellLine {
    /// Nothing to run: a blank line, a comment, or a request for help that was answered.
    Empty,
    Exit,
    Command(Box<CommandLine>),
    /// The line is wrong, and the error has been printed.
    Wrong,
}

/// Parses a line as a shell would; the global flags of `memo shell` apply to it too.
pub(super) fn parse_line(text: &str, global: &GlobalArgs) -> ShellLine {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') {
        return ShellLine::Empty;
    }
    let Some(words) = shlex::split(text) else {
        write_message("memo: a quote is not closed");
        return ShellLine::Wrong;
    };
    if let [word] = words.as_slice()
        && ["exit", "quit"].contains(&word.as_str())
    {
        return ShellLine::Exit;
    }
    let json = global.json.map(|form| match form {
        JsonForm::Lean => "--json",
        JsonForm::Full => "--json=full",
    });
    let start = std::iter::once("memo").chain(json).map(str::to_owned);
    let words: Vec<String> = start.chain(words).collect();
    match parse_command_line(words.clone()) {
        Ok(typed) if matches!(typed.verb, MemoVerb::Shell) => {
            write_message("memo: this is the shell");
            ShellLine::Wrong
        }
        Ok(typed) => ShellLine::Command(Box::new(with_shell_flags(typed, global))),
        Err(error) => {
            report_usage_error(&error, words.into_iter().map(Into::into), global.json);
            if error.use_stderr() { ShellLine::Wrong } else { ShellLine::Empty }
        }
    }
}

/// Adds the global flags of `memo shell` to a command that does not set them itself.
fn with_shell_flags(mut typed: CommandLine, global: &GlobalArgs) -> CommandLine {
    let own_flags = &mut typed.global;
    own_flags.quiet |= global.quiet;
    own_flags.dir = own_flags.dir.take().or_else(|| global.dir.clone());
    if own_flags.color == ColorMode::Auto {
        own_flags.color = global.color;
    }
    typed
}
