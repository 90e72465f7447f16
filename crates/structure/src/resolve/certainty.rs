//! Names how certain a resolution is.

/// How certain it is that a use means a definition, most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Scope, package or an import prove it.
    Exact,
    /// The type of the value is inferred, or the name is a compound one that a single definition has.
    Likely,
    /// Only the name is the same.
    ByName,
    /// Not even the name: only the words of both are alike.
    Similar,
}

impl Certainty {
    /// Returns the word for it in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Likely => "likely",
            Self::ByName => "by name",
            Self::Similar => "similar",
        }
    }
}
