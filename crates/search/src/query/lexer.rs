//! Splits a query into words, phrases, operators and filters.

use super::filter_term::{FilterCheck, FilterKey, FilterTerm};
use super::pasted_text;
use super::query_tree::QueryItem;

/// Bytes of a query that are read.
const MAX_QUERY_BYTES: usize = 16 * 1024;

/// Largest depth of brackets. FTS5 limits the depth of an expression too.
const MAX_DEPTH: usize = 8;

/// Most notes on a query.
const MAX_NOTES: usize = 8;

/// Bytes of a filter's value that a note shows.
const MAX_SHOWN_BYTES: usize = 60;

/// A lexeme of a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lexeme {
    Item(QueryItem),
    Open,
    Close,
    And,
    Or,
    Not,
}

impl Lexeme {
    /// Returns the name of an operator; `None` for other lexemes.
    fn operator_name(&self) -> Option<&'static str> {
        match self {
            Self::And => Some("AND"),
            Self::Or => Some("OR"),
            Self::Not => Some("NOT"),
            Self::Item(_) | Self::Open | Self::Close => None,
        }
    }
}

/// The lexemes and filters of a query, and notes on parts that were read otherwise than the user may have meant.
#[derive(Default)]
pub(super) struct LexedQuery {
    pub(super) lexemes: Vec<Lexeme>,
    pub(super) filters: Vec<FilterTerm>,
    pub(super) notes: Vec<String>,
    /// Number of open brackets.
    depth: usize,
}

/// Splits a query into lexemes and filters. `check` tests the values of filters; without `check`, filters are read as words.
pub(super) fn lex_query(input: &str, check: Option<FilterCheck<'_>>) -> LexedQuery {
    let mut lexed = LexedQuery::default();
    let mut rest = &input[..input.floor_char_boundary(MAX_QUERY_BYTES)];
    if rest.len() < input.len() {
        lexed.add_note(format!("only the first {MAX_QUERY_BYTES} bytes of the query are read"));
    }
    if pasted_text::is_pasted(rest) {
        lexed.add_note("pasted text is read as words, without phrases, operators or filters".to_owned());
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
        lexed.add_note("an open bracket is closed at the end of the query".to_owned());
    }
    lexed.note_idle_operators();
    lexed
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

/// Returns the length of the word at the start of `text`, bytes.
fn word_end(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || is_quote(c)).unwrap_or(text.len())
}

/// Splits the text after a quote into the texts before and after the next quote; `None` if there is no other quote.
fn split_quoted(inside: &str) -> Option<(&str, &str)> {
    let end = inside.find(is_quote)?;
    let quote = inside[end..].chars().next()?;
    Some((&inside[..end], &inside[end + quote.len_utf8()..]))
}

impl LexedQuery {
    /// Adds a note, unless it was added before or there are too many.
    pub(super) fn add_note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Reads the phrase that `inside` begins with, after its opening quote; returns the text after the closing quote.
    fn read_phrase<'a>(&mut self, inside: &'a str) -> &'a str {
        let Some((phrase, after)) = split_quoted(inside) else {
            self.add_note("a quote without its other half is read as text".to_owned());
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

    /// Reads one word and the closing brackets behind it: `foo())` closes one bracket.
    fn read_word(&mut self, raw: &str) {
        let (text, n_closing) = self.split_closing_brackets(raw);
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

    /// Reads the filter at the start of `text`; returns the text after the filter, or `None` if there is no valid filter.
    fn read_filter<'a>(&mut self, text: &'a str, check: FilterCheck<'_>) -> Option<&'a str> {
        let (is_negated, key, rest) = FilterKey::split_filter(text)?;
        let first = rest.chars().next()?;
        let (value, after, n_closing) = if is_quote(first) {
            let (value, after) = split_quoted(&rest[first.len_utf8()..])?;
            (value, after, 0)
        } else {
            let (raw, after) = rest.split_at(word_end(rest));
            let (value, n_closing) = self.split_closing_brackets(raw);
            (value, after, n_closing)
        };
        let shown = format!("{}:{}", key.as_str(), &value[..value.floor_char_boundary(MAX_SHOWN_BYTES)]);
        if let Err(why) = check(key, value) {
            self.add_note(format!("{shown} is read as text: {why}"));
            return None;
        }
        if self.depth > 0 || self.lexemes.last() == Some(&Lexeme::Or) || starts_with_or(after) {
            self.add_note(format!("{shown} applies to the whole query"));
        }
        let is_after_not = self.lexemes.pop_if(|last| *last == Lexeme::Not).is_some();
        let value = value.to_owned();
        self.filters.push(FilterTerm { key, value, is_negated: is_negated != is_after_not });
        self.close_brackets(n_closing);
        Some(after)
    }

    /// Adds a note on each operator that has no words to join. A filter is no word, so none is added for a query with filters.
    fn note_idle_operators(&mut self) {
        let mut idle = Vec::new();
        for (nth, lexeme) in self.lexemes.iter().enumerate().filter(|_| self.filters.is_empty()) {
            let Some(name) = lexeme.operator_name() else { continue };
            let before = nth.checked_sub(1).map(|before| &self.lexemes[before]);
            let begins = before.is_some_and(|before| matches!(before, Lexeme::Item(_) | Lexeme::Close));
            let after = self.lexemes.get(nth + 1);
            let ends =
                after.is_some_and(|after| matches!(after, Lexeme::Item(_) | Lexeme::Open | Lexeme::Not));
            if !ends || !begins && *lexeme != Lexeme::Not {
                idle.push(format!("{name} joins nothing and is ignored; \"{name}\" in quotes is a word"));
            }
        }
        idle.into_iter().for_each(|note| self.add_note(note));
    }

    /// Splits the closing brackets of outer brackets off the end of a word. Returns the word and the number of brackets.
    fn split_closing_brackets<'a>(&self, raw: &'a str) -> (&'a str, usize) {
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

/// Returns whether the first word of a text is the operator `OR`.
fn starts_with_or(text: &str) -> bool {
    text.split_whitespace().next() == Some("OR")
}
