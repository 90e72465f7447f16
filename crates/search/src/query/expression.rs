//! Writes a query as an expression over the words of the index.

use memod_base::types::{Expression, Phrase};
use memod_text::scripts::is_unspaced;
use memod_text::words::{self as tokens, Form, GRAM_CHARS};

use super::stop::is_stop_word;
use super::tree::{All, Any, Bag, Item};

/// Most wanted tokens.
pub(super) const MAX_TOKENS: usize = 64;

/// Most unwanted tokens.
const MAX_UNWANTED_TOKENS: usize = 64;

/// Writes expressions within the limits on tokens.
pub(super) struct Writer {
    wanted: usize,
    unwanted: usize,
    other_form: OtherForm,
    /// Whether a limit left something out.
    pub(super) is_cut: bool,
}

/// Returns an alternative for a token that need not match exactly, if there is any.
type OtherForm = fn(&str) -> Option<String>;

/// What operators demand of every hit, whatever arm finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Restriction {
    /// A hit must match this.
    pub required: Option<Expression>,
    /// A hit must not match this.
    pub(crate) excluded: Option<Expression>,
}

impl Writer {
    pub(super) fn new(other_form: OtherForm) -> Self {
        Self { wanted: MAX_TOKENS, unwanted: MAX_UNWANTED_TOKENS, other_form, is_cut: false }
    }

    /// Writes what operators demand. Words side by side demand nothing, and beside `NOT` they only rank what is left.
    pub(super) fn restriction(&mut self, any: &Any) -> Restriction {
        let unwanted = |bags: &[Bag]| bags.iter().flat_map(|bag| bag.unwanted.clone()).collect::<Vec<_>>();
        match any.0.as_slice() {
            [All(bags)] if bags.len() == 1 || bags.iter().all(|bag| bag.wanted.is_empty()) => {
                let required = bags.iter().find_map(|bag| self.bag_requirement(bag));
                Restriction { required, excluded: self.excluded(&unwanted(bags).iter().collect::<Vec<_>>()) }
            }
            _ => match self.any(any, false) {
                None => Restriction { required: None, excluded: self.excluded(&any.unwanted()) },
                required => Restriction { required, excluded: None },
            },
        }
    }

    /// Writes what words side by side demand: the phrases and groups among them, or any of them beside a prefix.
    fn bag_requirement(&mut self, bag: &Bag) -> Option<Expression> {
        let (required, _) = bag.by_requirement();
        let parts: Vec<Expression> = required.iter().filter_map(|item| self.items(&[item], true)).collect();
        let has_prefix = bag.wanted.iter().any(|item| matches!(item, Item::Prefix(_)));
        match parts.is_empty() && has_prefix {
            true => self.items(&bag.wanted.iter().collect::<Vec<_>>(), false),
            false => join(parts, Expression::All),
        }
    }

    /// Writes alternatives. With `is_strict` a compound counts as a whole, and otherwise any part of it.
    pub(super) fn any(&mut self, any: &Any, is_strict: bool) -> Option<Expression> {
        let parts = any.0.iter().filter_map(|all| self.all(all, is_strict)).collect();
        join(parts, Expression::Any)
    }

    /// Words that bags without a wanted item exclude are excluded from the others: `x AND NOT y`.
    fn all(&mut self, all: &All, is_strict: bool) -> Option<Expression> {
        let (bags, lone): (Vec<&Bag>, Vec<&Bag>) = all.0.iter().partition(|bag| !bag.wanted.is_empty());
        let is_strict = is_strict || bags.len() > 1;
        let parts = bags.into_iter().filter_map(|bag| self.bag(bag, is_strict)).collect();
        let unwanted: Vec<&Item> = lone.iter().flat_map(|bag| &bag.unwanted).collect();
        let wanted = join(parts, Expression::All)?;
        Some(self.without(wanted, &unwanted))
    }

    /// Words beside a required item need not match, but count when they do. To say so takes the first required item twice;
    /// in brackets within brackets it would double at each level, so its tokens count against the limit again.
    fn bag(&mut self, bag: &Bag, is_strict: bool) -> Option<Expression> {
        let (required, others) = bag.by_requirement();
        let mut parts: Vec<Expression> =
            required.iter().filter_map(|item| self.items(&[item], true)).collect();
        let others = self.items(&others, is_strict);
        match (parts.first().cloned(), others) {
            (Some(first), Some(others)) => {
                if let Some(left) = self.wanted.checked_sub(first.to_string().split(' ').count()) {
                    self.wanted = left;
                    parts.push(Expression::Any(vec![others, first]));
                }
            }
            (_, others) => parts.extend(others),
        }
        let wanted = join(parts, Expression::All)?;
        Some(self.without(wanted, &bag.unwanted.iter().collect::<Vec<_>>()))
    }

