//! Declares the parts of the ranking of files and commits, and sets of them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names of the signals, of the factors, and of the file classes that are factors, as in `memo explain`.
const PARTS: [&str; 31] = [
    "bm25",
    "path",
    "symbol",
    "knn",
    "maxsim",
    "maxsim_head",
    "maxsim_path",
    "file",
    "covered",
    "definition",
    "stem",
    "folder",
    "matches",
    "map",
    "text",
    "commit",
    "further",
    "wordless",
    "test",
    "fixture",
    "snapshot",
    "example",
    "benchmark",
    "vendored",
    "generated",
    "lock",
    "licence",
    "changelog",
    "translation",
    "migration",
    "declaration",
];

/// A signal or a factor of the ranking of files and commits: an index into [`PARTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub struct RankingPart(u8);

impl RankingPart {
    /// Returns all parts: signals, then factors, then classes of files.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..PARTS.len() as u8).map(Self)
    }

    /// Returns the name that `explain` shows.
    pub fn as_str(self) -> &'static str {
        PARTS[usize::from(self.0)]
    }

    /// Returns the part with this name, in upper or lower case.
    ///
    /// # Errors
    /// A message that lists the names of all parts, when no part has this name.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = Self::all().find(|part| part.as_str().eq_ignore_ascii_case(name));
        found.ok_or_else(|| format!("{name}: not a part of the ranking; the parts are {}", PARTS.join(", ")))
    }
}

impl TryFrom<String> for RankingPart {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::parse(&name)
    }
}

impl From<RankingPart> for &'static str {
    fn from(part: RankingPart) -> Self {
        part.as_str()
    }
}

/// A set of parts of the ranking.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct RankingParts(u32);

impl RankingParts {
    /// Returns whether the part with this name is in the set; false for an unknown name.
    pub fn contains_name(self, name: &str) -> bool {
        self.0 != 0 && self.iter().any(|part| part.as_str() == name)
    }

    fn iter(self) -> impl Iterator<Item = RankingPart> {
        RankingPart::all().filter(move |part| self.0 & (1 << part.0) != 0)
    }
}

impl FromIterator<RankingPart> for RankingParts {
    fn from_iter<I: IntoIterator<Item = RankingPart>>(parts: I) -> Self {
        Self(parts.into_iter().fold(0, |bits, part| bits | 1 << part.0))
    }
}

impl fmt::Debug for RankingParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(RankingPart::as_str)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_a_bit_and_a_name_of_its_own() {
        let all: Vec<RankingPart> = RankingPart::all().collect();
        assert!(all.len() <= u32::BITS as usize, "{}", all.len());
        for part in &all {
            assert_eq!(
                all.iter().filter(|other| other.as_str() == part.as_str()).count(),
                1,
                "{}",
                part.as_str()
            );
            let only: RankingParts = [*part].into_iter().collect();
            let found: Vec<RankingPart> =
                all.iter().copied().filter(|part| only.contains_name(part.as_str())).collect();
            assert_eq!(found, [*part]);
        }
        assert!(!RankingParts::default().contains_name("bm25"));
        assert_eq!(RankingPart::parse("MaxSim").map(RankingPart::as_str), Ok("maxsim"));
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let told = serde_json::from_str::<RankingPart>("\"words\"").map_err(|error| error.to_string());
        let told = told.expect_err("there is no such part");
        assert!(
            told.starts_with("words: ") && told.contains("bm25, ") && told.contains(", declaration"),
            "{told}"
        );
    }
}
