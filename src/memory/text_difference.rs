//! Compares two texts: the same, different in numbers, or contradicting.
//!
//! A cosine does not suffice: the model knows neither word order nor negation, and contradictions score up to 0.98. So near
//! texts are the same only if their numbers and negations are.

use std::collections::BTreeSet;

use super::text::{subject, words_of};

/// Minimum share of common stems, of all stems of two titles, for the same subject.
const SIMILAR_TITLE: f64 = 0.75;

const NEGATIONS: [&str; 12] = [
    "not",
    "no",
    "never",
    "none",
    "without",
    "cannot",
    "neither",
    "nor",
    "nothing",
    "disabled",
    "forbidden",
    "off",
];

/// The difference of two near texts that may contradict each other.
pub fn difference(left: &str, right: &str) -> Option<&'static str> {
    let (left, right) = (words_of(left), words_of(right));
    if numbers(&left) != numbers(&right) {
        return Some("numbers");
    }
    (negations(&left) != negations(&right)).then_some("negation")
}

fn numbers(words: &[String]) -> BTreeSet<&str> {
    let has_digit = |word: &&String| word.contains(|c: char| c.is_ascii_digit());
    words.iter().filter(has_digit).map(String::as_str).collect()
}

/// Returns the number of negations; two are not the same as one. `don't` is two words, `don` and `t`.
fn negations(words: &[String]) -> usize {
    let is_short = |pair: &[String]| pair[1] == "t" && pair[0].ends_with('n');
    words.iter().filter(|word| NEGATIONS.contains(&word.as_str())).count()
        + words.windows(2).filter(|pair| is_short(pair)).count()
}

/// Returns whether two titles are about the same subject.
pub fn is_similar_title(left: &str, right: &str) -> bool {
    let (left, right) = (subject(left), subject(right));
    let (shared, all) = (left.intersection(&right).count(), left.union(&right).count());
    all > 0 && shared as f64 >= SIMILAR_TITLE * all as f64
}

/// Joins two contents; returns only the first if it has every word of the other.
pub fn united(content: &str, other: &str) -> String {
    let known: BTreeSet<String> = words_of(content).into_iter().collect();
    if words_of(other).iter().all(|word| known.contains(word)) {
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
            ("", "", None),
        ];
        for (left, right, expected) in cases {
            assert_eq!(difference(left, right), expected, "{left} / {right}");
            assert_eq!(difference(right, left), expected, "{right} / {left}");
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
        assert_eq!(united("sessions are signed tokens", "Tokens are signed!"), "sessions are signed tokens");
        assert_eq!(united("a b", "b c"), "a b\n\nb c");
    }
}
