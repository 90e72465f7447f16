//! Numbers the ways in which a memory is shared.

/// With whom a memory is shared; 0 in the rows of one that never was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// With everybody who works on the repository: its file is the truth.
    Repo = 1,
    /// With nobody, although a rule would share it.
    Never = 2,
    /// The team has it.
    Team = 3,
    /// Another repository of the team has it, and this is a copy.
    Followed = 4,
}
