//! Where does output go, and how does it look there?
//!
//! stdout is data, stderr is talk. Nothing else in the crate prints.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use super::args::{Colour, Global};
use super::error::{CliError, Shown};
use super::text::{Styles, escape, escape_lines, paint};

/// The two streams of one run.
pub(super) struct Output {
    out: BufWriter<Box<dyn Write>>,
    /// Print JSON.
    pub(super) json: bool,
    /// Say nothing on stderr but errors.
    pub(super) quiet: bool,
    /// How data looks.
    pub(super) styles: Styles,
    talk: Styles,
}

impl Output {
    /// Looks at the streams and at what was asked for.
    pub(super) fn new(global: &Global) -> Self {
        let stdout = io::stdout();
        let (data, talk) = (is_coloured(global, &stdout), is_coloured(global, &io::stderr()));
        let styles = |coloured: bool| if coloured { Styles::coloured() } else { Styles::default() };
        // With colour through anstream, which teaches old Windows consoles; else straight: no byte is touched.
        let out: Box<dyn Write> =
            if data { Box::new(AutoStream::always(stdout.lock())) } else { Box::new(stdout.lock()) };
        Self {
            out: BufWriter::new(out),
            json: global.json,
            quiet: global.quiet,
            styles: styles(data && !global.json),
            talk: styles(talk),
        }
    }

    /// Writes data as it is.
    pub(super) fn raw(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes a line of data. The caller escaped what is foreign.
    pub(super) fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.raw(text.as_bytes())?;
        self.raw(b"\n")
    }

    /// Writes a value as one line of JSON.
    pub(super) fn json<T: Serialize>(&mut self, value: &T) -> Result<(), CliError> {
        serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?;
        self.raw(b"\n")
    }

    /// Hands everything written so far to the reader.
    pub(super) fn flush(&mut self) -> Result<(), CliError> {
        Ok(self.out.flush()?)
    }

    /// Says a sentence on stderr, unless quiet. The text may be foreign.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet {
            // Nobody can be told that stderr is closed.
            let _ = writeln!(io::stderr(), "memo: {}", escape(text));
        }
    }

    /// Says on stderr what somebody must know, also when quiet.
    pub(super) fn warn(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{} {}", paint(self.talk.bad, "memo:"), escape(text));
    }

    /// Asks on stderr; only `y` or `yes` on stdin means it.
    pub(super) fn ask(&self, question: &str) -> Result<bool, CliError> {
        let _ = write!(io::stderr(), "memo: {} [y/N] ", escape(question));
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Shows an error: JSON on stdout, else message and hint on stderr.
    pub(super) fn error(&mut self, shown: &Shown) -> Result<(), CliError> {
        if self.json {
            self.json(&Failure { error: shown })?;
            return self.flush();
        }
        let (bad, title) = (self.talk.bad, self.talk.title);
        let message = escape_lines(&shown.message);
        let _ = writeln!(io::stderr(), "{} {}", paint(bad, "memo:"), message.trim_end());
        if let Some(hint) = &shown.hint {
            let _ = writeln!(io::stderr(), "{} {}", paint(title, "hint:"), escape(hint));
        }
        Ok(())
    }
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

/// Says something on stderr before the flags are known.
pub(super) fn talk(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
