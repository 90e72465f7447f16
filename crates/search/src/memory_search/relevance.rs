//! Rates how relevant a memory is to a prompt.
//!
//! The score of a memory is a sum of shares, one for each reason, so that each can be shown. A share is the strength of the reason
//! times its weight. A memory is delivered if its score is at least 0. A needless memory costs more than a missing one, and the
//! weights are chosen accordingly: `benches/silence.py` fits them on the prompts of two repositories and reports on two others.
//! Pure.

use std::collections::{HashMap, HashSet};

use memod_text::stems::marked_stem;

use super::prompt_terms::{PromptTerms, distinct_words, find_code_names, is_common_word};
use crate::candidates::arm_signals::COSINE_FLOOR;

/// The names of the reasons with their weights. The last reason always has the strength 1.
const WEIGHTS: [(&str, f64); 7] = [
    ("rare-words", 1.5),
    ("cosine", 3.1),
    ("words-and-cosine", 2.1),
    ("names", 1.9),
    ("memory-covered", 0.75),
    ("margin", 2.15),
    ("silence", -2.0),
];
/// Factor by which the rarity of a common word is lowered.
const COMMON_WORD_FACTOR: f64 = 0.2;
/// Sum of the rarities of matching words at which `rare-words` has the strength 1.
const FULL_STRENGTH_RARITY: f64 = 4.0;
/// Sum of the rarities of matching names at which `names` has the strength 1.
const FULL_STRENGTH_NAME_RARITY: f64 = 1.5;
/// Rarity of a flag of one letter.
const SHORT_FLAG_RARITY: f64 = 0.5;
/// Cosine at which a memory almost certainly matches (models/builtin/README.md).
const COSINE_FULL: f32 = 0.75;
/// Lead in the sum of rarities at which `margin` has the strength 1.
const FULL_MARGIN: f64 = 2.0;
/// Bytes of the shortest word that may be misspelt. A shorter word with an error would be another word.
const MIN_MISSPELT: usize = 6;
/// Strength of a match with one typing error.
const MISSPELT_STRENGTH: f64 = 0.7;

/// The rarity of each word in the repository, 0 to 1. A word without an entry has the rarity 1.
#[derive(Clone, Debug, Default)]
pub struct WordRarity(HashMap<String, f64>);

impl WordRarity {
    /// Computes rarities from the number of chunks that contain each word, and the number of all chunks. The rarity is the inverse
    /// document frequency (Spärck Jones, "A statistical interpretation of term specificity", 1972), divided by the highest one.
    pub fn new(counts: impl IntoIterator<Item = (String, u64)>, n_chunks: u64) -> Self {
        let all = (n_chunks as f64 + 1.0).ln().max(f64::EPSILON);
        let rarities = counts.into_iter().map(|(word, count)| {
            let rarity = (1.0 - (count as f64 + 1.0).ln() / all).clamp(0.0, 1.0);
            (word, rarity)
        });
        Self(rarities.collect())
    }

    /// Returns the rarity of a word or name, lowered for words that are common in prompts.
    fn rarity_of(&self, word: &str) -> f64 {
        let rarity =
            if word.starts_with('-') { SHORT_FLAG_RARITY } else { self.0.get(word).copied().unwrap_or(1.0) };
        if is_common_word(word) { COMMON_WORD_FACTOR * rarity } else { rarity }
    }
}

/// The relevance of a memory to a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relevance {
    /// Name, strength and share (strength times weight) of each reason.
    pub evidence: Vec<(&'static str, f64, f64)>,
    /// Sum of the shares.
    pub score: f64,
}

impl Relevance {
    /// Adds a reason of strength 1, and adds its share to the score.
    pub fn add_reason(&mut self, name: &'static str, share: f64) {
        self.evidence.push((name, 1.0, share));
        self.score += share;
    }
}

/// Returns the words and names of the prompt and the memories, whose rarities [`rate_memories`] needs.
pub fn terms_needing_rarity(asked: &PromptTerms, memories: &[(String, Option<f32>)]) -> Vec<String> {
    let own = memories.iter().flat_map(|(text, _)| distinct_words(text));
    let all: HashSet<String> = asked.words.iter().chain(&asked.names).cloned().chain(own).collect();
    all.into_iter().collect()
}

/// A word of the prompt.
struct PromptWord<'a> {
    text: &'a str,
    stem: Option<String>,
    rarity: f64,
    /// Whether the word may be a misspelt form of another word.
    may_be_misspelt: bool,
}

impl<'a> PromptWord<'a> {
    fn new(text: &'a String, rarity: &WordRarity) -> Self {
        let is_unknown = rarity.rarity_of(text) >= 1.0;
        let may_be_misspelt = is_unknown && text.len() >= MIN_MISSPELT && text.is_ascii();
        Self { text, stem: marked_stem(text), rarity: rarity.rarity_of(text), may_be_misspelt }
    }

    /// Returns whether this word may be a misspelt form of the word `own` of a memory.
    fn may_be_misspelling_of(&self, own: &str) -> bool {
        own.len() >= MIN_MISSPELT
            && own.get(..1) == self.text.get(..1)
            && strsim::osa_distance(own, self.text) == 1
    }
}

/// The words and names of a memory.
struct MemoryText {
    words: Vec<String>,
    /// The words and their stems.
    forms: HashSet<String>,
    names: HashSet<String>,
}

impl MemoryText {
    fn new(text: &str) -> Self {
        let words = distinct_words(text);
        let forms = words.iter().filter_map(|word| marked_stem(word)).chain(words.iter().cloned()).collect();
        Self { words, forms, names: find_code_names(text).into_iter().collect() }
    }

