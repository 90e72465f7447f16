//! Splits code with braces into tokens, and finds statements, bodies and used names in them.

use std::collections::HashSet;
use std::ops::Range;

use memod_base::types::UseRole;

use super::format_names::FormatNames;
use super::tokens::{FormatTokenKind, FormatTokens, TokenSyntax, skip_brackets, word_end};
use crate::definitions::tags::TagKind;

const SYNTAX: TokenSyntax = TokenSyntax {
    line_comments: &["//"],
    has_block_comments: true,
    quotes: b"\"'",
    in_words: b"",
    has_block_texts: true,
    has_bracket_texts: false,
};

/// A definition whose name is a token.
#[derive(Clone, Copy)]
pub(super) struct Declaration<'o> {
    pub(super) kind: TagKind,
    /// Token of the name.
    pub(super) name: usize,
    /// Title of the type around it.
    pub(super) owner: Option<&'o str>,
}

/// The tokens of a text, and the names that are found in it.
pub(super) struct BracedCode<'a> {
    list: FormatTokens<'a>,
    /// The closing bracket of each opening one.
    ends: Vec<usize>,
    names: FormatNames<'a>,
    /// Tokens that are the names of definitions.
    defined: HashSet<usize>,
    /// Tokens that are the names of bases of types.
    bases: HashSet<usize>,
}

/// A word that is used as a name.
struct WordUse {
    bytes: Range<usize>,
    receiver: Option<String>,
    role: UseRole,
}

impl<'a> BracedCode<'a> {
    pub(super) fn split_text(text: &'a str) -> Self {
        let list = FormatTokens::split_text(text, SYNTAX);
        let ends = list.match_brackets(&[(b'{', b'}'), (b'[', b']'), (b'(', b')')]);
        let names = FormatNames { comments: list.comments.clone(), ..FormatNames::default() };
        Self { list, ends, names, defined: HashSet::new(), bases: HashSet::new() }
    }

