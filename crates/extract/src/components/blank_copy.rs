//! Holds the copy of a component in which all but code is blank.

use std::ops::Range;

/// A copy of a text with the same length and the same line ends.
pub(super) struct BlankCopy<'a> {
    text: &'a str,
    bytes: Vec<u8>,
}

impl<'a> BlankCopy<'a> {
    /// Creates a copy in which everything is blank.
    pub(super) fn new(text: &'a str) -> Self {
        let blank = |byte: u8| if matches!(byte, b'\n' | b'\r') { byte } else { b' ' };
        Self { text, bytes: text.bytes().map(blank).collect() }
    }

    /// Copies a span of the text. Its ends must be between characters.
    pub(super) fn copy_span(&mut self, span: Range<usize>) {
        if let (Some(from), Some(to)) = (self.text.get(span.clone()), self.bytes.get_mut(span)) {
            to.copy_from_slice(from.as_bytes());
        }
    }

    /// Blanks a span again. Its ends must be between characters.
    pub(super) fn blank_span(&mut self, span: Range<usize>) {
        let bytes = self.bytes.get_mut(span).into_iter().flatten();
        bytes.filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }

    /// Writes a mark over a blank, or over a bracket that was copied; a line end stays.
    pub(super) fn put_mark(&mut self, at: usize, mark: u8) {
        if let Some(byte) =
            self.bytes.get_mut(at).filter(|byte| byte.is_ascii() && !matches!(byte, b'\n' | b'\r'))
        {
            *byte = mark;
        }
    }

    /// Writes a mark if the byte is blank; a line end separates too.
    pub(super) fn put_separator(&mut self, at: usize, mark: u8) {
        if let Some(byte) = self.bytes.get_mut(at).filter(|byte| **byte == b' ') {
            *byte = mark;
        }
    }

    /// Returns the copy.
    pub(super) fn into_text(self) -> String {
        // Whole characters were copied, so the copy is UTF-8.
        String::from_utf8(self.bytes).unwrap_or_default()
    }
}
