//! Splits a query into words, phrases, operators and filters.

use super::filter_term::{FilterCheck, FilterKey, FilterTerm};
use super::pasted;
use super::tree::Item;

/// Longest part of a query that is read, in bytes.
const MAX_QUERY_BYTES: usize = 16 * 1024;

/// Maximum depth of brackets; FTS5 limits the depth of an expression too.
const MAX_DEPTH: usize = 8;

/// Most notes on one query.
const MAX_NOTES: usize = 8;

/// Longest value of a filter in a note, bytes.
const MAX_SHOWN_BYTES: usize = 60;

/// A piece of a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lexeme {
    Item(Item),
    Open,
    Close,
    And,
    Or,
    Not,
}

/// The pieces of a query, its filters, and what was not taken as a user may have meant it.
#[derive(Default)]
pub(super) struct Lexed {
    pub(super) lexemes: Vec<Lexeme>,
    pub(super) filters: Vec<FilterTerm>,
    pub(super) notes: Vec<String>,
    depth: usize,
}

/// Splits a query. Without `check` it has no filters.
pub(super) fn lex(input: &str, check: Option<FilterCheck<'_>>) -> Lexed {
    let mut lexed = Lexed::default();
    let mut rest = &input[..input.floor_char_boundary(MAX_QUERY_BYTES)];
    if rest.len() < input.len() {
        lexed.note(format!("only the first {MAX_QUERY_BYTES} bytes of the query are read"));
    }
    if pasted::is_pasted(rest) {
        lexed.note("pasted text: all of it is words, without phrases, operators and filters".to_owned());
        lexed.lexemes = pasted::words(rest).into_iter().map(Lexeme::Item).collect();
        return lexed;
    }
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { break };
        rest = if is_quote(first) {
            lexed.phrase(&rest[first.len_utf8()..])
        } else if first == '(' {
            lexed.open();
            &rest[1..]
        } else if let Some(after) = check.and_then(|check| lexed.filter(rest, check)) {
            after
        } else {
            let end = word_end(rest);
            lexed.word(&rest[..end]);
            &rest[end..]
        };
    }
    if lexed.depth > 0 {
        lexed.note("a bracket that is not closed ends with the query".to_owned());
    }
    lexed
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

fn word_end(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || is_quote(c)).unwrap_or(text.len())
}

/// Splits the text after a quote at the next quote; `None` if there is none.
fn quoted(inside: &str) -> Option<(&str, &str)> {
    let end = inside.find(is_quote)?;
    let quote = inside[end..].chars().next()?;
    Some((&inside[..end], &inside[end + quote.len_utf8()..]))
}

impl Lexed {
    /// Adds a note once.
    pub(super) fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Reads the phrase that starts with `inside`; returns what follows.
    fn phrase<'a>(&mut self, inside: &'a str) -> &'a str {
        let Some((phrase, after)) = quoted(inside) else {
            self.note("unbalanced quote taken as text".to_owned());
            return inside;
        };
        self.lexemes.push(Lexeme::Item(Item::Phrase(phrase.to_owned())));
        after
    }

    fn open(&mut self) {
        if self.depth == MAX_DEPTH {
            return self.note(format!("brackets deeper than {MAX_DEPTH} levels are ignored"));
        }
        self.depth += 1;
        self.lexemes.push(Lexeme::Open);
    }

    /// Reads one word and the surplus brackets that it closes: `foo())` closes one.
    fn word(&mut self, raw: &str) {
        let (text, n_closing) = self.without_closing(raw);
        match text {
            "" => {}
            "AND" => self.lexemes.push(Lexeme::And),
            "OR" => self.lexemes.push(Lexeme::Or),
            "NOT" => self.lexemes.push(Lexeme::Not),
            _ => self.lexemes.push(Lexeme::Item(match text.strip_suffix('*') {
                Some(stem) => Item::Prefix(stem.to_owned()),
                None => Item::Word(text.to_owned()),
            })),
        }
        self.close(n_closing);
    }

    /// Reads the filter at the start of `text`; returns what follows, or `None` if there is no filter.
    fn filter<'a>(&mut self, text: &'a str, check: FilterCheck<'_>) -> Option<&'a str> {
        let (is_negated, key, rest) = FilterKey::split(text)?;
        let first = rest.chars().next()?;
        let (value, after, n_closing) = if is_quote(first) {
            let (value, after) = quoted(&rest[first.len_utf8()..])?;
            (value, after, 0)
        } else {
            let (raw, after) = rest.split_at(word_end(rest));
            let (value, n_closing) = self.without_closing(raw);
            (value, after, n_closing)
        };
        let shown = || format!("{}:{}", key.as_str(), &value[..value.floor_char_boundary(MAX_SHOWN_BYTES)]);
        if let Err(why) = check(key, value) {
            self.note(format!("{} taken as text: {why}", shown()));
            return None;
        }
        if self.depth > 0 || self.lexemes.last() == Some(&Lexeme::Or) || starts_with_or(after) {
            self.note(format!("{} holds for the whole query", shown()));
        }
        let is_after_not = self.lexemes.pop_if(|last| *last == Lexeme::Not).is_some();
        let value = value.to_owned();
        self.filters.push(FilterTerm { key, value, is_negated: is_negated != is_after_not });
        self.close(n_closing);
        Some(after)
    }

    /// Splits off the closing brackets at the end of a word that open brackets before it need.
    fn without_closing<'a>(&self, raw: &'a str) -> (&'a str, usize) {
        let count = |bracket| raw.bytes().filter(|&byte| byte == bracket).count();
        let n_trailing = raw.len() - raw.trim_end_matches(')').len();
        let n_closing = count(b')').saturating_sub(count(b'(')).min(n_trailing).min(self.depth);
        (&raw[..raw.len() - n_closing], n_closing)
    }

    fn close(&mut self, n_closing: usize) {
        self.lexemes.extend(std::iter::repeat_n(Lexeme::Close, n_closing));
        self.depth -= n_closing;
    }
}

fn starts_with_or(text: &str) -> bool {
    text.split_whitespace().next() == Some("OR")
}
