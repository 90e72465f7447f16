//! Writes a query as an FTS5 expression.
//!
//! Grammar: <https://www.sqlite.org/fts5.html#full_text_query_syntax>. Every token is quoted and has only letters and
//! digits, so nothing in it is an operator or ends the quotes.

use super::stop::is_stop_word;
use super::tree::{All, Any, Bag, Item};
use crate::extract::scripts::is_unspaced;
use crate::extract::words::{self as tokens, Form, GRAM_CHARS};

/// Most wanted tokens.
pub(super) const MAX_TOKENS: usize = 64;

/// Most unwanted tokens.
const MAX_UNWANTED_TOKENS: usize = 64;

/// One or more adjacent tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Atom {
    tokens: String,
    is_prefix: bool,
}

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

/// What operators demand of every hit, whatever arm finds it: FTS5 expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restriction {
    /// A hit must match this.
    pub required: Option<String>,
    /// A hit must not match this.
    pub excluded: Option<String>,
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
    fn bag_requirement(&mut self, bag: &Bag) -> Option<String> {
        let (required, _) = bag.by_requirement();
        let parts: Vec<String> = required.iter().filter_map(|item| self.items(&[item], true)).collect();
        let has_prefix = bag.wanted.iter().any(|item| matches!(item, Item::Prefix(_)));
        match parts.is_empty() && has_prefix {
            true => self.items(&bag.wanted.iter().collect::<Vec<_>>(), false),
            false => join(parts, " AND "),
        }
    }

    /// Writes alternatives. With `is_strict` a compound counts as a whole, and otherwise any part of it.
    pub(super) fn any(&mut self, any: &Any, is_strict: bool) -> Option<String> {
        let parts = any.0.iter().filter_map(|all| self.all(all, is_strict)).collect();
        join(parts, " OR ")
    }

    /// Words that bags without a wanted item exclude are excluded from the others: `x AND NOT y`.
    fn all(&mut self, all: &All, is_strict: bool) -> Option<String> {
        let (bags, lone): (Vec<&Bag>, Vec<&Bag>) = all.0.iter().partition(|bag| !bag.wanted.is_empty());
        let is_strict = is_strict || bags.len() > 1;
        let parts = bags.into_iter().filter_map(|bag| self.bag(bag, is_strict)).collect();
        let unwanted: Vec<&Item> = lone.iter().flat_map(|bag| &bag.unwanted).collect();
        let wanted = join(parts, " AND ")?;
        Some(self.without(wanted, &unwanted))
    }

    /// Words beside a required item need not match, but count when they do. To say so takes the first required item twice;
    /// in brackets within brackets it would double at each level, so its tokens count against the limit again.
    fn bag(&mut self, bag: &Bag, is_strict: bool) -> Option<String> {
        let (required, others) = bag.by_requirement();
        let mut parts: Vec<String> = required.iter().filter_map(|item| self.items(&[item], true)).collect();
        let others = self.items(&others, is_strict);
        match (parts.first().cloned(), others) {
            (Some(first), Some(others)) => {
                if let Some(left) = self.wanted.checked_sub(first.split(' ').count()) {
                    self.wanted = left;
                    parts.push(format!("({others} OR {first})"));
                }
            }
            (_, others) => parts.extend(others),
        }
        let wanted = join(parts, " AND ")?;
        Some(self.without(wanted, &bag.unwanted.iter().collect::<Vec<_>>()))
    }

    /// Without a wanted token there is no expression, because FTS5 cannot express "all except these".
    fn without(&mut self, wanted: String, unwanted: &[&Item]) -> String {
        match self.excluded(unwanted) {
            Some(unwanted) => format!("({wanted} NOT {unwanted})"),
            None => wanted,
        }
    }

    /// Writes what must not match.
    fn excluded(&mut self, unwanted: &[&Item]) -> Option<String> {
        std::mem::swap(&mut self.wanted, &mut self.unwanted);
        let unwanted = self.items(unwanted, true);
        std::mem::swap(&mut self.wanted, &mut self.unwanted);
        unwanted
    }

    fn items(&mut self, items: &[&Item], is_strict: bool) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        for item in items {
            if let Item::Group(any) = item {
                parts.extend(self.any(any, is_strict));
                continue;
            }
            for atom in item.atoms(is_strict, self.other_form) {
                let n_tokens = atom.tokens.split(' ').count();
                let text = atom.to_string();
                if parts.contains(&text) {
                    continue;
                }
                if n_tokens <= self.wanted {
                    self.wanted -= n_tokens;
                    parts.push(text);
                } else {
                    self.is_cut = true;
                }
            }
        }
        join(parts, " OR ")
    }
}

