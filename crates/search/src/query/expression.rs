//! Turns a query into expressions over the tokens of the index.

use memod_base::types::{Expression, Phrase};
use memod_text::scripts::is_unspaced;
use memod_text::words::{self as tokens, GRAM_CHARS, TokenForm};

use super::query_tree::{Alternatives, QueryItem, Requirements, WantedAndUnwanted};
use super::stop_words::is_stop_word;

/// Most wanted tokens.
pub(super) const MAX_TOKENS: usize = 64;

/// Most unwanted tokens.
const MAX_UNWANTED_TOKENS: usize = 64;

/// Writes expressions, within limits on the number of tokens.
pub(super) struct ExpressionWriter {
    /// Number of wanted tokens that may still be written.
    wanted_tokens_left: usize,
    /// Number of unwanted tokens that may still be written.
    unwanted_tokens_left: usize,
    other_form: FindOtherForm,
    /// Whether tokens were left out because of a limit.
    pub(super) lacks_tokens: bool,
}

/// A function that returns another form of a token, which may match in its place.
type FindOtherForm = fn(&str) -> Option<String>;

/// The expressions by which operators restrict the hits of all arms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueryRestriction {
    /// The expression that a hit must match.
    pub required: Option<Expression>,
    /// The expression that a hit must not match.
    pub(crate) excluded: Option<Expression>,
}

impl ExpressionWriter {
    pub(super) fn new(other_form: FindOtherForm) -> Self {
        Self {
            wanted_tokens_left: MAX_TOKENS,
            unwanted_tokens_left: MAX_UNWANTED_TOKENS,
            other_form,
            lacks_tokens: false,
        }
    }

    /// Writes the restriction of a query by its operators. Words side by side restrict nothing, and beside `NOT` they only rank the
    /// remaining hits.
    pub(super) fn write_restriction(&mut self, any: &Alternatives) -> QueryRestriction {
        match any.0.as_slice() {
            [Requirements(lists)]
                if lists.len() == 1 || lists.iter().all(|items| items.wanted.is_empty()) =>
            {
                let required = lists.iter().find_map(|items| self.write_requirement_of_items(items));
                QueryRestriction {
                    required,
                    excluded: self
                        .write_excluded(&lists.iter().flat_map(|items| &items.unwanted).collect::<Vec<_>>()),
                }
            }
            _ => match self.write_alternatives(any, false) {
                None => {
                    QueryRestriction { required: None, excluded: self.write_excluded(&any.unwanted_items()) }
                }
                required => QueryRestriction { required, excluded: None },
            },
        }
    }

    /// Writes what a items requires of every hit: all its phrases and groups; or, if there are none but a prefix, any of its words.
    fn write_requirement_of_items(&mut self, items: &WantedAndUnwanted) -> Option<Expression> {
        let (required, _) = items.split_by_requirement();
        let parts: Vec<Expression> =
            required.iter().filter_map(|item| self.write_items(&[item], true)).collect();
        let has_prefix = items.wanted.iter().any(|item| matches!(item, QueryItem::Prefix(_)));
        match parts.is_empty() && has_prefix {
            true => self.write_items(&items.wanted.iter().collect::<Vec<_>>(), false),
            false => join_parts(parts, Expression::All),
        }
    }

    /// Writes alternatives. A compound matches as a whole if `is_strict`; otherwise any part of it matches.
    pub(super) fn write_alternatives(&mut self, any: &Alternatives, is_strict: bool) -> Option<Expression> {
        let parts = any.0.iter().filter_map(|all| self.write_requirements(all, is_strict)).collect();
        join_parts(parts, Expression::Any)
    }

    /// Writes requirements. Items of a items that only excludes (`NOT y` in `x AND NOT y`) are excluded from the other lists.
    fn write_requirements(&mut self, all: &Requirements, is_strict: bool) -> Option<Expression> {
        let (lists, lone): (Vec<&WantedAndUnwanted>, Vec<&WantedAndUnwanted>) =
            all.0.iter().partition(|items| !items.wanted.is_empty());
        let is_strict = is_strict || lists.len() > 1;
        let parts = lists.into_iter().filter_map(|items| self.write_item_list(items, is_strict)).collect();
        let unwanted: Vec<&QueryItem> = lone.iter().flat_map(|items| &items.unwanted).collect();
        let wanted = join_parts(parts, Expression::All)?;
        Some(self.write_without(wanted, &unwanted))
    }

