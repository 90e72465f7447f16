//! Defines the parts that answers are made of, and how an answer reports that a part could not be read.

use serde::{Deserialize, Serialize};

/// One of the things that answers are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerPart {
    /// Memories, also those in files of the worktree.
    Memories,
    /// Files of the worktree.
    Code,
    /// Commits and refs.
    Commits,
    /// Files of the worktree that may not be read.
    Unreadable,
}

impl AnswerPart {
    /// All parts.
    pub const ALL: [Self; 4] = [Self::Memories, Self::Code, Self::Commits, Self::Unreadable];
    /// The parts of a report, which itself counts the files that may not be read.
    pub const OF_REPORT: [Self; 3] = [Self::Memories, Self::Code, Self::Commits];

    /// Returns the word with which a reason begins.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Code => "code",
            Self::Commits => "commits",
            Self::Unreadable => "files",
        }
    }
}

/// The caveats that the answer of a method must have for its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerDuty {
    /// Nothing: it is about the daemon, settings, or what it was given.
    Nothing,
    /// `fresh`, and a `reason` where one of these parts could not be read.
    Fresh(&'static [AnswerPart]),
    /// A line for each part that could not be read, among those of its report.
    Report,
}

impl AnswerDuty {
    /// Returns the parts that the answer is made of.
    pub fn answer_parts(self) -> &'static [AnswerPart] {
        match self {
            Self::Nothing => &[],
            Self::Fresh(parts) => parts,
            Self::Report => &AnswerPart::OF_REPORT,
        }
    }
}

/// The caveats of an answer that is made of memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Caveats {
    /// Whether everything that was written before the request is in it: false where a file could not be read, or the code that a
    /// memory is about is not known.
    pub fresh: bool,
    /// Why it is not fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl Default for Caveats {
    fn default() -> Self {
        Self { fresh: true, reason: None, notice: None }
    }
}

impl Caveats {
    /// Returns those of a fresh answer with a notice for the user.
    pub fn of_notice(notice: Option<String>) -> Self {
        Self { notice, ..Self::default() }
    }

    /// Adds what another part of the same answer says; what is said already is not repeated.
    pub fn add(&mut self, other: Self) {
        self.fresh &= other.fresh;
        for (here, there) in [(&mut self.reason, other.reason), (&mut self.notice, other.notice)] {
            match (here.as_mut(), there) {
                (Some(said), Some(more)) if !said.contains(&more) => *said += &format!("; {more}"),
                (None, there) => *here = there,
                _ => {}
            }
        }
    }
}