/// Phrases of FTS5, any of which may match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrases {
    phrases: Vec<String>,
    /// For each phrase, the place of the word of the query that it stands for.
    pub word_of: Vec<usize>,
    n_words: usize,
    n_tokens: usize,
}

impl Phrases {
    /// Returns the expression, whose phrases are in the order of `word_of`; `None` if there are none.
    pub fn expression(&self) -> Option<String> {
        (!self.phrases.is_empty()).then(|| self.phrases.join(" OR "))
    }

    /// Adds the phrases of the next word, as far as the limit on tokens allows.
    pub(super) fn add(&mut self, item: &Item) {
        for atom in item.atoms(false, other_number) {
            let n_tokens = atom.tokens.split(' ').count();
            let text = atom.to_string();
            if self.n_tokens + n_tokens <= MAX_TOKENS && !self.phrases.contains(&text) {
                self.n_tokens += n_tokens;
                self.phrases.push(text);
                self.word_of.push(self.n_words);
            }
        }
        self.n_words += 1;
    }
}

fn join(mut parts: Vec<String>, operator: &str) -> Option<String> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(format!("({})", parts.join(operator))),
    }
}

impl std::fmt::Display for Atom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\"{}", self.tokens, if self.is_prefix { "*" } else { "" })
    }
}

impl Item {
    fn atoms(&self, is_strict: bool, other_form: OtherForm) -> Vec<Atom> {
        match self {
            Self::Group(_) => Vec::new(),
            Self::Phrase(text) => spellings(text, false),
            Self::Prefix(text) => word_atoms(text, true, None),
            Self::Word(text) => word_atoms(text, false, (!is_strict).then_some(other_form)),
        }
    }
}

/// Returns the expression for a word: the joined name, its spellings in parts, and, unless it must match exactly, each part
/// and its other form.
fn word_atoms(text: &str, is_prefix: bool, other_form: Option<OtherForm>) -> Vec<Atom> {
    let (whole, parts) = (stream(text, Form::Whole), stream(text, Form::Parts));
    let mut atoms = Vec::new();
    if !whole.contains(' ') {
        atoms.extend(adjacent(&whole, is_prefix));
    }
    atoms.extend(spellings(text, is_prefix));
    if let Some(other_form) = other_form {
        let single = |token: &&str| !is_stop_word(token) && token.len() > 1 && !is_short_gram(token);
        let singles = whole.split(' ').chain(parts.split(' ')).filter(single);
        for token in singles {
            atoms.extend(adjacent(token, false));
            atoms.extend(other_form(token).and_then(|token| adjacent(&token, false)));
        }
    }
    atoms
}

/// Returns the plural of an English singular with `s` or `ies`, or the singular of such a plural.
///
/// The index of files has no stems, because they cost documents 3 points of nDCG. But names and questions often differ in
/// number: the router is in `routers.rs`.
pub(in crate::search) fn other_number(token: &str) -> Option<String> {
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
fn spellings(text: &str, is_prefix: bool) -> Vec<Atom> {
    let streams = [Form::Both, Form::Parts].map(|form| stream(text, form));
    let mut atoms: Vec<Atom> = streams.iter().filter_map(|tokens| adjacent(tokens, is_prefix)).collect();
    atoms.dedup();
    // With more letters the joined name would be different, so only the last part can be a prefix.
    if is_prefix && atoms.len() > 1 {
        atoms.remove(0);
    }
    atoms
}

/// Returns the atom for a stream. In the text, its last run of an unspaced script may continue, with full trigrams in place
/// of the shorter ones of the stream.
fn adjacent(stream: &str, is_prefix: bool) -> Option<Atom> {
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
    Some(Atom { tokens: tokens.join(" "), is_prefix })
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
