//! Decides whether a memory helps with a prompt.
//!
//! The score of a memory is a sum of shares, strength times weight, so that each can be shown. A memory is told from 0 on.
//! A text that is told and not needed costs more than one that is missing, and the weights are chosen accordingly:
//! `benches/silence.py` fits them on the prompts of two repositories and reports on two others. Pure.

use std::collections::{HashMap, HashSet};

use memod_text::stems::stem;

use super::asked::{Asked, is_common, names_in, words_of};
use super::fuse::COSINE_FLOOR;

/// What speaks for a memory, with the weight of each; the last is constant.
const WEIGHTS: [(&str, f64); 7] = [
    ("rare-words", 1.5),
    ("cosine", 3.1),
    ("words-and-cosine", 2.1),
    ("names", 1.9),
    ("memory-covered", 0.75),
    ("margin", 2.15),
    ("silence", -2.0),
];
/// What a word counts that prompts are full of.
const COMMON: f64 = 0.2;
/// Sum of rarities from which on there are enough rare words.
const MOST_RARITY: f64 = 4.0;
/// Sum of the rarities of names that suffices.
const MOST_NAMES: f64 = 1.5;
/// What a flag of one letter counts.
const SHORT_FLAG: f64 = 0.5;
/// Cosine at which a memory almost certainly matches (models/builtin/README.md).
const COSINE_FULL: f32 = 0.75;
/// Sum of rarities by which the best memory leads the next ones, from which on the lead is full.
const FULL_MARGIN: f64 = 2.0;
/// Shorter words with an error are other words.
const MIN_MISSPELT: usize = 6;
/// What a word with one error counts.
const MISSPELT: f64 = 0.7;

/// How rare each word is in the repository, 0 to 1; a word that is not there is as rare as can be.
#[derive(Clone, Debug, Default)]
pub struct Rarity(HashMap<String, f64>);

impl Rarity {
    /// Takes the number of chunks with each word, and of all chunks. It is the inverse document frequency (Spärck Jones,
    /// "A statistical interpretation of term specificity", 1972), as a share of the highest.
    pub fn new(counts: impl IntoIterator<Item = (String, u64)>, n_chunks: u64) -> Self {
        let all = (n_chunks as f64 + 1.0).ln().max(f64::EPSILON);
        let rarity = |count: u64| (1.0 - (count as f64 + 1.0).ln() / all).clamp(0.0, 1.0);
        Self(counts.into_iter().map(|(word, count)| (word, rarity(count))).collect())
    }

    fn of(&self, word: &str) -> f64 {
        let rarity =
            if word.starts_with('-') { SHORT_FLAG } else { self.0.get(word).copied().unwrap_or(1.0) };
        if is_common(word) { COMMON * rarity } else { rarity }
    }
}

/// How much a memory helps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relevance {
    /// Name, strength and share of each reason.
    pub evidence: Vec<(&'static str, f64, f64)>,
    /// Their sum.
    pub score: f64,
}

impl Relevance {
    /// Adds a reason, at full strength.
    pub fn add(&mut self, name: &'static str, share: f64) {
        self.evidence.push((name, 1.0, share));
        self.score += share;
    }
}

/// Returns the words and names whose rarity [`relevance`] needs.
pub fn terms(asked: &Asked, memories: &[(String, Option<f32>)]) -> Vec<String> {
    let own = memories.iter().flat_map(|(text, _)| words_of(text));
    let all: HashSet<String> = asked.words.iter().chain(&asked.names).cloned().chain(own).collect();
    all.into_iter().collect()
}

/// A word of the prompt.
struct Word<'a> {
    text: &'a str,
    stem: Option<String>,
    rarity: f64,
    /// Whether it may be another word with an error.
    may_be_misspelt: bool,
}

impl<'a> Word<'a> {
    fn new(text: &'a String, rarity: &Rarity) -> Self {
        let is_unknown = rarity.of(text) >= 1.0;
        let may_be_misspelt = is_unknown && text.len() >= MIN_MISSPELT && text.is_ascii();
        Self { text, stem: stem(text), rarity: rarity.of(text), may_be_misspelt }
    }

    fn is_misspelt(&self, own: &str) -> bool {
        own.len() >= MIN_MISSPELT
            && own.get(..1) == self.text.get(..1)
            && strsim::osa_distance(own, self.text) == 1
    }
}

/// The words of a memory.
struct Text {
    words: Vec<String>,
    /// Words and stems.
    forms: HashSet<String>,
    names: HashSet<String>,
}

