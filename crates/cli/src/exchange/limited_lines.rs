//! Reads the lines of a file, with a limit on their length.

use std::io::{self, BufRead};

/// Longest line that is read, bytes: enough for the longest memory with every character escaped.
const MAX_LINE_BYTES: usize = 2 << 20;
/// The byte order mark, which some editors write at the start of a file.
pub(super) const BOM: &[u8] = "\u{feff}".as_bytes();

/// Reads lines, and never holds more than [`MAX_LINE_BYTES`] of a line in memory.
pub(super) struct LimitedLines<R> {
    reader: R,
    number: u64,
}

/// A line, or why it cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LimitedLine {
    /// The text of the line, without the line break.
    Text(String),
    /// Why the line cannot be used.
    Unusable(&'static str),
}

impl<R: BufRead> LimitedLines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, number: 0 }
    }

    /// Returns the next line and its number, 1-based; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn next_line(&mut self) -> io::Result<Option<(u64, LimitedLine)>> {
        let mut line = Vec::new();
        let (mut is_at_end, mut is_too_long) = (true, false);
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            if buffer.is_empty() {
                break;
            }
            is_at_end = false;
            let newline = buffer.iter().position(|byte| *byte == b'\n');
            let end = newline.unwrap_or(buffer.len());
            is_too_long |= line.len() + end > MAX_LINE_BYTES;
            if !is_too_long {
                line.extend_from_slice(&buffer[..end]);
            }
            let n_used = newline.map_or(end, |at| at + 1);
            self.reader.consume(n_used);
            if newline.is_some() {
                break;
            }
        }
        if is_at_end {
            return Ok(None);
        }
        self.number += 1;
        if self.number == 1 && line.starts_with(BOM) {
            line.drain(..BOM.len());
        }
        let text = String::from_utf8(line);
        let line = match text {
            _ if is_too_long => LimitedLine::Unusable("a line over 2 MiB"),
            Ok(text) => LimitedLine::Text(text),
            Err(_) => LimitedLine::Unusable("not UTF-8"),
        };
        Ok(Some((self.number, line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, LimitedLine)> {
        let mut lines = LimitedLines::new(io::BufReader::with_capacity(3, text));
        std::iter::from_fn(|| lines.next_line().unwrap()).collect()
    }

    #[test]
    fn a_long_line_is_passed_over() {
        let text = |text: &str| LimitedLine::Text(text.to_owned());
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"a\n\nbcdef"), [(1, text("a")), (2, text("")), (3, text("bcdef"))]);
        assert_eq!(lines(b"a\xff\nb\n"), [(1, LimitedLine::Unusable("not UTF-8")), (2, text("b"))]);
        assert_eq!(lines(b"\xef\xbb\xbfa\n\xef\xbb\xbfb"), [(1, text("a")), (2, text("\u{feff}b"))]);
        let long = ["x".repeat(MAX_LINE_BYTES + 1), "b".to_owned()].join("\n");
        assert_eq!(lines(long.as_bytes()), [(1, LimitedLine::Unusable("a line over 2 MiB")), (2, text("b"))]);
        assert_eq!(lines("x".repeat(MAX_LINE_BYTES).as_bytes()), [(1, text(&"x".repeat(MAX_LINE_BYTES)))]);
    }
}
