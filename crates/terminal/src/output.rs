//! Writes to stdout and stderr, with colour if the terminal supports it.
//!
//! Data goes to stdout, messages to stderr. Nothing else in the crate prints.

use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use anstream::{AutoStream, ColorChoice};
use memod_proto::{Caveats, OrderedJson};
use serde::Serialize;
use serde_json::Value;

use crate::common_args::{ColorMode, GlobalArgs, JsonForm};
use crate::error::{CliError, ErrorReport};
use crate::escaping_writer::EscapingWriter;
use crate::file_link::{link_to_file, stdout_supports_links};
use crate::pager::{PagedWriter, PostponedLines};
use crate::rows::{self, OutputShape, RowListing};
use crate::text::{TextStyles, escape_for_display, escape_lines, not_up_to_date_message, paint};

/// Returns a value as JSON text. Every result is serialized here, because each further serializer would be compiled once for
/// every type of result.
fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>, CliError> {
    Ok(serde_json::to_vec(value).map_err(io::Error::from)?)
}

/// Writes the output of one run to stdout and stderr.
pub struct Output {
    out: BufWriter<Box<dyn Write>>,
    shape: OutputShape,
    /// Whether the output is one JSON object.
    pub write_json: bool,
    /// Write only errors and warnings to stderr.
    pub quiet: bool,
    /// Whether a person reads the answer on a terminal.
    pub is_on_terminal: bool,
    has_links: bool,
    /// Styles for data.
    pub styles: TextStyles,
    /// Current time, unix ms.
    pub now_ms: i64,
    /// Styles for messages.
    message_styles: TextStyles,
    /// The output, where a caller in this process takes it and no stream gets it; `None` for a command line.
    captured: Option<RefCell<CapturedOutput>>,
    /// Messages that are written after the pager has ended.
    postponed: PostponedLines,
}

/// The output of a verb, not written to any stream.
#[derive(Debug, Default)]
pub struct CapturedOutput {
    /// The text that a command line would write to stdout.
    pub text: String,
    /// The whole result as JSON, whatever the requested format.
    pub json: Option<Value>,
    /// The messages that a command line would write to stderr, each one sentence.
    pub notes: Vec<String>,
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
    pub fn new(global: &GlobalArgs, shape: OutputShape) -> Self {
        let stdout = io::stdout();
        let is_text = matches!(shape, OutputShape::Text);
        let data_has_colour = is_text && is_coloured(global, &stdout);
        // With colour through anstream, for old Windows consoles; otherwise the bytes go out unchanged, except that escape
        // sequences never reach a terminal.
        let out: Box<dyn Write> = match (is_text, stdout.is_terminal()) {
            (true, _) if data_has_colour => Box::new(AutoStream::always(stdout.lock())),
            (false, true) => Box::new(EscapingWriter::new(stdout.lock())),
            _ => Box::new(stdout.lock()),
        };
        Self {
            out: BufWriter::new(out),
            write_json: shape.is_json_object(),
            quiet: global.quiet,
            is_on_terminal: is_text && stdout.is_terminal(),
            has_links: data_has_colour && stdout_supports_links(),
            styles: TextStyles::with_colour(data_has_colour),
            now_ms: now_ms(),
            shape,
            message_styles: TextStyles::with_colour(is_coloured(global, &io::stderr())),
            captured: None,
            postponed: PostponedLines::default(),
        }
    }

    /// Like [`Self::new`], but a text for people that is longer than the terminal goes through a pager.
    pub fn with_pager(global: &GlobalArgs, shape: OutputShape) -> Self {
        let output = Self::new(global, shape);
        if !output.is_on_terminal || !cfg!(unix) {
            return output;
        }
        let (writer, postponed) = PagedWriter::new();
        Self { out: BufWriter::new(Box::new(writer)), postponed, ..output }
    }

    /// Runs a verb without the streams of this process, and returns its result and its output.
    pub fn capture<R>(shape: OutputShape, run: impl FnOnce(&mut Self) -> R) -> (R, CapturedOutput) {
        let bytes = SharedBytes::default();
        let mut output = Self {
            out: BufWriter::new(Box::new(bytes.clone())),
            write_json: shape.is_json_object(),
            // A progress bar would go to stderr.
            quiet: true,
            is_on_terminal: false,
            has_links: false,
            styles: TextStyles::default(),
            now_ms: now_ms(),
            shape,
            message_styles: TextStyles::default(),
            captured: Some(RefCell::default()),
            postponed: PostponedLines::default(),
        };
        let result = run(&mut output);
        // Writing to memory does not fail.
        let _ = output.flush();
        let mut captured = output.captured.take().map(RefCell::into_inner).unwrap_or_default();
        captured.text = String::from_utf8_lossy(&bytes.0.borrow()).into_owned();
        (result, captured)
    }