    /// Writes words side by side. Words beside a required item need not match, but improve the rank if they do. For this, the first
    /// required item is written twice. In nested brackets it could double at each level, so its tokens count twice for the limit.
    fn write_item_list(&mut self, items: &WantedAndUnwanted, is_strict: bool) -> Option<Expression> {
        let (required, others) = items.split_by_requirement();
        let mut parts: Vec<Expression> =
            required.iter().filter_map(|item| self.write_items(&[item], true)).collect();
        let others = self.write_items(&others, is_strict);
        match (parts.first().cloned(), others) {
            (Some(first), Some(others)) => {
                if let Some(left) = self.wanted_tokens_left.checked_sub(first.to_string().split(' ').count())
                {
                    self.wanted_tokens_left = left;
                    parts.push(Expression::Any(vec![others, first]));
                }
            }
            (_, others) => parts.extend(others),
        }
        let wanted = join_parts(parts, Expression::All)?;
        Some(self.write_without(wanted, &items.unwanted.iter().collect::<Vec<_>>()))
    }

    /// Excludes unwanted items from an expression. The expression is needed because FTS5 cannot express "everything except these".
    fn write_without(&mut self, wanted: Expression, unwanted: &[&QueryItem]) -> Expression {
        match self.write_excluded(unwanted) {
            Some(unwanted) => Expression::Without(Box::new(wanted), Box::new(unwanted)),
            None => wanted,
        }
    }

    /// Writes the items that must not match, counting their tokens as unwanted.
    fn write_excluded(&mut self, unwanted: &[&QueryItem]) -> Option<Expression> {
        std::mem::swap(&mut self.wanted_tokens_left, &mut self.unwanted_tokens_left);
        let unwanted = self.write_items(unwanted, true);
        std::mem::swap(&mut self.wanted_tokens_left, &mut self.unwanted_tokens_left);
        unwanted
    }

    /// Writes an expression that matches any of the items.
    fn write_items(&mut self, items: &[&QueryItem], is_strict: bool) -> Option<Expression> {
        let mut parts: Vec<Expression> = Vec::new();
        for item in items {
            if let QueryItem::Group(any) = item {
                parts.extend(self.write_alternatives(any, is_strict));
                continue;
            }
            for phrase in item.to_phrases(is_strict, self.other_form) {
                let n_tokens = phrase.tokens.split(' ').count();
                let phrase = Expression::Phrase(phrase);
                if parts.contains(&phrase) {
                    continue;
                }
                if n_tokens <= self.wanted_tokens_left {
                    self.wanted_tokens_left -= n_tokens;
                    parts.push(phrase);
                } else {
                    self.lacks_tokens = true;
                }
            }
        }
        join_parts(parts, Expression::Any)
    }
}

/// The phrases that a query wants; any of them may match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WantedPhrases {
    phrases: Vec<Phrase>,
    /// For each phrase, the position in the query of the word it belongs to; ascending.
    word_of: Vec<usize>,
    n_words: usize,
    n_tokens: usize,
}

impl WantedPhrases {
    /// Returns each phrase with the position in the query of the word it belongs to. Positions ascend.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Phrase, usize)> {
        self.phrases.iter().zip(self.word_of.iter().copied())
    }

    /// Adds the phrases of the next word or phrase of the query, up to the limit on tokens.
    pub(super) fn add_item(&mut self, item: &QueryItem) {
        for phrase in item.to_phrases(false, swap_plural) {
            let n_tokens = phrase.tokens.split(' ').count();
            if self.n_tokens + n_tokens <= MAX_TOKENS && !self.phrases.contains(&phrase) {
                self.n_tokens += n_tokens;
                self.phrases.push(phrase);
                self.word_of.push(self.n_words);
            }
        }
        self.n_words += 1;
    }
}

/// Returns the only part, or the parts combined by `combine`; `None` if there are none.
fn join_parts(
    mut parts: Vec<Expression>,
    combine: impl FnOnce(Vec<Expression>) -> Expression,
) -> Option<Expression> {
    if parts.len() > 1 { Some(combine(parts)) } else { parts.pop() }
}

