//! Compares each word of a query with the most similar word of a text.
//!
//! The vector of a long text is a mean, in which the few words that are asked for are lost. The sum of the largest
//! similarities of each word is the late interaction of Khattab, Zaharia, "ColBERT: Efficient and Effective Passage Search via
//! Contextualized Late Interaction over BERT", SIGIR 2020, here over the rows of the builtin model, without their context.

use memod_embed::{BUILTIN_DIMS, Builtin};
use memod_vectors::vector_index::dot_products;

/// About the most pieces of a query that are compared: a line of minified text is one word with a thousand.
const MOST_PIECES: usize = 128;

/// Number of cosines that are compared at once; the cosines of a piece fill a multiple of it.
const LANES: usize = 8;

/// Number of rows of the vocabulary that are read at once: 16 KiB.
const ROWS_AT_ONCE: usize = 64;

/// Number of pieces for which space is allocated at the start.
const USUAL_PIECES: usize = 2_048;

/// The words of a query, and the cosines computed so far with pieces of texts.
pub(crate) struct MaxSim<'a> {
    model: &'a Builtin,
    /// `[n_pieces, dims]` of the query, row-major.
    rows: Vec<i8>,
    /// Share of each piece, `[n_pieces]`; their sum is 1.
    shares: Vec<f64>,
    /// Lengths of the rows, `[n_pieces]`.
    norms: Vec<f32>,
    /// By piece of the vocabulary: the position of its cosines, from 1; 0 if they are not computed.
    known: Vec<u32>,
    /// `[n_known, n_pieces]` in groups of [`LANES`], the last filled up with zeros; row-major.
    cosines: Vec<[f32; LANES]>,
    /// Buffers for the rows of new pieces, and for their products with `rows`.
    new: Vec<Option<VocabularyRow>>,
    products: Vec<i32>,
}

/// A row of the vocabulary.
type VocabularyRow = [i8; BUILTIN_DIMS];

/// The largest cosine of each piece of a query with any piece of a text, at least 0, in the layout of [`MaxSim::cosines`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LargestCosines(Vec<[f32; LANES]>);

