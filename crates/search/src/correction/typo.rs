//! Finds the words of a vocabulary that are nearest to a misspelled word.

use std::sync::LazyLock;

use levenshtein_automata::{Distance, LevenshteinAutomatonBuilder};

/// Most corrections that are returned for one token.
const MAX_CORRECTIONS: usize = 3;

/// Characters of the shortest token that is corrected. Shorter tokens are near too many words.
const MIN_CHARS: usize = 3;

/// Characters of the longest token that is corrected. Its automaton takes about 28 KiB per character.
const MAX_CHARS: usize = 64;

/// Tokens of up to this number of characters may differ from a correction by one edit, longer tokens by two. Four of five errors
/// are a single edit: Damerau, "A technique for computer detection and correction of spelling errors", 1964.
const ONE_EDIT_CHARS: usize = 5;

/// Builders of automata for one and for two edits. A swap of adjacent characters counts as one edit.
static AUTOMATA: LazyLock<[LevenshteinAutomatonBuilder; 2]> =
    LazyLock::new(|| [1, 2].map(|edits| LevenshteinAutomatonBuilder::new(edits, true)));

/// A known word that is near a misspelled token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TermCorrection {
    /// The known word.
    pub(crate) term: String,
    /// Number of edits: insertions, deletions, substitutions, and swaps of adjacent characters.
    pub(crate) distance: usize,
    /// Number of texts that contain the word.
    pub(crate) n_docs: u64,
}

/// Returns the words of `vocabulary` that are nearest to `token`, sorted by distance, frequency and alphabet.
///
/// `n_docs` returns the number of texts that contain a word; words that no text contains are ignored. Returns nothing for a token
/// that is a word itself, for a number, and for a token of fewer than [`MIN_CHARS`] or more than [`MAX_CHARS`] characters.
///
/// # Errors
/// When `n_docs` fails.
pub(crate) fn find_corrections<'a, E>(
    token: &str,
    vocabulary: impl Iterator<Item = &'a str>,
    n_docs: impl Fn(&str) -> Result<u64, E>,
) -> Result<Vec<TermCorrection>, E> {
    let n_chars = token.chars().count();
    if !(MIN_CHARS..=MAX_CHARS).contains(&n_chars) || token.chars().all(char::is_numeric) {
        return Ok(Vec::new());
    }
    let automaton = AUTOMATA[usize::from(n_chars > ONE_EDIT_CHARS)].build_dfa(token);
    let mut near = Vec::new();
    for term in vocabulary {
        match automaton.eval(term) {
            Distance::AtLeast(_) => {}
            Distance::Exact(0) if n_docs(term)? > 0 => return Ok(Vec::new()),
            Distance::Exact(0) => {}
            Distance::Exact(distance) => near.push((usize::from(distance), term)),
        }
    }
    near.sort_unstable();
    near.dedup(); // several vocabularies may have the same word
    let mut found: Vec<TermCorrection> = Vec::new();
    for same in near.chunk_by(|one, other| one.0 == other.0) {
        let n_nearer = found.len();
        for (distance, term) in same {
            let n_docs = n_docs(term)?;
            if n_docs > 0 {
                found.push(TermCorrection { term: (*term).to_owned(), distance: *distance, n_docs });
            }
        }
        found[n_nearer..].sort_by_key(|correction| std::cmp::Reverse(correction.n_docs));
        if found.len() >= MAX_CORRECTIONS {
            break;
        }
    }
    found.truncate(MAX_CORRECTIONS);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use memod_testing::RandomNumbers;

    use super::*;

    fn find_corrections(token: &str, vocabulary: &[(&str, u64)]) -> Vec<TermCorrection> {
        let n_docs = |term: &str| {
            Ok::<_, ()>(vocabulary.iter().filter(|(known, _)| *known == term).map(|(_, n_docs)| n_docs).sum())
        };
        super::find_corrections(token, vocabulary.iter().map(|(term, _)| *term), n_docs).unwrap()
    }

    #[test]
    fn nearest_words() {
        let vocabulary = [
            ("retry", 9),
            ("retries", 5),
            ("query", 7),
            ("entry", 2),
            ("rety", 1),
            ("größe", 3),
            ("session", 4),
            ("sesion", 0), // no chunk has it any more
        ];
        let check = |token: &str, expected: &[&str]| {
            let found = find_corrections(token, &vocabulary);
            let terms: Vec<&str> = found.iter().map(|correction| correction.term.as_str()).collect();
            assert_eq!(terms, expected, "{token}");
        };
        check("retyr", &["retry", "rety"]);
        check("sesssion", &["session"]);
        check("sessoin", &["session"]);
        check("sesin", &[]);
        check("retry", &[]);
        check("grösse", &["größe"]);
        check("grüße", &["größe"]);
        check("re", &[]);
        check("123", &[]);
        check("", &[]);
    }

    #[test]
    fn the_three_best_in_any_order_of_the_vocabulary() {
        let mut vocabulary = [("aaab", 1), ("aaac", 1), ("aaad", 5), ("aaae", 1), ("aaaf", 1)];
        for _ in 0..vocabulary.len() {
            vocabulary.rotate_left(1);
            let found = find_corrections("aaaa", &vocabulary);
            let terms: Vec<&str> = found.iter().map(|correction| correction.term.as_str()).collect();
            assert_eq!(terms, ["aaad", "aaab", "aaac"]);
        }
    }

    #[test]
    fn the_distance_is_that_of_strsim_up_to_the_limit() {
        let mut random = RandomNumbers::new(5);
        let mut word = |max: usize| -> String {
            let n_chars = random.number_below(max);
            (0..n_chars).map(|_| random.pick_item(&["a", "b", "c", "ä", "日"])).collect()
        };
        for _ in 0..5_000 {
            let (token, term) = (word(10), word(10));
            let n_chars = token.chars().count();
            let limit = if n_chars <= ONE_EDIT_CHARS { 1 } else { 2 };
            let distance = strsim::osa_distance(&token, &term);
            let expected = n_chars >= MIN_CHARS && (1..=limit).contains(&distance);
            let found = find_corrections(&token, &[(term.as_str(), 1)]);
            let found: Vec<usize> = found.iter().map(|correction| correction.distance).collect();
            assert_eq!(found, if expected { vec![distance] } else { vec![] }, "{token} {term}");
        }
    }

    #[test]
    fn a_token_of_any_length_is_taken() {
        let long = "word".repeat(MAX_CHARS / 4);
        let near = format!("{long}s");
        assert_eq!(find_corrections(&long, &[(near.as_str(), 1)]).len(), 1);
        assert_eq!(find_corrections(&near, &[(long.as_str(), 1)]).len(), 0);
        assert_eq!(find_corrections(&"ä".repeat(1 << 20), &[(long.as_str(), 1)]).len(), 0);
    }
}
