//! Compares each word of a query with the most similar word of a text.
//!
//! The vector of a long text is a mean, in which the few relevant words are lost. So each word of the query is compared with each
//! word of the text, and the largest similarities are added: the late interaction of Khattab, Zaharia, "ColBERT: Efficient and
//! Effective Passage Search via Contextualized Late Interaction over BERT", SIGIR 2020. Here the vectors are the rows of the
//! builtin model, which do not depend on the context of a word.

use memod_embed::{BUILTIN_DIMS, BuiltinModel};
use memod_vectors::vector_index::dot_products;

/// Number of pieces of a query from which on no further words are compared. Long pasted words have a thousand pieces.
const MOST_PIECES: usize = 128;

/// Number of cosines that the processor compares at once. The cosines of a piece are stored in groups of this size.
const LANES: usize = 8;

/// Number of rows of the vocabulary that are copied together: 16 KiB.
const ROWS_AT_ONCE: usize = 64;

/// Number of pieces for which space is allocated at the start.
const USUAL_PIECES: usize = 2_048;

/// The words of a query, and the cosines computed so far with pieces of texts.
pub(crate) struct MaxSim<'a> {
    model: &'a BuiltinModel,
    /// The rows of the query's pieces: `[n_pieces, dims]`, row-major.
    rows: Vec<i8>,
    /// The weight of each piece of the query, `[n_pieces]`; the sum is 1.
    shares: Vec<f64>,
    /// The lengths of the vectors in `rows`, `[n_pieces]`.
    norms: Vec<f32>,
    /// By piece of the vocabulary: the position of its cosines in `cosines`, counted from 1; 0 if they have not been computed.
    known: Vec<u32>,
    /// The cosines of known pieces with the pieces of the query: `[n_known, n_pieces]`, row-major. Each row consists of groups of
    /// [`LANES`] cosines; the last group is filled up with zeros.
    cosines: Vec<[f32; LANES]>,
    /// Buffer for the rows of new pieces.
    new: Vec<Option<VocabularyRow>>,
    /// Buffer for the dot products of a new piece with `rows`.
    products: Vec<i32>,
}

/// A row of the vocabulary.
type VocabularyRow = [i8; BUILTIN_DIMS];

/// For each piece of a query, the largest cosine with a piece of a text, at least 0; in the layout of a row of [`MaxSim::cosines`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LargestCosines(Vec<[f32; LANES]>);

impl<'a> MaxSim<'a> {
    /// Creates a comparison from the words of a query and their weights. Returns `None` if the words that the model knows have less
    /// than half of the weight.
    pub(crate) fn new<'w>(
        model: &'a BuiltinModel,
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
                .distinct_pieces(word)
                .into_iter()
                .take(MOST_PIECES)
                .filter_map(|piece| model.piece_row(piece))
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

    /// Returns the largest cosine of each piece of the query with the pieces of a text.
    pub(crate) fn largest_cosines(&mut self, pieces: &[u16]) -> LargestCosines {
        let mut largest = LargestCosines(vec![[0.0; LANES]; self.n_groups()]);
        self.raise_cosines(&mut largest, pieces);
        largest
    }

    /// Raises the largest cosines of a text where further pieces of the text have larger ones.
    pub(crate) fn raise_cosines(&mut self, LargestCosines(largest): &mut LargestCosines, pieces: &[u16]) {
        self.compute_cosines(pieces);
        for piece in pieces {
            let place = (self.known[usize::from(*piece)] - 1) as usize * largest.len();
            for (largest, cosines) in largest.iter_mut().zip(&self.cosines[place..]) {
                for (largest, cosine) in largest.iter_mut().zip(cosines) {
                    // Not `f32::max`, which takes more instructions to handle NaN. No cosine is NaN.
                    *largest = if *cosine > *largest { *cosine } else { *largest };
                }
            }
        }
    }

    /// Returns the mean of the largest cosines, weighted by the words of the query, 0 to 1.
    pub(crate) fn weighted_mean(&self, LargestCosines(largest): &LargestCosines) -> f64 {
        largest
            .as_flattened()
            .iter()
            .zip(&self.shares)
            .map(|(cosine, share)| f64::from(*cosine) * share)
            .sum()
    }

    /// Returns the number of groups in a row of `cosines`.
    fn n_groups(&self) -> usize {
        self.shares.len().div_ceil(LANES)
    }

    /// Computes the missing cosines of the pieces of a text.
    ///
    /// First copies [`ROWS_AT_ONCE`] rows, and then uses them. Most rows are not in the processor's cache, and in this way the
    /// processor can load several rows at once.
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
                    new.push(self.model.piece_row(*piece));
                    *known = (n_known + new.len()) as u32;
                }
            }
            self.add_rows(&new);
            new.clear();
        }
        self.new = new;
    }

    /// Appends the cosines of the rows of pieces with the query; zeros for a piece without a row.
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

/// Returns the length of a vector. `products` is a buffer.
fn row_norm(row: &[i8], products: &mut Vec<i32>) -> f32 {
    dot_products(row, row, row.len(), products);
    (products[0] as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(words: &[(&str, f64)], text: &str) -> Option<f64> {
        let model = BuiltinModel::shared().unwrap();
        let mut maxsim = MaxSim::new(&model, words.iter().copied())?;
        let first = maxsim.largest_cosines(&model.distinct_pieces(text));
        assert_eq!(maxsim.largest_cosines(&model.distinct_pieces(text)), first, "known the second time");
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
