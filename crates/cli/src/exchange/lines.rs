//! Reads the lines of a file, with a limit on their length.

use std::io::{self, BufRead};

/// Longest line that is read, bytes: the longest memory with everything in it escaped.
const MOST: usize = 2 << 20;
/// The byte order mark that some editors write.
pub(super) const BOM: &[u8] = "\u{feff}".as_bytes();

/// Reads lines, and never holds more of a line than the limit.
pub(super) struct Lines<R> {
    reader: R,
    number: u64,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without the line break.
    Text(String),
    /// Why the line cannot be used.
    Bad(&'static str),
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, number: 0 }
    }

    /// Returns the next line and its number, 1-based; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn next(&mut self) -> io::Result<Option<(u64, Line)>> {
        let mut line = Vec::new();
        let (mut is_over, mut is_long) = (true, false);
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            if buffer.is_empty() {
                break;
            }
            is_over = false;
            let newline = buffer.iter().position(|byte| *byte == b'\n');
            let end = newline.unwrap_or(buffer.len());
            is_long |= line.len() + end > MOST;
            if !is_long {
                line.extend_from_slice(&buffer[..end]);
            }
            let n_used = newline.map_or(end, |at| at + 1);
            self.reader.consume(n_used);
            if newline.is_some() {
                break;
            }
        }
        if is_over {
            return Ok(None);
        }
        self.number += 1;
        if self.number == 1 && line.starts_with(BOM) {
            line.drain(..BOM.len());
        }
        let text = String::from_utf8(line);
        let line = match text {
            _ if is_long => Line::Bad("a line over 2 MiB"),
            Ok(text) => Line::Text(text),
            Err(_) => Line::Bad("not UTF-8"),
        };
        Ok(Some((self.number, line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, Line)> {
        let mut lines = Lines::new(io::BufReader::with_capacity(3, text));
        std::iter::from_fn(|| lines.next().unwrap()).collect()
    }

    #[test]
    fn a_long_line_is_passed_over() {
        let text = |text: &str| Line::Text(text.to_owned());
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"a\n\nbcdef"), [(1, text("a")), (2, text("")), (3, text("bcdef"))]);
        assert_eq!(lines(b"a\xff\nb\n"), [(1, Line::Bad("not UTF-8")), (2, text("b"))]);
        assert_eq!(lines(b"\xef\xbb\xbfa\n\xef\xbb\xbfb"), [(1, text("a")), (2, text("\u{feff}b"))]);
        let long = ["x".repeat(MOST + 1), "b".to_owned()].join("\n");
        assert_eq!(lines(long.as_bytes()), [(1, Line::Bad("a line over 2 MiB")), (2, text("b"))]);
        assert_eq!(lines("x".repeat(MOST).as_bytes()), [(1, text(&"x".repeat(MOST)))]);
    }
}
