//! Names the arms that a search may use.

use serde::{Deserialize, Serialize};

/// The way in which a search matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    /// BM25, paths and symbols.
    Keyword,
    /// KNN only.
    Vector,
    /// All arms, fused.
    #[default]
    Hybrid,
}

impl SearchMode {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Vector => "vector",
            Self::Hybrid => "hybrid",
        }
    }
}
