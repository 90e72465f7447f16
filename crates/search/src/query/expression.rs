//! Writes a query as an expression over the words of the index.

use memod_base::types::{Expression, Phrase};
use memod_text::scripts::is_unspaced;
use memod_text::words::{self as tokens, Form, GRAM_CHARS};

use super::query_tree::{Alternatives, QueryItem, Requirements, WordBag};
use super::stop_words::is_stop_word;

/// Most wanted tokens.
pub(super) const MAX_TOKENS: usize = 64;

/// Most unwanted tokens.
const MAX_UNWANTED_TOKENS: usize = 64;

/// Writes expressions within the limits on tokens.
pub(super) struct ExpressionWriter {
    wanted: usize,
    unwanted: usize,
    other_form: OtherForm,
    /// Whether a limit cut the expression.
    pub(super) is_cut: bool,
}

/// Returns an alternative for a token that need not match exactly, if there is any.
type OtherForm = fn(&str) -> Option<String>;

/// The demands of operators on every hit, regardless of the arm that finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueryRestriction {
    /// The expression that a hit must match.
    pub required: Option<Expression>,
    /// The expression that a hit must not match.
    pub(crate) excluded: Option<Expression>,
}

impl ExpressionWriter {
    pub(super) fn new(other_form: OtherForm) -> Self {
        Self { wanted: MAX_TOKENS, unwanted: MAX_UNWANTED_TOKENS, other_form, is_cut: false }
    }

    /// Writes the demands of operators. Words side by side demand nothing, and beside `NOT` they only rank the remaining hits.
    pub(super) fn write_restriction(&mut self, any: &Alternatives) -> QueryRestriction {
        match any.0.as_slice() {
            [Requirements(bags)] if bags.len() == 1 || bags.iter().all(|bag| bag.wanted.is_empty()) => {
                let required = bags.iter().find_map(|bag| self.write_bag_requirement(bag));
                QueryRestriction {
                    required,
                    excluded: self
                        .write_excluded(&bags.iter().flat_map(|bag| &bag.unwanted).collect::<Vec<_>>()),
                }
            }
            _ => match self.write_any(any, false) {
                None => {
                    QueryRestriction { required: None, excluded: self.write_excluded(&any.unwanted_items()) }
                }
                required => QueryRestriction { required, excluded: None },
            },
        }
    }

    /// Writes the demands of words side by side: the phrases and groups among them, or any of them beside a prefix.
    fn write_bag_requirement(&mut self, bag: &WordBag) -> Option<Expression> {
        let (required, _) = bag.by_requirement();
        let parts: Vec<Expression> =
            required.iter().filter_map(|item| self.write_items(&[item], true)).collect();
        let has_prefix = bag.wanted.iter().any(|item| matches!(item, QueryItem::Prefix(_)));
        match parts.is_empty() && has_prefix {
            true => self.write_items(&bag.wanted.iter().collect::<Vec<_>>(), false),
            false => join_parts(parts, Expression::All),
        }
    }

    /// Writes alternatives. With `is_strict` a compound counts as a whole, and otherwise any part of it.
    pub(super) fn write_any(&mut self, any: &Alternatives, is_strict: bool) -> Option<Expression> {
        let parts = any.0.iter().filter_map(|all| self.write_all(all, is_strict)).collect();
        join_parts(parts, Expression::Any)
    }

    /// Writes requirements. The words that a bag without a wanted item excludes are excluded from the other bags: `x AND NOT y`.
    fn write_all(&mut self, all: &Requirements, is_strict: bool) -> Option<Expression> {
        let (bags, lone): (Vec<&WordBag>, Vec<&WordBag>) =
            all.0.iter().partition(|bag| !bag.wanted.is_empty());
        let is_strict = is_strict || bags.len() > 1;
        let parts = bags.into_iter().filter_map(|bag| self.write_bag(bag, is_strict)).collect();
        let unwanted: Vec<&QueryItem> = lone.iter().flat_map(|bag| &bag.unwanted).collect();
        let wanted = join_parts(parts, Expression::All)?;
        Some(self.write_without(wanted, &unwanted))
    }

    /// Writes words side by side. Words beside a required item need not match, but count when they do. This needs the first
    /// required item twice; in nested brackets it would double at each level, so its tokens count against the limit again.
    fn write_bag(&mut self, bag: &WordBag, is_strict: bool) -> Option<Expression> {
        let (required, others) = bag.by_requirement();
        let mut parts: Vec<Expression> =
            required.iter().filter_map(|item| self.write_items(&[item], true)).collect();
        let others = self.write_items(&others, is_strict);
        match (parts.first().cloned(), others) {
            (Some(first), Some(others)) => {
                if let Some(left) = self.wanted.checked_sub(first.to_string().split(' ').count()) {
                    self.wanted = left;
                    parts.push(Expression::Any(vec![others, first]));
                }
            }
            (_, others) => parts.extend(others),
        }
        let wanted = join_parts(parts, Expression::All)?;
        Some(self.write_without(wanted, &bag.unwanted.iter().collect::<Vec<_>>()))
    }

