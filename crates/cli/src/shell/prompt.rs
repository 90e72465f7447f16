//! Reads lines at a terminal, with history and completion.

use std::ffi::OsString;
use std::path::PathBuf;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Behavior, CompletionType, Config, Context, Editor, Helper};

use super::line::{Line, MOST_LINES};
use super::shell_history::ShellHistory;
use crate::complete;
use crate::context::CommandContext;
use crate::error::CliError;
use crate::usage;

/// The terminal and its history.
pub(super) struct Prompt {
    editor: Editor<Words, MemHistory>,
    history: ShellHistory,
}

impl Prompt {
    /// Opens the terminal and loads the history.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(super) fn new(context: &CommandContext, dir: Option<PathBuf>) -> Result<Self, CliError> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            // The prompt is not data, so it goes to stderr.
            .behavior(Behavior::PreferTerm)
            .max_history_size(MOST_LINES)
            .and_then(|config| config.history_ignore_dups(true));
        let config = config.map_err(terminal)?.build();
        let lines = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, lines).map_err(terminal)?;
        editor.set_helper(Some(Words(dir)));
        let history = ShellHistory::new(context.layout.clone());
        for line in history.lines(MOST_LINES) {
            editor.add_history_entry(line).map_err(terminal)?;
        }
        Ok(Self { editor, history })
    }

    /// Reads a line; `None` at the end of the input.
    ///
    /// # Errors
    /// When the terminal fails.
    pub(super) fn line(&mut self) -> Result<Option<String>, CliError> {
        loop {
            match self.editor.readline("memo> ") {
                Ok(line) => return Ok(Some(line)),
                Err(ReadlineError::Interrupted) => {} // what was typed is given up
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(terminal(error)),
            }
        }
    }

    /// Adds a line to the history of this shell and, if it is not private, to that of later shells.
    pub(super) fn remember(&mut self, text: &str, line: &Line) {
        if matches!(line, Line::Nothing) || text.starts_with(' ') {
            return;
        }
        let text = text.trim_end(); // a completion ends with a space
        // If the entry is not accepted, the history lacks a line; nothing else is affected.
        let _ = self.editor.add_history_entry(text);
        self.history.keep(text, line);
    }
}

fn terminal(error: ReadlineError) -> CliError {
    match error {
        ReadlineError::Io(error) => CliError::Output(error),
        other => CliError::Output(std::io::Error::other(other.to_string())),
    }
}

/// What only a prompt understands.
const OWN_WORDS: [&str; 3] = ["exit", "help", "quit"];

/// Completes as the scripts for other shells do, and adds the space after a word.
struct Words(Option<PathBuf>);

impl Helper for Words {}
impl Highlighter for Words {}
impl Validator for Words {}

impl Hinter for Words {
    type Hint = String;
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, end: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..end];
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let Some(words) = shlex::split(&before[..start]) else { return Ok((end, Vec::new())) };
        let last = before[start..].to_owned();
        let words: Vec<_> = ["memo".to_owned()].into_iter().chain(words).chain([last]).collect();
        let (words, at): (Vec<OsString>, _) = (words.iter().map(Into::into).collect(), words.len() - 1);
        let typed_dir = usage::dir_of(words.iter().cloned());
        let mut command = complete::command(typed_dir.as_ref().or(self.0.as_ref()));
        let found = clap_complete::engine::complete(&mut command, words, at, None);
        let pairs = found.unwrap_or_default().into_iter().map(|candidate| {
            let word = candidate.get_value().to_string_lossy().into_owned();
            let help = candidate.get_help().map_or(String::new(), |help| format!("  {help}"));
            Pair { display: format!("{word}{help}"), replacement: word }
        });
        let own = OWN_WORDS.iter().filter(|word| at == 1 && word.starts_with(&before[start..]));
        let own = own.map(|word| Pair { display: (*word).to_owned(), replacement: (*word).to_owned() });
        let mut pairs: Vec<_> = pairs.chain(own).collect();
        // The only word is whole unless a directory or a value follows in it.
        if let [only] = pairs.as_mut_slice()
            && !only.replacement.ends_with(['/', '=', ':'])
            && !line[end..].starts_with(' ')
        {
            only.replacement.push(' ');
        }
        Ok((start, pairs))
    }
}
