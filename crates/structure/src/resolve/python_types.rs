//! Follows the types of Python: through imports and re-exports, `super()`, properties, and fixtures of pytest.

use memod_base::types::{DeclaredRole, UseReceiver};

use super::fixtures::decorators_of;
use super::infer_types::TypeName;
use super::use_place::{LanguageFamily, UsePlace};
use super::{Certainty, DefinitionCandidate, FileNumber, Resolver};

/// The expression for the base types of the type around.
const SUPER: &str = "super()";

/// Most constants that are followed because each gives another name to the one before.
const MOST_ALIASES: usize = 4;

impl Resolver<'_> {
    /// Returns a type of Python by its name in the file that declares it; `None` if its file does not import it, or if it is not
    /// known which type is meant.
    pub(super) fn imported_python_type(&self, type_name: &TypeName) -> Option<TypeName> {
        let structure = self.structures.structure_of(type_name.file);
        let place = self.place_within(type_name.file, &structure, type_name.within);
        let from: Vec<(FileNumber, String)> = match &type_name.module {
            _ if place.family != LanguageFamily::Python => return None,
            Some(module) => {
                let files = self.files_of_module_path(&place, module)?.into_iter();
                files.map(|file| (file, type_name.name.clone())).collect()
            }
            None => {
                let imports = structure.imports_binding(&type_name.name, place.line).into_iter();
                let files = imports.filter(|import| !import.name.is_empty()).flat_map(|import| {
                    let modules = self.find_module_files(place.family, &import.module, place.file);
                    modules.into_iter().map(|file| (file, import.name.clone()))
                });
                files.collect()
            }
        };
        let (_, name) = from.first()?.clone();
        let mut found = self.resolver_for(&name).resolve_exported(from);
        found.retain(|found| {
            let structure = self.structures.structure_of(found.file);
            found.declared_in(&structure).role == DeclaredRole::Type
        });
        // A stub declares the type once more.
        found.dedup_by_key(|found| self.paths.path_of(found.file).trim_end_matches('i').to_owned());
        match found.as_slice() {
            [only] if (only.file, &name) != (type_name.file, &type_name.name) => Some(TypeName {
                name,
                file: only.file,
                module: None,
                within: None,
                declared: None,
                ..type_name.clone()
            }),
            _ => None,
        }
    }

    /// Returns whether a file of Python imports a type by name from modules that are no files of the worktree.
    pub(super) fn imports_python_type_from_elsewhere(&self, type_name: &TypeName) -> bool {
        let structure = self.structures.structure_of(type_name.file);
        let place = self.place_within(type_name.file, &structure, type_name.within);
        let named = structure.imports_binding(&type_name.name, place.line);
        place.family == LanguageFamily::Python
            && !named.is_empty()
            && named.iter().all(|import| {
                [import.module.clone(), import.full_module()]
                    .iter()
                    .all(|module| self.find_module_files(place.family, module, type_name.file).is_empty())
            })
    }

    /// Returns the type that a constant of Python gives another name, `Alias = Order`; `None` for a type, and for a constant that is set to
    /// something else.
    pub(super) fn type_of_alias(&self, type_name: &TypeName) -> Option<TypeName> {
        let mut alias = type_name.clone();
        for _ in 0..MOST_ALIASES {
            let structure = self.structures.structure_of(alias.file);
            let place = self.place_within(alias.file, &structure, alias.within);
            let is_type = !self.types_named(place.family, &alias.name).is_empty();
            if place.family != LanguageFamily::Python || is_type {
                break;
            }
            alias = self.aliased_type(&place, &alias)?;
        }
        let is_found = alias.name != type_name.name || alias.file != type_name.file;
        (is_found && !self.types_named(LanguageFamily::Python, &alias.name).is_empty()).then_some(alias)
    }

    fn aliased_type(&self, place: &UsePlace<'_>, alias: &TypeName) -> Option<TypeName> {
        let defined = self.defined_name(place, alias.module.as_deref(), &alias.name);
        let other = self.resolver_for(&defined);
        let place = UsePlace { written: &alias.name, ..*place };
        let (certainty, meant) = match &alias.module {
            Some(module) => other.resolve_in_modules(&place, module)?,
            None => other.resolve_without_receiver(&place),
        };
        let [only] = meant[..] else { return None };
        let structure = self.structures.structure_of(only.file);
        let declared = only.declared_in(&structure);
        let mut set = structure
            .values
            .iter()
            .filter(|value| value.enclosing_id() == declared.parent && structure.name(value.name) == defined);
        let value = set.next().filter(|value| !value.is_written && set.next().is_none())?;
        let path = structure.name(value.of);
        let is_type = certainty == Certainty::Exact
            && declared.role == DeclaredRole::Free
            && !path.contains(['(', '?']);
        let of_constant = place.in_file(only.file, &structure, declared.parent);
        is_type.then(|| TypeName { is_written: alias.is_written, ..self.written_type(&of_constant, path) })
    }

    /// Resolves a member behind `super()`: of the bases of the type around; `None` for another path, and if no base has it.
    pub(super) fn resolve_member_of_super(
        &self,
        place: &UsePlace<'_>,
        path: &str,
    ) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        if place.family != LanguageFamily::Python || path != SUPER {
            return None;
        }
        let around = self.enclosing_type(place)?;
        let mut of_bases =
            self.base_types(&around).into_iter().map(|base| self.members_of(&base, place.steps));
        let (is_certain, found) = of_bases.find(|(_, found)| !found.is_empty())?;
        Some((if is_certain { Certainty::Exact } else { Certainty::Likely }, found))
    }

    /// Returns the type of a property of Python, which its function returns.
    pub(super) fn type_of_property(
        &self,
        place: &UsePlace<'_>,
        type_name: &TypeName,
        name: &str,
    ) -> Option<TypeName> {
        if place.family != LanguageFamily::Python {
            return None;
        }
        let (is_certain, mut meant) = self.resolver_for(name).members_of(type_name, place.steps);
        meant.retain(|meant| {
            let structure = self.structures.structure_of(meant.file);
            decorators_of(&structure, meant.declared).any(|(name, _)| name.ends_with("property"))
        });
        let found = self.returned_type(place, &meant)?;
        Some(TypeName { is_written: found.is_written && type_name.is_written && is_certain, ..found })
    }

    /// Returns the type of the value that pytest passes for a parameter with the name of a fixture.
    pub(super) fn type_of_fixture(&self, place: &UsePlace<'_>, name: &str) -> Option<TypeName> {
        let takes_fixture = place.definitions_around().any(|around| {
            place.structure.uses.iter().any(|used| {
                used.receiver == UseReceiver::Fixture
                    && used.enclosing_id() == Some(around)
                    && place.structure.name(used.name) == name
            })
        });
        if !takes_fixture {
            return None;
        }
        let fixture_place = UsePlace { written: name, ..*place };
        let (certainty, meant) = self.resolver_for(name).resolve_fixture(&fixture_place);
        let found = (certainty <= Certainty::Likely).then(|| self.returned_type(place, &meant)).flatten()?;
        Some(TypeName { is_written: found.is_written && certainty == Certainty::Exact, ..found })
    }
}
