//! Escapes control characters in data that goes to a terminal.
//!
//! Files and pipes get every byte unchanged. On a terminal, control characters in JSON or CSV are escaped.

use std::io::{self, Write};
use std::str::from_utf8;

use crate::text::escape_lines;

/// Escapes control characters in everything that is written to a terminal.
pub(crate) struct EscapingWriter<W> {
    out: W,
    /// The first bytes of a character that is not complete yet.
    incomplete: Vec<u8>,
}

impl<W: Write> EscapingWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, incomplete: Vec::new() }
    }
}

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.incomplete.extend_from_slice(bytes);
        let n_complete = from_utf8(&self.incomplete).map_or_else(|error| error.valid_up_to(), str::len);
        let rest = self.incomplete.split_off(n_complete);
        self.out.write_all(escape_lines(&String::from_utf8_lossy(&self.incomplete)).as_bytes())?;
        self.incomplete = rest;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped_however_it_is_cut() {
        let text = "a\u{1b}[31m,ü\u{202e}b\u{9b}\tc\nd\n";
        for cut in 0..text.len() {
            let mut escaping_writer = EscapingWriter::new(Vec::new());
            escaping_writer.write_all(&text.as_bytes()[..cut]).unwrap();
            escaping_writer.write_all(&text.as_bytes()[cut..]).unwrap();
            let shown = String::from_utf8(escaping_writer.out).unwrap();
            assert_eq!(shown, "a\\u{1b}[31m,ü\\u{202e}b\\u{9b}\tc\nd\n", "{cut}");
        }
    }
}
