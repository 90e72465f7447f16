//! Splits C and C++ text into tokens.
//!
//! Comments are skipped. A preprocessor line is one token with its continuation lines, and so is a string, a raw string or a
//! character literal.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    /// A string, raw string or character literal.
    Literal,
    /// A single punctuation character.
    Mark(u8),
    /// A preprocessor line.
    Directive,
}

/// One token, with its bytes in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether the token is the first one on its line.
    pub(super) starts_line: bool,
}

impl Token {
    pub(super) fn byte_range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.byte_range()).unwrap_or_default()
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }

    pub(super) fn is_mark(&self, mark: u8) -> bool {
        self.kind == TokenKind::Mark(mark)
    }
}

/// Returns the tokens of `text`, which must be shorter than 4 GiB.
pub(super) fn split_tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, tokens: Vec::with_capacity(text.len() / 6) };
    lexer.read_tokens();
    lexer.tokens
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn read_tokens(&mut self) {
        let mut starts_line = true;
        while let Some(&byte) = self.bytes.get(self.at) {
            let start = self.at;
            let kind = match byte {
                b'\n' => {
                    self.at += 1;
                    starts_line = true;
                    continue;
                }
                b'/' if self.skip_comment() => continue,
                b'#' if starts_line => {
                    self.skip_directive();
                    TokenKind::Directive
                }
                b'"' | b'\'' => {
                    self.skip_literal(byte);
                    TokenKind::Literal
                }
                _ if byte.is_ascii_digit() => {
                    self.skip_number();
                    TokenKind::Number
                }
                _ if is_word_byte(byte) => self.read_word(),
                _ if byte.is_ascii_graphic() => {
                    self.at += 1;
                    TokenKind::Mark(byte)
                }
                _ => {
                    self.at += 1;
                    continue;
                }
            };
            self.tokens.push(Token { kind, start: start as u32, end: self.at as u32, starts_line });
            starts_line = false;
        }
    }

    fn peek_byte(&self, n: usize) -> u8 {
        self.bytes.get(self.at + n).copied().unwrap_or_default()
    }

    /// Skips a comment; returns whether there is one.
    fn skip_comment(&mut self) -> bool {
        match self.peek_byte(1) {
            b'/' => {
                self.skip_line();
                true
            }
            b'*' => {
                let rest = &self.bytes[self.at + 2..];
                let n = rest.windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |n| n + 2);
                self.at += 2 + n;
                true
            }
            _ => false,
        }
    }

    /// Goes to the end of the line, which a backslash continues.
    fn skip_line(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'\n' && !self.is_continued() {
                return;
            }
            self.at += 1;
        }
    }

    fn skip_directive(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' if !self.is_continued() => return,
                b'/' if self.peek_byte(1) == b'/' => return self.skip_line(),
                b'/' if self.skip_comment() => {}
                _ => self.at += 1,
            }
        }
    }

    /// Returns whether the line end here follows a backslash.
    fn is_continued(&self) -> bool {
        let line = self.bytes[..self.at].strip_suffix(b"\r").unwrap_or(&self.bytes[..self.at]);
        line.ends_with(b"\\")
    }

    /// Skips a literal up to its closing quote. A literal without one ends with its line, so that a lone apostrophe hides no
    /// code below.
    fn skip_literal(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'\n' => break,
                _ if byte == quote => {
                    self.at += 1;
                    break;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn skip_number(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let is_part = is_word_byte(byte)
                || byte == b'.'
                || byte == b'\'' && is_word_byte(self.peek_byte(1))
                || matches!(byte, b'+' | b'-')
                    && matches!(self.bytes[self.at - 1], b'e' | b'E' | b'p' | b'P');
            if !is_part {
                return;
            }
            self.at += 1;
        }
    }

    /// Reads a word. If a literal follows at once, as in `L"text"` or `R"(text)"`, reads both as one literal.
    fn read_word(&mut self) -> TokenKind {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| is_word_byte(*byte)) {
            self.at += 1;
        }
        let quote = self.peek_byte(0);
        if !matches!(quote, b'"' | b'\'') {
            return TokenKind::Word;
        }
        match &self.bytes[start..self.at] {
            b"R" | b"LR" | b"uR" | b"UR" | b"u8R" if quote == b'"' => self.skip_raw_string(),
            b"L" | b"u" | b"U" | b"u8" => self.skip_literal(quote),
            _ => return TokenKind::Word,
        }
        TokenKind::Literal
    }

    fn skip_raw_string(&mut self) {
        let rest = &self.bytes[self.at + 1..];
        let Some(n_delimiter) = rest.iter().take(17).position(|byte| *byte == b'(') else {
            return self.skip_literal(b'"');
        };
        let closing = [b")", &rest[..n_delimiter], b"\""].concat();
        let end = rest.windows(closing.len()).position(|window| window == closing);
        self.at += 1 + end.map_or(rest.len(), |end| end + closing.len());
    }
}

/// Returns whether a byte may be part of a word; all bytes of characters outside of ASCII may.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = split_tokens(text).iter().map(|token| token.text(text)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn comments_literals_and_directives_hide_their_words() {
        check("a/*b*/c // d\ne", &["a", "c", "e"]);
        check("x = \"A\\\"B\" 'c' L\"d\";", &["x", "=", "\"A\\\"B\"", "'c'", "L\"d\"", ";"]);
        check("R\"x(a)\" b)x\" c", &["R\"x(a)\" b)x\"", "c"]);
        check("#define A(x) \\\r\n  b(x)\nc", &["#define A(x) \\\r\n  b(x)", "c"]);
        check("#if A /* b\n c */\nd", &["#if A /* b\n c */", "d"]);
        check("1'000 0x1p-3 a-1", &["1'000", "0x1p-3", "a", "-", "1"]);
        check("// a \\\n b\nc", &["c"]);
        check("'\nb é /*", &["'", "b", "é"]);
        check("R\"", &["R\""]);
        check("\"\\", &["\"\\"]);
    }
}
