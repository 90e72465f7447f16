//! Splits a document into numbered lines.

use std::ops::Range;

/// A document split into lines, numbered from 0.
pub(super) struct DocumentLines<'a> {
    text: &'a str,
    /// The byte span of each line, with its line break.
    spans: Vec<Range<usize>>,
}

impl<'a> DocumentLines<'a> {
    /// Splits the part of `text` from byte `start` on.
    pub(super) fn new(text: &'a str, start: usize) -> Self {
        let mut at = start;
        Self {
            text,
            spans: text[start..]
                .split_inclusive('\n')
                .map(|line| {
                    at += line.len();
                    at - line.len()..at
                })
                .collect(),
        }
    }

    /// Returns the number of lines.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns a line without the blanks at its end; an empty line for a number after the last.
    pub(super) fn trimmed_line(&self, line: usize) -> &'a str {
        self.spans.get(line).map_or("", |span| self.text[span.clone()].trim_end())
    }

    /// Returns the byte at which a line starts; the end of the text for a number after the last.
    pub(super) fn line_start(&self, line: usize) -> usize {
        self.spans.get(line).map_or(self.text.len(), |span| span.start)
    }
}
