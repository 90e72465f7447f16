//! Reads the messages, enums and services of Protocol Buffers, and the names of types in fields and methods.

use super::format_names::FormatNames;
use super::tokens::{FormatTokenKind, FormatTokens, LineCounter, TokenSyntax};
use crate::definitions::tags::TagKind;

const SYNTAX: TokenSyntax = TokenSyntax {
    line_comments: &["//"],
    has_block_comments: true,
    quotes: b"\"'",
    in_words: b".",
    has_block_texts: false,
    has_bracket_texts: false,
};

/// Types that are no messages or enums.
const SCALARS: [&str; 15] = [
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
    "sfixed32", "sfixed64", "bool", "string", "bytes",
];
/// Words before the type of a field.
const LABELS: [&str; 3] = ["optional", "required", "repeated"];
/// Statements that name no type.
const OTHER_STATEMENTS: [&str; 6] = ["option", "reserved", "extensions", "syntax", "edition", "export"];

/// Deepest nesting of messages that have names.
const MOST_NESTING: usize = 32;

/// Returns the messages, enums, services and methods of a file, and the types that it names.
pub(super) fn read_names<'a>(_path: &str, text: &'a str) -> FormatNames<'a> {
    let list = FormatTokens::split_text(text, SYNTAX);
    let ends = list.match_brackets(&[(b'{', b'}'), (b'[', b']'), (b'(', b')'), (b'<', b'>')]);
    let names = FormatNames { comments: list.comments.clone(), ..FormatNames::default() };
    let mut reader = ProtoReader { list, ends, names, blocks: Vec::new(), lines: LineCounter::default() };
    reader.read_statements();
    reader.names
}

/// A block in braces.
struct OpenBlock {
    /// Index of the definition, unless the block is an `extend` or a `oneof`.
    item: Option<usize>,
    is_enum: bool,
}

struct ProtoReader<'a> {
    list: FormatTokens<'a>,
    /// The closing bracket of each opening one.
    ends: Vec<usize>,
    names: FormatNames<'a>,
    /// Outermost first.
    blocks: Vec<OpenBlock>,
    lines: LineCounter,
}

impl<'a> ProtoReader<'a> {
    fn read_statements(&mut self) {
        let mut at = 0;
        while at < self.list.tokens.len() {
            at = self.read_statement(at).max(at + 1);
        }
        while let Some(block) = self.blocks.pop() {
            self.end_item(block.item, at);
        }
    }

    /// Reads a statement, or the head of a block; returns the next token.
    fn read_statement(&mut self, at: usize) -> usize {
        if self.list.is_mark(at, b'}') {
            let item = self.blocks.pop().and_then(|block| block.item);
            self.end_item(item, at);
            return at + 1;
        }
        let Some(word) = self.list.word_at(at) else { return at + 1 };
        let has_block = self.list.is_mark(at + 2, b'{');
        match word {
            "message" | "enum" | "service" if has_block => {
                let kind = match word {
                    "message" => TagKind::Struct,
                    "enum" => TagKind::Enum,
                    _ => TagKind::Interface,
                };
                let item = self.add_item(kind, at, at + 1);
                self.blocks.push(OpenBlock { item, is_enum: word == "enum" });
                at + 3
            }
            "extend" if has_block => {
                self.add_type(at + 1);
                self.blocks.push(OpenBlock { item: None, is_enum: false });
                at + 3
            }
            "oneof" if has_block => {
                self.blocks.push(OpenBlock { item: None, is_enum: false });
                at + 3
            }
            "rpc" if self.list.is_mark(at + 2, b'(') => self.read_method(at),
            "package" => {
                self.names.found.set_package(self.list.text_at(at + 1).to_owned());
                self.skip_statement(at)
            }
            "import" => self.read_import(at),
            _ if OTHER_STATEMENTS.contains(&word) && !self.list.is_mark(at + 2, b'=') => {
                self.skip_statement(at)
            }
            _ if self.blocks.last().is_none_or(|block| block.is_enum) => self.skip_statement(at),
            _ => self.read_field(at),
        }
    }

