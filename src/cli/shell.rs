//! How are verbs typed one after the other?
//!
//! On a terminal with a prompt, history and completion, elsewhere line by line. A line that fails does not end it.

mod prompt;
mod shell_history;

use std::io::IsTerminal;

use clap::Parser;

use super::args::{Colour, CommandLine, Global, Verb};
use super::context::CommandContext;
use super::error::EXIT_USAGE;
use super::{CliResult, obey, usage};
use crate::paths::IoContext;
use prompt::Prompt;

/// What a line asks for.
enum Line {
    Nothing,
    Help,
    End,
    Verb(Box<CommandLine>),
    /// It was said what is wrong with it.
    Wrong,
}

/// Obeys lines until there are no more.
///
/// On a terminal the exit status is 0; else that of the last line that had another one, so that a script notices.
pub(super) fn shell(global: &Global, context: &CommandContext) -> CliResult {
    if std::io::stdin().is_terminal() { interactive(global, context) } else { script(global) }
}

fn interactive(global: &Global, context: &CommandContext) -> CliResult {
    let mut prompt = Prompt::new(context, global.dir.clone())?;
    while let Some(text) = prompt.line()? {
        let line = read(&text, global);
        prompt.remember(&text, &line);
        if matches!(line, Line::End) {
            break;
        }
        run(line);
    }
    Ok(0)
}

fn script(global: &Global) -> CliResult {
    let mut exit = 0;
    let mut text = String::new();
    // Through the buffer that `add -` reads from too: it takes the rest.
    while std::io::stdin().read_line(&mut text).at("read", std::path::Path::new("stdin"))? > 0 {
        let line = read(&text, global);
        if matches!(line, Line::End) {
            break;
        }
        exit = Some(run(line)).filter(|exit| *exit != 0).unwrap_or(exit);
        text.clear();
    }
    Ok(exit)
}

/// Reads a line as a shell would; what was said to `memo shell` itself holds for it too.
fn read(text: &str, global: &Global) -> Line {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') {
        return Line::Nothing;
    }
    let Some(words) = shlex::split(text) else {
        super::output::talk("memo: a quote is not closed");
        return Line::Wrong;
    };
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["exit" | "quit"] => return Line::End,
        ["help"] => return Line::Help,
        _ => {}
    }
    let outer: &[&str] = if global.json { &["memo", "--json"] } else { &["memo"] };
    let words = outer.iter().map(|word| (*word).to_owned()).chain(words);
    match CommandLine::try_parse_from(words) {
        Ok(typed) if matches!(typed.verb, Verb::Shell) => {
            super::output::talk("memo: this is the shell");
            Line::Wrong
        }
        Ok(typed) => Line::Verb(Box::new(within(typed, global))),
        Err(error) => {
            usage(&error, global.json);
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

fn run(line: Line) -> u8 {
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