    /// Returns how well a word matches: 1 if the memory contains any form of the word, [`MISSPELT_STRENGTH`] if it contains the
    /// word except for one typing error, and 0 otherwise.
    fn word_match_strength(&self, word: &PromptWord<'_>) -> f64 {
        if self.forms.contains(word.text) || word.stem.as_ref().is_some_and(|stem| self.forms.contains(stem))
        {
            return 1.0;
        }
        let is_misspelt =
            word.may_be_misspelt && self.words.iter().any(|own| word.may_be_misspelling_of(own));
        if is_misspelt { MISSPELT_STRENGTH } else { 0.0 }
    }
}

/// Returns the relevance of each memory to the prompt. A memory is given by its text and, if known, its cosine to the prompt's
/// topic.
pub fn rate_memories(
    asked: &PromptTerms,
    rarity: &WordRarity,
    memories: &[(String, Option<f32>)],
) -> Vec<Relevance> {
    let texts: Vec<MemoryText> = memories.iter().map(|(text, _)| MemoryText::new(text)).collect();
    let words: Vec<PromptWord<'_>> = asked.words.iter().map(|word| PromptWord::new(word, rarity)).collect();
    let covered: Vec<f64> = texts
        .iter()
        .map(|text| words.iter().map(|word| text.word_match_strength(word) * word.rarity).sum())
        .collect();
    let rated = texts.iter().zip(memories).enumerate().map(|(nth, (text, (_, cosine)))| {
        let own: f64 = text.words.iter().map(|word| rarity.rarity_of(word)).sum();
        let named = asked.names.iter().filter(|name| text.names.contains(*name));
        let named: f64 = named.map(|name| rarity.rarity_of(name)).sum();
        let near = cosine.map_or(0.0, |cosine| (cosine - COSINE_FLOOR) / (COSINE_FULL - COSINE_FLOOR));
        let (rare, near) = ((covered[nth] / FULL_STRENGTH_RARITY).min(1.0), f64::from(near).clamp(0.0, 1.0));
        weigh_strengths([
            rare,
            near,
            (rare * near).sqrt(),
            (named / FULL_STRENGTH_NAME_RARITY).min(1.0),
            capped_share(covered[nth], own),
            lead_margin(&covered, nth),
            1.0,
        ])
    });
    rated.collect()
}

/// Returns the relevance for the strengths of all reasons, in the order of [`WEIGHTS`].
fn weigh_strengths(strengths: [f64; WEIGHTS.len()]) -> Relevance {
    let shares = WEIGHTS.iter().zip(strengths);
    let evidence: Vec<_> = shares.map(|((name, weight), value)| (*name, value, value * weight)).collect();
    Relevance { score: evidence.iter().map(|(_, _, share)| share).sum(), evidence }
}

/// Returns `part / all`, at most 1; 0 if `all` is 0.
fn capped_share(part: f64, all: f64) -> f64 {
    if all > 0.0 { (part / all).min(1.0) } else { 0.0 }
}

/// Returns by how much a memory leads the second best of the other memories, 0 to 1. If many memories match a prompt equally, it
/// probably means none of them.
fn lead_margin(covered: &[f64], nth: usize) -> f64 {
    let mut others: Vec<f64> =
        covered.iter().enumerate().filter(|(other, _)| *other != nth).map(|(_, sum)| *sum).collect();
    others.sort_by(|left, right| right.total_cmp(left));
    ((covered[nth] - others.get(1).copied().unwrap_or(0.0)) / FULL_MARGIN).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_search::prompt_terms::parse_prompt;

    fn scores(prompt: &str, memories: &[&str]) -> Vec<f64> {
        let counts = [("tests", 400), ("run", 500), ("token", 90), ("session", 80), ("expires", 3)];
        let rarity = WordRarity::new(counts.map(|(word, count)| (word.to_owned(), count)), 1_000);
        let memories: Vec<_> = memories.iter().map(|text| ((*text).to_owned(), None)).collect();
        rate_memories(&parse_prompt(prompt), &rarity, &memories)
            .into_iter()
            .map(|found| found.score)
            .collect()
    }

    #[test]
    fn rare_words_and_names_count_and_common_ones_do_not() {
        let memory = "a token expires after 24 hours, see session_lifetime";
        let of = |prompt: &str| scores(prompt, &[memory])[0];
        assert!(of("when does a token expire") > of("run the tests for the token"));
        assert!(of("what is session_lifetime for") > of("what is the lifetime of it for"));
        assert!(of("run the tests") < 0.0 && of("thanks, great!") < 0.0 && of("") < 0.0);
    }

    #[test]
    fn a_word_with_one_error_counts_less() {
        let of = |prompt: &str| scores(prompt, &["the watermark of compaction"])[0];
        assert!(of("compaction watermark") > of("compacton watermark"));
        assert!(of("compacton watermark") > of("compaxxion watermark"));
    }

    #[test]
    fn the_score_is_the_sum_of_its_shares() {
        let rarity = WordRarity::new([], 0);
        let memories = [("alpha beta".to_owned(), Some(0.9)), (String::new(), None)];
        for found in rate_memories(&parse_prompt("alpha"), &rarity, &memories) {
            let sum: f64 = found.evidence.iter().map(|(_, _, share)| share).sum();
            assert!((found.score - sum).abs() < 1e-9 && found.evidence.len() == WEIGHTS.len(), "{found:?}");
            assert!(found.evidence.iter().all(|(_, value, _)| (0.0..=1.0).contains(value)), "{found:?}");
        }
        assert!(rate_memories(&parse_prompt("alpha"), &rarity, &[]).is_empty());
    }
}