    pub(super) fn into_names(mut self) -> FormatNames<'a> {
        self.names.found.sort_uses();
        self.names
    }

    pub(super) fn n_tokens(&self) -> usize {
        self.list.tokens.len()
    }

    pub(super) fn text_at(&self, at: usize) -> &'a str {
        self.list.text_at(at)
    }

    pub(super) fn word_at(&self, at: usize) -> Option<&'a str> {
        self.list.word_at(at)
    }

    pub(super) fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.list.is_mark(at, mark)
    }

    pub(super) fn mark_at(&self, at: usize) -> Option<u8> {
        match self.list.get(at)?.kind {
            FormatTokenKind::Mark(mark) => Some(mark),
            _ => None,
        }
    }

    /// Returns the token after a token, or after its closing bracket.
    pub(super) fn skip_brackets(&self, at: usize) -> usize {
        skip_brackets(&self.ends, at)
    }

    /// Returns the token after the next `;` outside of brackets, or at the next `}` that is not opened.
    pub(super) fn end_of_statement(&self, mut at: usize) -> usize {
        while at < self.n_tokens() {
            match self.mark_at(at) {
                Some(b';') => return at + 1,
                Some(b'}') => return at,
                _ => at = self.skip_brackets(at),
            }
        }
        at
    }

    /// Returns the next token with a mark outside of other brackets, before the end of the statement.
    pub(super) fn find_before_end(&self, mut at: usize, mark: u8) -> Option<usize> {
        while at < self.n_tokens() {
            match self.mark_at(at) {
                Some(found) if found == mark => return Some(at),
                Some(b';' | b'}') => return None,
                _ => at = self.skip_brackets(at),
            }
        }
        None
    }

    /// Returns the token of the name that ends before a token, without the arguments of a generic type.
    pub(super) fn name_before(&self, end: usize) -> usize {
        let mut at = end.saturating_sub(1);
        let mut depth = 0_usize;
        while at > 0 {
            match self.mark_at(at) {
                Some(b'>') => depth += 1,
                Some(b'<') => depth = depth.saturating_sub(1),
                _ if depth == 0 => break,
                _ => {}
            }
            at -= 1;
        }
        at
    }

    /// Returns the words after the commas of a range, outside of brackets.
    pub(super) fn after_commas(&self, span: Range<usize>) -> Vec<usize> {
        let (mut at, mut found) = (span.start, Vec::new());
        while at < span.end {
            if self.is_mark(at, b',') && self.word_at(at + 1).is_some() {
                found.push(at + 1);
            }
            at = self.skip_brackets(at);
        }
        found
    }

    /// Returns the first token after the line of a token.
    pub(super) fn next_line(&self, at: usize) -> usize {
        let Some(start) = self.list.get(at).map(|token| token.bytes.start) else { return at + 1 };
        let text = self.list.text;
        let mut end = start;
        loop {
            end += text[end..].find('\n').unwrap_or(text.len() - end);
            // A directive goes on after a backslash at the end of a line.
            if end >= text.len() || !text[..end].trim_end_matches('\r').ends_with('\\') {
                break;
            }
            end += 1;
        }
        at + self.list.tokens[at..].iter().take_while(|token| token.bytes.start < end).count().max(1)
    }

    /// Adds a definition with the tokens `span`.
    pub(super) fn add_item(&mut self, declaration: Declaration<'_>, span: Range<usize>) {
        let Declaration { kind, name, owner } = declaration;
        let Some(own) = self.list.word_at(name) else { return };
        let first = self.list.get(span.start).map_or(0, |token| token.bytes.start);
        let end = self.list.end_of(span.end.saturating_sub(1).max(span.start));
        let title = owner.map_or_else(|| own.to_owned(), |owner| format!("{owner}.{own}"));
        self.names.add_item(kind, own, title, first..end);
        if kind != TagKind::Scope {
            self.defined.insert(name);
        }
    }

    /// Leaves tokens out of the uses.
    pub(super) fn skip_uses(&mut self, tokens: Range<usize>) {
        self.defined.extend(tokens);
    }

    /// Marks the name of a base of a type.
    pub(super) fn add_base(&mut self, token: usize) {
        self.bases.insert(token);
    }

    /// Adds the words that are no names of definitions and no keywords as uses, each with the path before it.
    pub(super) fn add_uses(&mut self, keywords: &[&str]) {
        for WordUse { bytes, receiver, role } in self.list_uses(keywords) {
            self.names.found.add_use_in_role(self.list.text, bytes, receiver, role);
        }
    }

    /// Adds the names in quoted texts as uses: `$total` and `${order.total}`.
    pub(super) fn add_uses_in_texts(&mut self, keywords: &[&str]) {
        for at in 0..self.n_tokens() {
            let token = &self.list.tokens[at];
            let is_raw = at.checked_sub(1).is_some_and(|before| {
                self.text_at(before) == "r" && self.list.end_of(before) + 1 == token.bytes.start
            });
            if token.kind != FormatTokenKind::Text || is_raw {
                continue;
            }
            for inner in list_interpolated(self.list.text, token.bytes.clone()) {
                let code = BracedCode::split_text(&self.list.text[inner.clone()]);
                for WordUse { bytes, receiver, role } in code.list_uses(keywords) {
                    let bytes = inner.start + bytes.start..inner.start + bytes.end;
                    self.names.found.add_use_in_role(self.list.text, bytes, receiver, role);
                }
            }
        }
    }

    fn list_uses(&self, keywords: &[&str]) -> Vec<WordUse> {
        let mut found = Vec::new();
        for at in 0..self.n_tokens() {
            let Some(word) = self.list.word_at(at) else { continue };
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            if is_number || keywords.contains(&word) || self.defined.contains(&at) {
                continue;
            }
            let is_message = self.is_message_part(at, keywords);
            let receiver = match at.checked_sub(1) {
                Some(dot) if self.is_mark(dot, b'.') => Some(self.path_before(dot)),
                Some(arrow) if self.is_mark(arrow, b'>') && self.is_mark(arrow.wrapping_sub(1), b'-') => {
                    Some(self.path_before(arrow - 1))
                }
                Some(before) if is_message => Some(self.path_before(before + 1)),
                // The name of an argument: `Order(total: 1)`.
                Some(before)
                    if self.is_mark(at + 1, b':')
                        && matches!(self.mark_at(before), Some(b'(' | b',' | b'{')) =>
                {
                    Some("_".to_owned())
                }
                _ => None,
            };
            let role = match () {
                () if self.bases.contains(&at) => UseRole::Base,
                () if is_message || self.is_mark(at + 1, b'(') => UseRole::Call,
                () => UseRole::Mention,
            };
            found.push(WordUse { bytes: self.list.tokens[at].bytes.clone(), receiver, role });
        }
        found
    }

    /// Returns whether a word is the name of a message of Objective-C: `[order addItem:item]`, `[order total]`.
    fn is_message_part(&self, at: usize, keywords: &[&str]) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        let is_own = matches!(self.text_at(before), "self" | "super");
        let after_value = is_own
            || self.word_at(before).is_some_and(|word| !keywords.contains(&word))
            || matches!(self.mark_at(before), Some(b']' | b')'));
        after_value && matches!(self.mark_at(at + 1), Some(b':' | b']'))
    }

    /// Returns the word before a token, or `_` if there is another expression.
    fn path_before(&self, end: usize) -> String {
        let word = end.checked_sub(1).and_then(|at| self.list.word_at(at));
        word.unwrap_or("_").to_owned()
    }
}

/// Returns the bytes of the names and expressions in a quoted text: of `total` in `$total` and `${total}`.
fn list_interpolated(text: &str, quoted: Range<usize>) -> Vec<Range<usize>> {
    let (bytes, mut at, mut found) = (text.as_bytes(), quoted.start, Vec::new());
    while at < quoted.end {
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', _) => at += 2,
            (b'$', Some(b'{')) => {
                let mut depth = 0_usize;
                let inner = &bytes[at + 1..quoted.end];
                let end = inner.iter().position(|byte| {
                    depth = match byte {
                        b'{' => depth + 1,
                        b'}' => depth - 1,
                        _ => depth,
                    };
                    depth == 0
                });
                let end = at + 1 + end.unwrap_or(inner.len());
                found.push(at + 2..end.max(at + 2).min(quoted.end));
                at = end + 1;
            }
            (b'$', Some(_)) => {
                let end = word_end(bytes, at + 1, b"").min(quoted.end);
                found.push(at + 1..end);
                at = end.max(at + 1);
            }
            _ => at += 1,
        }
    }
    found.retain(|inner| inner.start < inner.end);
    found
}
