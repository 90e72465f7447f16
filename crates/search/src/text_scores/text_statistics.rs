//! Computes the BM25 of a text from the number of times that the text contains a phrase.
//!
//! Source: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the constants of FTS5
//! (<https://www.sqlite.org/fts5.html#the_bm25_function>). Pure.

/// Constant by which repetitions of a phrase count less and less.
const K1: f64 = 1.2;
/// Strength of the normalization by the length of a text, 0 to 1.
const B: f64 = 0.75;

/// Least inverse document frequency, for phrases that about half of all texts contain, or more.
const LEAST_IDF: f64 = 1e-6;

/// The number and the mean length of all texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextStatistics {
    n_texts: f64,
    mean_words: f64,
}

impl TextStatistics {
    pub(crate) fn new(n_texts: usize, n_words: u64) -> Self {
        let n_texts = n_texts.max(1) as f64;
        Self { n_texts, mean_words: (n_words as f64 / n_texts).max(1.0) }
    }

    /// Returns the inverse document frequency of a phrase that `n_with` texts contain; 0 if no text contains the phrase.
    pub(crate) fn idf(&self, n_with: usize) -> f64 {
        match n_with as f64 {
            0.0 => 0.0,
            n_with => ((self.n_texts - n_with + 0.5) / (n_with + 0.5)).ln().max(LEAST_IDF),
        }
    }

    /// Returns the BM25 of a text of `n_words` words that contains a phrase `count` times.
    pub(crate) fn bm25(&self, idf: f64, count: u32, n_words: u32) -> f64 {
        let length = K1 * (1.0 - B + B * f64::from(n_words) / self.mean_words);
        idf * f64::from(count) * (K1 + 1.0) / (f64::from(count) + length)
    }
}
