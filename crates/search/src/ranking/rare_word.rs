//! Ranks hits that contain a rare word before hits that are only similar to the word.

use crate::candidates::arm_signals::ArmSignals;
use crate::candidates::ranked::RankedCandidate;

/// Name of the factor in explanations.
pub(crate) const WORDLESS: &str = "wordless";

/// A word is rare if at most this number of hits contain it, so that all of them fit into an answer.
pub(crate) const MOST_WITH_RARE_WORD: usize = 10;

/// If the only word of the query is rare, lowers the hits that lack the word below all hits that contain it.
pub(crate) fn lower_hits_without_word<C>(ranked: &mut [RankedCandidate<C>], signals: fn(&C) -> &ArmSignals) {
    let has_words: Vec<bool> = ranked.iter().map(|hit| signals(&hit.candidate).was_found_by_word()).collect();
    let scores = ranked.iter().map(|hit| hit.score).zip(has_words.iter().copied());
    let Some(times) = factor_for_hits_without_word(scores) else { return };
    for (hit, has_word) in ranked.iter_mut().zip(has_words) {
        if !has_word {
            hit.apply_factor(WORDLESS, times);
        }
    }
}

/// Returns the factor that lowers all hits without a word below the hits with it. `None` if they are below already, or the word is
/// not rare. `hits` gives the score of each hit, and whether the hit has the word.
pub fn factor_for_hits_without_word(hits: impl Iterator<Item = (f64, bool)>) -> Option<f64> {
    let (mut n_with, mut least, mut most) = (0, f64::INFINITY, 0.0_f64);
    for (score, has_word) in hits {
        match has_word {
            true => (n_with, least) = (n_with + 1, least.min(score)),
            false => most = most.max(score),
        }
    }
    ((1..=MOST_WITH_RARE_WORD).contains(&n_with) && most >= least && most > 0.0).then(|| 0.99 * least / most)
}

/// How much the hits without the only word of a query are lowered in a list of memories and files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WordlessFactors {
    /// The factor of memories without the word.
    pub memories: Option<f64>,
    /// The factor of files without the word.
    pub files: Option<f64>,
}

/// Returns the factors for all memories and files that were found, each with its score and whether it has the word. If the word is
/// not rare, only memories are lowered, below the first hits with the word; the files have their order already.
pub fn factors_for_merged_hits(memories: &[(f64, bool)], files: &[(f64, bool)]) -> WordlessFactors {
    let all = || memories.iter().chain(files).copied();
    let mut with_word: Vec<f64> = all().filter(|(_, has_word)| *has_word).map(|(score, _)| score).collect();
    if with_word.len() <= MOST_WITH_RARE_WORD {
        let times = factor_for_hits_without_word(all());
        return WordlessFactors { memories: times, files: times };
    }
    with_word.sort_by(|left, right| right.total_cmp(left));
    let first = with_word.into_iter().take(MOST_WITH_RARE_WORD).map(|score| (score, true));
    let wordless = memories.iter().copied().filter(|(_, has_word)| !has_word);
    WordlessFactors { memories: factor_for_hits_without_word(first.chain(wordless)), files: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_a_rare_word_is_lowered() {
        let factor = |with: &[f64], without: &[f64]| {
            let hits = |scores: &[f64], has_word| {
                scores.iter().map(move |score| (*score, has_word)).collect::<Vec<_>>()
            };
            factor_for_hits_without_word([hits(with, true), hits(without, false)].concat().into_iter())
        };
        assert_eq!(factor(&[0.9, 0.2], &[0.8, 0.4]), Some(0.99 * 0.2 / 0.8));
        assert_eq!(factor(&[0.9], &[0.8]), None, "they stand behind it");
        assert_eq!(factor(&[], &[0.8]), None, "nothing has the word");
        assert_eq!(factor(&[0.1; MOST_WITH_RARE_WORD + 1], &[0.8]), None, "it is not rare");
        assert_eq!(factor(&[0.0], &[0.0]), None);
    }

    #[test]
    fn memories_without_the_word_are_behind_the_first_hits_with_it() {
        let files = |n: usize| (0..n).map(|nth| (0.9 - nth as f64 / 100.0, true)).collect::<Vec<_>>();
        let times = |bar: f64, most: f64| Some(0.99 * bar / most);
        let check =
            |memories: &[(f64, bool)], files: &[(f64, bool)], expected: (Option<f64>, Option<f64>)| {
                let found = factors_for_merged_hits(memories, files);
                assert_eq!((found.memories, found.files), expected, "{memories:?} {}", files.len());
            };
        let near = [(0.95, false), (0.3, false)];
        check(&near, &files(3), (times(0.88, 0.95), times(0.88, 0.95)));
        // Further files with the word do not change the factors.
        check(&near, &files(11), (times(0.81, 0.95), None));
        check(&near, &files(40), (times(0.81, 0.95), None));
        check(&[(0.3, false)], &files(40), (None, None));
        check(&near, &[], (None, None));
    }
}
