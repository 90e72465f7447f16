//! Defines the parts of answers, and how an answer reports a part that could not be read.

use serde::{Deserialize, Serialize};

/// A kind of data from which answers are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerPart {
    /// Memories, including those in files of the worktree.
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
    /// The parts whose failures a report lists. The report has its own count of files that may not be read.
    pub const OF_REPORT: [Self; 3] = [Self::Memories, Self::Code, Self::Commits];

    /// Returns the first word of a reason about this part.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Code => "code",
            Self::Commits => "commits",
            Self::Unreadable => "files",
        }
    }
}

/// The caveats that a method's answer must carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredCaveats {
    /// None: the answer is about the daemon, its settings, or only the params.
    Nothing,
    /// `fresh`, with a `reason` if one of these parts could not be read.
    Fresh(&'static [AnswerPart]),
    /// A line in the report for each part that could not be read.
    Report,
}

impl RequiredCaveats {
    /// Returns the parts from which the answer is built.
    pub fn answer_parts(self) -> &'static [AnswerPart] {
        match self {
            Self::Nothing => &[],
            Self::Fresh(parts) => parts,
            Self::Report => &AnswerPart::OF_REPORT,
        }
    }
}

/// Caveats of an answer that is built from memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Caveats {
    /// Whether the answer includes everything that was written before the request; false if a file could not be read,
    /// or if the code that a memory is about is unknown.
    pub fresh: bool,
    /// Why the answer is not fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A notice for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl Default for Caveats {
    fn default() -> Self {
        Self { fresh: true, reason: None, notice: None }
    }
}

impl Caveats {
    /// Creates the caveats of a fresh answer with a notice for the user.
    pub fn from_notice(notice: Option<String>) -> Self {
        Self { notice, ..Self::default() }
    }

    /// Adds the caveats of another part of the same answer, without repeating a reason or notice.
    pub fn add_caveats(&mut self, other: Self) {
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
