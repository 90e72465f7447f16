//! Holds the copy of a text that the grammar reads, in which macros are blank.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::test_macros::TestMacro;
use super::token_list::TokenList;
use super::token_uses::{TokenReceiver, TokenUse, read_uses};

/// A copy of a text with the same length and the same line ends.
pub(super) struct ReadableCopy<'a> {
    text: &'a str,
    bytes: Option<Vec<u8>>,
    /// Uses in what is blank.
    pub(super) uses: Vec<TokenUse>,
}

impl<'a> ReadableCopy<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, bytes: None, uses: Vec::new() }
    }

    /// Blanks the bytes of a span, except line ends.
    pub(super) fn blank_span(&mut self, span: Range<usize>) {
        let bytes = self.bytes.get_or_insert_with(|| self.text.as_bytes().to_vec());
        let span = bytes.get_mut(span).into_iter().flatten();
        span.filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }

    /// Blanks tokens, and records the names that they use.
    pub(super) fn blank_tokens(&mut self, list: &TokenList<'_>, positions: Range<usize>) {
        let tokens = list.tokens.get(positions).unwrap_or_default();
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
        self.uses.extend(read_uses(self.text, tokens, &HashSet::new()));
        self.blank_span(first.start as usize..last.end as usize);
    }

    /// Writes a shorter or equally long word over a span, and blanks the rest.
    pub(super) fn write_over(&mut self, span: Range<usize>, word: &str) {
        self.blank_span(span.clone());
        let target = self.bytes.as_mut().and_then(|bytes| bytes.get_mut(span.start..span.start + word.len()));
        if let Some(target) = target.filter(|_| word.len() <= span.len()) {
            target.copy_from_slice(word.as_bytes());
        }
    }

    /// Writes the head of a function over a macro that defines a test, and records the uses in its arguments.
    pub(super) fn write_test(&mut self, list: &TokenList<'_>, test: &TestMacro) {
        let tokens = list.tokens.get(test.arguments.clone()).unwrap_or_default();
        let uses = read_uses(self.text, tokens, &HashSet::new());
        self.uses.extend(uses.into_iter().filter(|found| found.bytes.start != test.name_start()));
        self.uses.push(TokenUse { bytes: test.word.clone(), receiver: TokenReceiver::None, is_call: false });
        self.write_over(test.head.clone(), test.stand_in());
    }

    /// Returns the copy, or the text itself if nothing is blank.
    pub(super) fn into_text(self) -> (Cow<'a, str>, Vec<TokenUse>) {
        // Whole tokens and comments were blanked, so that the rest is UTF-8.
        let copy = self.bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        (copy.map_or(Cow::Borrowed(self.text), Cow::Owned), self.uses)
    }
}
