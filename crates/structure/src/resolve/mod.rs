//! Resolves a use of a name to the definition that it means, as far as syntax and imports show.
//!
//! Pure: takes the structures of files, and returns definitions with a certainty. The rules are those of the languages, as
//! far as syntax shows them: scope, imports, packages, and the written types of values, fields and return values.

mod candidate_kind;
mod candidate_set;
mod certainty;
mod component_names;
mod cpp_types;
mod declared_names;
mod declared_types;
mod element_types;
mod fixtures;
mod infer_types;
mod javascript;
mod javascript_exports;
mod known_aliases;
mod learn_aliases;
mod module_files;
mod name_alone;
mod object_members;
mod overloads;
mod packages;
mod path_index;
mod python_types;
mod resolve_imports;
mod resolve_receiver;
mod rust_types;
mod split_path;
mod structure_store;
#[cfg(test)]
mod tests;
mod type_keys;
mod use_place;
mod visibility;

use std::rc::Rc;

pub use self::candidate_set::ResolutionCache;
pub use self::certainty::Certainty;
pub use self::component_names::hyphenated_tag;
pub use self::fixtures::list_decorators;
pub use self::known_aliases::LearnedAliases;
pub use self::overloads::has_overloads;
use self::overloads::is_constructor;
pub use self::packages::Packages;
pub use self::path_index::{FileNumber, PathIndex};
pub use self::structure_store::{DefinitionCandidate, StructureStore};
use memod_base::types::{
    DeclaredItem, DeclaredRole, FileStructure, ImportedName, NameUse, UseReceiver, UseRole, is_version,
    last_part,
};

use self::candidate_set::CandidateSet;
use self::known_aliases::KnownAliases;
pub(crate) use self::use_place::LanguageFamily;
use self::use_place::UsePlace;

/// Returns whether the uses in a file with this path are known.
pub fn reads_uses(path: &str) -> bool {
    LanguageFamily::from_path(path) != LanguageFamily::Other
}

/// Returns whether the code of two files can use each other's definitions: files of one language, or of languages that are compiled
/// together.
pub fn shares_language(one: &str, other: &str) -> bool {
    let (one, other) = (LanguageFamily::from_path(one), LanguageFamily::from_path(other));
    one.sees_family(other) || other.sees_family(one)
}

/// Resolves the uses of one name in a worktree.
pub struct Resolver<'a> {
    paths: &'a PathIndex,
    structures: &'a dyn StructureStore,
    name: &'a str,
    candidates: Rc<CandidateSet>,
    aliases: KnownAliases,
}

impl<'a> Resolver<'a> {
    /// Creates a resolver for the uses of `name`, which all `candidates` have.
    pub fn new(
        paths: &'a PathIndex,
        structures: &'a dyn StructureStore,
        name: &'a str,
        candidates: &[DefinitionCandidate],
    ) -> Self {
        let candidates = Rc::new(CandidateSet::new(paths, structures, candidates));
        Self { paths, structures, name, candidates, aliases: KnownAliases::default() }
    }

    /// Creates a resolver for the uses of `name` that knows all definitions of the name.
    pub fn with_all_definitions(
        paths: &'a PathIndex,
        structures: &'a dyn StructureStore,
        name: &'a str,
    ) -> Self {
        let candidates = structures.resolution_cache().find_set(paths, structures, name);
        Self { paths, structures, name, candidates, aliases: KnownAliases::default() }
    }

    /// Returns the definitions that a use in `file` may mean, all with one certainty; none if it means another definition.
    pub fn resolve_use(
        &self,
        file: FileNumber,
        structure: &FileStructure,
        used: &NameUse,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        if used.role == UseRole::Call
            && let Some(without_types) = self.without_types(self.paths.path_of(file))
        {
            return without_types.resolve_use(file, structure, used);
        }
        if let Some(of_kind) = self.with_kind_of_use(self.paths.path_of(file), used.role) {
            return of_kind.resolve_use(file, structure, used);
        }
        self.structures.reset_steps();
        let Some(n_arguments) = used.n_arguments else {
            return self.resolve_any_arity(file, structure, used);
        };
        let Some(taking) = self.with_arity(n_arguments) else {
            return self.with_constructors(self.resolve_any_arity(file, structure, used), n_arguments);
        };
        let resolved = taking.resolve_any_arity(file, structure, used);
        if !resolved.1.is_empty() {
            return self.with_constructors(resolved, n_arguments);
        }
        // No definition takes this number of arguments. An exact result is still right if a macro expands to several
        // arguments, but a call in Java then means an overload that is inherited from another library.
        let (certainty, found) = self.resolve_any_arity(file, structure, used);
        let is_kept = certainty == Certainty::Exact
            && LanguageFamily::from_path(self.paths.path_of(file)) != LanguageFamily::Java;
        (certainty, if is_kept { found } else { Vec::new() })
    }

