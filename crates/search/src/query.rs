//! Parses queries.
//!
//! ```text
//! query   = all { "OR" all }              lowest precedence
//! all     = bag { "AND" bag }
//! bag     = { [ "NOT" ] item }            words side by side: any may match
//! item    = word | word* | "phrase" | ( query )
//! ```
//!
//! Operators are upper case. Every text is a valid query: open brackets are closed at the end, and a quote without its other half
//! is text. Operators without operands are ignored, and so are words without letters and digits. Filters (`path:src/**`) may be
//! anywhere, and apply to the whole query. Text of several lines has neither operators nor filters.

use memod_base::types::Expression;
use memod_proto::{Parsed, ParsedFilter};
use memod_text::scripts::is_unspaced;
use memod_text::stems::marked_stem;
use memod_text::words::{self as tokens, TokenForm};

mod asked_name;
pub(crate) mod documentation_question;
mod expression;
mod filter_term;
mod history_question;
mod lexer;
mod pasted_text;
mod query_tree;
mod stop_words;
pub(crate) mod symbol_names;

use expression::ExpressionWriter;
pub(crate) use expression::WantedPhrases;
use query_tree::{Alternatives, QueryItem};
use symbol_names::NameShape;
pub use symbol_names::SymbolName;

pub(crate) use expression::QueryRestriction;
pub(super) use expression::swap_plural;
pub use filter_term::{FilterCheck, FilterKey, FilterTerm};
pub(super) use stop_words::is_stop_word;

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The tree of operators and items.
    any: Alternatives,
    filters: Vec<FilterTerm>,
    /// Notes on parts that were read otherwise than the user may have meant.
    notes: Vec<String>,
    /// The text to embed.
    text: String,
    words: Vec<QueryWord>,
    /// Possible names of symbols.
    symbols: Vec<String>,
    /// Whether the query is a single name.
    is_symbol: bool,
    asks_for_history: bool,
    asks_for_documentation: bool,
}

/// A wanted word of a query, in the form of the index.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryWord {
    /// The word as a token of [`tokens::write_index_words`].
    pub text: String,
    /// 1 for a whole word of the query, 0.5 for a part of a compound.
    pub weight: f32,
    /// Whether the word is a prefix of the words that it matches.
    pub is_prefix: bool,
}

/// Parses any text as a query without filters.
pub fn parse_query(input: &str) -> Query {
    parse_lexed(input, lexer::lex_query(input, None))
}

/// Parses any text as a query with filters. A filter whose value `check` rejects is read as text, and a note of the query says why.
pub fn parse_with_filters(input: &str, check: FilterCheck<'_>) -> Query {
    parse_lexed(input, lexer::lex_query(input, Some(check)))
}

fn parse_lexed(input: &str, lexed: lexer::LexedQuery) -> Query {
    let any = query_tree::build_tree(lexed.lexemes);
    let is_plain = lexed.filters.is_empty() && !any.has_operators();
    Query::new(any, lexed.filters, lexed.notes, is_plain.then_some(input))
}

impl Query {
    /// Creates a query from its parts. The text to embed is `input`, or the wanted words if `input` is `None`.
    fn new(mut any: Alternatives, filters: Vec<FilterTerm>, notes: Vec<String>, input: Option<&str>) -> Self {
        let raw: Vec<String> =
            any.wanted_items().into_iter().filter_map(QueryItem::text).map(str::to_owned).collect();
        if raw.iter().any(|text| !stop_words::is_stop_text(text)) {
            any.drop_stop_words();
        }
        let mut words = Vec::new();
        any.wanted_items().into_iter().for_each(|item| item.add_words(&mut words));
        let text = input.map_or_else(|| raw.join(" "), str::to_owned);
        let raw: Vec<&str> = raw.iter().flat_map(|text| text.split_whitespace()).collect();
        let symbols = symbol_names::symbol_candidates(&raw);
        let is_symbol = raw.len() == 1
            && symbol_names::parse_name(raw[0]).is_some_and(|name| name.shape > NameShape::Plain);
        let asks_for_history = history_question::is_history_question(&raw);
        let asks_for_documentation = documentation_question::is_documentation_question(&raw);
        Self {
            any,
            filters,
            notes,
            text,
            words,
            symbols,
            is_symbol,
            asks_for_history,
            asks_for_documentation,
        }
    }

