//! Ranks hits that contain a rare word before hits that are only similar to the word.

use crate::candidates::arm_signals::ArmSignals;
use crate::candidates::ranked::RankedCandidate;

/// Name of the factor in explanations.
pub(crate) const WORDLESS: &str = "wordless";

/// A word is rare if at most this number of hits contain it, so that all of them fit into an answer.
pub(crate) const MOST_WITH_RARE_WORD: usize = 10;

/// If the only word of the query is rare, lowers the hits that lack the word below all hits that contain it.
pub(crate) fn lower_hits_without_word<C>(ranked: &mut [RankedCandidate<C>], signals: fn(&C) -> &ArmSignals) {
    let has_words: Vec<bool> = ranked.iter().map(|hit| signals(&hit.candidate).has_word()).collect();
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
}