impl<'a> MaxSim<'a> {
    /// Creates a comparison from the words of a query and their weights; `None` if the model knows less than half of the
    /// weight.
    pub(crate) fn new<'w>(
        model: &'a Builtin,
        words: impl IntoIterator<Item = (&'w str, f64)>,
    ) -> Option<Self> {
        let (mut rows, mut shares, mut norms) = (Vec::new(), Vec::new(), Vec::new());
        let mut total_weight = 0.0;
        for (word, weight) in words {
            total_weight += weight;
            if shares.len() >= MOST_PIECES {
                break;
            }
            let word_rows: Vec<_> = model
                .pieces(word)
                .into_iter()
                .take(MOST_PIECES)
                .filter_map(|piece| model.row(piece))
                .collect();
            for row in &word_rows {
                rows.extend_from_slice(row);
                norms.push(row_norm(row, &mut Vec::new()));
                shares.push(weight / word_rows.len() as f64);
            }
        }
        let known: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= known);
        (known > 0.0 && known >= total_weight / 2.0).then(|| Self {
            model,
            rows,
            norms,
            known: Vec::new(),
            cosines: Vec::with_capacity(USUAL_PIECES * shares.len().div_ceil(LANES)),
            shares,
            new: Vec::with_capacity(ROWS_AT_ONCE),
            products: Vec::new(),
        })
    }

    /// Returns the largest cosines with the pieces of a text.
    pub(crate) fn largest_cosines(&mut self, pieces: &[u16]) -> LargestCosines {
        let mut largest = LargestCosines(vec![[0.0; LANES]; self.n_groups()]);
        self.raise_cosines(&mut largest, pieces);
        largest
    }

    /// Raises the largest cosines by further pieces of the text.
    pub(crate) fn raise_cosines(&mut self, LargestCosines(largest): &mut LargestCosines, pieces: &[u16]) {
        self.compute_cosines(pieces);
        for piece in pieces {
            let place = (self.known[usize::from(*piece)] - 1) as usize * largest.len();
            for (largest, cosines) in largest.iter_mut().zip(&self.cosines[place..]) {
                for (largest, cosine) in largest.iter_mut().zip(cosines) {
                    // Not `f32::max`, which takes more instructions: none of them is NaN.
                    *largest = if *cosine > *largest { *cosine } else { *largest };
                }
            }
        }
    }

    /// Returns the weighted mean of the largest cosines, 0 to 1.
    pub(crate) fn weighted_mean(&self, LargestCosines(largest): &LargestCosines) -> f64 {
        largest
            .as_flattened()
            .iter()
            .zip(&self.shares)
            .map(|(cosine, share)| f64::from(*cosine) * share)
            .sum()
    }

    fn n_groups(&self) -> usize {
        self.shares.len().div_ceil(LANES)
    }

    /// Computes the missing cosines of the pieces of a text.
    ///
    /// Rows are copied [`ROWS_AT_ONCE`] before the first is used. Most are not in the processor's cache, which can then load
    /// several at once.
    fn compute_cosines(&mut self, pieces: &[u16]) {
        let most = pieces.iter().max().map_or(0, |piece| usize::from(*piece) + 1);
        if self.known.len() < most {
            self.known.resize(most, 0);
        }
        let mut new = std::mem::take(&mut self.new);
        for pieces in pieces.chunks(ROWS_AT_ONCE) {
            let n_known = self.cosines.len() / self.n_groups();
            for piece in pieces {
                let known = &mut self.known[usize::from(*piece)];
                if *known == 0 {
                    new.push(self.model.row(*piece));
                    *known = (n_known + new.len()) as u32;
                }
            }
            self.add_rows(&new);
            new.clear();
        }
        self.new = new;
    }

    /// Adds the cosines of the rows of pieces, zeros for a piece without a row.
    fn add_rows(&mut self, rows: &[Option<VocabularyRow>]) {
        for row in rows {
            let first = self.cosines.len();
            self.cosines.resize(first + self.n_groups(), [0.0; LANES]);
            let Some(row) = row else { continue };
            let norm = row_norm(row, &mut self.products);
            dot_products(row, &self.rows, BUILTIN_DIMS, &mut self.products);
            let places = self.cosines[first..].as_flattened_mut();
            for ((place, dot), own) in places.iter_mut().zip(&self.products).zip(&self.norms) {
                let cosine = *dot as f32 / (norm * own);
                *place = if cosine.is_finite() { cosine } else { 0.0 };
            }
        }
    }
}

fn row_norm(row: &[i8], products: &mut Vec<i32>) -> f32 {
    dot_products(row, row, row.len(), products);
    (products[0] as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(words: &[(&str, f64)], text: &str) -> Option<f64> {
        let model = Builtin::shared().unwrap();
        let mut maxsim = MaxSim::new(&model, words.iter().copied())?;
        let first = maxsim.largest_cosines(&model.pieces(text));
        assert_eq!(maxsim.largest_cosines(&model.pieces(text)), first, "known the second time");
        Some(maxsim.weighted_mean(&first))
    }

    #[test]
    fn the_same_words_are_1_and_similar_ones_less() {
        let words = [("delete", 1.0), ("sessions", 1.0)];
        let of = |text: &str| similarity(&words, text).unwrap();
        assert!((of("fn delete_sessions(&mut self)") - 1.0).abs() < 1e-3);
        assert!(of("fn removes(session: Session)") > of("fn draw(chart: Chart)") + 0.2);
        assert!(of("").abs() < 1e-9);
        let long = format!("fn delete_sessions() {{}} {}", "unrelated words of a long text ".repeat(50));
        assert!((of(&long) - 1.0).abs() < 1e-3, "other words take nothing away");
    }

    #[test]
    fn a_heavy_word_counts_more() {
        let of = |weight: f64| similarity(&[("delete", weight), ("banana", 1.0)], "delete it").unwrap();
        assert!(of(5.0) > of(1.0) + 0.1);
    }

    #[test]
    fn words_that_the_model_does_not_know_are_left_out() {
        assert_eq!(similarity(&[("東京", 1.0)], "anything"), None);
        assert_eq!(similarity(&[], "anything"), None);
        assert_eq!(
            similarity(&[("東京", 9.0), ("delete", 1.0)], "delete"),
            None,
            "what is known is the smaller part"
        );
        assert!((similarity(&[("東京", 1.0), ("delete", 9.0)], "delete").unwrap() - 1.0).abs() < 1e-3);
    }
}
