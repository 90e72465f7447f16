//! Splits the text of a format into words, quoted texts and marks.

use std::ops::Range;

/// The comments, quotes and words of a format.
#[derive(Clone, Copy)]
pub(super) struct TokenSyntax {
    /// Marks that begin a comment to the end of the line.
    pub(super) line_comments: &'static [&'static str],
    /// Whether `/*` begins a comment to `*/`.
    pub(super) has_block_comments: bool,
    /// Characters around a quoted text.
    pub(super) quotes: &'static [u8],
    /// Characters of words beside letters, digits and `_`.
    pub(super) in_words: &'static [u8],
    /// Whether `"""` quotes a text of several lines.
    pub(super) has_block_texts: bool,
    /// Whether `[[`, `[=[` and so on quote a text, as in CMake.
    pub(super) has_bracket_texts: bool,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatTokenKind {
    Word,
    /// A quoted text; the bytes are those between the quotes.
    Text,
    Mark(u8),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormatToken {
    pub(super) kind: FormatTokenKind,
    pub(super) bytes: Range<usize>,
}

impl FormatToken {
    pub(super) fn new(kind: FormatTokenKind, bytes: Range<usize>) -> Self {
        Self { kind, bytes }
    }

    pub(super) fn is_mark(&self, mark: u8) -> bool {
        self.kind == FormatTokenKind::Mark(mark)
    }
}

/// The tokens of a text in order, and its comments.
#[derive(Debug, Default)]
pub(super) struct FormatTokens<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<FormatToken>,
    pub(super) comments: Vec<Range<usize>>,
}

impl<'a> FormatTokens<'a> {
    /// Splits a text; takes time in proportion to its length.
    pub(super) fn split_text(text: &'a str, syntax: TokenSyntax) -> Self {
        let mut list = Self { text, ..Self::default() };
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let rest = &bytes[at..];
            if byte.is_ascii_whitespace() {
                at += 1;
                continue;
            }
            if syntax.has_bracket_texts
                && let Some((inner, end)) = bracket_text(text, at + usize::from(byte == b'#'))
            {
                if byte == b'#' {
                    list.comments.push(at..end);
                } else {
                    list.tokens.push(FormatToken::new(FormatTokenKind::Text, inner));
                }
                at = end;
                continue;
            }
            let is_block = syntax.has_block_comments && rest.starts_with(b"/*");
            if is_block || syntax.line_comments.iter().any(|mark| rest.starts_with(mark.as_bytes())) {
                let end = if is_block { block_comment_end(text, at) } else { line_end(text, at) };
                list.comments.push(at..end);
                at = end;
            } else if syntax.has_block_texts && rest.starts_with(b"\"\"\"") {
                let inner = at + 3;
                let end = text[inner..].find("\"\"\"").map_or(text.len(), |found| inner + found);
                list.tokens.push(FormatToken::new(FormatTokenKind::Text, inner..end));
                at = (end + 3).min(text.len());
            } else if syntax.quotes.contains(&byte)
                && !(syntax.has_bracket_texts && text[..at].ends_with('\\'))
            {
                let end = quoted_end(bytes, at);
                list.tokens.push(FormatToken::new(FormatTokenKind::Text, at + 1..end));
                at = (end + 1).min(bytes.len());
            } else {
                let end = word_end(bytes, at, syntax.in_words);
                let kind = if end > at { FormatTokenKind::Word } else { FormatTokenKind::Mark(byte) };
                list.tokens.push(FormatToken::new(kind, at..end.max(at + 1)));
                at = end.max(at + 1);
            }
        }
        list
    }

    pub(super) fn get(&self, at: usize) -> Option<&FormatToken> {
        self.tokens.get(at)
    }

    /// Returns the text of a token; empty after the last token.
    pub(super) fn text_at(&self, at: usize) -> &'a str {
        self.tokens.get(at).and_then(|token| self.text.get(token.bytes.clone())).unwrap_or_default()
    }

    /// Returns the text of a token if it is a word.
    pub(super) fn word_at(&self, at: usize) -> Option<&'a str> {
        self.get(at).filter(|token| token.kind == FormatTokenKind::Word).map(|_| self.text_at(at))
    }

    pub(super) fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.get(at).is_some_and(|token| token.is_mark(mark))
    }

    /// Returns, for each opening bracket, the position of its closing bracket; for each other token, and for a bracket that is not
    /// closed, the number of tokens.
    pub(super) fn match_brackets(&self, pairs: &[(u8, u8)]) -> Vec<usize> {
        let mut ends = vec![self.tokens.len(); self.tokens.len()];
        let mut open: Vec<(usize, u8)> = Vec::new();
        for (at, token) in self.tokens.iter().enumerate() {
            let FormatTokenKind::Mark(mark) = token.kind else { continue };
            if let Some((_, close)) = pairs.iter().find(|(start, _)| *start == mark) {
                open.push((at, *close));
            } else if pairs.iter().any(|(_, close)| *close == mark)
                && open.last().is_some_and(|(_, close)| *close == mark)
                && let Some((start, _)) = open.pop()
            {
                ends[start] = at;
            }
        }
        ends
    }

    /// Returns the byte after a token; the length of the text after the last token.
    pub(super) fn end_of(&self, at: usize) -> usize {
        self.get(at).map_or(self.text.len(), |token| token.bytes.end)
    }
}

pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |found| at + found)
}

pub(super) fn block_comment_end(text: &str, at: usize) -> usize {
    text[at + 2..].find("*/").map_or(text.len(), |found| at + 2 + found + 2)
}

/// Returns the byte of the quote that ends the text whose first quote is at a byte; the end of the text if there is none.
pub(super) fn quoted_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if byte == quote => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the end of the word that begins at a byte; the byte itself if none begins there.
pub(super) fn word_end(bytes: &[u8], at: usize, in_words: &[u8]) -> usize {
    let is_inside =
        |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80 || in_words.contains(byte);
    at + bytes[at..].iter().take_while(|byte| is_inside(byte)).count()
}

/// Returns the bytes inside of `[[ … ]]` or `[==[ … ]==]` at a byte, and the byte after it.
fn bracket_text(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let rest = text.get(at..)?.strip_prefix('[')?;
    let n_marks = rest.len() - rest.trim_start_matches('=').len();
    rest[n_marks..].strip_prefix('[')?;
    let start = at + 2 + n_marks;
    let close = format!("]{}]", "=".repeat(n_marks));
    let end = text[start..].find(&close).map_or(text.len(), |found| start + found);
    Some((start..end, (end + close.len()).min(text.len())))
}

/// Counts lines up to ascending positions, each line once.
#[derive(Default)]
pub(super) struct LineCounter {
    at: usize,
    n_breaks: u32,
}

impl LineCounter {
    /// Returns the 1-based line of a byte that is not before that of the last call.
    pub(super) fn line_at(&mut self, text: &str, at: usize) -> u32 {
        let passed = text.as_bytes().get(self.at..at).unwrap_or_default();
        self.n_breaks += passed.iter().filter(|byte| **byte == b'\n').count() as u32;
        self.at = self.at.max(at);
        self.n_breaks + 1
    }
}

/// Returns the token after a token, or after its closing bracket; `ends` has the closing bracket of each opening one.
pub(super) fn skip_brackets(ends: &[usize], at: usize) -> usize {
    let end = ends.get(at).copied().unwrap_or_default();
    if end > at && end < ends.len() { end + 1 } else { at + 1 }
}
