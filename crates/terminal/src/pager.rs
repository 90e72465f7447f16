//! Shows an answer that is longer than the terminal through a pager, as git does.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::Duration;

use memod_client::child::{clear_git_env, read_first_line};

/// Time limit for `git var GIT_PAGER`.
const GIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The size of a terminal in characters.
#[derive(Clone, Copy)]
struct TerminalSize {
    rows: usize,
    columns: usize,
}

/// Size that is assumed for a terminal that does not report its own.
const DEFAULT_SIZE: TerminalSize = TerminalSize { rows: 24, columns: 80 };
/// Exit statuses of a shell that cannot run a program: not executable, or not found.
const NOT_RUN_STATUSES: [i32; 2] = [126, 127];

/// Lines for stderr that are written after the pager has ended, because its screen would hide them; `None` while no pager runs.
pub(crate) type PostponedLines = Rc<RefCell<Option<Vec<String>>>>;

/// Holds a text back until it is known to fit on the terminal; a longer text goes to a pager.
///
/// Dropping the writer ends the pager and writes the postponed lines.
pub(crate) struct PagedWriter {
    /// The bytes that were written so far, unless they went to the terminal directly.
    text: Vec<u8>,
    state: PagerState,
    /// `Some` while a pager runs.
    postponed: PostponedLines,
}

enum PagerState {
    /// Nothing is shown yet.
    Held,
    /// The text goes to the terminal: there is no pager, or the text was short.
    Plain,
    Paged(Child, ChildStdin),
    /// The reader has left the pager: further text is dropped.
    ReaderLeft,
}

impl PagedWriter {
    /// Returns a writer, and the list of the lines to write after the pager has ended.
    pub(crate) fn new() -> (Self, PostponedLines) {
        let postponed = PostponedLines::default();
        (Self { text: Vec::new(), state: PagerState::Held, postponed: Rc::clone(&postponed) }, postponed)
    }

    /// Shows the text that was held back: through a pager if `is_long` and a pager can be started, otherwise on the terminal.
    fn show_text(&mut self, is_long: bool) -> io::Result<()> {
        self.state = match is_long.then(start_pager).flatten() {
            Some((child, stdin)) => {
                self.postponed.replace(Some(Vec::new()));
                PagerState::Paged(child, stdin)
            }
            None => PagerState::Plain,
        };
        match &self.state {
            PagerState::Paged(..) => self.send_to_pager(0),
            _ => io::stdout().write_all(&self.text),
        }
    }

    /// Sends the text from an offset to the pager. If the pager could not run, the whole text goes to the terminal.
    ///
    /// # Errors
    /// When the reader has left the pager; text after that is dropped.
    fn send_to_pager(&mut self, from: usize) -> io::Result<()> {
        let PagerState::Paged(_, stdin) = &mut self.state else { return Ok(()) };
        let written = stdin.write_all(&self.text[from..]);
        if !written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return written;
        }
        match self.end_pager() {
            Some(status) if pager_did_not_run(status) => {
                self.state = PagerState::Plain;
                io::stdout().write_all(&self.text)
            }
            _ => written,
        }
    }

    /// Waits for the end of the pager, if one runs, and returns its exit status.
    fn end_pager(&mut self) -> Option<ExitStatus> {
        match std::mem::replace(&mut self.state, PagerState::ReaderLeft) {
            PagerState::Paged(mut child, stdin) => {
                drop(stdin); // the pager may wait for the end of the text
                child.wait().ok()
            }
            other => {
                self.state = other;
                None
            }
        }
    }
}

/// Returns whether a shell could not run the pager, so that no text was shown.
fn pager_did_not_run(status: ExitStatus) -> bool {
    status.code().is_some_and(|code| NOT_RUN_STATUSES.contains(&code))
}

impl Write for PagedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            PagerState::Plain => io::stdout().write_all(bytes)?,
            PagerState::Paged(..) => {
                let from = self.text.len();
                self.text.extend_from_slice(bytes);
                self.send_to_pager(from)?;
            }
            PagerState::ReaderLeft => {}
            PagerState::Held => {
                self.text.extend_from_slice(bytes);
                if !fits_terminal(&self.text, terminal_size()) {
                    self.show_text(true)?;
                }
            }
        }
        Ok(bytes.len())
    }

    /// Shows text that is still held back: the answer is complete and short.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            PagerState::Held => self.show_text(false)?,
            PagerState::Plain => {}
            PagerState::Paged(_, stdin) => return stdin.flush(),
            PagerState::ReaderLeft => return Ok(()),
        }
        io::stdout().flush()
    }
}