    /// Without a wanted token there is no expression, because none expresses "all except these".
    fn without(&mut self, wanted: Expression, unwanted: &[&Item]) -> Expression {
        match self.excluded(unwanted) {
            Some(unwanted) => Expression::Without(Box::new(wanted), Box::new(unwanted)),
            None => wanted,
        }
    }

    /// Writes what must not match.
    fn excluded(&mut self, unwanted: &[&Item]) -> Option<Expression> {
        std::mem::swap(&mut self.wanted, &mut self.unwanted);
        let unwanted = self.items(unwanted, true);
        std::mem::swap(&mut self.wanted, &mut self.unwanted);
        unwanted
    }

    fn items(&mut self, items: &[&Item], is_strict: bool) -> Option<Expression> {
        let mut parts: Vec<Expression> = Vec::new();
        for item in items {
            if let Item::Group(any) = item {
                parts.extend(self.any(any, is_strict));
                continue;
            }
            for phrase in item.phrases(is_strict, self.other_form) {
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
        join(parts, Expression::Any)
    }
}

/// Phrases, any of which may match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Phrases {
    phrases: Vec<Phrase>,
    /// For each phrase, the place of the word of the query that it stands for: ascending.
    word_of: Vec<usize>,
    n_words: usize,
    n_tokens: usize,
}

impl Phrases {
    /// Returns each phrase with the place of the word of the query that it stands for; places ascend.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Phrase, usize)> {
        self.phrases.iter().zip(self.word_of.iter().copied())
    }

    /// Adds the phrases of the next word, as far as the limit on tokens allows.
    pub(super) fn add(&mut self, item: &Item) {
        for phrase in item.phrases(false, other_number) {
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

fn join(mut parts: Vec<Expression>, of: impl FnOnce(Vec<Expression>) -> Expression) -> Option<Expression> {
    if parts.len() > 1 { Some(of(parts)) } else { parts.pop() }
}

impl Item {
    fn phrases(&self, is_strict: bool, other_form: OtherForm) -> Vec<Phrase> {
        match self {
            Self::Group(_) => Vec::new(),
            Self::Phrase(text) => spellings(text, false),
            Self::Prefix(text) => phrases_of_word(text, true, None),
            Self::Word(text) => phrases_of_word(text, false, (!is_strict).then_some(other_form)),
        }
    }
}

/// Returns the phrases for a word: the joined name, its spellings in parts, and, unless it must match exactly, each part
/// and its other form.
fn phrases_of_word(text: &str, is_prefix: bool, other_form: Option<OtherForm>) -> Vec<Phrase> {
    let (whole, parts) = (stream(text, Form::Whole), stream(text, Form::Parts));
    let mut phrases = Vec::new();
    if !whole.contains(' ') {
        phrases.extend(adjacent(&whole, is_prefix));
    }
    phrases.extend(spellings(text, is_prefix));
    if let Some(other_form) = other_form {
        let single = |token: &&str| !is_stop_word(token) && token.len() > 1 && !is_short_gram(token);
        let singles = whole.split(' ').chain(parts.split(' ')).filter(single);
        for token in singles {
            phrases.extend(adjacent(token, false));
            phrases.extend(other_form(token).and_then(|token| adjacent(&token, false)));
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
fn spellings(text: &str, is_prefix: bool) -> Vec<Phrase> {
    let streams = [Form::Both, Form::Parts].map(|form| stream(text, form));
    let mut phrases: Vec<Phrase> = streams.iter().filter_map(|tokens| adjacent(tokens, is_prefix)).collect();
    phrases.dedup();
    // With more letters the joined name would be different, so only the last part can be a prefix.
    if is_prefix && phrases.len() > 1 {
        phrases.remove(0);
    }
    phrases
}

/// Returns the phrase for a stream. In the text, its last run of an unspaced script may continue, with full trigrams in place
/// of the shorter ones of the stream.
fn adjacent(stream: &str, is_prefix: bool) -> Option<Phrase> {
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

fn stream(text: &str, form: Form) -> String {
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
