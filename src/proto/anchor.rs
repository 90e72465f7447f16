//! Types of anchors: the code that a memory is about, and its state.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether what a memory is about is still as it was; in one worktree, as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The same text is there, perhaps elsewhere.
    Fresh,
    /// Its text has changed.
    Drifted,
    /// The file, or the definition, is gone.
    Orphaned,
}

impl State {
    /// All of them, from good to bad.
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

    /// Returns the state of a memory: the worst of its anchors; none when one of them is not known and the others are fine.
    pub fn of(anchors: &[Anchor]) -> Option<Self> {
        let worst = anchors.iter().filter_map(|anchor| anchor.state).max();
        let all_known = anchors.iter().all(|anchor| anchor.state.is_some());
        worst.filter(|state| all_known || *state != Self::Fresh)
    }
}

/// What of the code a memory is about: a file, some lines of it, or a definition in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Anchor {
    /// From the worktree's top, as it was called then.
    pub path: String,
    /// Qualified name of the definition, if it is one.
    pub symbol: Option<String>,
    /// First and last line then, 1-based and inclusive; none: the whole file.
    pub lines: Option<(u32, u32)>,
    /// What was there then.
    pub seen: Seen,
    /// Whether that is still so; none where it is not known, or was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Where the same text is now, when that is another path or other lines: as it is typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// What people should know of its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What was there when somebody last looked: hashes, in hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// blake3 of the file's bytes.
    pub blob: String,
    /// First half of the blake3 of the text: of the file, the lines, or the definition apart from where it stands.
    pub text: String,
    /// The same of a definition's text without its names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// The same of the lines that a definition stands on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Of lines that stood several times in the file: which of them, from 1, and how many there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<(u32, u32)>,
    /// Nothing else in the worktree had the same text, so wherever it turns up it has moved there.
    pub alone: bool,
}

/// How many living memories that are about something are in which state, in one worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateCounts {
    /// Of which all is as it was.
    pub fresh: u64,
    /// Of which something has changed.
    pub drifted: u64,
    /// Of which something is gone.
    pub orphaned: u64,
    /// Of which the index does not know enough yet.
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
        let of = |states: &[Option<State>]| {
            let anchor = |state: &Option<State>| Anchor { state: *state, ..Anchor::default() };
            State::of(&states.iter().map(anchor).collect::<Vec<_>>())
        };
        let (fresh, drifted) = (Some(State::Fresh), Some(State::Drifted));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[fresh, fresh]), fresh);
        assert_eq!(of(&[fresh, drifted]), drifted);
        assert_eq!(of(&[Some(State::Orphaned), drifted]), Some(State::Orphaned));
        assert_eq!(of(&[fresh, None]), None);
        assert_eq!(of(&[drifted, None]), drifted);
    }
}