impl Text {
    fn new(text: &str) -> Self {
        let words = words_of(text);
        let forms = words.iter().filter_map(|word| stem(word)).chain(words.iter().cloned()).collect();
        Self { words, forms, names: names_in(text).into_iter().collect() }
    }

    /// Returns 1 if the text has the word in this or another form, less if it has it with one error, else 0.
    fn has(&self, word: &Word<'_>) -> f64 {
        if self.forms.contains(word.text) || word.stem.as_ref().is_some_and(|stem| self.forms.contains(stem))
        {
            return 1.0;
        }
        let is_misspelt = word.may_be_misspelt && self.words.iter().any(|own| word.is_misspelt(own));
        if is_misspelt { MISSPELT } else { 0.0 }
    }
}

/// Returns how much each memory helps; of each the text and the cosine to the prompt's topic.
pub fn relevance(asked: &Asked, rarity: &Rarity, memories: &[(String, Option<f32>)]) -> Vec<Relevance> {
    let texts: Vec<Text> = memories.iter().map(|(text, _)| Text::new(text)).collect();
    let words: Vec<Word<'_>> = asked.words.iter().map(|word| Word::new(word, rarity)).collect();
    let rare = |text: &Text| -> f64 { words.iter().map(|word| text.has(word) * word.rarity).sum() };
    let covered: Vec<f64> = texts.iter().map(rare).collect();
    let strength = |(nth, (text, (_, cosine))): (usize, (&Text, &(String, Option<f32>)))| {
        let own: f64 = text.words.iter().map(|word| rarity.of(word)).sum();
        let named = asked.names.iter().filter(|name| text.names.contains(*name));
        let named: f64 = named.map(|name| rarity.of(name)).sum();
        let near = cosine.map_or(0.0, |cosine| (cosine - COSINE_FLOOR) / (COSINE_FULL - COSINE_FLOOR));
        let (rare, near) = ((covered[nth] / MOST_RARITY).min(1.0), f64::from(near).clamp(0.0, 1.0));
        [
            rare,
            near,
            (rare * near).sqrt(),
            (named / MOST_NAMES).min(1.0),
            share(covered[nth], own),
            margin(&covered, nth),
            1.0,
        ]
    };
    texts.iter().zip(memories).enumerate().map(|each| weighed(strength(each))).collect()
}

fn weighed(strengths: [f64; WEIGHTS.len()]) -> Relevance {
    let shares = WEIGHTS.iter().zip(strengths);
    let evidence: Vec<_> = shares.map(|((name, weight), value)| (*name, value, value * weight)).collect();
    Relevance { score: evidence.iter().map(|(_, _, share)| share).sum(), evidence }
}

fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { (part / all).min(1.0) } else { 0.0 }
}

/// Returns by how much a memory leads the third best: a prompt that many memories match means none of them.
fn margin(covered: &[f64], nth: usize) -> f64 {
    let mut others: Vec<f64> =
        covered.iter().enumerate().filter(|(other, _)| *other != nth).map(|(_, sum)| *sum).collect();
    others.sort_by(|left, right| right.total_cmp(left));
    ((covered[nth] - others.get(1).copied().unwrap_or(0.0)) / FULL_MARGIN).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::asked::asked;
    use super::*;

    fn scores(prompt: &str, memories: &[&str]) -> Vec<f64> {
        let counts = [("tests", 400), ("run", 500), ("token", 90), ("session", 80), ("expires", 3)];
        let rarity = Rarity::new(counts.map(|(word, count)| (word.to_owned(), count)), 1_000);
        let memories: Vec<_> = memories.iter().map(|text| ((*text).to_owned(), None)).collect();
        relevance(&asked(prompt), &rarity, &memories).into_iter().map(|found| found.score).collect()
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
        let rarity = Rarity::new([], 0);
        let memories = [("alpha beta".to_owned(), Some(0.9)), (String::new(), None)];
        for found in relevance(&asked("alpha"), &rarity, &memories) {
            let sum: f64 = found.evidence.iter().map(|(_, _, share)| share).sum();
            assert!((found.score - sum).abs() < 1e-9 && found.evidence.len() == WEIGHTS.len(), "{found:?}");
            assert!(found.evidence.iter().all(|(_, value, _)| (0.0..=1.0).contains(value)), "{found:?}");
        }
        assert!(relevance(&asked("alpha"), &rarity, &[]).is_empty());
    }
}
