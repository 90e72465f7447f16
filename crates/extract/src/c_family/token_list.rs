//! Finds the ends of brackets, lists and names among the tokens of a file.

use super::lexer::{Token, TokenKind};
use super::words;

/// Most tokens between angle brackets; more are comparisons.
const MAX_ANGLE_TOKENS: usize = 400;

/// The tokens of a file that are read as declarations.
pub(super) struct TokenList<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
}

impl<'a> TokenList<'a> {
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn kind_at(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_mark(mark))
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_word)
    }

    /// Returns the word at a position; `""` if there is another token, or none.
    pub(super) fn word_at(&self, at: usize) -> &'a str {
        self.tokens.get(at).filter(|token| token.is_word()).map_or("", |token| token.text(self.text))
    }

    pub(super) fn directive_at(&self, at: usize) -> Option<&'a str> {
        let token = self.tokens.get(at).filter(|token| token.kind == TokenKind::Directive)?;
        Some(token.text(self.text).trim_start_matches(['#', ' ', '\t']))
    }

    pub(super) fn starts_line(&self, at: usize) -> bool {
        self.tokens.get(at).is_none_or(|token| token.starts_line)
    }

    /// Returns whether `::` is at a position.
    pub(super) fn is_scope_mark(&self, at: usize) -> bool {
        self.is_mark(at, b':') && self.is_mark(at + 1, b':') && {
            let (first, next) = (&self.tokens[at], &self.tokens[at + 1]);
            first.end == next.start
        }
    }

    /// Returns the position after the bracket that closes the one at `at`; the end of the tokens if none does.
    pub(super) fn after_brackets(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        for (offset, token) in self.tokens[at..].iter().enumerate() {
            match token.kind {
                TokenKind::Mark(b'(' | b'[' | b'{') => depth += 1,
                TokenKind::Mark(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at + offset + 1;
            }
        }
        self.len()
    }

    /// Returns the position after the arguments at `at`, or `at` if there are none.
    pub(super) fn after_arguments(&self, at: usize) -> usize {
        if self.is_mark(at, b'(') { self.after_brackets(at) } else { at }
    }

    /// Returns the position after the angle brackets that open at `at`, or `None` if they do not close in the declaration.
    pub(super) fn after_angles(&self, mut at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let end = self.len().min(at + MAX_ANGLE_TOKENS);
        while at < end {
            match self.tokens[at].kind {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') if self.is_mark(at.wrapping_sub(1), b'-') => {}
                TokenKind::Mark(b'>') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                TokenKind::Mark(b'(' | b'[' | b'{') => {
                    at = self.after_brackets(at);
                    continue;
                }
                TokenKind::Mark(b')' | b']' | b'}' | b';') => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Returns the position after `template <…>` and `[[…]]` at `at`.
    pub(super) fn after_prefixes(&self, mut at: usize) -> usize {
        loop {
            if self.word_at(at) == "template" && self.is_mark(at + 1, b'<') {
                match self.after_angles(at + 1) {
                    Some(after) => at = after,
                    None => return at + 1,
                }
            } else if self.is_mark(at, b'[') && self.is_mark(at + 1, b'[') {
                at = self.after_brackets(at);
            } else {
                return at;
            }
        }
    }

    /// Returns the position after a name with its qualifiers and template arguments: `a::b<c>`.
    pub(super) fn after_name(&self, mut at: usize) -> usize {
        loop {
            at += 1;
            if self.is_mark(at, b'<') {
                at = self.after_angles(at).unwrap_or(at);
            }
            if !self.is_scope_mark(at) {
                return at;
            }
            at += 2;
            if self.word_at(at) == "template" {
                at += 1;
            }
            if !self.is_word(at) {
                return at;
            }
        }
    }

    /// Returns whether the word at a position is spelt as a macro, and is not qualified.
    pub(super) fn is_macro(&self, at: usize) -> bool {
        words::is_macro_name(self.word_at(at)) && !self.is_scope_mark(at + 1)
    }
}
