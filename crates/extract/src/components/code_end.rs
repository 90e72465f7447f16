//! Finds the end of an expression in a template: the bracket that closes it, outside of strings, comments and inner brackets.

/// Longest regular expression that is recognised, in bytes.
const MAX_REGEX_BYTES: usize = 1_000;

/// Where the code of an expression stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeStop {
    /// The brace that closes the expression.
    Close(usize),
    /// The `<` of a tag inside of the expression.
    Tag(usize),
    /// The text ends first.
    End,
}

/// Reads the code of one expression in braces.
pub(super) struct CodeScanner {
    /// The open brackets and template strings: `{`, `` ` ``, and `$` for `${`.
    open: Vec<u8>,
    /// The last byte of the code that is neither blank nor in a comment; 0 at the start.
    last: u8,
    /// Whether the code may have tags, as in Astro.
    has_tags: bool,
}

impl CodeScanner {
    /// Creates a scanner for the start of an expression.
    pub(super) fn new(has_tags: bool) -> Self {
        Self { open: Vec::new(), last: 0, has_tags }
    }

    /// Reads on from a byte; after a tag, from the end of its element.
    pub(super) fn next_stop(&mut self, bytes: &[u8], mut at: usize) -> CodeStop {
        while let Some(&byte) = bytes.get(at) {
            if self.open.last() == Some(&b'`') {
                at = self.step_in_template(bytes, at);
                continue;
            }
            let next = bytes.get(at + 1).copied().unwrap_or_default();
            match byte {
                b'\'' | b'"' => at = string_end(bytes, at),
                b'/' if matches!(next, b'/' | b'*') => {
                    at = comment_end(bytes, at);
                    continue;
                }
                b'/' if self.expects_value() => at = regex_end(bytes, at),
                b'`' | b'{' => self.open.push(byte),
                b'}' if self.open.pop().is_none() => return CodeStop::Close(at),
                b'<' if self.has_tags
                    && begins_tag(next)
                    && (self.expects_value() || follows_return(&bytes[..at])) =>
                {
                    self.last = b')'; // an element is a value
                    return CodeStop::Tag(at);
                }
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                self.last = byte;
            }
            at += 1;
        }
        CodeStop::End
    }

    /// Reads one byte of a template string; returns the next byte.
    fn step_in_template(&mut self, bytes: &[u8], at: usize) -> usize {
        match bytes[at] {
            b'\\' => return at + 2,
            b'`' => {
                self.open.pop();
                self.last = b'`';
            }
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                self.open.push(b'$');
                self.last = b'{';
                return at + 2;
            }
            _ => {}
        }
        at + 1
    }

    /// Returns whether a value comes next, and not an operator.
    fn expects_value(&self) -> bool {
        self.last == 0 || b"(,=:[!&|?{};+-*%<>~^".contains(&self.last)
    }
}

/// Returns whether code ends with the word `return`.
fn follows_return(code: &[u8]) -> bool {
    code.trim_ascii_end().ends_with(b"return")
}

fn begins_tag(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'>' | b'!')
}

/// Returns the last byte of a string in quotes, which ends at the end of its line at the latest.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == bytes[start] => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Returns the byte after a comment.
fn comment_end(bytes: &[u8], start: usize) -> usize {
    if bytes[start + 1] == b'/' {
        return start + bytes[start..].iter().take_while(|byte| **byte != b'\n').count();
    }
    let inner = bytes.get(start + 2..).unwrap_or_default();
    inner.windows(2).position(|pair| pair == b"*/").map_or(bytes.len(), |end| start + 2 + end + 2)
}

/// Returns the last byte of a regular expression, or its first one if it does not end on its line.
fn regex_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut is_class) = (start + 1, false);
    while let Some(&byte) = bytes.get(at).filter(|_| at - start < MAX_REGEX_BYTES) {
        match byte {
            b'\\' => at += 1,
            b'[' => is_class = true,
            b']' => is_class = false,
            b'/' if !is_class => return at,
            b'\n' => break,
            _ => {}
        }
        at += 1;
    }
    start
}

/// Returns the position (in bytes) of the first word `word` in code that has blanks around it and is not in brackets or strings; of the
/// last such word if `is_last`.
pub(super) fn find_word(code: &str, word: &str, is_last: bool) -> Option<usize> {
    let bytes = code.as_bytes();
    let (mut depth, mut at, mut found) = (0_usize, 0, None);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\'' | b'"' | b'`' => at = string_end(bytes, at),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at > 0 && bytes[at..].starts_with(word.as_bytes()) => {
                let is_blank = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
                if is_blank(at - 1) && is_blank(at + word.len()) {
                    if !is_last {
                        return Some(at);
                    }
                    found = Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the byte of the first mark in code outside of brackets and strings that satisfies `is_it`, which sees the byte, the one
/// before and the one after.
pub(super) fn find_mark(code: &str, is_it: impl Fn(u8, u8, u8) -> bool) -> Option<usize> {
    let bytes = code.as_bytes();
    let (mut depth, mut at, mut before) = (0_usize, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        if depth == 0 && is_it(byte, before, bytes.get(at + 1).copied().unwrap_or_default()) {
            return Some(at);
        }
        match byte {
            b'\'' | b'"' | b'`' => at = string_end(bytes, at),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = byte;
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_ends_at_its_brace() {
        let end = |code: &str| CodeScanner::new(false).next_stop(code.as_bytes(), 0);
        let cases = [
            ("a } b", 2),
            ("{ a: {} } } b", 10),
            ("'}' }", 4),
            ("`}${ `}` }` }", 12),
            ("/* } */ a // }\n }", 16),
            ("/[}/]\\/}/.test(a) }", 18),
            ("a / b } /", 6),
            ("\"\\\"}\" }", 6),
            ("'é}' }", 6),
        ];
        for (code, at) in cases {
            assert_eq!(end(code), CodeStop::Close(at), "{code}");
        }
        for code in ["", "a", "{", "`", "'}", "/* }", "`${", "`\\", "'\\"] {
            assert_eq!(end(code), CodeStop::End, "{code}");
        }
        let mut scanner = CodeScanner::new(true);
        assert_eq!(scanner.next_stop(b"a < b && <Card", 0), CodeStop::Tag(9));
    }

    #[test]
    fn words_and_marks_are_found_outside_of_brackets() {
        assert_eq!(find_word("items as Item[] as item", "as", true), Some(16));
        assert_eq!(find_word("f(a as b) as c", "as", false), Some(10));
        assert_eq!(find_word("basic", "as", false), None);
        assert_eq!(find_mark("{ a = 1 } = b", |byte, _, _| byte == b'='), Some(10));
    }
}
