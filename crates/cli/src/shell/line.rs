//! Parses one line of `memo shell`.

use crate::args::{Colour, CommandLine, Global, JsonForm, Verb, parse};
use crate::output::talk;
use crate::usage::usage;

/// Number of lines in the history.
pub(super) const MOST_LINES: usize = 1_000;

/// The meaning of a line.
pub(super) enum Line {
    Nothing,
    Help,
    End,
    Verb(Box<CommandLine>),
    /// The line is wrong, and the error has been printed.
    Wrong,
}

/// Parses a line as a shell would; the global flags of `memo shell` apply to it too.
pub(super) fn read(text: &str, global: &Global) -> Line {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') {
        return Line::Nothing;
    }
    let Some(words) = shlex::split(text) else {
        talk("memo: a quote is not closed");
        return Line::Wrong;
    };
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["exit" | "quit"] => return Line::End,
        ["help"] => return Line::Help,
        _ => {}
    }
    let json = global.json.map(|form| match form {
        JsonForm::Lean => "--json",
        JsonForm::Full => "--json=full",
    });
    let outer = std::iter::once("memo").chain(json).map(str::to_owned);
    let words: Vec<String> = outer.chain(words).collect();
    match parse(words.clone()) {
        Ok(typed) if matches!(typed.verb, Verb::Shell) => {
            talk("memo: this is the shell");
            Line::Wrong
        }
        Ok(typed) => Line::Verb(Box::new(within(typed, global))),
        Err(error) => {
            usage(&error, words.into_iter().map(Into::into), global.json);
            if error.use_stderr() { Line::Wrong } else { Line::Nothing }
        }
    }
}

fn within(mut typed: CommandLine, global: &Global) -> CommandLine {
    let own = &mut typed.global;
    own.quiet |= global.quiet;
    own.dir = own.dir.take().or_else(|| global.dir.clone());
    if own.color == Colour::Auto {
        own.color = global.color;
    }
    typed
}
