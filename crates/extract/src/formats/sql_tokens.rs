//! Splits SQL into tokens and statements, in the dialects of PostgreSQL, MySQL, SQLite, SQL Server and Oracle.

use std::collections::HashSet;
use std::ops::Range;

use super::tokens::{FormatToken, FormatTokenKind, FormatTokens, block_comment_end, line_end, word_end};

/// Mark of a token that ends a statement where `;` does not: `GO`, `/`, or what `DELIMITER` sets.
pub(super) const STATEMENT_END: u8 = 0;
/// Marks before and after a text in dollar quotes.
pub(super) const DOLLAR_QUOTE: u8 = 1;

/// Mark of a value in quotes.
pub(super) const VALUE: u8 = b'\'';

/// Most tags of dollar quotes that are searched for in vain, because each search reads the rest of the text.
const MOST_LONE_TAGS: usize = 8;

/// Splits a text; the tokens inside of dollar quotes are between two marks. A quoted name is a token of the kind `Text`, a quoted
/// value a mark.
pub(super) fn split_sql(text: &str) -> FormatTokens<'_> {
    let mut splitter = SqlSplitter {
        list: FormatTokens { text, ..FormatTokens::default() },
        dollar_tag: None,
        lone_tags: HashSet::new(),
        delimiter: None,
    };
    let mut at = 0;
    while at < text.len() {
        at = splitter.read_token(at);
    }
    splitter.list
}

struct SqlSplitter<'a> {
    list: FormatTokens<'a>,
    /// The tag of the dollar quotes around the current place.
    dollar_tag: Option<&'a str>,
    lone_tags: HashSet<&'a str>,
    /// The text that ends a statement instead of `;`.
    delimiter: Option<&'a str>,
}

impl<'a> SqlSplitter<'a> {
    /// Reads one token; returns the byte after it.
    fn read_token(&mut self, at: usize) -> usize {
        let text = self.list.text;
        let bytes = text.as_bytes();
        let rest = &bytes[at..];
        let byte = bytes[at];
        if let Some(delimiter) = self.delimiter
            && rest.starts_with(delimiter.as_bytes())
        {
            return self.push_mark(STATEMENT_END, at, delimiter.len());
        }
        match byte {
            _ if byte.is_ascii_whitespace() => at + 1,
            b'-' if rest.starts_with(b"--") => self.push_comment(at, line_end(text, at)),
            b'#' if is_line_start(text, at) => self.push_comment(at, line_end(text, at)),
            b'/' if rest.starts_with(b"/*") => self.push_comment(at, block_comment_end(text, at)),
            b'/' if is_line_start(text, at) && text[at..line_end(text, at)].trim_end() == "/" => {
                self.push_mark(STATEMENT_END, at, 1)
            }
            b'\'' => self.push_mark(VALUE, at, value_end(bytes, at) - at),
            b'"' | b'`' => self.push_name(at, byte),
            b'$' => self.read_dollar(at),
            _ => {
                let end = word_end(bytes, at, b"$");
                if end == at {
                    return self.push_mark(byte, at, 1);
                }
                self.push_word(at, end)
            }
        }
    }

    fn push_word(&mut self, at: usize, end: usize) -> usize {
        let text = self.list.text;
        let word = &text[at..end];
        if matches!(word.len(), 2 | 9) && is_line_start(text, at) {
            let rest = text[end..line_end(text, end)].trim();
            if word.eq_ignore_ascii_case("go") && rest.trim_end_matches(';').is_empty() {
                return self.push_mark(STATEMENT_END, at, 2);
            }
            if word.eq_ignore_ascii_case("delimiter") && !rest.is_empty() && rest.len() < 10 {
                self.delimiter = Some(rest).filter(|rest| *rest != ";");
                self.push_mark(STATEMENT_END, at, 1);
                return line_end(text, end);
            }
        }
        self.list.tokens.push(FormatToken::new(FormatTokenKind::Word, at..end));
        end
    }

    fn push_mark(&mut self, mark: u8, at: usize, n_bytes: usize) -> usize {
        self.list.tokens.push(FormatToken::new(FormatTokenKind::Mark(mark), at..at + n_bytes));
        at + n_bytes
    }

    fn push_comment(&mut self, at: usize, end: usize) -> usize {
        self.list.comments.push(at..end);
        end
    }

    /// Adds a name in quotes, which ends on its line.
    fn push_name(&mut self, at: usize, quote: u8) -> usize {
        let rest = &self.list.text[at + 1..];
        let quote = char::from(quote);
        let found = rest.find([quote, '\n']).filter(|found| rest[*found..].starts_with(quote));
        let Some(n_bytes) = found else { return at + 1 };
        let end = at + 1 + n_bytes;
        self.list.tokens.push(FormatToken::new(FormatTokenKind::Text, at + 1..end));
        end + 1
    }

    /// Reads `$tag$`, which begins or ends a quoted text, or the mark of a parameter.
    fn read_dollar(&mut self, at: usize) -> usize {
        let text = self.list.text;
        let end = word_end(text.as_bytes(), at + 1, b"");
        let starts_with_digit = text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit);
        if starts_with_digit || !text[end..].starts_with('$') {
            return end;
        }
        let tag = &text[at..=end];
        match self.dollar_tag {
            Some(open) if open != tag => return end + 1,
            Some(_) => self.dollar_tag = None,
            None => {
                if self.lone_tags.len() >= MOST_LONE_TAGS || self.lone_tags.contains(tag) {
                    return end + 1;
                }
                if !text[end + 1..].contains(tag) {
                    self.lone_tags.insert(tag);
                    return end + 1;
                }
                self.dollar_tag = Some(tag);
            }
        }
        self.push_mark(DOLLAR_QUOTE, at, tag.len())
    }
}

