//! Reads lines at a terminal, with history and completion.

use std::ffi::OsString;
use std::path::PathBuf;

use memod_terminal::{CliError, CommandContext};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Behavior, CompletionType, Config, Context, Editor, Helper};

use super::shell_history::ShellHistory;
use super::shell_line::{MAX_HISTORY_LINES, ShellLine};
use crate::help::completions;
use crate::help::usage;

/// The prompt of the shell, with the history of lines.
pub(super) struct ShellPrompt {
    editor: Editor<WordCompleter, MemHistory>,
    history: ShellHistory,
}

impl ShellPrompt {
    /// Opens the terminal and loads the history.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(super) fn new(context: &CommandContext, dir: Option<PathBuf>) -> Result<Self, CliError> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            // Write the prompt to the terminal and not to stdout, because it is not data.
            .behavior(Behavior::PreferTerm)
            .max_history_size(MAX_HISTORY_LINES)
            .and_then(|config| config.history_ignore_dups(true));
        let config = config.map_err(terminal_error)?.build();
        let lines = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, lines).map_err(terminal_error)?;
        editor.set_helper(Some(WordCompleter(dir)));
        let history = ShellHistory::new(context.layout.clone());
        for line in history.last_lines(MAX_HISTORY_LINES) {
            editor.add_history_entry(line).map_err(terminal_error)?;
        }
        Ok(Self { editor, history })
    }

    /// Reads a line; `None` at the end of the input.
    ///
    /// # Errors
    /// When the terminal fails.
    pub(super) fn read_line(&mut self) -> Result<Option<String>, CliError> {
        loop {
            match self.editor.readline("memo> ") {
                Ok(line) => return Ok(Some(line)),
                Err(ReadlineError::Interrupted) => {} // drop the line and read another
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(terminal_error(error)),
            }
        }
    }

    /// Adds a line to the history of this shell and, if it is not private, to that of later shells.
    pub(super) fn add_to_history(&mut self, text: &str, line: &ShellLine) {
        if matches!(line, ShellLine::Empty) || text.starts_with(' ') {
            return;
        }
        let text = text.trim_end(); // a completion ends with a space
        // If the entry is not accepted, the history lacks a line; nothing else is affected.
        let _ = self.editor.add_history_entry(text);
        self.history.append(text, line);
    }
}

fn terminal_error(error: ReadlineError) -> CliError {
    match error {
        ReadlineError::Io(error) => CliError::Output(error),
        other => CliError::Output(std::io::Error::other(other.to_string())),
    }
}

/// Words that the shell understands and that are not verbs of `memo`.
const SHELL_WORDS: [&str; 3] = ["exit", "help", "quit"];

/// Completes words as the scripts for other shells do, and adds a space after a word. Has the directory of `-C`.
struct WordCompleter(Option<PathBuf>);

impl Helper for WordCompleter {}
impl Highlighter for WordCompleter {}
impl Validator for WordCompleter {}

impl Hinter for WordCompleter {
    type Hint = String;
}

impl Completer for WordCompleter {
    type Candidate = Pair;

    fn complete(&self, line: &str, end: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..end];
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let Some(words) = shlex::split(&before[..start]) else { return Ok((end, Vec::new())) };
        let last = before[start..].to_owned();
        let words: Vec<_> = ["memo".to_owned()].into_iter().chain(words).chain([last]).collect();
        let (words, at): (Vec<OsString>, _) = (words.iter().map(Into::into).collect(), words.len() - 1);
        let typed_dir = usage::dir_argument(words.iter().cloned());
        let mut command = completions::command_with_candidates(typed_dir.as_ref().or(self.0.as_ref()));
        let candidates = clap_complete::engine::complete(&mut command, words, at, None);
        let pairs = candidates.unwrap_or_default().into_iter().map(|candidate| {
            let word = candidate.get_value().to_string_lossy().into_owned();
            let help = candidate.get_help().map_or(String::new(), |help| format!("  {help}"));
            Pair { display: format!("{word}{help}"), replacement: word }
        });
        let own_words = SHELL_WORDS.iter().filter(|word| at == 1 && word.starts_with(&before[start..]));
        let own_pairs =
            own_words.map(|word| Pair { display: (*word).to_owned(), replacement: (*word).to_owned() });
        let mut pairs: Vec<_> = pairs.chain(own_pairs).collect();
        // Add a space after the only candidate, unless it is the beginning of a path or value.
        if let [only] = pairs.as_mut_slice()
            && !only.replacement.ends_with(['/', '=', ':'])
            && !line[end..].starts_with(' ')
        {
            only.replacement.push(' ');
        }
        Ok((start, pairs))
    }
}
