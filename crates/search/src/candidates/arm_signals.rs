//! Declares the ranks and values of a candidate in each arm.

/// Cosines below this are noise for the builtin model: 88 % of relevant records have more.
pub(crate) const COSINE_FLOOR: f32 = 0.25;

/// A rank in a list of FTS5, with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextRank {
    /// The rank, 1-based.
    pub rank: u32,
    /// BM25, larger is better.
    pub(crate) bm25: f64,
}

/// The rank of a candidate in each arm; `None` in arms without it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArmSignals {
    /// BM25 over chunks.
    pub(crate) bm25: Option<TextRank>,
    /// BM25 over path words; the same for all chunks of a path.
    pub path: Option<TextRank>,
    /// 1-based rank among exact symbols.
    pub symbol: Option<u32>,
    /// 1-based rank among nearest vectors.
    pub(crate) knn: Option<u32>,
    /// Cosine similarity to the query, which counts even without a `knn` rank.
    pub cosine: Option<f32>,
    /// How well its whole file matches.
    pub file: FileMatch,
    /// Similarity of its most similar words and the words of the query, 0 to 1; known only if words are compared.
    pub(crate) maxsim: Option<f64>,
    /// As `maxsim`, for its names and first lines alone; 0 if words are not compared.
    pub(crate) maxsim_head: f64,
    /// As `maxsim`, for its path; 0 if words are not compared.
    pub(crate) maxsim_path: f64,
}

impl ArmSignals {
    /// Returns whether a word of the query was found, and not only something similar.
    pub(crate) fn has_word(&self) -> bool {
        self.bm25.is_some() || self.path.is_some() || self.symbol.is_some()
    }
}

/// How well a whole file matches a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileMatch {
    /// BM25 as a share of the best file, 0 to 1.
    pub(crate) bm25: f64,
    /// Share of the query's words in the file, rare words counting more, 0 to 1.
    pub covered: f64,
}
