//! Resolves a use of a name to the definition that it means, as far as syntax and imports show.
//!
//! Pure: takes the structures of files, and returns definitions with a certainty. The rules are those of the languages, as
//! far as syntax shows them: scope, imports, packages, and the written types of values, fields and return values.

mod certainty;
mod declared_types;
mod infer_types;
mod module_files;
mod overloads;
mod packages;
mod path_index;
mod resolve_imports;
mod split_path;
#[cfg(test)]
mod tests;
mod use_place;
mod visibility;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use self::certainty::Certainty;
pub use self::overloads::has_overloads;
use self::overloads::is_constructor;
pub use self::packages::Packages;
pub use self::path_index::{FileNumber, PathIndex};
use memod_base::types::{
    DeclaredItem, DeclaredRole, FileStructure, ImportedName, NameUse, UseReceiver, UseRole, is_compound,
    is_version, last_part,
};

use self::infer_types::TypeName;
use self::use_place::{LanguageFamily, UsePlace};

/// Most aliases of one definition that are followed.
const MOST_ALIASES: usize = 16;

/// The structures of the files of a worktree.
pub trait StructureStore {
    /// Returns the structure of a file; empty where none is known.
    fn structure_of(&self, file: FileNumber) -> Arc<FileStructure>;
    /// Returns the definitions in all files that have the name `name`.
    fn definitions_named(&self, name: &str) -> Vec<DefinitionCandidate>;
    /// Resets the number of counted steps, for the next use.
    fn reset_steps(&self);
    /// Counts a step for the current use, and returns whether more steps are allowed. Without a limit, types that extend each
    /// other, or values that are set to each other, would take too long to follow.
    fn count_step(&self) -> bool;
}

/// A definition that a use may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DefinitionCandidate {
    /// The defining file.
    pub file: FileNumber,
    /// Index in the declarations of the file.
    pub declared: u32,
}

impl DefinitionCandidate {
    /// Returns the declaration in the structure of its file.
    pub fn declared_in(self, structure: &FileStructure) -> &DeclaredItem {
        &structure.declared[self.declared as usize]
    }
}

/// Resolves the uses of one name in a worktree.
pub struct Resolver<'a, S> {
    paths: &'a PathIndex,
    structures: &'a S,
    name: &'a str,
    candidates: Vec<(DefinitionCandidate, Arc<FileStructure>)>,
    /// Other names under which files export the name.
    aliases: Vec<String>,
    /// The definitions that each file imports without naming them, such as `use a::*`.
    wildcards: RefCell<HashMap<FileNumber, Vec<DefinitionCandidate>>>,
}

impl<'a, S: StructureStore> Resolver<'a, S> {
    /// Creates a resolver for the uses of `name`, which all `candidates` have.
    pub fn new(
        paths: &'a PathIndex,
        structures: &'a S,
        name: &'a str,
        candidates: &[DefinitionCandidate],
    ) -> Self {
        let candidates = candidates
            .iter()
            .map(|candidate| (*candidate, structures.structure_of(candidate.file)))
            .collect();
        Self { paths, structures, name, candidates, aliases: Vec::new(), wildcards: RefCell::default() }
    }

    /// Returns the uses in a file of the name and of its local aliases.
    pub fn find_uses<'s>(&'s self, structure: &'s FileStructure) -> impl Iterator<Item = &'s NameUse> {
        let aliases = self.aliases_in(structure).map(|import| import.local.as_str());
        let written: HashSet<&'s str> = aliases.chain([self.name]).collect();
        structure.uses.iter().filter(move |used| written.contains(structure.name(used.name)))
    }

    /// Adds the aliases under which a file imports the name, so that [`Self::find_uses`] finds them in other files; returns
    /// the new aliases.
    pub fn learn_aliases(&mut self, structure: &FileStructure) -> Vec<String> {
        let new = self.aliases_in(structure).map(|import| import.local.clone());
        let mut new: Vec<String> = new.filter(|name| !name.is_empty() && !self.is_known(name)).collect();
        new.sort_unstable();
        new.dedup();
        new.truncate(MOST_ALIASES.saturating_sub(self.aliases.len()));
        self.aliases.extend(new.iter().cloned());
        new
    }

