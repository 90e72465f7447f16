//! Compares two near texts: whether they say the same, differ in numbers, or contradict each other.
//!
//! The cosine of their vectors does not suffice: the model knows neither word order nor negation, and contradictions have a cosine
//! of up to 0.98. So near texts count as the same only if their numbers and negations are the same, and no word has its
//! opposite in the other text.

use std::collections::BTreeSet;
use std::ops::Bound;

use memod_text::stems::strip_stem_mark;

use super::text::{split_words, title_stems};

/// Minimum share of the stems of two titles that both must have to be about the same subject.
const SIMILAR_TITLE: f64 = 0.75;

const NEGATIONS: [&str; 15] = [
    "not",
    "no",
    "never",
    "none",
    "without",
    "cannot",
    "neither",
    "nor",
    "nothing",
    "avoid",
    "disable",
    "disabled",
    "forbid",
    "forbidden",
    "off",
];

/// Pairs of words with opposite meanings.
const OPPOSITES: [(&str, &str); 12] = [
    ("above", "below"),
    ("after", "before"),
    ("always", "sometimes"),
    ("ascending", "descending"),
    ("first", "last"),
    ("left", "right"),
    ("maximum", "minimum"),
    ("more", "less"),
    ("most", "least"),
    ("over", "under"),
    ("public", "private"),
    ("true", "false"),
];

/// Numbers that are often written as words. `one` is left out, because it is more often a pronoun; see [`measured_words`].
const NUMBER_WORDS: [(&str, &str); 15] = [
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("twelve", "12"),
    ("fifteen", "15"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("hundred", "100"),
    ("thousand", "1000"),
];

/// The units of time, each with its spellings.
const UNITS: [(&str, &[&str]); 5] = [
    ("ms", &["ms", "msec", "millisecond", "milliseconds"]),
    ("second", &["s", "sec", "secs", "second", "seconds"]),
    ("minute", &["min", "mins", "minute", "minutes"]),
    ("hour", &["h", "hr", "hrs", "hour", "hours"]),
    ("day", &["d", "day", "days"]),
];

/// One of two texts with the same words may have words that the other lacks: at most one in so many of its words.
const MAX_EXTRA_SHARE_OF: usize = 5;
/// Minimum length of a prefix that counts as the whole word, characters: `auth` counts as `authentication`.
const ABBREVIATION: usize = 4;

/// A text, prepared for comparison with others.
pub struct ComparedText {
    /// Stems of the words that are no numbers and no negations.
    plain: BTreeSet<String>,
    /// The numbers, with their units of time.
    numbers: BTreeSet<String>,
    /// Number of negations, because two of them do not mean the same as one.
    n_negations: usize,
    /// For each pair of [`OPPOSITES`], whether the text has the first and the second word.
    opposites: Vec<(bool, bool)>,
}

impl ComparedText {
    /// Prepares a text.
    pub fn new(text: &str) -> Self {
        let words = measured_words(text);
        let has = |wanted: &str| words.iter().any(|word| word == wanted);
        Self {
            plain: plain_words(&words),
            numbers: words.iter().filter(|word| has_digit(word)).cloned().collect(),
            n_negations: count_negations(&words),
            opposites: OPPOSITES.map(|(one, other)| (has(one), has(other))).to_vec(),
        }
    }

    /// Returns how this text may contradict a near one: `numbers`, `negation` or `opposite`; `None` if it does not.
    pub fn find_difference(&self, other: &Self) -> Option<&'static str> {
        if self.numbers != other.numbers {
            return Some("numbers");
        }
        if self.n_negations != other.n_negations {
            return Some("negation");
        }
        let mut pairs = self.opposites.iter().zip(&other.opposites);
        pairs.any(|(own, other)| own.0 != own.1 && (own.1, own.0) == *other).then_some("opposite")
    }

    /// Returns whether one of two texts has all words of the other, and few more. Words with the same stem are the same, and so are
    /// a word and its abbreviation. Numbers and negations are ignored, because [`Self::find_difference`] compares them.
    pub fn has_same_words(&self, other: &Self) -> bool {
        let (fewer, more) = match self.plain.len() <= other.plain.len() {
            true => (&self.plain, &other.plain),
            false => (&other.plain, &self.plain),
        };
        // The cheap test comes first: most other texts lack one of the words.
        !fewer.is_empty()
            && fewer.iter().all(|word| has_word(more, word))
            && more.iter().filter(|word| !has_word(fewer, word)).count() * MAX_EXTRA_SHARE_OF <= more.len()
    }
}