    /// Adds a definition that begins at a token, and whose end is not yet known.
    fn add_item(&mut self, kind: TagKind, at: usize, name: usize) -> Option<usize> {
        let own = self.list.word_at(name)?;
        if self.blocks.len() >= MOST_NESTING {
            return None;
        }
        let around = self.blocks.iter().rev().find_map(|block| block.item);
        let title = match around {
            Some(around) => format!("{}.{own}", self.names.items[around].title),
            None => own.to_owned(),
        };
        let start = self.list.tokens[at].bytes.start;
        let id = self.names.items.len();
        self.names.add_item(kind, own, title, start..start);
        (self.names.items.len() > id).then_some(id)
    }

    fn end_item(&mut self, item: Option<usize>, last: usize) {
        if let Some(item) = item {
            self.names.items[item].node.end = self.list.end_of(last);
        }
    }

    fn read_method(&mut self, at: usize) -> usize {
        let item = self.add_item(TagKind::Method, at, at + 1);
        let end = self.skip_statement(at);
        self.end_item(item, end - 1);
        for token in at + 2..end {
            let is_stream =
                self.list.word_at(token) == Some("stream") && self.list.word_at(token + 1).is_some();
            let is_first = self.list.is_mark(token - 1, b'(')
                || self.list.is_mark(token - 2, b'(') && self.list.word_at(token - 1) == Some("stream");
            if self.list.is_mark(token, b'{') {
                break;
            }
            if is_first && !is_stream {
                self.add_type(token);
            }
        }
        end
    }

    fn read_import(&mut self, at: usize) -> usize {
        let path = at + if self.list.word_at(at + 1).is_some() { 2 } else { 1 };
        let token = self.list.get(path).filter(|token| token.kind == FormatTokenKind::Text);
        if let Some(token) = token.map(|token| token.bytes.clone()) {
            let line = self.lines.line_at(self.list.text, token.start);
            // A public import passes its names on to the files that import this one; so do all here.
            self.names.found.add_format_import("", self.list.text_at(path), line);
        }
        self.skip_statement(at)
    }

    /// Reads `optional a.B c = 1;`, `map<string, B> c = 1;` or `repeated group B = 1 { … }`.
    fn read_field(&mut self, at: usize) -> usize {
        let has_label = self.list.word_at(at).is_some_and(|word| LABELS.contains(&word))
            && !self.list.is_mark(at + 2, b'=');
        let first = at + usize::from(has_label);
        if self.list.word_at(first) == Some("group") && self.list.is_mark(first + 2, b'=') {
            let open = (first + 3..first + 6).find(|at| self.list.is_mark(*at, b'{'));
            if let Some(open) = open {
                let item = self.add_item(TagKind::Struct, at, first + 1);
                self.blocks.push(OpenBlock { item, is_enum: false });
                return open + 1;
            }
        }
        if self.list.word_at(first) == Some("map") && self.list.is_mark(first + 1, b'<') {
            self.add_type(first + 4);
        } else if self.list.word_at(first + 1).is_some() {
            self.add_type(first);
        }
        self.skip_statement(at)
    }

    /// Returns the token after the statement: after its `;`, or after its block. A `}` that ends the block around it is not passed.
    fn skip_statement(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(token) = self.list.get(at) {
            match token.kind {
                FormatTokenKind::Mark(b';') => return at + 1,
                FormatTokenKind::Mark(b'}') => return at,
                FormatTokenKind::Mark(b'{') => {
                    let end = self.ends[at];
                    // The value of an option may be a block, which `;` follows.
                    return if self.list.is_mark(end + 1, b';') { end + 2 } else { end + 1 };
                }
                FormatTokenKind::Mark(b'[' | b'(') if self.ends[at] < self.ends.len() => {
                    at = self.ends[at] + 1;
                }
                _ => at += 1,
            }
        }
        at
    }

    /// Records the use of a type; the receiver of `.a.B` is `.a`.
    fn add_type(&mut self, at: usize) {
        let Some(word) = self.list.word_at(at).filter(|word| !SCALARS.contains(word)) else { return };
        let bytes = self.list.tokens[at].bytes.clone();
        let (receiver, name) = match word.rfind('.') {
            Some(0) => (Some(".".to_owned()), 1),
            Some(dot) => (Some(word[..dot].to_owned()), dot + 1),
            None => (None, 0),
        };
        let text = self.list.text;
        self.names.found.add_format_use(text, bytes.start + name..bytes.end, receiver, false);
    }
}
