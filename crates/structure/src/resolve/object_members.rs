//! Resolves members of the objects and classes of JavaScript that no other object can have.

use memod_base::types::DeclaredRole;

use super::component_names::title_in_component;
use super::javascript_exports::Exported;
use super::use_place::{LanguageFamily, UsePlace};
use super::{DefinitionCandidate, FileNumber, Resolver};

impl Resolver<'_> {
    /// Resolves a private name, which the innermost class around the place that declares it has, whatever the receiver is.
    pub(super) fn resolve_private_name(&self, place: &UsePlace<'_>) -> Vec<DefinitionCandidate> {
        let declared_in = |class: u32| {
            let own = self
                .candidates
                .in_file(place.file)
                .filter(move |(candidate, structure)| candidate.declared_in(structure).parent == Some(class));
            own.map(|(candidate, _)| *candidate).collect::<Vec<_>>()
        };
        place.definitions_around().map(declared_in).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Returns the functions of an object that a constant at the top of a file is set to, given the path of the object in this place:
    /// `api` of `api.load()`, `resolvers.Query` of `resolvers.Query.user()`. None in other languages.
    pub(super) fn resolve_member_of_object(
        &self,
        place: &UsePlace<'_>,
        path: &str,
    ) -> Vec<DefinitionCandidate> {
        if place.family != LanguageFamily::JavaScript || path.contains("()") {
            return Vec::new();
        }
        let parts: Vec<&str> = path.split('.').collect();
        let own = self.functions_of_constant(place.file, parts[0], &parts[1..]);
        if !own.is_empty() {
            return own;
        }
        // The constant may be imported, or be a member of an imported module.
        let imported = (0..parts.len()).flat_map(|at| {
            let module = (at > 0).then(|| parts[..at].join("."));
            let exported = self.follow_in_place(place, module.as_deref(), parts[at]);
            exported.into_iter().map(move |exported| (exported, at + 1))
        });
        let found = imported.map(|(exported, n_parts)| match exported {
            Exported::Definition(file, constant) => {
                self.functions_of_constant(file, &constant, &parts[n_parts..])
            }
            _ => Vec::new(),
        });
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Returns the functions with the resolver's name at the keys `keys` of the object that a constant of a file is set to.
    fn functions_of_constant(
        &self,
        file: FileNumber,
        constant: &str,
        keys: &[&str],
    ) -> Vec<DefinitionCandidate> {
        let title: Vec<&str> =
            std::iter::once(constant).chain(keys.iter().copied()).chain([self.name]).collect();
        let title = title.join(".");
        let own = self.candidates.in_file(file).filter(|(candidate, structure)| {
            let declared = candidate.declared_in(structure);
            declared.role == DeclaredRole::Member
                && title_in_component(self.paths.path_of(file), structure, &declared.title) == title
                && structure
                    .find_item(declared.parent)
                    .is_some_and(|holder| holder.role == DeclaredRole::Free)
        });
        own.map(|(candidate, _)| *candidate).collect()
    }
}