/// Returns the stems of the words that are no numbers, negations, articles or prepositions.
fn plain_words(words: &[String]) -> BTreeSet<String> {
    let plain: Vec<&str> = words.iter().map(String::as_str).filter(|word| is_plain_word(word)).collect();
    let stems = title_stems(&plain.join(" "));
    stems.iter().map(|stem| strip_stem_mark(stem).to_owned()).collect()
}

/// Returns whether a word is no number and no negation.
fn is_plain_word(word: &str) -> bool {
    !has_digit(word) && !NEGATIONS.contains(&word)
}

/// Returns whether `words` has a word, an abbreviation of it, or a word that it abbreviates.
fn has_word(words: &BTreeSet<String>, word: &str) -> bool {
    let longer = words
        .range::<str, _>((Bound::Included(word), Bound::Unbounded))
        .next()
        .is_some_and(|next| next.starts_with(word));
    let ends = word.char_indices().map(|(at, _)| &word[..at]);
    words.contains(word)
        || (is_abbreviation(word) && longer)
        || ends.filter(|part| is_abbreviation(part)).any(|part| words.contains(part))
}

/// Returns whether a prefix of a word is long enough to count as the word.
fn is_abbreviation(part: &str) -> bool {
    part.chars().count() >= ABBREVIATION
}

/// Returns the words of a text, with numbers in digits, and a number and its unit of time as one word: `24 hour` for `24h` and
/// `24-hour`. Before a unit, `one` is a number.
fn measured_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in split_words(text) {
        let word = NUMBER_WORDS
            .iter()
            .find(|(own, _)| *own == word)
            .map_or(word, |(_, digits)| (*digits).to_owned());
        let (number, rest) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
        let unit = unit_of_time(rest);
        if let Some(before) =
            words.last_mut().filter(|before| unit.is_some() && number.is_empty() && *before == "one")
        {
            "1".clone_into(before);
        }
        let before = words.last_mut().filter(|before| before.bytes().all(|byte| byte.is_ascii_digit()));
        match (unit, before) {
            (Some(unit), Some(before)) if number.is_empty() => *before = format!("{before} {unit}"),
            (Some(unit), _) if !number.is_empty() => words.push(format!("{number} {unit}")),
            _ => words.push(word),
        }
    }
    words
}

/// Returns the unit of time that a word is a spelling of.
fn unit_of_time(word: &str) -> Option<&'static str> {
    UNITS.iter().find(|(_, written)| written.contains(&word)).map(|(unit, _)| *unit)
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

/// Returns the number of negations. `don't` is two words here, `don` and `t`.
fn count_negations(words: &[String]) -> usize {
    words.iter().filter(|word| NEGATIONS.contains(&word.as_str())).count()
        + words.windows(2).filter(|pair| is_contracted_negation(pair)).count()
}

/// Returns whether two words are the parts of a negation such as `don't`.
fn is_contracted_negation(pair: &[String]) -> bool {
    pair[1] == "t" && pair[0].ends_with('n')
}

/// Returns whether two titles are about the same subject.
pub fn is_similar_title(left: &str, right: &str) -> bool {
    let (left, right) = (title_stems(left), title_stems(right));
    let (shared, all) = (left.intersection(&right).count(), left.union(&right).count());
    all > 0 && shared as f64 >= SIMILAR_TITLE * all as f64
}