    /// Excludes unwanted items from an expression. Without a wanted token there is no expression, because FTS5 has none for
    /// "all except these".
    fn write_without(&mut self, wanted: Expression, unwanted: &[&QueryItem]) -> Expression {
        match self.write_excluded(unwanted) {
            Some(unwanted) => Expression::Without(Box::new(wanted), Box::new(unwanted)),
            None => wanted,
        }
    }

    /// Writes the items that must not match.
    fn write_excluded(&mut self, unwanted: &[&QueryItem]) -> Option<Expression> {
        std::mem::swap(&mut self.wanted, &mut self.unwanted);
        let unwanted = self.write_items(unwanted, true);
        std::mem::swap(&mut self.wanted, &mut self.unwanted);
        unwanted
    }

    fn write_items(&mut self, items: &[&QueryItem], is_strict: bool) -> Option<Expression> {
        let mut parts: Vec<Expression> = Vec::new();
        for item in items {
            if let QueryItem::Group(any) = item {
                parts.extend(self.write_any(any, is_strict));
                continue;
            }
            for phrase in item.to_phrases(is_strict, self.other_form) {
                let n_tokens = phrase.tokens.split(' ').count();
                let phrase = Expression::Phrase(phrase);
                if parts.contains(&phrase) {
                    continue;
                }
                if n_tokens <= self.wanted {
                    self.wanted -= n_tokens;
                    parts.push(phrase);
                } else {
                    self.is_cut = true;
                }
            }
        }
        join_parts(parts, Expression::Any)
    }
}

/// The phrases that a query wants; any may match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WantedPhrases {
    phrases: Vec<Phrase>,
    /// For each phrase, the position of its word in the query: ascending.
    word_of: Vec<usize>,
    n_words: usize,
    n_tokens: usize,
}

impl WantedPhrases {
    /// Returns each phrase with the position of its word in the query; positions ascend.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Phrase, usize)> {
        self.phrases.iter().zip(self.word_of.iter().copied())
    }

    /// Adds the phrases of the next word, as far as the limit on tokens allows.
    pub(super) fn add_item(&mut self, item: &QueryItem) {
        for phrase in item.to_phrases(false, other_number) {
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

fn join_parts(
    mut parts: Vec<Expression>,
    combine: impl FnOnce(Vec<Expression>) -> Expression,
) -> Option<Expression> {
    if parts.len() > 1 { Some(combine(parts)) } else { parts.pop() }
}

impl QueryItem {
    fn to_phrases(&self, is_strict: bool, other_form: OtherForm) -> Vec<Phrase> {
        match self {
            Self::Group(_) => Vec::new(),
            Self::Phrase(text) => phrase_spellings(text, false),
            Self::Prefix(text) => word_phrases(text, true, None),
            Self::Word(text) => word_phrases(text, false, (!is_strict).then_some(other_form)),
        }
    }
}

/// Returns the phrases for a word: the joined name, its spellings in parts, and, unless it must match exactly, each part
/// and its other form.
fn word_phrases(text: &str, is_prefix: bool, other_form: Option<OtherForm>) -> Vec<Phrase> {
    let (whole, parts) = (word_stream(text, Form::Whole), word_stream(text, Form::Parts));
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

/// Returns the plural of an English singular with `s` or `ies`, or the singular of such a plural.
///
/// The index of files has no stems, because they cost documents 3 points of nDCG. But names and questions often differ in
/// number: the router is in `routers.rs`.
pub(crate) fn other_number(token: &str) -> Option<String> {
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

/// Returns adjacent tokens of the index for `text` as written and with separate parts: `"user getId"` matches `user getId`
/// and `user get_id`, but also `user get id`.
fn phrase_spellings(text: &str, is_prefix: bool) -> Vec<Phrase> {
    let streams = [Form::Both, Form::Parts].map(|form| word_stream(text, form));
    let mut phrases: Vec<Phrase> =
        streams.iter().filter_map(|tokens| adjacent_phrase(tokens, is_prefix)).collect();
    phrases.dedup();
    // With more letters the joined name would be different, so only the last part can be a prefix.
    if is_prefix && phrases.len() > 1 {
        phrases.remove(0);
    }
    phrases
}

/// Returns the phrase for a stream. In the text, its last run of an unspaced script may continue, with full trigrams in place
/// of the shorter ones of the stream.
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

/// Returns whether a token is shorter than a trigram, and so the start of one or the end of a run.
pub(super) fn is_short_gram(token: &str) -> bool {
    token.starts_with(is_unspaced) && token.chars().nth(GRAM_CHARS - 1).is_none()
}

fn word_stream(text: &str, form: Form) -> String {
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
            assert_eq!(other_number(token).as_deref(), expected, "{token}");
        }
    }
}
