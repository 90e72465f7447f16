//! Corrects misspelled words with the words of the index.

/// Most corrections of one token.
const MAX_CORRECTIONS: usize = 3;

/// Shorter tokens are as near to too many words.
const MIN_CHARS: usize = 3;

/// Tokens up to this many characters may differ by one edit, longer ones by two. Four of five errors are
/// a single one: Damerau, "A technique for computer detection and correction of spelling errors", 1964.
const ONE_EDIT_CHARS: usize = 5;

/// A word of the index near to what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The word.
    pub term: String,
    /// Insertions, deletions, substitutions and swaps of neighbours.
    pub distance: usize,
    /// Chunks that hold it.
    pub n_docs: u64,
}

/// Returns the words nearest to `token`, then the most frequent, then by alphabet.
///
/// `vocabulary` gives each term of the index with the number of chunks that hold it. A token that is a
/// term itself, a number, or shorter than three characters has no corrections.
pub fn corrections<'a>(token: &str, vocabulary: impl Iterator<Item = (&'a str, u64)>) -> Vec<Correction> {
    let chars: Vec<char> = token.chars().collect();
    if chars.len() < MIN_CHARS || chars.iter().all(|c| c.is_numeric()) {
        return Vec::new();
    }
    let limit = if chars.len() <= ONE_EDIT_CHARS { 1 } else { 2 };
    let mut near = Near { rows: Default::default(), other: Vec::new() };
    let mut found: Vec<Correction> = Vec::new();
    for (term, n_docs) in vocabulary {
        match near.distance(&chars, term, limit) {
            None => {}
            Some(0) => return Vec::new(),
            Some(distance) => {
                let place = found.partition_point(|known| is_before(known, term, distance, n_docs));
                if place < MAX_CORRECTIONS {
                    found.insert(place, Correction { term: term.to_owned(), distance, n_docs });
                    found.truncate(MAX_CORRECTIONS);
                }
            }
        }
    }
    found
}

fn is_before(known: &Correction, term: &str, distance: usize, n_docs: u64) -> bool {
    let key = (known.distance, std::cmp::Reverse(known.n_docs), known.term.as_str());
    key < (distance, std::cmp::Reverse(n_docs), term)
}

/// Buffers of the distance, kept over a whole vocabulary.
struct Near {
    rows: [Vec<usize>; 3],
    other: Vec<char>,
}

impl Near {
    /// Returns the distance of optimal string alignment, none when over `limit`. Stops at the first row
    /// that is over it, which for most words is the third or fourth.
    fn distance(&mut self, chars: &[char], term: &str, limit: usize) -> Option<usize> {
        // A character has one to four bytes; this passes over most terms without decoding them.
        if term.len() + limit < chars.len() || term.len() > 4 * (chars.len() + limit) {
            return None;
        }
        self.other.clear();
        self.other.extend(term.chars());
        let other = &self.other;
        if other.len().abs_diff(chars.len()) > limit {
            return None;
        }
        let [before, last, row] = &mut self.rows;
        last.clear();
        last.extend(0..=other.len());
        for (i, c) in chars.iter().enumerate() {
            row.clear();
            row.push(i + 1);
            for (j, o) in other.iter().enumerate() {
                let replaced = last[j] + usize::from(c != o);
                let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
                if i > 0 && j > 0 && *c == other[j - 1] && chars[i - 1] == *o {
                    least = least.min(before[j - 1] + 1);
                }
                row.push(least);
            }
            if row.iter().min().is_none_or(|least| *least > limit) {
                return None;
            }
            std::mem::swap(before, last);
            std::mem::swap(last, row);
        }
        last.last().copied().filter(|distance| *distance <= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

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
        ];
        let check = |token: &str, expected: &[&str]| {
            let found = corrections(token, vocabulary.into_iter());
            let terms: Vec<&str> = found.iter().map(|correction| correction.term.as_str()).collect();
            assert_eq!(terms, expected, "{token}");
        };
        check("retyr", &["retry", "rety"]);
        check("sesion", &["session"]);
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
            let found = corrections("aaaa", vocabulary.iter().copied());
            let terms: Vec<&str> = found.iter().map(|correction| correction.term.as_str()).collect();
            assert_eq!(terms, ["aaad", "aaab", "aaac"]);
        }
    }

    #[test]
    fn the_distance_is_that_of_strsim_up_to_the_limit() {
        let mut random = Random::new(5);
        let mut word = |max: usize| -> String {
            let n_chars = random.below(max);
            (0..n_chars).map(|_| random.pick(&["a", "b", "c", "ä", "日"])).collect()
        };
        let mut near = Near { rows: Default::default(), other: Vec::new() };
        for _ in 0..20_000 {
            let (left, right) = (word(9), word(9));
            let chars: Vec<char> = left.chars().collect();
            let expected = Some(strsim::osa_distance(&left, &right)).filter(|distance| *distance <= 2);
            assert_eq!(near.distance(&chars, &right, 2), expected, "{left} {right}");
        }
    }
}