    fn resolve_any_arity(
        &self,
        file: FileNumber,
        structure: &FileStructure,
        used: &NameUse,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        let family = LanguageFamily::from_path(self.paths.path_of(file));
        let written = structure.name(used.name);
        let place = UsePlace {
            file,
            structure,
            family,
            written,
            within: used.enclosing_id(),
            line: Some(used.line),
            is_call: used.role == UseRole::Call,
            steps: infer_types::MOST_STEPS,
        };
        let (certainty, mut found) = match used.receiver {
            receiver if family.is_by_name() => self.resolve_name_alone(&place, receiver),
            UseReceiver::None if family.is_declarative() => self.resolve_declared_name(&place, ""),
            UseReceiver::Named(path) if family.is_declarative() => {
                self.resolve_declared_name(&place, structure.name(path))
            }
            _ if place.has_private_name() => (Certainty::Exact, self.resolve_private_name(&place)),
            UseReceiver::None => self.resolve_without_receiver(&place),
            UseReceiver::Own => self.resolve_own_member(&place),
            UseReceiver::Named(path) => self.resolve_with_receiver(&place, structure.name(path)),
            UseReceiver::Fixture => self.resolve_fixture(&place),
            UseReceiver::Other => self.resolve_untyped_value(&place),
            UseReceiver::Import => {
                let before = structure.imports.iter();
                let before =
                    before.filter(|import| imports_name(import, written) && import.line <= used.line);
                let line = before.map(|import| import.line).max();
                let found = self.resolve_imported(&place, |import| {
                    imports_name(import, written) && Some(import.line) == line
                });
                (Certainty::Exact, found)
            }
        };
        found.dedup();
        if certainty == Certainty::ByName && is_key_of_created(family, structure, used) {
            found.clear();
        }
        (certainty, found)
    }

    /// Resolves a name without a receiver: by scope, import, package, then wildcards.
    fn resolve_without_receiver(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        let visible = if place.written == self.name { self.find_in_scope(place) } else { Vec::new() };
        if !visible.is_empty() {
            return (Certainty::Exact, visible);
        }
        let imports = place.structure.imports_binding(place.written, place.line);
        if !imports.is_empty() {
            let is_bound = |import: &ImportedName| imports.iter().any(|bound| std::ptr::eq(*bound, import));
            let found = self.resolve_imported(place, is_bound);
            // The import may name a module that is a part of a file.
            let meant = if found.len() == 1 { None } else { self.meant_items(place, place.written) };
            return (Certainty::Exact, meant.unwrap_or(found));
        }
        if place.written != self.name {
            return (Certainty::ByName, Vec::new());
        }
        // In a component, text outside of all definitions is its template.
        if place.within == Some(0) {
            let of_options = self.find_in_options(place, true);
            if !of_options.is_empty() {
                return (Certainty::Exact, of_options);
            }
        }
        if let Some(inherited) = self.resolve_inherited(place) {
            return inherited;
        }
        let mut of_package = self.visible_non_members(place);
        of_package.retain(|found| {
            let structure = self.structures.structure_of(found.file);
            let is_nested = structure
                .enclosing_items(found.declared_in(&structure).parent)
                .any(|around| around.role == DeclaredRole::Type);
            !is_nested && self.shares_package(place, found.file)
        });
        if !of_package.is_empty() {
            return (Certainty::Exact, of_package);
        }
        if let Some(found) = self.meant_items(place, place.written) {
            return (Certainty::Exact, found);
        }
        let wildcards = self.resolve_wildcards(place);
        if !wildcards.is_empty() {
            return (Certainty::Exact, wildcards);
        }
        match place.family {
            // The linker knows only one function of a name, wherever it is declared.
            LanguageFamily::C => match self.visible_non_members(place) {
                // A third file may include both this file and the file with the `static` definition.
                none if none.is_empty() => (
                    Certainty::ByName,
                    self.candidates_of_family(place, |_, found| found.is_internal && !found.role.is_member()),
                ),
                visible => (Certainty::from_name_alone(visible.len(), self.name), visible),
            },
            LanguageFamily::JavaScript => self.find_registered(place),
            _ => (Certainty::ByName, Vec::new()),
        }
    }

