//! Defines the numbers in `memory.shared`: with whom a memory is shared.

/// With whom a memory is shared. A memory that was never shared has 0 in `memory.shared`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// With everybody who works on the repository, through a file, which is the truth.
    Repo = 1,
    /// With nobody, even if a rule of the settings would share the memory.
    Never = 2,
    /// With the team.
    Team = 3,
    /// The row is a copy of a memory of another repository of the team.
    Followed = 4,
}