    /// Stores the whole result as JSON for a caller in this process; does nothing for a command line.
    pub fn capture_result<T: Serialize>(&self, value: &T) -> Result<(), CliError> {
        if let Some(captured) = &self.captured {
            let json = to_json(value)?;
            captured.borrow_mut().json = Some(serde_json::from_slice(&json).map_err(io::Error::from)?);
        }
        Ok(())
    }

    /// Writes bytes to stdout unchanged.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes a line of text to stdout. The caller has escaped untrusted parts.
    pub fn write_line(&mut self, text: &str) -> Result<(), CliError> {
        self.write_bytes(text.as_bytes())?;
        self.write_bytes(b"\n")
    }

    /// Writes a value as one line of JSON, lean or full as requested.
    pub fn is_json_object<T: Serialize>(&mut self, value: &T) -> Result<(), CliError> {
        self.capture_result(value)?;
        self.write_json_line(value)
    }

    fn write_json_line<T: Serialize>(&mut self, value: &T) -> Result<(), CliError> {
        if matches!(self.shape, OutputShape::Json(JsonForm::Full)) {
            return self.write_full_json_line(value);
        }
        self.write_full_json_line(&OrderedJson::without_internal_keys(value, &[]).map_err(io::Error::from)?)
    }

    fn write_full_json_line<T: Serialize>(&mut self, value: &T) -> Result<(), CliError> {
        let line = to_json(value)?;
        self.write_bytes(&line)?;
        self.write_bytes(b"\n")
    }

    /// Writes a value in full, also where lean JSON is requested, or with `text` for people.
    pub fn write_full_result<T: Serialize>(
        &mut self,
        value: &T,
        text: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.capture_result(value)?;
        if self.write_json { self.write_full_json_line(value) } else { text(self) }
    }

    /// Writes a result in the requested format, or with `text` for people.
    pub fn write_result<T: Serialize>(
        &mut self,
        value: &T,
        text: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.capture_result(value)?;
        if self.write_json { self.write_json_line(value) } else { text(self) }
    }

    /// Writes a list in the requested format, or with `text` for people.
    pub fn write_list<L: RowListing>(
        &mut self,
        list: &L,
        text: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.capture_result(list)?;
        match &self.shape {
            OutputShape::Text => text(self),
            OutputShape::Json(_) => self.write_json_line(list),
            OutputShape::JsonLines => list.list_rows().iter().try_for_each(|row| self.write_json_line(row)),
            OutputShape::Rows(selection) => rows::print_rows(list, selection, &mut self.out),
        }
    }

    /// Returns the path of a file for people; on a terminal with links, as a link to the file.
    pub fn styled_path(&self, shown: &str, file: &Path) -> String {
        let shown = paint(self.styles.path, &escape_for_display(shown));
        if self.has_links { link_to_file(&shown, file) } else { shown }
    }

    /// Returns the number of characters of a list in the requested format.
    pub fn count_chars<L: RowListing>(
        &self,
        list: &L,
        text: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) -> usize {
        let (_, captured) = Self::capture(self.shape.clone(), |output| {
            output.is_on_terminal = self.is_on_terminal; // a terminal shows the numbers of the hits
            output.write_list(list, text)
        });
        captured.text.chars().count()
    }

    /// Returns whether the answer is written for people.
    pub fn is_text(&self) -> bool {
        matches!(self.shape, OutputShape::Text)
    }

    /// Flushes stdout.
    pub fn flush(&mut self) -> Result<(), CliError> {
        Ok(self.out.flush()?)
    }

    /// Writes a line of data at once and returns whether that succeeded; after a failure, all further data is dropped.
    pub fn try_write_line(&mut self, text: &str) -> bool {
        let is_written = self.write_line(text).and_then(|()| self.flush()).is_ok();
        if !is_written {
            self.out = BufWriter::new(Box::new(io::sink()));
        }
        is_written
    }