/// Returns whether only blanks are before a byte on its line; looks at no more than 200 bytes.
fn is_line_start(text: &str, at: usize) -> bool {
    let before = text.as_bytes()[at.saturating_sub(200)..at].iter().rev();
    let mut visible = before.skip_while(|byte| matches!(byte, b' ' | b'\t'));
    visible.next().is_none_or(|byte| *byte == b'\n')
}

/// Returns the byte after a value in single quotes. `''` is a quote inside; so is `\'`, unless the value seems to end there.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        match byte {
            b'\\' if next == Some(&b'\\') => at += 2,
            b'\\' if next == Some(&b'\'') => {
                let after = bytes.get(at + 2);
                let ends = after.is_none_or(|after| b",;) \t\r\n:".contains(after));
                at += if ends { 1 } else { 2 };
            }
            b'\'' if next == Some(&b'\'') => at += 2,
            b'\'' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the tokens of each statement, without the mark that ends it.
pub(super) fn split_statements(list: &FormatTokens<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let (mut is_quoted, mut block) = (false, BlockDepth::default());
    for (at, token) in list.tokens.iter().enumerate() {
        match token.kind {
            FormatTokenKind::Mark(DOLLAR_QUOTE) => is_quoted = !is_quoted,
            _ if is_quoted => {}
            FormatTokenKind::Mark(STATEMENT_END) => {
                found.push(start..at);
                start = at + 1;
            }
            FormatTokenKind::Mark(b';') if block.n_open == 0 => {
                found.push(start..at);
                start = at + 1;
            }
            FormatTokenKind::Mark(mark) => block.add_mark(mark),
            FormatTokenKind::Text => {}
            FormatTokenKind::Word => {
                let word = list.text_at(at);
                let is_create = word.eq_ignore_ascii_case("create");
                // A `CREATE` at the start of a line begins a statement, also where the end of the last was not understood.
                if is_create && at > start && list.text[..token.bytes.start].ends_with('\n') {
                    found.push(start..at);
                    start = at;
                }
                if at == start {
                    block = BlockDepth { is_create, ..BlockDepth::default() };
                }
                block.add_word(word, list.get(at + 1).map(|_| list.word_at(at + 1).unwrap_or_default()));
            }
        }
    }
    found.push(start..list.tokens.len());
    found.retain(|statement| !statement.is_empty());
    found
}

/// Counts the open blocks of a statement that creates a routine. A `;` in a block does not end the statement.
#[derive(Default)]
struct BlockDepth {
    is_create: bool,
    /// `function`, `procedure`, `trigger`, `event` or `package`.
    routine: Option<Routine>,
    n_open: usize,
    n_parentheses: usize,
    /// Whether the declarations before a `BEGIN` have opened its block.
    awaits_begin: bool,
    /// Whether the code of the routine has begun.
    has_body: bool,
    skips_next: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Routine {
    Function,
    Package,
    Trigger,
}

impl BlockDepth {
    fn add_mark(&mut self, mark: u8) {
        match mark {
            b'(' => self.n_parentheses += 1,
            b')' => self.n_parentheses = self.n_parentheses.saturating_sub(1),
            _ => {}
        }
    }

    /// Adds a word; `next` is the word after it, empty if the next token is no word.
    fn add_word(&mut self, word: &str, next: Option<&str>) {
        if !self.is_create || word.len() > 9 || std::mem::take(&mut self.skips_next) {
            return;
        }
        let next = next.unwrap_or_default().to_ascii_lowercase();
        let word = word.to_ascii_lowercase();
        let Some(routine) = self.routine else {
            self.routine = match word.as_str() {
                "function" | "procedure" | "proc" => Some(Routine::Function),
                "package" => Some(Routine::Package),
                "trigger" | "event" => Some(Routine::Trigger),
                // `CREATE TABLE` and the like have no blocks.
                "table" | "view" | "index" | "type" | "schema" => {
                    self.is_create = false;
                    None
                }
                _ => None,
            };
            return;
        };
        match word.as_str() {
            // The declarations of Oracle, and the code of SQL Server, come after `AS` or `IS`.
            "as" | "is"
                if routine != Routine::Trigger
                    && !self.has_body
                    && self.n_parentheses == 0
                    && self.n_open == 0
                    && !next.is_empty() =>
            {
                self.n_open = 1;
                self.awaits_begin = routine != Routine::Package;
                self.has_body = routine == Routine::Package;
            }
            "declare" if self.n_open == 0 => (self.n_open, self.awaits_begin) = (1, true),
            "begin" if std::mem::take(&mut self.awaits_begin) => self.has_body = true,
            "begin" => (self.n_open, self.has_body) = (self.n_open + 1, true),
            "select" | "return" | "insert" | "update" | "delete" => self.has_body = true,
            "case" if self.n_open > 0 => self.n_open += 1,
            // `END IF` ends no `BEGIN`; the `CASE` of `END CASE` is no new one.
            "end" if !matches!(next.as_str(), "if" | "loop" | "while" | "repeat" | "for") => {
                self.skips_next = next == "case";
                self.n_open = self.n_open.saturating_sub(1);
            }
            _ => {}
        }
    }
}
