//! Defines anchors, which tie a memory to code, and their states.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state of an anchor or a memory in a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnchorState {
    /// The same text exists, possibly in another place.
    Fresh,
    /// The text has changed.
    Drifted,
    /// The file, or the definition, is gone.
    Orphaned,
}

impl AnchorState {
    /// All states, from good to bad.
    pub const ALL: [Self; 3] = [Self::Fresh, Self::Drifted, Self::Orphaned];

    /// Returns the word used in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Drifted => "drifted",
            Self::Orphaned => "orphaned",
        }
    }

    /// Returns the state that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Returns the state of a memory: the worst of its anchors; `None` if one is unknown and the others are fresh.
    pub fn from_anchors(anchors: &[Anchor]) -> Option<Self> {
        let worst = anchors.iter().filter_map(|anchor| anchor.state).max();
        let all_known = anchors.iter().all(|anchor| anchor.state.is_some());
        worst.filter(|state| all_known || *state != Self::Fresh)
    }
}

/// The code that a memory is about: a file, some of its lines, or a definition in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Anchor {
    /// Path from the worktree's top when the anchor was last confirmed.
    pub path: String,
    /// Qualified name of the definition, if the anchor names one.
    pub symbol: Option<String>,
    /// First and last line when the anchor was last confirmed, 1-based and inclusive; null for the whole file.
    pub lines: Option<(u32, u32)>,
    /// Content when the anchor was last confirmed.
    pub seen: Seen,
    /// Present state of the anchor; null if it is unknown or was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<AnchorState>,
    /// Present location of the text, as one would type it, if the path or the lines differ; if the text has changed, the most likely
    /// one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// A note on the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The content at the last confirmation, as hashes in hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// blake3 of the file's bytes.
    pub blob: String,
    /// First half of the blake3 of the anchored text: the file, the lines, or the definition regardless of its
    /// position.
    pub text: String,
    /// First half of the blake3 of a definition's text without its names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// First half of the blake3 of a definition's lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// For lines that occur several times in the file: the number of this occurrence, from 1, and the total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<(u32, u32)>,
    /// Whether no other text in the worktree was equal, so that an equal text elsewhere means that it has moved.
    pub alone: bool,
    /// For lines: the text around them, which distinguishes them from equal lines elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around: Option<Surroundings>,
    /// Hashes of up to 16 lines of the file, 8 digits each, which distinguish the edited file from another file at its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
}

/// The text around anchored lines at the last confirmation. Each line is given by 8 digits of its hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Surroundings {
    /// Qualified name of the innermost definition that had the lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// First half of the blake3 of that definition's text, if no other definition in the worktree had the same text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Number of lines of that definition above the anchored lines.
    pub n_above: u32,
    /// Number of lines of that definition below the anchored lines.
    pub n_below: u32,
    /// Up to eight lines above that are not empty, nearest first, each with its distance from the first anchored line.
    pub above: Vec<(String, u32)>,
    /// Up to eight lines below that are not empty, nearest first, each with its distance from the last anchored line.
    pub below: Vec<(String, u32)>,
    /// Which of these lines occurred once in the file: a bit for each line above, the lowest for the nearest, and the same below.
    pub unique: (u32, u32),
}

/// Number of living memories with anchors in each state, in one worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateCounts {
    /// Number of memories whose anchors are all unchanged.
    pub fresh: u64,
    /// Number of memories with a changed anchor.
    pub drifted: u64,
    /// Number of memories with an anchor that is gone.
    pub orphaned: u64,
    /// Number of memories whose state the index does not know yet.
    pub unknown: u64,
}

impl fmt::Display for StateCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = [
            (self.fresh, "fresh"),
            (self.drifted, "drifted"),
            (self.orphaned, "orphaned"),
            (self.unknown, "not known yet"),
        ];
        let there = states.iter().filter(|(n, _)| *n > 0).enumerate();
        for (at, (n, state)) in there {
            write!(f, "{}{n} {state}", if at > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        match (&self.symbol, self.lines) {
            (Some(symbol), _) => write!(f, "#{symbol}"),
            (None, Some((first, last))) if first == last => write!(f, ":{first}"),
            (None, Some((first, last))) => write!(f, ":{first}-{last}"),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_as_good_as_its_worst_anchor() {
        let of = |states: &[Option<AnchorState>]| {
            let anchor = |state: &Option<AnchorState>| Anchor { state: *state, ..Anchor::default() };
            AnchorState::from_anchors(&states.iter().map(anchor).collect::<Vec<_>>())
        };
        let (fresh, drifted) = (Some(AnchorState::Fresh), Some(AnchorState::Drifted));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[fresh, fresh]), fresh);
        assert_eq!(of(&[fresh, drifted]), drifted);
        assert_eq!(of(&[Some(AnchorState::Orphaned), drifted]), Some(AnchorState::Orphaned));
        assert_eq!(of(&[fresh, None]), None);
        assert_eq!(of(&[drifted, None]), drifted);
    }
}
