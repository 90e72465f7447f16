//! Reads the types, operations and fragments of GraphQL, and the names of types and fragments in them.

use std::ops::Range;

use super::format_names::FormatNames;
use super::tokens::{FormatTokenKind, FormatTokens, TokenSyntax, skip_brackets};
use crate::definitions::tags::TagKind;

const SYNTAX: TokenSyntax = TokenSyntax {
    line_comments: &["#"],
    has_block_comments: false,
    quotes: b"\"",
    in_words: b"",
    has_block_texts: true,
    has_bracket_texts: false,
};

/// Words that begin a definition.
const KEYWORDS: [&str; 13] = [
    "type",
    "interface",
    "input",
    "enum",
    "union",
    "scalar",
    "schema",
    "directive",
    "extend",
    "query",
    "mutation",
    "subscription",
    "fragment",
];
/// Types whose fields are definitions, because operations begin with them.
const ROOT_TYPES: [&str; 3] = ["Query", "Mutation", "Subscription"];
/// Types that the language defines.
const SCALARS: [&str; 5] = ["Int", "Float", "String", "Boolean", "ID"];

/// Returns the types, directives, named operations and fragments of a file, and the names that it uses.
pub(super) fn read_names<'a>(_path: &str, text: &'a str) -> FormatNames<'a> {
    let list = FormatTokens::split_text(text, SYNTAX);
    let ends = list.match_brackets(&[(b'{', b'}'), (b'[', b']'), (b'(', b')')]);
    let names = FormatNames { comments: list.comments.clone(), ..FormatNames::default() };
    let mut reader = GraphQlReader { list, ends, names };
    let starts = reader.list_statement_starts();
    let after = starts.iter().skip(1).copied().chain([reader.list.tokens.len()]);
    for (start, end) in starts.iter().copied().zip(after) {
        reader.read_statement(start..end);
    }
    reader.names.comments.sort_by_key(|comment| comment.start);
    reader.names.found.sort_uses();
    reader.names
}

struct GraphQlReader<'a> {
    list: FormatTokens<'a>,
    /// The closing bracket of each opening one.
    ends: Vec<usize>,
    names: FormatNames<'a>,
}

impl<'a> GraphQlReader<'a> {
    /// Returns the tokens at which statements begin, with the descriptions before them.
    fn list_statement_starts(&self) -> Vec<usize> {
        let mut starts = Vec::new();
        let mut at = 0;
        while at < self.list.tokens.len() {
            let follows_name = at > 0
                && (matches!(
                    self.list.tokens[at - 1].kind,
                    FormatTokenKind::Mark(b'=' | b'|' | b'&' | b'@' | b':' | b'$')
                ) || matches!(self.list.word_at(at - 1), Some("on" | "implements"))
                    || self.list.word_at(at - 1).is_some_and(|word| KEYWORDS.contains(&word)));
            let is_keyword = self.list.word_at(at).is_some_and(|word| KEYWORDS.contains(&word));
            if is_keyword && !follows_name {
                let has_text = at > 0 && self.list.tokens[at - 1].kind == FormatTokenKind::Text;
                starts.push(at - usize::from(has_text));
            }
            at = self.skip_brackets(at);
        }
        starts
    }

    /// Returns the token after a token, or after its closing bracket.
    fn skip_brackets(&self, at: usize) -> usize {
        skip_brackets(&self.ends, at)
    }

    fn read_statement(&mut self, span: Range<usize>) {
        let mut at = span.start;
        if self.list.get(at).is_some_and(|token| token.kind == FormatTokenKind::Text) {
            self.names.comments.push(self.described_bytes(at));
            at += 1;
        }
        let first = at;
        let is_extension = self.list.word_at(at) == Some("extend");
        at += usize::from(is_extension);
        let word = self.list.text_at(at);
        let is_directive = word == "directive" && self.list.is_mark(at + 1, b'@');
        let name = at + if is_directive { 2 } else { 1 };
        let kind = match word {
            _ if is_extension => TagKind::Scope,
            "type" | "input" => TagKind::Struct,
            "interface" => TagKind::Interface,
            "enum" => TagKind::Enum,
            "union" | "scalar" => TagKind::Type,
            "schema" => TagKind::Skipped,
            _ => TagKind::Function,
        };
        let last = (first..span.end).next_back().filter(|last| *last > first);
        let last = last.map(|last| last - usize::from(self.is_description(last, span.end)));
        let bytes = self.list.tokens[first].bytes.start..self.list.end_of(last.unwrap_or(first));
        if kind != TagKind::Skipped
            && let Some(own) = self.list.word_at(name)
        {
            self.names.add_item(kind, own, own.to_owned(), bytes);
            if is_extension {
                self.add_use(name, None);
            }
        }
        match word {
            "query" | "mutation" | "subscription" | "fragment" => self.read_operation(word, at + 1..span.end),
            _ => self.read_type(word, name, span.end),
        }
    }

    /// Returns whether the last token before `end` describes the next statement.
    fn is_description(&self, last: usize, end: usize) -> bool {
        last + 1 == end
            && self.list.tokens[last].kind == FormatTokenKind::Text
            && end < self.list.tokens.len()
    }

