//! Writes to stdout and stderr, with colour where the terminal takes it.
//!
//! Data goes to stdout, messages to stderr. Nothing else in the crate prints.

use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use anstream::{AutoStream, ColorChoice};
use memod_proto::{Caveats, Ordered};
use serde::Serialize;
use serde_json::Value;

use super::args::{Colour, Global, JsonForm};
use super::error::{CliError, Shown};
use super::escaping_writer::EscapingWriter;
use super::file_link::{has_links, link};
use super::pager::{PagedWriter, Postponed};
use super::rows::{self, Listing, Shape};
use super::text::{Styles, behind, escape, escape_lines, paint};

/// Returns a value as JSON. All results go this way: each further serializer would be compiled for every type of result.
fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>, CliError> {
    Ok(serde_json::to_vec(value).map_err(io::Error::from)?)
}

/// The two streams of one run.
pub(super) struct Output {
    out: BufWriter<Box<dyn Write>>,
    shape: Shape,
    /// Print one JSON object with the whole result.
    pub(super) json: bool,
    /// Say nothing on stderr but errors.
    pub(super) quiet: bool,
    /// Whether a person reads the answer on a terminal.
    pub(super) is_on_terminal: bool,
    has_links: bool,
    /// Styles for data.
    pub(super) styles: Styles,
    /// Current time, unix ms.
    pub(super) now_ms: i64,
    talk: Styles,
    /// What is kept for a caller in this process instead of being written; `None` for a command line.
    kept: Option<RefCell<Kept>>,
    /// Where to put what is said while a pager runs.
    postponed: Postponed,
}

/// What a verb would have written.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// stdout.
    pub(super) text: String,
    /// The whole result, whatever the format.
    pub(super) json: Option<Value>,
    /// Sentences for stderr, one each.
    pub(super) notes: Vec<String>,
}

/// Bytes that a writer shares with its owner.
#[derive(Clone, Debug, Default)]
struct SharedBytes(Rc<RefCell<Vec<u8>>>);

impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Chooses colour from the streams, the environment and the flags.
    pub(super) fn new(global: &Global, shape: Shape) -> Self {
        let stdout = io::stdout();
        let is_text = matches!(shape, Shape::Text);
        let (data, talk) = (is_text && is_coloured(global, &stdout), is_coloured(global, &io::stderr()));
        let styles = |coloured: bool| if coloured { Styles::coloured() } else { Styles::default() };
        // With colour through anstream, for old Windows consoles; otherwise the bytes go out unchanged, except that escape
        // sequences never reach a terminal.
        let out: Box<dyn Write> = match (is_text, stdout.is_terminal()) {
            (true, _) if data => Box::new(AutoStream::always(stdout.lock())),
            (false, true) => Box::new(EscapingWriter::new(stdout.lock())),
            _ => Box::new(stdout.lock()),
        };
        Self {
            out: BufWriter::new(out),
            json: shape.is_object(),
            quiet: global.quiet,
            is_on_terminal: is_text && stdout.is_terminal(),
            has_links: data && has_links(),
            styles: styles(data),
            now_ms: now_ms(),
            shape,
            talk: styles(talk),
            kept: None,
            postponed: Postponed::default(),
        }
    }

    /// As [`Self::new`], but a text for people that is longer than the terminal goes through a pager.
    pub(super) fn paged(global: &Global, shape: Shape) -> Self {
        let output = Self::new(global, shape);
        if !output.is_on_terminal || !cfg!(unix) {
            return output;
        }
        let (writer, postponed) = PagedWriter::new();
        Self { out: BufWriter::new(Box::new(writer)), postponed, ..output }
    }

    /// Runs a verb without the streams of this process, and returns its result with what it would have written.
    pub(super) fn kept<R>(shape: Shape, run: impl FnOnce(&mut Self) -> R) -> (R, Kept) {
        let bytes = SharedBytes::default();
        let mut output = Self {
            out: BufWriter::new(Box::new(bytes.clone())),
            json: shape.is_object(),
            // A bar would go to stderr.
            quiet: true,
            is_on_terminal: false,
            has_links: false,
            styles: Styles::default(),
            now_ms: now_ms(),
            shape,
            talk: Styles::default(),
            kept: Some(RefCell::default()),
            postponed: Postponed::default(),
        };
        let result = run(&mut output);
        // Memory takes every byte.
        let _ = output.flush();
        let mut kept = output.kept.take().map(RefCell::into_inner).unwrap_or_default();
        kept.text = String::from_utf8_lossy(&bytes.0.borrow()).into_owned();
        (result, kept)
    }

    /// Keeps a whole result for a caller in this process.
    pub(super) fn keep<T: Serialize>(&self, value: &T) -> Result<(), CliError> {
        if let Some(kept) = &self.kept {
            let json = to_json(value)?;
            kept.borrow_mut().json = Some(serde_json::from_slice(&json).map_err(io::Error::from)?);
        }
        Ok(())
    }

    /// Writes data unchanged.
    pub(super) fn raw(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes a line of data. The caller has escaped untrusted text.
    pub(super) fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.raw(text.as_bytes())?;
        self.raw(b"\n")
    }

    /// Writes a value as one line of JSON, as lean as was asked for.
    pub(super) fn json<T: Serialize>(&mut self, value: &T) -> Result<(), CliError> {
        self.keep(value)?;
        self.line_of_json(value)
    }

    fn line_of_json<T: Serialize>(&mut self, value: &T) -> Result<(), CliError> {
        if matches!(self.shape, Shape::Json(JsonForm::Full)) {
            return self.whole_line_of_json(value);
        }
        self.whole_line_of_json(&Ordered::lean(value, &[]).map_err(io::Error::from)?)
    }

    fn whole_line_of_json<T: Serialize>(&mut self, value: &T) -> Result<(), CliError> {
        let line = to_json(value)?;
        self.raw(&line)?;
        self.raw(b"\n")
    }

    /// Writes figures, of which JSON leaves nothing out, or with `text` for people.
    pub(super) fn figures<T: Serialize>(
        &mut self,
        figures: &T,
        text: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.keep(figures)?;
        if self.json { self.whole_line_of_json(figures) } else { text(self) }
    }

    /// Writes a result in the requested format, or with `text` for people.
    pub(super) fn value<T: Serialize>(
        &mut self,
        value: &T,
        text: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.keep(value)?;
        if self.json { self.line_of_json(value) } else { text(self) }
    }

    /// Writes a list in the requested format, or with `text` for people.
    pub(super) fn list<L: Listing>(
        &mut self,
        list: &L,
        text: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.keep(list)?;
        match &self.shape {
            Shape::Text => text(self),
            Shape::Json(_) => self.line_of_json(list),
            Shape::JsonLines => list.rows().iter().try_for_each(|row| self.line_of_json(row)),
            Shape::Rows(format, table, columns) => {
                rows::print(list, (*format, *table, columns.as_slice()), &mut self.out)
            }
        }
    }

    /// Returns the path of a file as a person reads it; where the terminal has links, as one to the file.
    pub(super) fn path(&self, shown: &str, file: &Path) -> String {
        let shown = paint(self.styles.path, &escape(shown));
        if self.has_links { link(&shown, file) } else { shown }
    }

    /// Returns how many characters a list takes in the requested format.
    pub(super) fn n_chars<L: Listing>(
        &self,
        list: &L,
        text: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) -> usize {
        let write = |output: &mut Self| {
            output.is_on_terminal = self.is_on_terminal; // it is shown the numbers of the hits
            output.list(list, text)
        };
        Self::kept(self.shape.clone(), write).1.text.chars().count()
    }

    /// Returns whether the answer is written for people.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.shape, Shape::Text)
    }

    /// Flushes stdout.
    pub(super) fn flush(&mut self) -> Result<(), CliError> {
        Ok(self.out.flush()?)
    }

    /// Writes a line of data at once, and forgets it if that fails; returns whether it was written.
    pub(super) fn line_if_possible(&mut self, text: &str) -> bool {
        let is_written = self.line(text).and_then(|()| self.flush()).is_ok();
        if !is_written {
            self.out = BufWriter::new(Box::new(io::sink()));
        }
        is_written
    }

    /// Writes a sentence to stderr unless `--quiet` is given. The text may be untrusted.
    pub(super) fn say(&self, text: &str) {
        if let Some(kept) = &self.kept {
            kept.borrow_mut().notes.push(escape(text));
        } else if !self.quiet {
            self.talk_line(format!("memo: {}", escape(text)));
        }
    }

    /// Writes to stderr what to do about what was said, unless `--quiet` is given.
    pub(super) fn hint(&self, text: &str) {
        if let Some(kept) = &self.kept {
            kept.borrow_mut().notes.push(format!("hint: {}", escape(text)));
        } else if !self.quiet {
            self.talk_line(format!("{} {}", paint(self.talk.title, "hint:"), escape(text)));
        }
    }

    /// Writes a line to stderr, once no pager covers it.
    fn talk_line(&self, line: String) {
        match self.postponed.borrow_mut().as_mut() {
            Some(postponed) => postponed.push(line),
            // A closed stderr cannot be reported.
            None => drop(writeln!(io::stderr(), "{line}")),
        }
    }

    /// Writes a warning to stderr, even with `--quiet`.
    pub(super) fn warn(&self, text: &str) {
        if let Some(kept) = &self.kept {
            kept.borrow_mut().notes.push(escape(text));
            return;
        }
        self.talk_line(format!("{} {}", paint(self.talk.bad, "memo:"), escape(text)));
    }

    /// Writes to stderr what an answer says about itself, even with `--quiet`. JSON has the reason.
    pub(super) fn say_caveats(&self, caveats: &Caveats) {
        if !caveats.fresh && !self.json {
            self.warn(&behind(caveats.reason.as_deref()));
        }
        caveats.notice.iter().for_each(|notice| self.warn(notice));
    }

    /// Fails if no user can answer [`Self::ask`]. `what` needs the confirmation, and `hint` says what to type instead.
    pub(super) fn can_ask(&self, what: &str, hint: &'static str) -> Result<(), CliError> {
        if self.kept.is_none() && !self.json && io::stdin().is_terminal() {
            return Ok(());
        }
        Err(CliError::Usage { message: format!("{what} needs a confirmation"), hint })
    }

    /// Asks on stderr; only `y` or `yes` on stdin confirms.
    pub(super) fn ask(&self, question: &str) -> Result<bool, CliError> {
        let _ = write!(io::stderr(), "memo: {} [y/N] ", escape(question));
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Shows an error: JSON on stdout, else message and hint on stderr.
    pub(super) fn error(&mut self, shown: &Shown) -> Result<(), CliError> {
        if self.shape.is_json() {
            self.whole_line_of_json(&Failure { error: shown })?;
            return self.flush();
        }
        let (bad, title) = (self.talk.bad, self.talk.title);
        let message = escape_lines(&shown.message);
        self.talk_line(format!("{} {}", paint(bad, "memo:"), message.trim_end()));
        if let Some(hint) = &shown.hint {
            self.talk_line(format!("{} {}", paint(title, "hint:"), escape(hint)));
        }
        Ok(())
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// The shape of an error in JSON.
#[derive(Serialize)]
struct Failure<'a> {
    error: &'a Shown,
}

fn is_coloured<S: anstream::stream::RawStream + IsTerminal>(global: &Global, stream: &S) -> bool {
    match global.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => AutoStream::choice(stream) != ColorChoice::Never,
    }
}

/// Writes a message to stderr before the flags are parsed.
pub(super) fn talk(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