    fn aliases_in<'s>(&'s self, structure: &'s FileStructure) -> impl Iterator<Item = &'s ImportedName> {
        structure.imports.iter().filter(|import| self.is_known(&import.name))
    }

    fn is_known(&self, name: &str) -> bool {
        name == self.name || self.aliases.iter().any(|alias| alias == name)
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
            is_call: used.role == UseRole::Call,
            steps: infer_types::MOST_STEPS,
        };
        let (certainty, mut found) = match used.receiver {
            UseReceiver::None => self.resolve_without_receiver(&place),
            UseReceiver::Own => self.resolve_own_member(&place),
            UseReceiver::Named(path) => self.resolve_with_receiver(&place, structure.name(path)),
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
        (certainty, found)
    }

    /// Resolves a name without a receiver: by scope, import, package, then wildcards.
    fn resolve_without_receiver(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        let visible = if place.written == self.name { self.find_in_scope(place) } else { Vec::new() };
        if !visible.is_empty() {
            return (Certainty::Exact, visible);
        }
        if place.structure.imports.iter().any(|import| import.local == place.written) {
            return (Certainty::Exact, self.resolve_imported(place, |import| import.local == place.written));
        }
        if place.written != self.name {
            return (Certainty::ByName, Vec::new());
        }
        if let Some(inherited) = self.resolve_inherited(place) {
            return inherited;
        }
        let mut of_package = self.visible_non_members(place);
        of_package.retain(|found| self.shares_package(place, found.file));
        if !of_package.is_empty() {
            return (Certainty::Exact, of_package);
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
                    self.candidates_of_family(place, |_, found| {
                        found.is_internal && found.role != DeclaredRole::Member
                    }),
                ),
                visible => only_by_name(visible, self.name),
            },
            _ => (Certainty::ByName, Vec::new()),
        }
    }

    /// Returns the innermost definitions of the file that a name in this place can mean.
    fn find_in_scope(&self, place: &UsePlace<'_>) -> Vec<DefinitionCandidate> {
        let around: Vec<u32> = place.definitions_around().collect();
        let holders = around.iter().copied().map(Some).chain([None]);
        for holder in holders {
            let own_file = self.candidates.iter().filter(|(candidate, _)| candidate.file == place.file);
            let found = own_file.filter(|(candidate, structure)| {
                let declared = candidate.declared_in(structure);
                // A name that is not called means a field, not a method.
                let is_called = place.is_call || declared.arity.is_none();
                let is_visible = declared.role != DeclaredRole::Member
                    || place.family.has_implicit_self() && !is_constructor(structure, declared) && is_called;
                is_visible && declared.parent == holder
            });
            let found: Vec<DefinitionCandidate> = found.map(|(candidate, _)| *candidate).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
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

    /// Resolves a member of the enclosing type.
    fn resolve_own_member(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        let Some(around) = Self::enclosing_type(place) else {
            return only_by_name(self.all_members(place), self.name);
        };
        let own = self.candidates_of_family(place, |_, found| {
            found.role == DeclaredRole::Member && last_part(found.owner_title()) == around.name
        });
        let same_file: Vec<DefinitionCandidate> =
            own.iter().filter(|found| found.file == place.file).copied().collect();
        if !same_file.is_empty() {
            return (Certainty::Exact, same_file);
        }
        // Otherwise the member may be of a base, which may be in another library.
        self.resolve_in_type(&around, place.steps)
            .unwrap_or_else(|| only_by_name(self.all_members(place), self.name))
    }

    /// Resolves a member of a type or of its bases; `None` if no such member is known.
    fn resolve_in_type(
        &self,
        type_name: &TypeName,
        steps: u32,
    ) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        let (is_certain, found) = self.members_of(type_name, steps);
        let certainty = match found.len() {
            0 => return None,
            _ if is_certain => Certainty::Exact,
            1 => Certainty::Likely,
            _ => Certainty::ByName,
        };
        Some((certainty, found))
    }

    /// Resolves a name without a receiver to a member of the bases of the enclosing types.
    fn resolve_inherited(&self, place: &UsePlace<'_>) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        if !place.family.has_implicit_self() || !place.is_call {
            return None;
        }
        let types = place
            .definitions_around()
            .filter(|id| place.structure.declared[*id as usize].role == DeclaredRole::Type)
            .map(Some);
        let mut around = std::iter::once(place.within).chain(types);
        let (certainty, mut found) = around.find_map(|within| {
            self.resolve_in_type(&Self::enclosing_type(&UsePlace { within, ..*place })?, place.steps)
        })?;
        found.retain(|found| {
            let structure = self.structures.structure_of(found.file);
            !is_constructor(&structure, found.declared_in(&structure))
        });
        (!found.is_empty()).then_some((certainty, found))
    }

    /// Resolves a name whose receiver is the path of a module, a type or a value.
    fn resolve_with_receiver(
        &self,
        place: &UsePlace<'_>,
        path: &str,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        if place.family == LanguageFamily::JavaScript && matches!(path, "exports" | "module.exports") {
            return self.resolve_without_receiver(place);
        }
        if let Some(type_name) = self.infer_type(place, path) {
            return self.resolve_typed_value(place, &type_name);
        }
        if self.is_call_on_value(place, path) {
            return self.resolve_untyped_value(place);
        }
        let type_name = last_part(path).trim_end_matches(['(', ')', '?']);
        let of_type = self.candidates_of_family(place, |_, found| {
            found.role == DeclaredRole::Member && last_part(found.owner_title()) == type_name
        });
        let seen: Vec<DefinitionCandidate> =
            of_type.iter().filter(|found| self.sees_type(place, found.file, type_name)).copied().collect();
        if !seen.is_empty() {
            return (Certainty::Exact, seen);
        }
        if let Some(found) = self.resolve_in_modules(place, path) {
            return found;
        }
        match of_type.len() {
            0 => {}
            1 => return (Certainty::Likely, of_type),
            _ => return (Certainty::ByName, of_type),
        }
        // The path names a type of another library.
        let is_type = type_name.starts_with(char::is_uppercase) && place.family != LanguageFamily::Go;
        if is_type { (Certainty::ByName, Vec::new()) } else { self.resolve_untyped_value(place) }
    }

    /// Returns whether a path of Go ends in a call of a value's member, as in `mill.Hook()`, which does not mean a type `Hook`.
    /// `a.Hook()` with a package `a` is a conversion.
    fn is_call_on_value(&self, place: &UsePlace<'_>, path: &str) -> bool {
        let member = path.strip_suffix("()").and_then(|called| called.rsplit_once('.'));
        place.family == LanguageFamily::Go
            && member.is_some_and(|(value, _)| self.files_of_module_path(place, value).is_none())
    }

    /// Resolves a name in the module that a path means; `None` if the path means no module that is known to have the name.
    fn resolve_in_modules(
        &self,
        place: &UsePlace<'_>,
        path: &str,
    ) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        let modules = self.files_of_module_path(place, path)?;
        let from = modules.iter().map(|module| (*module, self.name.to_owned()));
        let found = self.retain_visible(place, self.resolve_exported(from.collect()));
        let is_of_another_library = modules.is_empty();
        let is_known = !found.is_empty() || is_of_another_library || !place.family.has_types_as_modules();
        is_known.then_some((Certainty::Exact, found))
    }

    /// Resolves a member of a value whose type the text shows.
    fn resolve_typed_value(
        &self,
        place: &UsePlace<'_>,
        type_name: &TypeName,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        if type_name.is_wrapped {
            return (Certainty::Exact, Vec::new());
        }
        let (is_certain, found) = self.members_of(type_name, place.steps);
        match (found.len(), is_certain) {
            (1.., true) => (if type_name.is_written { Certainty::Exact } else { Certainty::Likely }, found),
            (1, false) => (Certainty::Likely, found),
            (2.., false) => (Certainty::ByName, found),
            (0, _) if self.is_of_another_library(type_name) => (Certainty::Exact, Vec::new()),
            // The type is a type parameter, or the member is of an interface or of a base in another library.
            (0, _) if type_name.name.len() == 1 || self.has_type(&type_name.name) => {
                self.resolve_untyped_value(place)
            }
            (0, _) => (Certainty::Exact, Vec::new()),
        }
    }

    fn has_type(&self, name: &str) -> bool {
        self.structures.definitions_named(name).iter().any(|candidate| {
            let structure = self.structures.structure_of(candidate.file);
            candidate.declared_in(&structure).role == DeclaredRole::Type
        })
    }

    /// Resolves a member of a value whose type is not known.
    fn resolve_untyped_value(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        match place.family {
            // Any object may have a method of any name.
            LanguageFamily::JavaScript => (Certainty::ByName, self.all_members(place)),
            // The name may be a field, which is no definition here.
            LanguageFamily::Go | LanguageFamily::Rust if !place.is_call => {
                (Certainty::ByName, self.all_members(place))
            }
            _ => only_by_name(self.all_members(place), self.name),
        }
    }

    fn all_members(&self, place: &UsePlace<'_>) -> Vec<DefinitionCandidate> {
        self.candidates_of_family(place, |_, found| found.role == DeclaredRole::Member)
    }

    /// Returns the files of the module that a path means in this place: none for a module of another library; `None` if the
    /// path means no module.
    fn files_of_module_path(&self, place: &UsePlace<'_>, path: &str) -> Option<Vec<FileNumber>> {
        let is_type = place.family == LanguageFamily::Rust && last_part(path).starts_with(char::is_uppercase);
        if is_type || path.contains("()") {
            return None;
        }
        let (first, rest) = path.split_once('.').map_or((path, ""), |(first, rest)| (first, rest));
        let whole = place.structure.imports.iter().find(|import| import.local == path);
        if let Some(import) =
            whole.or_else(|| place.structure.imports.iter().find(|import| import.local == first))
        {
            let is_whole = import.local == path;
            let mut module = import.full_module();
            if !is_whole && !rest.is_empty() {
                module = format!("{module}{}{rest}", place.family.separator());
            }
            let mut files = self.find_module_files(place.family, &module, place.file);
            if files.is_empty() && import.name.is_empty() {
                files = self.find_module_files(place.family, &import.module, place.file);
            }
            let is_external = self.find_module_files(place.family, &import.module, place.file).is_empty();
            return (!files.is_empty() || is_external).then_some(files);
        }
        if place.family != LanguageFamily::Rust {
            return None;
        }
        let files = self.find_module_files(place.family, &path.replace('.', "::"), place.file);
        (!files.is_empty()).then_some(files)
    }

    fn candidates_of_family(
        &self,
        place: &UsePlace<'_>,
        is_it: impl Fn(&DefinitionCandidate, &DeclaredItem) -> bool,
    ) -> Vec<DefinitionCandidate> {
        let all = self.candidates.iter().filter(|(candidate, structure)| {
            LanguageFamily::from_path(self.paths.path_of(candidate.file)) == place.family
                && is_it(candidate, candidate.declared_in(structure))
        });
        all.map(|(candidate, _)| *candidate).collect()
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

/// Returns candidates of which only the name is known, with their certainty. Names of one word, such as `get` and `close`,
/// occur in other libraries too.
fn only_by_name(found: Vec<DefinitionCandidate>, name: &str) -> (Certainty, Vec<DefinitionCandidate>) {
    let is_rare = is_compound(name);
    let certainty = if found.len() == 1 && is_rare { Certainty::Likely } else { Certainty::ByName };
    (certainty, found)
}