    /// Returns the bytes of a description with its quotes.
    fn described_bytes(&self, at: usize) -> Range<usize> {
        let bytes = self.list.tokens[at].bytes.clone();
        let text = self.list.text;
        let n_quotes = if text[..bytes.start].ends_with("\"\"\"") { 3 } else { 1 };
        bytes.start - n_quotes..(bytes.end + n_quotes).min(text.len())
    }

    /// Reads the types in the definition of a type or directive.
    fn read_type(&mut self, word: &str, name: usize, end: usize) {
        let own = self.list.text_at(name);
        let is_root = ROOT_TYPES.contains(&own) && word == "type";
        let mut at = name + 1;
        let (mut is_list, mut is_in_arguments) = (false, false);
        while at < end {
            match self.list.tokens[at].kind {
                FormatTokenKind::Mark(b'@') => {
                    self.add_use(at + 1, None);
                    at = if self.list.is_mark(at + 2, b'(') { self.skip_brackets(at + 2) } else { at + 2 };
                    continue;
                }
                FormatTokenKind::Mark(b':') if word != "enum" => at = self.read_type_name(at),
                FormatTokenKind::Mark(b'=') if word == "union" => is_list = true,
                // A default value.
                FormatTokenKind::Mark(b'=') => at = self.skip_brackets(at + 1) - 1,
                FormatTokenKind::Mark(mark @ (b'{' | b'(' | b')')) => {
                    is_list = false;
                    is_in_arguments = mark == b'(';
                }
                FormatTokenKind::Word => match self.list.text_at(at) {
                    "implements"
                        if self.list.word_at(at + 1).is_some() || self.list.is_mark(at + 1, b'&') =>
                    {
                        is_list = true;
                    }
                    "on" if word == "directive" && !self.list.is_mark(at + 1, b':') => return,
                    _ if is_list => self.add_use(at, None),
                    _ if is_root && !is_in_arguments => self.add_field(own, at),
                    _ => {}
                },
                _ => {}
            }
            at += 1;
        }
    }

    /// Records the type after a `:`; returns the last token that was read.
    fn read_type_name(&mut self, colon: usize) -> usize {
        let mut at = colon + 1;
        while self.list.is_mark(at, b'[') {
            at += 1;
        }
        if self.list.word_at(at).is_none() {
            return at - 1;
        }
        self.add_use(at, None);
        at
    }

    /// Adds a field of a root type if one begins at a token.
    fn add_field(&mut self, of: &str, at: usize) {
        let has_arguments = self.list.is_mark(at + 1, b'(');
        let colon = if has_arguments { self.skip_brackets(at + 1) } else { at + 1 };
        if !self.list.is_mark(colon, b':') {
            return;
        }
        let mut end = colon + 1;
        while self.list.is_mark(end, b'[') {
            end += 1;
        }
        while matches!(
            self.list.get(end + 1).map(|token| token.kind),
            Some(FormatTokenKind::Mark(b']' | b'!'))
        ) {
            end += 1;
        }
        let bytes = self.list.tokens[at].bytes.start..self.list.end_of(end);
        let name = self.list.text_at(at);
        self.names.add_item(TagKind::Method, name, format!("{of}.{name}"), bytes);
    }

    /// Reads an operation or a fragment: the types of its variables, its fragments, and the fields of a root type.
    fn read_operation(&mut self, word: &str, span: Range<usize>) {
        let root = match word {
            "query" => Some("Query"),
            "mutation" => Some("Mutation"),
            "subscription" => Some("Subscription"),
            _ => None,
        };
        let mut depth = 0_usize;
        let mut at = span.start;
        while at < span.end {
            match self.list.tokens[at].kind {
                FormatTokenKind::Mark(b'{') => depth += 1,
                FormatTokenKind::Mark(b'}') => depth = depth.saturating_sub(1),
                FormatTokenKind::Mark(b'(') if depth > 0 => {
                    at = self.skip_brackets(at);
                    continue;
                }
                FormatTokenKind::Mark(b':') if depth == 0 => at = self.read_type_name(at),
                FormatTokenKind::Mark(b'=') if depth == 0 => at = self.skip_brackets(at + 1) - 1,
                FormatTokenKind::Mark(b'@') => {
                    self.add_use(at + 1, None);
                    at += 1;
                }
                FormatTokenKind::Word => {
                    let is_spread = at > 0 && self.list.is_mark(at - 1, b'.');
                    match self.list.text_at(at) {
                        "on" if is_spread || depth == 0 => {
                            self.add_use(at + 1, None);
                            at += 1;
                        }
                        _ if is_spread => self.add_use(at, None),
                        _ if depth == 1 && !self.list.is_mark(at + 1, b':') && root.is_some() => {
                            self.add_use(at, root);
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn add_use(&mut self, at: usize, receiver: Option<&str>) {
        if self.list.word_at(at).is_none_or(|word| SCALARS.contains(&word)) {
            return;
        }
        let bytes = self.list.tokens[at].bytes.clone();
        self.names.found.add_format_use(self.list.text, bytes, receiver.map(str::to_owned), false);
    }
}
