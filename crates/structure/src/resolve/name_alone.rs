//! Resolves names of languages whose scopes and types are not read: C#, Kotlin, Swift, PHP, Scala, Ruby and others.

use memod_base::types::{UseReceiver, last_part};

use super::use_place::UsePlace;
use super::{Certainty, DefinitionCandidate, Resolver};

impl Resolver<'_> {
    /// Resolves a name by what is written before it: members of the type around, or of the type that is named, are likely; others are
    /// found by name. A name without a receiver is no member of another type.
    pub(super) fn resolve_name_alone(
        &self,
        place: &UsePlace<'_>,
        receiver: UseReceiver,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        if place.written != self.name {
            return (Certainty::ByName, Vec::new());
        }
        let around = place.owner_name();
        let members_of = |owner: &str| {
            self.candidates_of_family(place, |_, found| {
                found.role.is_member() && last_part(found.owner_title()) == owner
            })
        };
        let own = around.as_deref().map(members_of).unwrap_or_default();
        let named = match receiver {
            UseReceiver::Named(path) => members_of(last_part(place.structure.name(path))),
            _ => Vec::new(),
        };
        let all = match receiver {
            UseReceiver::Own if !own.is_empty() => return (Certainty::Likely, own),
            UseReceiver::Named(path) if is_own(place.structure.name(path)) && !own.is_empty() => {
                return (Certainty::Likely, own);
            }
            UseReceiver::Named(_) if !named.is_empty() => return (Certainty::Likely, named),
            // A name alone means a member of the type around, or a definition outside of types.
            UseReceiver::None => {
                let others = self.candidates_of_family(place, |_, found| !found.role.is_member());
                if others.is_empty() {
                    return (Certainty::ByName, own);
                }
                [own, others].concat()
            }
            UseReceiver::Import => self.candidates_of_family(place, |_, found| !found.role.is_member()),
            _ => self.candidates_of_family(place, |_, _| true),
        };
        (Certainty::from_name_alone(all.len(), self.name), all)
    }
}

/// Returns whether a path is the value around, as formats without a grammar write it.
fn is_own(path: &str) -> bool {
    matches!(path, "self" | "this")
}
