//! Shows an answer that is longer than the terminal through a pager, as git does.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::Duration;

use memod_client::child::{clear_git_env, first_line};

/// Time limit for git to say which pager it uses.
const GIT_PATIENCE: Duration = Duration::from_secs(2);
/// Size of a terminal that does not tell it: rows and columns.
const USUAL_SIZE: (usize, usize) = (24, 80);
/// Exit status of a shell that cannot run a program: not executable, or not found.
const NOT_RUN: [i32; 2] = [126, 127];

/// Lines that are said once the pager has ended: they would be lost on its screen.
pub(super) type Postponed = Rc<RefCell<Option<Vec<String>>>>;

/// Keeps what is written until it is known to fit on the terminal; what does not fit goes to a pager.
///
/// The pager ends, and what was postponed is said, when this is dropped.
pub(super) struct PagedWriter {
    /// All that was written.
    text: Vec<u8>,
    state: State,
    /// `Some` while a pager runs.
    postponed: Postponed,
}

enum State {
    /// Nothing is shown yet.
    Held,
    /// There is no pager, or what was written was short.
    Plain,
    Paged(Child, ChildStdin),
    /// The reader has left the pager: what comes now is not shown.
    Left,
}

impl PagedWriter {
    /// Also returns where to put what is said while a pager runs.
    pub(super) fn new() -> (Self, Postponed) {
        let postponed = Postponed::default();
        (Self { text: Vec::new(), state: State::Held, postponed: Rc::clone(&postponed) }, postponed)
    }

    /// Shows what was held: with a pager if `is_long`, and if there is one.
    fn show(&mut self, is_long: bool) -> io::Result<()> {
        self.state = match is_long.then(start).flatten() {
            Some((child, stdin)) => {
                self.postponed.replace(Some(Vec::new()));
                State::Paged(child, stdin)
            }
            None => State::Plain,
        };
        match &self.state {
            State::Paged(..) => self.page(0),
            _ => io::stdout().write_all(&self.text),
        }
    }

    /// Gives the text from an offset to the pager. One that could not run is replaced by the terminal.
    ///
    /// # Errors
    /// When the reader has left the pager; what comes after that is taken and not shown.
    fn page(&mut self, from: usize) -> io::Result<()> {
        let State::Paged(_, stdin) = &mut self.state else { return Ok(()) };
        let written = stdin.write_all(&self.text[from..]);
        if !written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return written;
        }
        match self.end() {
            Some(status) if could_not_run(status) => {
                self.state = State::Plain;
                io::stdout().write_all(&self.text)
            }
            _ => written,
        }
    }

    /// Waits for the end of the pager, if one runs; returns how it ended.
    fn end(&mut self) -> Option<ExitStatus> {
        match std::mem::replace(&mut self.state, State::Left) {
            State::Paged(mut child, stdin) => {
                drop(stdin); // it may wait for the end of the text
                child.wait().ok()
            }
            other => {
                self.state = other;
                None
            }
        }
    }
}

/// Returns whether a shell could not run the pager, so that nobody has seen anything.
fn could_not_run(status: ExitStatus) -> bool {
    status.code().is_some_and(|code| NOT_RUN.contains(&code))
}

impl Write for PagedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Plain => io::stdout().write_all(bytes)?,
            State::Paged(..) => {
                let from = self.text.len();
                self.text.extend_from_slice(bytes);
                self.page(from)?;
            }
            State::Left => {}
            State::Held => {
                self.text.extend_from_slice(bytes);
                if !fits(&self.text, size()) {
                    self.show(true)?;
                }
            }
        }
        Ok(bytes.len())
    }

    /// Called when an answer is complete: what is held is short.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Held => self.show(false)?,
            State::Plain => {}
            State::Paged(_, stdin) => return stdin.flush(),
            State::Left => return Ok(()),
        }
        io::stdout().flush()
    }
}

impl Drop for PagedWriter {
    fn drop(&mut self) {
        let mut stdout = io::stdout();
        // A reader who has seen enough is no error, and a terminal that is gone shows none.
        if matches!(self.state, State::Held) || self.end().is_some_and(could_not_run) {
            let _ = stdout.write_all(&self.text);
        }
        let _ = stdout.flush();
        for line in self.postponed.take().into_iter().flatten() {
            let _ = writeln!(io::stderr(), "{line}");
        }
    }
}

/// Returns whether a text leaves one of so many rows free for the prompt.
fn fits(text: &[u8], (rows, columns): (usize, usize)) -> bool {
    let text = anstream::adapter::strip_bytes(text).into_vec();
    let rows_of = |line: &[u8]| String::from_utf8_lossy(line).chars().count().max(1).div_ceil(columns);
    let n_rows: usize = text.split(|byte| *byte == b'\n').map(rows_of).take(rows + 1).sum();
    n_rows <= rows
}

/// Returns the rows and columns of the terminal.
fn size() -> (usize, usize) {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout()) {
        let or = |cells: u16, usual: usize| if cells == 0 { usual } else { usize::from(cells) };
        return (or(size.ws_row, USUAL_SIZE.0), or(size.ws_col, USUAL_SIZE.1));
    }
    USUAL_SIZE
}

/// Starts the pager; `None` where none is wanted or it cannot be started.
fn start() -> Option<(Child, ChildStdin)> {
    let chosen = chosen()?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(chosen).stdin(Stdio::piped());
    // Quit if it fits, keep colours, leave the text on the screen (git's defaults).
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

/// Returns the command of the pager: that of `MEMO_PAGER`, of `ui.pager`, of git, or `less`; `None` where it is to be none.
fn chosen() -> Option<String> {
    let set = |name: &str| std::env::var(name).ok();
    // What is wrong with the settings is told elsewhere.
    let setting = || memod_config::load(None).map(|resolved| resolved.config.ui.pager).unwrap_or_default();
    let pager = set("MEMO_PAGER")
        .or_else(|| Some(setting()).filter(|pager| pager != "auto"))
        .or_else(|| set("GIT_PAGER"))
        .or_else(of_git)
        .or_else(|| set("PAGER"))
        .unwrap_or_else(|| "less".to_owned());
    let is_none = matches!(pager.trim(), "" | "cat" | "off");
    (!is_none).then_some(pager)
}

/// Returns the pager of git's settings, else of `PAGER`, else git's own. Asked outside of any repository, whose settings may
/// have come with an archive.
fn of_git() -> Option<String> {
    let mut command = Command::new("git");
    command.args(["var", "GIT_PAGER"]).current_dir(Path::new(std::path::MAIN_SEPARATOR_STR));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    clear_git_env(&mut command);
    let mut child = command.spawn().ok()?;
    let line = child.stdout.take().and_then(|stdout| first_line(stdout, GIT_PATIENCE));
    let _ = child.kill(); // it has said what it is asked for
    let _ = child.wait();
    let line = String::from_utf8(line?.ok()?).ok()?;
    Some(line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Leaves Ctrl-C to the pager from now on: without this process, it would share the terminal with the shell.
fn ignore_interrupts() {
    #[cfg(unix)]
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
        let _inside = runtime.enter();
        // The handler stays when the listener is gone, and does nothing.
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fits_if_the_prompt_does() {
        let check =
            |text: &str, expected: bool| assert_eq!(fits(text.as_bytes(), (3, 10)), expected, "{text:?}");
        check("", true);
        check("a\nb\n", true);
        check("a\nb\nc\n", false);
        check("a longer line\n", true);
        check("a longer line\nb\n", false);
        check("\u{1b}[1mbold text\u{1b}[0m\nb\n", true);
        check("größere ü\nb\n", true);
    }
}