impl Drop for PagedWriter {
    fn drop(&mut self) {
        let mut stdout = io::stdout();
        // A closed pipe is no error, and a closed terminal shows none.
        if matches!(self.state, PagerState::Held) || self.end_pager().is_some_and(pager_did_not_run) {
            let _ = stdout.write_all(&self.text);
        }
        let _ = stdout.flush();
        for line in self.postponed.take().into_iter().flatten() {
            let _ = writeln!(io::stderr(), "{line}");
        }
    }
}

/// Returns whether a text fits on the terminal and leaves one row for the prompt.
fn fits_terminal(text: &[u8], size: TerminalSize) -> bool {
    let text = anstream::adapter::strip_bytes(text).into_vec();
    let lines = text.split(|byte| *byte == b'\n');
    let n_rows: usize = lines.map(|line| count_rows(line, size.columns)).take(size.rows + 1).sum();
    n_rows <= size.rows
}

/// Returns the number of rows that a line takes.
fn count_rows(line: &[u8], columns: usize) -> usize {
    String::from_utf8_lossy(line).chars().count().max(1).div_ceil(columns)
}

/// Returns the size of the terminal.
fn terminal_size() -> TerminalSize {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout()) {
        let rows = if size.ws_row == 0 { DEFAULT_SIZE.rows } else { usize::from(size.ws_row) };
        let columns = if size.ws_col == 0 { DEFAULT_SIZE.columns } else { usize::from(size.ws_col) };
        return TerminalSize { rows, columns };
    }
    DEFAULT_SIZE
}

/// Starts the pager; returns `None` where none is wanted or it cannot be started.
fn start_pager() -> Option<(Child, ChildStdin)> {
    let chosen = choose_pager()?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(chosen).stdin(Stdio::piped());
    // git's defaults: quit if the text fits, keep colours, and leave the text on the screen.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    ignore_interrupts();
    let mut child = command.spawn().ok()?;
    let stdin = child.stdin.take().expect("stdin is piped");
    Some((child, stdin))
}

/// Returns the command of the pager: from `MEMO_PAGER`, `ui.pager`, git, or else `less`; `None` if paging is off.
fn choose_pager() -> Option<String> {
    let pager = env_variable("MEMO_PAGER")
        .or_else(|| Some(pager_setting()).filter(|pager| pager != "auto"))
        .or_else(|| env_variable("GIT_PAGER"))
        .or_else(ask_git_for_pager)
        .or_else(|| env_variable("PAGER"))
        .unwrap_or_else(|| "less".to_owned());
    let is_none = matches!(pager.trim(), "" | "cat" | "off");
    (!is_none).then_some(pager)
}

fn env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the setting `ui.pager`. Errors in the settings are reported elsewhere.
fn pager_setting() -> String {
    memod_config::load_settings(None).map(|resolved| resolved.config.ui.pager).unwrap_or_default()
}

/// Returns the pager from git's settings, else from `PAGER`, else git's default. Runs git outside of any repository, because the
/// settings of a repository may have come with an archive.
fn ask_git_for_pager() -> Option<String> {
    let mut command = Command::new("git");
    command.args(["var", "GIT_PAGER"]).current_dir(Path::new(std::path::MAIN_SEPARATOR_STR));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    clear_git_env(&mut command);
    let mut child = command.spawn().ok()?;
    let line = child.stdout.take().and_then(|stdout| read_first_line(stdout, GIT_TIMEOUT));
    let _ = child.kill(); // the line has been read, or the time is over
    let _ = child.wait();
    let line = String::from_utf8(line?.ok()?).ok()?;
    Some(line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Leaves Ctrl-C to the pager from now on: if this process ended, the pager would share the terminal with the shell.
fn ignore_interrupts() {
    #[cfg(unix)]
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
        let _inside = runtime.enter();
        // The signal handler stays installed after the listener is dropped, and does nothing.
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fits_if_the_prompt_does() {
        let check = |text: &str, expected: bool| {
            assert_eq!(
                fits_terminal(text.as_bytes(), TerminalSize { rows: 3, columns: 10 }),
                expected,
                "{text:?}"
            );
        };
        check("", true);
        check("a\nb\n", true);
        check("a\nb\nc\n", false);
        check("a longer line\n", true);
        check("a longer line\nb\n", false);
        check("\u{1b}[1mbold text\u{1b}[0m\nb\n", true);
        check("größere ü\nb\n", true);
    }
}