impl QueryItem {
    fn to_phrases(&self, is_strict: bool, other_form: FindOtherForm) -> Vec<Phrase> {
        match self {
            Self::Group(_) => Vec::new(),
            Self::Phrase(text) => phrase_spellings(text, false),
            Self::Prefix(text) => word_phrases(text, true, None),
            Self::Word(text) => word_phrases(text, false, (!is_strict).then_some(other_form)),
        }
    }
}

/// Returns the phrases for a word: the joined name, and its spellings in parts. With `other_form`, also each part and its other
/// form.
fn word_phrases(text: &str, is_prefix: bool, other_form: Option<FindOtherForm>) -> Vec<Phrase> {
    let (whole, parts) = (word_stream(text, TokenForm::Whole), word_stream(text, TokenForm::Parts));
    let mut phrases = Vec::new();
    if !whole.contains(' ') {
        phrases.extend(adjacent_phrase(&whole, is_prefix));
    }
    phrases.extend(phrase_spellings(text, is_prefix));
    if let Some(other_form) = other_form {
        let singles = whole
            .split(' ')
            .chain(parts.split(' '))
            .filter(|token| !is_stop_word(token) && token.len() > 1 && !is_short_gram(token));
        for token in singles {
            phrases.extend(adjacent_phrase(token, false));
            phrases.extend(other_form(token).and_then(|token| adjacent_phrase(&token, false)));
        }
    }
    phrases
}

/// Returns the regular plural of an English singular, or the singular of a plural in `s` or `ies`; `None` if there is none.
///
/// The index of files has no stems, because stems cost 3 points of nDCG for documents. But the names in questions and in code often
/// differ in number: the router is in `routers.rs`.
pub(crate) fn swap_plural(token: &str) -> Option<String> {
    if token.len() < 4 || !token.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    if let Some(stem) = token.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return Some(format!("{stem}y"));
    }
    if let Some(stem) = token.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        return Some(format!("{stem}ies"));
    }
    match token.strip_suffix('s') {
        Some(stem) if stem.ends_with(['s', 'u', 'i']) => None,
        Some(stem) => Some(stem.to_owned()),
        None => Some(format!("{token}s")),
    }
}

/// Returns the phrases for the spellings of `text`: as written, and with names split into parts. So `"user getId"` matches
/// `user getId` and `user get_id`, but also `user get id`.
fn phrase_spellings(text: &str, is_prefix: bool) -> Vec<Phrase> {
    let streams = [TokenForm::Both, TokenForm::Parts].map(|form| word_stream(text, form));
    let mut phrases: Vec<Phrase> =
        streams.iter().filter_map(|tokens| adjacent_phrase(tokens, is_prefix)).collect();
    phrases.dedup();
    // Further letters would change the joined name, so only the last part can be a prefix.
    if is_prefix && phrases.len() > 1 {
        phrases.remove(0);
    }
    phrases
}

/// Returns the phrase for a stream of tokens; `None` for an empty stream. If the stream ends in an unspaced script, the text may
/// continue there with full trigrams, so shorter tokens at the end are dropped.
fn adjacent_phrase(stream: &str, is_prefix: bool) -> Option<Phrase> {
    let mut tokens: Vec<&str> = stream.split_ascii_whitespace().take(MAX_TOKENS).collect();
    while let [.., before, last] = tokens[..]
        && is_short_gram(last)
        && before.starts_with(is_unspaced)
        && before.char_indices().nth(1).is_some_and(|(second, _)| &before[second..] == last)
    {
        tokens.pop();
    }
    let last = tokens.last()?;
    let is_prefix = is_prefix || is_short_gram(last);
    Some(Phrase { tokens: tokens.join(" "), is_prefix })
}

/// Returns whether a token of an unspaced script is shorter than a trigram: it ends a run, or is the start of trigrams.
pub(super) fn is_short_gram(token: &str) -> bool {
    token.starts_with(is_unspaced) && token.chars().nth(GRAM_CHARS - 1).is_none()
}

/// Returns the tokens of a text in one form, separated by spaces.
fn word_stream(text: &str, form: TokenForm) -> String {
    let mut out = String::new();
    tokens::write_words(text, form, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (token, expected) in [
            ("router", Some("routers")),
            ("errors", Some("error")),
            ("retry", Some("retries")),
            ("queries", Some("query")),
            ("key", None),
            ("relay", Some("relays")),
            ("class", None),
            ("status", None),
            ("utf8", None),
            ("größen", None),
        ] {
            assert_eq!(swap_plural(token).as_deref(), expected, "{token}");
        }
    }
}
