//! Holds which types implement an interface of Go.

use std::collections::HashSet;

use memod_structure::resolve::{Certainty, DefinitionCandidate};

/// The directory of a type's package, and the name of the type.
pub(super) type PackageType = (String, String);

/// The types that have all methods of an interface.
pub(super) struct Implementers {
    /// The certainty that they implement it: parameters are not compared.
    pub(super) certainty: Certainty,
    pub(super) types: Vec<DefinitionCandidate>,
    pub(super) places: HashSet<PackageType>,
}