    /// Writes a sentence to stderr unless `--quiet` is given. The text may be untrusted.
    pub fn write_note(&self, text: &str) {
        if let Some(captured) = &self.captured {
            captured.borrow_mut().notes.push(escape_for_display(text));
        } else if !self.quiet {
            self.write_message_line(format!("memo: {}", escape_for_display(text)));
        }
    }

    /// Writes a hint on the last message to stderr, unless `--quiet` is given.
    pub fn write_hint(&self, text: &str) {
        if let Some(captured) = &self.captured {
            captured.borrow_mut().notes.push(format!("hint: {}", escape_for_display(text)));
        } else if !self.quiet {
            self.write_message_line(format!(
                "{} {}",
                paint(self.message_styles.title, "hint:"),
                escape_for_display(text)
            ));
        }
    }

    /// Writes a line to stderr, after the end of a pager.
    fn write_message_line(&self, line: String) {
        match self.postponed.borrow_mut().as_mut() {
            Some(postponed) => postponed.push(line),
            // A closed stderr cannot be reported.
            None => drop(writeln!(io::stderr(), "{line}")),
        }
    }

    /// Writes a warning to stderr, even with `--quiet`.
    pub fn write_warning(&self, text: &str) {
        if let Some(captured) = &self.captured {
            captured.borrow_mut().notes.push(escape_for_display(text));
            return;
        }
        self.write_message_line(format!(
            "{} {}",
            paint(self.message_styles.bad, "memo:"),
            escape_for_display(text)
        ));
    }

    /// Writes the caveats of an answer to stderr, even with `--quiet`. The reason why an answer is not fresh is left out where the
    /// output is JSON, which has it as a field.
    pub fn write_caveats(&self, caveats: &Caveats) {
        if !caveats.fresh && !self.write_json {
            self.write_warning(&not_up_to_date_message(caveats.reason.as_deref()));
        }
        caveats.notice.iter().for_each(|notice| self.write_warning(notice));
    }

    /// Fails if no user can answer [`Self::ask_for_confirmation`]. The error says that `action` needs a confirmation, and `hint`
    /// names the flags to type instead.
    pub fn require_terminal(&self, action: &str, hint: &'static str) -> Result<(), CliError> {
        if self.captured.is_none() && !self.write_json && io::stdin().is_terminal() {
            return Ok(());
        }
        Err(CliError::Usage { message: format!("{action} needs a confirmation"), hint })
    }

    /// Asks a question on stderr; only `y` or `yes` on stdin confirms.
    pub fn ask_for_confirmation(&self, question: &str) -> Result<bool, CliError> {
        let _ = write!(io::stderr(), "memo: {} [y/N] ", escape_for_display(question));
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Shows why a command failed, after the output that it wrote before, and returns its exit status. `verb` is the verb of the
    /// command line.
    pub fn report_error(&mut self, error: &CliError, verb: Option<&str>) -> u8 {
        if error.is_broken_pipe() {
            return 0; // the reader has closed the pipe, as `head` does
        }
        let shown = error.to_report_for(verb);
        // Flush what was printed before the error. If stdout fails as well, the error is reported already.
        let _ = self.flush();
        let _ = self.write_error(&shown);
        shown.exit_status
    }

    /// Shows an error: JSON on stdout, else message and hint on stderr.
    pub fn write_error(&mut self, shown: &ErrorReport) -> Result<(), CliError> {
        if self.shape.is_json() {
            self.write_full_json_line(&JsonError { error: shown })?;
            return self.flush();
        }
        let (bad, title) = (self.message_styles.bad, self.message_styles.title);
        let message = escape_lines(&shown.message);
        self.write_message_line(format!("{} {}", paint(bad, "memo:"), message.trim_end()));
        if let Some(hint) = &shown.hint {
            self.write_message_line(format!("{} {}", paint(title, "hint:"), escape_for_display(hint)));
        }
        Ok(())
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// An error as it is written in JSON.
#[derive(Serialize)]
struct JsonError<'a> {
    error: &'a ErrorReport,
}

fn is_coloured<S: anstream::stream::RawStream + IsTerminal>(global: &GlobalArgs, stream: &S) -> bool {
    match global.color {
        ColorMode::Always => true,
        ColorMode::Never => false,
        ColorMode::Auto => AutoStream::choice(stream) != ColorChoice::Never,
    }
}

/// Writes a message to stderr before the flags are parsed.
pub fn write_message(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
