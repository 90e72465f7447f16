//! Parses queries.
//!
//! ```text
//! query   = all { "OR" all }              lowest
//! all     = bag { "AND" bag }
//! bag     = { [ "NOT" ] item }            words side by side: any of them, ranking decides
//! item    = word | word* | "phrase" | ( query )
//! ```
//!
//! Operators are upper case. Every text is a valid query: quotes and brackets close at the end, and operators without
//! operands and words without letters and digits are ignored.

use super::names::{self, Shape};
use crate::extract::scripts::is_unspaced;
use crate::extract::stems::stem;
use crate::extract::words::{self as tokens, Form};

mod expression;
mod history_question;
mod stop;

use expression::Writer;
pub(super) use stop::is_stop_word;

/// Longest part of a query that is parsed, in bytes.
const MAX_QUERY_BYTES: usize = 16 * 1024;

/// Maximum depth of brackets; FTS5 limits the depth of an expression too.
const MAX_DEPTH: usize = 8;

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    any: Any,
    words: Vec<Word>,
    symbols: Vec<String>,
    is_symbol: bool,
    asks_for_history: bool,
}

/// A word to look for in a text, in the form of the index.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// A token as [`tokens::index_words`] writes it.
    pub text: String,
    /// 1 for a word of the query, less for the parts of a compound.
    pub weight: f32,
    /// Whether it is a prefix.
    pub is_prefix: bool,
}

/// Alternatives: any of these.
#[derive(Clone, Debug, Default, PartialEq)]
struct Any(Vec<All>);

/// Requirements: each of these.
#[derive(Clone, Debug, Default, PartialEq)]
struct All(Vec<Bag>);

/// Words side by side.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bag {
    wanted: Vec<Item>,
    unwanted: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Word(String),
    Prefix(String),
    Phrase(String),
    Group(Any),
}

/// Parses any text as a query.
pub fn parse(input: &str) -> Query {
    let lexemes = lex(&input[..input.floor_char_boundary(MAX_QUERY_BYTES)]);
    let mut any = Parser { rest: lexemes.into_iter().peekable() }.any();
    let mut raw = Vec::new();
    any.wanted(&mut |item| raw.extend(item.text().map(str::to_owned)));
    if raw.iter().any(|text| !stop::is_stop_text(text)) {
        any.drop_stop_words();
    }
    let mut words = Vec::new();
    any.wanted(&mut |item| item.add_words(&mut words));
    let raw: Vec<&str> = raw.iter().flat_map(|text| text.split_whitespace()).collect();
    let symbols = names::candidates(&raw);
    let is_symbol = raw.len() == 1 && names::name_of(raw[0]).is_some_and(|name| name.shape > Shape::Plain);
    let asks_for_history = history_question::is_asked(&raw);
    Query { any, words, symbols, is_symbol, asks_for_history }
}

impl Query {
    /// Returns the text for FTS5's `MATCH` over streams of [`tokens::index_words`]; `None` if nothing is wanted. It is
    /// always valid: every token is quoted, and there are at most 64 wanted and 16 unwanted ones.
    pub fn match_expression(&self) -> Option<String> {
        Writer::new(expression::other_number).any(&self.any, false)
    }

    /// Like [`Self::match_expression`], over streams followed by the stems of their words.
    pub fn match_with_stems(&self) -> Option<String> {
        Writer::new(stem).any(&self.any, false)
    }

    /// Returns the words to look for in a text, without those of `NOT`, and without stop words when
    /// others remain.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Returns possible names of symbols as typed, the likeliest first, at most eight: `Session::login` gives that and
    /// `login`. A query of one word is always a name.
    pub fn symbols(&self) -> &[String] {
        &self.symbols
    }

    /// Returns whether the query is a single name, spelled like code or with a capital.
    pub fn looks_like_symbol(&self) -> bool {
        self.is_symbol
    }

    /// Returns whether the query is about history, which commits answer.
    pub fn asks_for_history(&self) -> bool {
        self.asks_for_history
    }

    /// Tells whether one of `tokens` is among the words.
    pub fn has_any(&self, tokens: &[&str]) -> bool {
        self.words.iter().any(|word| tokens.contains(&word.text.as_str()))
    }