    /// Returns the query with its wanted words and phrases replaced by `replace`; `None` if none is replaced.
    pub(crate) fn with_replaced_words(
        &self,
        replace: &mut dyn FnMut(&str) -> Option<String>,
    ) -> Option<Self> {
        let mut any = self.any.clone();
        any.replace_wanted(replace);
        (any != self.any).then(|| Self::new(any, self.filters.clone(), Vec::new(), None))
    }

    /// Returns the query with `words` added; `None` for a single name, a query with operators, and a query without words.
    pub fn with_added_words(&self, words: &[String]) -> Option<Self> {
        if self.any.has_operators() || self.is_symbol || self.words.is_empty() {
            return None;
        }
        let text = [&self.text].into_iter().chain(words).map(String::as_str).collect::<Vec<_>>().join(" ");
        let any = query_tree::build_tree(lexer::lex_query(&text, None).lexemes);
        Some(Self::new(any, self.filters.clone(), Vec::new(), Some(&text)))
    }

    /// Returns the expression for `MATCH` of FTS5, over streams of [`tokens::write_index_words`] that are followed by the stems of
    /// their words; `None` if the query wants no words. The expression is always valid: every token is quoted, and at most 64
    /// tokens are wanted and 64 unwanted.
    pub(crate) fn match_expression_with_stems(&self) -> Option<Expression> {
        ExpressionWriter::new(marked_stem).write_alternatives(&self.any, false)
    }

    /// Returns every phrase that the query wants, regardless of operators, over streams of [`tokens::write_index_words`].
    pub(crate) fn wanted_phrases(&self) -> WantedPhrases {
        let mut phrases = WantedPhrases::default();
        self.any.wanted_items().into_iter().for_each(|item| phrases.add_item(item));
        phrases
    }

    /// Returns the words and phrases that the query wants, as typed, in the order of [`Self::wanted_phrases`].
    pub(crate) fn wanted_texts(&self) -> Vec<&str> {
        self.any.wanted_items().into_iter().filter_map(QueryItem::text).collect()
    }

    /// Returns the expressions that every hit must match or must not match, because of operators. Words side by side restrict
    /// nothing.
    pub(crate) fn restriction(&self) -> QueryRestriction {
        self.restriction_by(ExpressionWriter::new(expression::swap_plural))
    }

    /// Like [`Self::restriction`], but over streams that are followed by the stems of their words.
    pub(crate) fn restriction_with_stems(&self) -> QueryRestriction {
        self.restriction_by(ExpressionWriter::new(marked_stem))
    }

    fn restriction_by(&self, mut writer: ExpressionWriter) -> QueryRestriction {
        match self.any.has_operators() {
            true => writer.write_restriction(&self.any),
            false => QueryRestriction::default(),
        }
    }

    /// Returns the filters in the order in which they were typed.
    pub fn filters(&self) -> &[FilterTerm] {
        &self.filters
    }

    /// Returns whether the query has only filters, or is empty. A search lists everything that passes the filters then.
    pub(crate) fn is_listing(&self) -> bool {
        self.words.is_empty() && (!self.filters.is_empty() || self.any.0.is_empty())
    }

    /// Returns the text to embed: the query as typed, or the wanted words of a query with operators or filters.
    pub fn text_to_embed(&self) -> &str {
        &self.text
    }

    /// Returns the wanted words, in the form of the index. Stop words are left out if other words remain.
    pub fn words(&self) -> &[QueryWord] {
        &self.words
    }

    /// Returns possible names of symbols as typed, the likeliest first, at most eight. `Session::login` gives `Session::login` and
    /// `login`. A query of one word always counts as a name.
    pub(crate) fn symbol_names(&self) -> &[String] {
        &self.symbols
    }

    /// Returns whether the query is a single name, spelled like code or with a capital.
    pub(crate) fn looks_like_symbol(&self) -> bool {
        self.is_symbol
    }

    /// Returns the only word of the query as typed, with its qualifiers if it is a name; `None` if there are several.
    pub fn single_name(&self) -> Option<&str> {
        match self.any.wanted_items()[..] {
            [item] if !matches!(item, QueryItem::Prefix(_)) => {
                item.text().filter(|text| !text.trim().contains(char::is_whitespace))
            }
            _ => None,
        }
    }

