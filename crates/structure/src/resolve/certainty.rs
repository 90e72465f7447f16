//! Defines how certain it is that a use means a definition.

use memod_base::types::is_compound;

/// How certain it is that a use means a definition, most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// The scope, the package or an import proves it.
    Exact,
    /// The type of the value is inferred, or the name is compound and has a single definition.
    Likely,
    /// Only the name is the same.
    ByName,
    /// Not even the name is the same; only the words of the use and the definition are alike.
    Similar,
}

impl Certainty {
    /// Returns the certainty of `n_found` definitions when only their name is known. Names of one word, such as `get` and
    /// `close`, occur in other libraries too.
    pub(super) fn from_name_alone(n_found: usize, name: &str) -> Self {
        if n_found == 1 && is_compound(name) { Self::Likely } else { Self::ByName }
    }

    /// Returns the word for the certainty in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Likely => "likely",
            Self::ByName => "by name",
            Self::Similar => "similar",
        }
    }
}
