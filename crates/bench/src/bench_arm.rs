//! Declares the variants of search that are compared.

use memod_base::types::RankingPart;
use memod_proto::SearchMode;
use serde::Serialize;

/// A variant of search: a mode, and the ranking with or without one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BenchArm {
    pub(crate) mode: SearchMode,
    /// The part of the ranking that is left out; `None` for the whole ranking.
    pub(crate) without: Option<RankingPart>,
}

impl BenchArm {
    /// Returns the name of the arm for folders and messages: `hybrid`, `hybrid-without-path`.
    pub(crate) fn full_name(self) -> String {
        match self.without {
            Some(part) => format!("{}-without-{}", self.mode.as_str(), part.as_str()),
            None => self.mode.as_str().to_owned(),
        }
    }
}