    /// Returns whether the query is one word or name.
    pub fn is_one_word(&self) -> bool {
        self.words.iter().filter(|word| word.weight >= 1.0).count() == 1
    }

    /// Returns whether the query is about history, which commits answer.
    pub(crate) fn asks_for_history(&self) -> bool {
        self.asks_for_history
    }

    /// Returns whether the query is a question that a document answers, such as how to use the product.
    pub(crate) fn asks_for_documentation(&self) -> bool {
        self.asks_for_documentation
    }

    /// Returns whether one of `tokens` is among the wanted words.
    pub(crate) fn has_any_word(&self, tokens: &[&str]) -> bool {
        self.words.iter().any(|word| tokens.contains(&word.text.as_str()))
    }

    /// Returns the words joined to a name (`parse query` gives `parsequery`), for comparison with [`tokens::joined_name`] of a
    /// symbol; `None` unless there are two to four words.
    pub(crate) fn joined_words(&self) -> Option<String> {
        let whole: Vec<&str> =
            self.words.iter().filter(|word| word.weight >= 1.0).map(|word| word.text.as_str()).collect();
        (2..=4).contains(&whole.len()).then(|| whole.concat())
    }

    /// Returns for display how the query was understood.
    pub fn to_parsed(&self) -> Parsed {
        let mut parsed = Parsed { notes: self.notes.clone(), ..Parsed::default() };
        for item in self.any.wanted_items().into_iter().take(expression::MAX_TOKENS) {
            match item {
                QueryItem::Phrase(text) => parsed.phrases.push(text.clone()),
                _ => parsed.terms.push(item.to_string()),
            }
        }
        let unwanted = self.any.unwanted_items().into_iter().take(expression::MAX_TOKENS);
        parsed.excluded = unwanted.map(ToString::to_string).collect();
        parsed.expression = self.any.has_operators().then(|| self.any.to_string());
        parsed.filters = self
            .filters
            .iter()
            .map(|term| ParsedFilter {
                key: term.key.as_str().to_owned(),
                value: term.value.clone(),
                not: term.is_negated,
            })
            .collect();
        let mut writer = ExpressionWriter::new(expression::swap_plural);
        writer.write_alternatives(&self.any, false);
        let mut demands = ExpressionWriter::new(expression::swap_plural);
        demands.write_restriction(&self.any);
        if writer.lacks_tokens || demands.lacks_tokens {
            parsed.notes.push(format!("only the first {} words are used", expression::MAX_TOKENS));
        }
        if self.words.is_empty() && !parsed.excluded.is_empty() {
            parsed
                .notes
                .push("the query has only NOT terms, which exclude hits: nothing was searched".to_owned());
        }
        parsed
    }
}

/// Writes the query as a user could type it.
impl std::fmt::Display for Query {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.any)?;
        for (nth, filter) in self.filters.iter().enumerate() {
            f.write_str(if nth > 0 || !self.any.0.is_empty() { " " } else { "" })?;
            write!(f, "{filter}")?;
        }
        Ok(())
    }
}

impl QueryItem {
    /// Adds the tokens of the item to the words of a query.
    fn add_words(&self, words: &mut Vec<QueryWord>) {
        let Some(text) = self.text() else { return };
        let is_prefix = matches!(self, Self::Prefix(_));
        add_tokens(words, text, TokenForm::Whole, 1.0, is_prefix);
        if !text.contains(is_unspaced) {
            add_tokens(words, text, TokenForm::Parts, 0.5, is_prefix);
        }
    }
}

/// Adds the tokens of a text to `words`, each once, up to the limit on tokens.
fn add_tokens(words: &mut Vec<QueryWord>, text: &str, form: TokenForm, weight: f32, is_prefix: bool) {
    let mut stream = String::new();
    tokens::write_words(text, form, &mut stream);
    for token in stream.split_ascii_whitespace() {
        let is_known = words.iter().any(|word| word.text == token);
        if !is_known && words.len() < expression::MAX_TOKENS {
            let is_prefix = is_prefix || expression::is_short_gram(token);
            words.push(QueryWord { text: token.to_owned(), weight, is_prefix });
        }
    }
}

#[cfg(test)]
mod tests;