    /// Returns the innermost definitions of the file that a name in this place can mean.
    fn find_in_scope(&self, place: &UsePlace<'_>) -> Vec<DefinitionCandidate> {
        let around: Vec<u32> = place.definitions_around().collect();
        let holders = around.iter().copied().map(Some).chain([None]);
        for holder in holders {
            let is_hidden = self.is_import_nearer(place, holder);
            let found = self.candidates.in_file(place.file).filter(|(candidate, structure)| {
                let declared = candidate.declared_in(structure);
                // A name that is not called means a field, not a method.
                let is_called =
                    place.is_call || declared.arity.is_none() || declared.role == DeclaredRole::Field;
                // In Python, the body of a class sees the names that it sets.
                let is_in_body = place.family == LanguageFamily::Python && place.within == holder;
                let is_visible = !declared.role.is_member()
                    || is_in_body
                    || place.family.has_implicit_self() && !is_constructor(structure, declared) && is_called;
                is_visible && !is_hidden && declared.parent == holder
            });
            let found: Vec<DefinitionCandidate> = found.map(|(candidate, _)| *candidate).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Returns whether an import hides the definitions in `holder`, or at the top of the file: in `Button.vue`, `import { Button } from 'a'`
    /// hides the component, and an import in a function hides what is defined around the function.
    fn is_import_nearer(&self, place: &UsePlace<'_>, holder: Option<u32>) -> bool {
        let imports = place.structure.imports_binding(place.written, place.line);
        let is_inside = |(first, last): (u32, u32)| match place.structure.find_item(holder) {
            Some(holder) => {
                holder.lines != (first, last) && holder.lines.0 <= first && last <= holder.lines.1
            }
            None => true,
        };
        let mut scopes = imports.iter().filter_map(|import| import.scope_lines);
        scopes.any(is_inside) || holder.is_none() && !imports.is_empty() && self.is_component(place.file)
    }

    /// Returns the files of the module that the text of `from` names; none if the module is of another library.
    fn find_module_files(&self, family: LanguageFamily, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let mut files = self.paths.find_module_files(family, module, from);
        files.retain(|file| LanguageFamily::from_path(self.paths.path_of(*file)) == family);
        if family == LanguageFamily::Go && self.paths.packages.go_module(module).is_none() {
            // Only the end of an import path was compared with directories, and the path of another library may have the same
            // end.
            files.retain(|file| is_package_of(module, &self.structures.structure_of(*file).package));
        }
        files
    }

    fn candidates_of_family(
        &self,
        place: &UsePlace<'_>,
        is_it: impl Fn(&DefinitionCandidate, &DeclaredItem) -> bool,
    ) -> Vec<DefinitionCandidate> {
        let all = self.candidates.all.iter().zip(&self.candidates.families).filter(
            |((candidate, structure), family)| {
                place.family.sees_family(**family) && is_it(candidate, candidate.declared_in(structure))
            },
        );
        all.map(|((candidate, _), _)| *candidate).collect()
    }
}

/// Returns whether an import path may mean the files of a package of Go: `gopkg.in/yaml.v3` and `x/go-foo/v2` mean `yaml` and
/// `foo`.
fn is_package_of(module: &str, package: &str) -> bool {
    let last = module.rsplit('/').find(|part| !is_version(part)).unwrap_or(module);
    last.contains(package) || package.contains(last)
}

/// Returns whether an import binds a name, or imports a definition of that name under another name.
fn imports_name(import: &ImportedName, name: &str) -> bool {
    import.name == name || import.local == name
}

/// Returns whether a use is a keyword in the call of a type of Python. A type that is known to have no such field takes another
/// argument of that name.
fn is_key_of_created(family: LanguageFamily, structure: &FileStructure, used: &NameUse) -> bool {
    let UseReceiver::Named(path) = used.receiver else { return false };
    let created = structure.name(path).strip_suffix("()").map(last_part);
    family == LanguageFamily::Python
        && used.role == UseRole::Field
        && created.is_some_and(|of_type| of_type.starts_with(char::is_uppercase))
}