    /// Joins two to four words to a name (`parse query` gives `parsequery`), to compare with [`tokens::joined`] of a symbol.
    pub fn joined_words(&self) -> Option<String> {
        let whole: Vec<&str> =
            self.words.iter().filter(|word| word.weight >= 1.0).map(|word| word.text.as_str()).collect();
        (2..=4).contains(&whole.len()).then(|| whole.concat())
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Lexeme {
    Item(Item),
    Open,
    Close,
    And,
    Or,
    Not,
}

fn lex(mut rest: &str) -> Vec<Lexeme> {
    let mut lexemes = Vec::new();
    let mut depth = 0;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return lexemes };
        if is_quote(first) {
            let inside = &rest[first.len_utf8()..];
            let end = inside.find(is_quote).unwrap_or(inside.len());
            lexemes.push(Lexeme::Item(Item::Phrase(inside[..end].to_owned())));
            rest = inside[end..].trim_start_matches(is_quote);
        } else if first == '(' {
            if depth < MAX_DEPTH {
                depth += 1;
                lexemes.push(Lexeme::Open);
            }
            rest = &rest[1..];
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || is_quote(c)).unwrap_or(rest.len());
            lex_word(&rest[..end], &mut depth, &mut lexemes);
            rest = &rest[end..];
        }
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

/// Reads one word and the surplus brackets that it closes: `foo())` closes one.
fn lex_word(raw: &str, depth: &mut usize, lexemes: &mut Vec<Lexeme>) {
    let count = |bracket| raw.bytes().filter(|&byte| byte == bracket).count();
    let n_trailing = raw.len() - raw.trim_end_matches(')').len();
    let n_closing = count(b')').saturating_sub(count(b'(')).min(n_trailing).min(*depth);
    let text = &raw[..raw.len() - n_closing];
    match text {
        "" => {}
        "AND" => lexemes.push(Lexeme::And),
        "OR" => lexemes.push(Lexeme::Or),
        "NOT" => lexemes.push(Lexeme::Not),
        _ => lexemes.push(Lexeme::Item(match text.strip_suffix('*') {
            Some(stem) => Item::Prefix(stem.to_owned()),
            None => Item::Word(text.to_owned()),
        })),
    }
    lexemes.extend(std::iter::repeat_n(Lexeme::Close, n_closing));
    *depth -= n_closing;
}

/// Recursion is bounded by the lexer, which opens at most [`MAX_DEPTH`] brackets.
struct Parser {
    rest: std::iter::Peekable<std::vec::IntoIter<Lexeme>>,
}

impl Parser {
    fn any(&mut self) -> Any {
        let mut any = vec![self.all()];
        while self.rest.next_if_eq(&Lexeme::Or).is_some() {
            any.push(self.all());
        }
        Any(any)
    }

    fn all(&mut self) -> All {
        let mut all = vec![self.bag()];
        while self.rest.next_if_eq(&Lexeme::And).is_some() {
            all.push(self.bag());
        }
        All(all)
    }

    fn bag(&mut self) -> Bag {
        let mut bag = Bag::default();
        loop {
            let is_unwanted = self.rest.next_if_eq(&Lexeme::Not).is_some();
            if let Some(item) = self.item() {
                if is_unwanted { &mut bag.unwanted } else { &mut bag.wanted }.push(item);
            } else if !is_unwanted {
                return bag;
            }
        }
    }

    fn item(&mut self) -> Option<Item> {
        match self.rest.next_if(|lexeme| matches!(lexeme, Lexeme::Item(_) | Lexeme::Open))? {
            Lexeme::Item(item) => Some(item),
            _ => {
                let group = self.any();
                self.rest.next_if_eq(&Lexeme::Close);
                Some(Item::Group(group))
            }
        }
    }
}

impl Any {
    fn bags(&mut self) -> impl Iterator<Item = &mut Bag> {
        self.0.iter_mut().flat_map(|all| all.0.iter_mut())
    }

    /// Calls `see` with each wanted item, descending into groups.
    fn wanted(&mut self, see: &mut dyn FnMut(&Item)) {
        for item in self.bags().flat_map(|bag| bag.wanted.iter_mut()) {
            match item {
                Item::Group(any) => any.wanted(see),
                _ => see(item),
            }
        }
    }

    fn drop_stop_words(&mut self) {
        for bag in self.bags() {
            bag.wanted.retain_mut(|item| match item {
                Item::Word(text) => !stop::is_stop_text(text),
                Item::Group(any) => {
                    any.drop_stop_words();
                    true
                }
                _ => true,
            });
        }
    }
}

impl Item {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Prefix(text) | Self::Phrase(text) => Some(text),
            Self::Group(_) => None,
        }
    }

    fn add_words(&self, words: &mut Vec<Word>) {
        let Some(text) = self.text() else { return };
        let is_prefix = matches!(self, Self::Prefix(_));
        let mut add = |form, weight| {
            let mut stream = String::new();
            tokens::write_words(text, form, &mut stream);
            for token in stream.split_ascii_whitespace() {
                let is_known = words.iter().any(|word| word.text == token);
                if !is_known && words.len() < expression::MAX_TOKENS {
                    let is_prefix = is_prefix || expression::is_short_gram(token);
                    words.push(Word { text: token.to_owned(), weight, is_prefix });
                }
            }
        };
        add(Form::Whole, 1.0);
        if !text.contains(is_unspaced) {
            add(Form::Parts, 0.5);
        }
    }
}

#[cfg(test)]
mod tests;
