//! Splits a query into words, phrases, operators and filters.

use super::filter_term::{FilterCheck, FilterKey, FilterTerm};
use super::pasted_text;
use super::query_tree::QueryItem;

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
    Item(QueryItem),
    Open,
    Close,
    And,
    Or,
    Not,
}

/// The pieces of a query, its filters, and notes on what was read otherwise than a user may have meant.
#[derive(Default)]
pub(super) struct LexedQuery {
    pub(super) lexemes: Vec<Lexeme>,
    pub(super) filters: Vec<FilterTerm>,
    pub(super) notes: Vec<String>,
    depth: usize,
}

/// Splits a query. Without `check` it has no filters.
pub(super) fn lex_query(input: &str, check: Option<FilterCheck<'_>>) -> LexedQuery {
    let mut lexed = LexedQuery::default();
    let mut rest = &input[..input.floor_char_boundary(MAX_QUERY_BYTES)];
    if rest.len() < input.len() {
        lexed.add_note(format!("only the first {MAX_QUERY_BYTES} bytes of the query are read"));
    }
    if pasted_text::is_pasted(rest) {
        lexed.add_note("pasted text: all of it is words, without phrases, operators and filters".to_owned());
        lexed.lexemes = pasted_text::pasted_words(rest).into_iter().map(Lexeme::Item).collect();
        return lexed;
    }
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { break };
        rest = if is_quote(first) {
            lexed.read_phrase(&rest[first.len_utf8()..])
        } else if first == '(' {
            lexed.open_bracket();
            &rest[1..]
        } else if let Some(after) = check.and_then(|check| lexed.read_filter(rest, check)) {
            after
        } else {
            let end = word_end(rest);
            lexed.read_word(&rest[..end]);
            &rest[end..]
        };
    }
    if lexed.depth > 0 {
        lexed.add_note("a bracket that is not closed ends with the query".to_owned());
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
fn split_quoted(inside: &str) -> Option<(&str, &str)> {
    let end = inside.find(is_quote)?;
    let quote = inside[end..].chars().next()?;
    Some((&inside[..end], &inside[end + quote.len_utf8()..]))
}

impl LexedQuery {
    /// Adds a note once.
    pub(super) fn add_note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Reads the phrase that starts with `inside`; returns the rest.
    fn read_phrase<'a>(&mut self, inside: &'a str) -> &'a str {
        let Some((phrase, after)) = split_quoted(inside) else {
            self.add_note("unbalanced quote taken as text".to_owned());
            return inside;
        };
        self.lexemes.push(Lexeme::Item(QueryItem::Phrase(phrase.to_owned())));
        after
    }

    fn open_bracket(&mut self) {
        if self.depth == MAX_DEPTH {
            return self.add_note(format!("brackets deeper than {MAX_DEPTH} levels are ignored"));
        }
        self.depth += 1;
        self.lexemes.push(Lexeme::Open);
    }

    /// Reads one word and the surplus brackets that it closes: `foo())` closes one.
    fn read_word(&mut self, raw: &str) {
        let (text, n_closing) = self.without_closing(raw);
        match text {
            "" => {}
            "AND" => self.lexemes.push(Lexeme::And),
            "OR" => self.lexemes.push(Lexeme::Or),
            "NOT" => self.lexemes.push(Lexeme::Not),
            _ => self.lexemes.push(Lexeme::Item(match text.strip_suffix('*') {
                Some(stem) => QueryItem::Prefix(stem.to_owned()),
                None => QueryItem::Word(text.to_owned()),
            })),
        }
        self.close_brackets(n_closing);
    }

    /// Reads the filter at the start of `text`; returns the rest, or `None` if there is no filter.
    fn read_filter<'a>(&mut self, text: &'a str, check: FilterCheck<'_>) -> Option<&'a str> {
        let (is_negated, key, rest) = FilterKey::split_filter(text)?;
        let first = rest.chars().next()?;
        let (value, after, n_closing) = if is_quote(first) {
            let (value, after) = split_quoted(&rest[first.len_utf8()..])?;
            (value, after, 0)
        } else {
            let (raw, after) = rest.split_at(word_end(rest));
            let (value, n_closing) = self.without_closing(raw);
            (value, after, n_closing)
        };
        let shown = format!("{}:{}", key.as_str(), &value[..value.floor_char_boundary(MAX_SHOWN_BYTES)]);
        if let Err(why) = check(key, value) {
            self.add_note(format!("{shown} taken as text: {why}"));
            return None;
        }
        if self.depth > 0 || self.lexemes.last() == Some(&Lexeme::Or) || starts_with_or(after) {
            self.add_note(format!("{shown} holds for the whole query"));
        }
        let is_after_not = self.lexemes.pop_if(|last| *last == Lexeme::Not).is_some();
        let value = value.to_owned();
        self.filters.push(FilterTerm { key, value, is_negated: is_negated != is_after_not });
        self.close_brackets(n_closing);
        Some(after)
    }

    /// Splits off the closing brackets at the end of a word that close open brackets before it.
    fn without_closing<'a>(&self, raw: &'a str) -> (&'a str, usize) {
        let n_trailing = raw.len() - raw.trim_end_matches(')').len();
        let n_closing =
            raw.matches(')').count().saturating_sub(raw.matches('(').count()).min(n_trailing).min(self.depth);
        (&raw[..raw.len() - n_closing], n_closing)
    }

    fn close_brackets(&mut self, n_closing: usize) {
        self.lexemes.extend(std::iter::repeat_n(Lexeme::Close, n_closing));
        self.depth -= n_closing;
    }
}

fn starts_with_or(text: &str) -> bool {
    text.split_whitespace().next() == Some("OR")
}
