//! Declares the ranks and values that the arms give a candidate.

/// Cosines below this bound are noise for the builtin model. 88 % of the relevant records have a larger cosine.
pub(crate) const COSINE_FLOOR: f32 = 0.25;

/// A rank in a list that is ordered by BM25, with the BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextRank {
    /// The rank, 1-based.
    pub rank: u32,
    /// BM25, larger is better.
    pub(crate) bm25: f64,
}

/// The ranks and values of a candidate. A field is `None` if the arm did not find the candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArmSignals {
    /// Rank and BM25 among chunks.
    pub(crate) bm25: Option<TextRank>,
    /// Rank and BM25 among paths, by the words of the path; the same for all chunks of a path.
    pub path: Option<TextRank>,
    /// Rank of the query's name that the candidate defines, 1-based.
    pub symbol: Option<u32>,
    /// Rank among the nearest vectors, 1-based.
    pub(crate) knn: Option<u32>,
    /// Cosine similarity to the query. May be known without a `knn` rank, and counts then too.
    pub cosine: Option<f32>,
    /// How well the whole file of the candidate matches.
    pub file: FileMatch,
    /// Similarity of each word of the query to the most similar word of the candidate, averaged, 0 to 1; `None` if words are not
    /// compared.
    pub(crate) maxsim: Option<f64>,
    /// As `maxsim`, for only the names and first lines of the candidate; 0 if words are not compared.
    pub(crate) maxsim_head: f64,
    /// As `maxsim`, for the path of the candidate; 0 if words are not compared.
    pub(crate) maxsim_path: f64,
}

impl ArmSignals {
    /// Returns whether the candidate has a word of the query in its text, its path or its symbol.
    pub(crate) fn was_found_by_word(&self) -> bool {
        self.bm25.is_some() || self.path.is_some() || self.symbol.is_some()
    }
}

/// How well a whole file matches a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileMatch {
    /// BM25 of the file, divided by the BM25 of the best file, 0 to 1.
    pub(crate) bm25: f64,
    /// Share of the query's words that the file contains, 0 to 1. Rare words count more.
    pub covered: f64,
}