/// Returns two contents joined by an empty line; only the first if it has every word of the other.
pub fn join_contents(content: &str, other: &str) -> String {
    let known: BTreeSet<String> = split_words(content).into_iter().collect();
    if split_words(other).iter().all(|word| known.contains(word)) {
        return content.to_owned();
    }
    format!("{content}\n\n{other}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_negations_make_another_statement() {
        let cases = [
            ("tokens last 24 hours", "tokens last for 24 hours", None),
            ("tokens last 24 hours", "tokens last 12 hours", Some("numbers")),
            ("use v1.2 of it", "use v1.3 of it", Some("numbers")),
            ("do cache it", "do not cache it", Some("negation")),
            ("we don't cache it", "we do cache it", Some("negation")),
            ("we don't cache it", "we do not cache it", None),
            ("it is never off", "it is off", Some("negation")),
            ("expires after 24h", "expires after 24 hours", None),
            ("a 24-hour expiry", "an expiry of 24 h", None),
            ("expires after 24h", "expires after 24 minutes", Some("numbers")),
            ("retry in 30s", "retry in 30 seconds", None),
            ("at 10 s load rises", "at 10 seconds load rises", None),
            ("timeout is 5 s", "timeout is 50 s", Some("numbers")),
            ("expires after one hour", "expires after two hours", Some("numbers")),
            ("expires after one hour", "expires after 1h", None),
            ("retry three times", "retry 3 times", None),
            ("one of them retries", "one of these retries", None),
            ("use tabs", "do not use tabs", Some("negation")),
            ("use tabs", "avoid tabs", Some("negation")),
            ("never push to main", "do not push to main", None),
            ("caching is disabled", "caching is enabled", Some("negation")),
            ("ports below 1024 need root", "ports above 1024 need root", Some("opposite")),
            ("lint before the commit", "before the commit, lint", None),
            ("from the first to the last", "from the last to the first", None),
            ("", "", None),
        ];
        for (left_text, right_text, expected) in cases {
            let [left, right] = [left_text, right_text].map(ComparedText::new);
            assert_eq!(left.find_difference(&right), expected, "{left_text} / {right_text}");
            assert_eq!(right.find_difference(&left), expected, "{right_text} / {left_text}");
        }
    }

    #[test]
    fn texts_with_few_more_words_have_the_same_words() {
        let same = [
            ("Auth uses JWT with 24h expiry", "Authentication uses JWT tokens with 24-hour expiry"),
            ("The config is read once at the start", "configuration is read once, at start"),
            ("tokens expire", "a token expires"),
            ("do cache it", "do not cache it"), // `find_difference` tells them apart
        ];
        let other = [
            ("Auth uses JWT", "Auth uses JWT tokens that the gateway signs"),
            ("John has been playing the game", "James has been playing the game"),
            ("support floats in JsonWriter", "support floats in JsonTreeWriter"),
            ("zeb is read", "zebra is read"), // too short to stand for one word alone
            ("", ""),
            ("24", "24"),
        ];
        for (pairs, expected) in [(&same[..], true), (&other[..], false)] {
            for (left, right) in pairs {
                let [one, other] = [left, right].map(|text| ComparedText::new(text));
                assert_eq!(one.has_same_words(&other), expected, "{left} / {right}");
                assert_eq!(other.has_same_words(&one), expected, "{right} / {left}");
            }
        }
    }

    #[test]
    fn titles_are_compared_by_the_stems_of_their_words() {
        assert!(is_similar_title("Token expiry", "token  Expiry"));
        assert!(is_similar_title("Expiry of a token", "expiry of token"));
        assert!(is_similar_title("Database choice", "Our database choices"));
        assert!(is_similar_title("Database choice", "Choice of the database"));
        assert!(!is_similar_title("Sprint 12 notes", "Sprint 13 notes"));
        assert!(!is_similar_title("Token expiry", "Token storage"));
        assert!(!is_similar_title("", ""));
    }

    #[test]
    fn only_what_says_more_is_added() {
        assert_eq!(
            join_contents("sessions are signed tokens", "Tokens are signed!"),
            "sessions are signed tokens"
        );
        assert_eq!(join_contents("a b", "b c"), "a b\n\nb c");
    }
}
