//! Follows what JavaScript exports and imports from file to file.

use std::collections::HashSet;

use memod_base::types::{
    DeclaredItem, DeclaredRole, FileStructure, ImportedName, NameUse, UseReceiver, last_part,
};

use super::infer_types::TypeName;
use super::path_index::{FileNumber, PathIndex};
use super::use_place::{LanguageFamily, UsePlace};
use super::{Certainty, DefinitionCandidate, Resolver, StructureStore};

/// Most files that are followed from one import.
const MOST_EXPORTS: usize = 512;

/// The name of an export that has no name of its own.
pub(super) const DEFAULT: &str = "default";

/// A value that a file exports under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Exported {
    /// The definition `.1` of the file `.0`.
    Definition(FileNumber, String),
    /// The exports of a file as one value: a namespace, or what `module.exports` is.
    Module(FileNumber),
    /// The members of the object that a file exports as `default`.
    DefaultObject(FileNumber),
}

/// The files of a worktree, to follow exports in.
pub(super) struct Exports<'a> {
    pub(super) paths: &'a PathIndex,
    pub(super) structures: &'a dyn StructureStore,
}

impl Exports<'_> {
    /// Returns what files export under names; an empty name means the whole module.
    pub(super) fn follow_exports(&self, mut open: Vec<(FileNumber, String)>) -> Vec<Exported> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        while let Some((file, name)) = open.pop() {
            if seen.len() >= MOST_EXPORTS || !seen.insert((file, name.clone())) {
                continue;
            }
            let structure = self.structures.structure_of(file);
            let explicit = locals_exported(&structure, &name);
            match name.as_str() {
                "" => found.push(Exported::Module(file)),
                DEFAULT if explicit.is_empty() => {
                    // A module of CommonJS is its own default.
                    let whole = locals_exported(&structure, "");
                    found.push(Exported::Module(file));
                    whole
                        .iter()
                        .for_each(|local| self.follow_local(file, &structure, local, &mut open, &mut found));
                    continue;
                }
                DEFAULT if structure.exports.iter().any(|export| export.name.starts_with("default.")) => {
                    found.push(Exported::DefaultObject(file));
                }
                _ => {}
            }
            let is_plain = explicit.is_empty() && !name.is_empty() && !name.starts_with("default.");
            for local in explicit.iter().copied().chain(is_plain.then_some(name.as_str())) {
                self.follow_local(file, &structure, local, &mut open, &mut found);
            }
        }
        found
    }

    /// Follows a name inside of a file: to its definition, to its import, or to a module whose exports the file exports again.
    fn follow_local(
        &self,
        file: FileNumber,
        structure: &FileStructure,
        local: &str,
        open: &mut Vec<(FileNumber, String)>,
        found: &mut Vec<Exported>,
    ) {
        if is_declared(structure, local) {
            found.push(Exported::Definition(file, local.to_owned()));
            return;
        }
        let imports = structure.imports_binding(local, None);
        if !imports.is_empty() {
            open.extend(imports.iter().flat_map(|import| self.targets_of(file, import)));
            return;
        }
        let n_before = open.len();
        for import in structure.imports.iter().filter(|import| import.local.is_empty()) {
            let files = self.files_of(file, import).into_iter();
            open.extend(files.map(|module| (module, local.to_owned())));
        }
        if open.len() == n_before {
            found.push(Exported::Definition(file, local.to_owned()));
        }
    }

    /// Returns the files and names that an import means; none if its module is of another library.
    pub(super) fn targets_of(&self, from: FileNumber, import: &ImportedName) -> Vec<(FileNumber, String)> {
        let files = self.files_of(from, import).into_iter();
        files.map(|file| (file, import.name.clone())).collect()
    }

    fn files_of(&self, from: FileNumber, import: &ImportedName) -> Vec<FileNumber> {
        let mut files = self.paths.find_module_files(LanguageFamily::JavaScript, &import.module, from);
        files.retain(|file| {
            LanguageFamily::from_path(self.paths.path_of(*file)) == LanguageFamily::JavaScript
        });
        files
    }

    /// Returns the modules that a path of names means in a place: none for a module of another library; `None` if the path means
    /// no module.
    pub(super) fn modules_of_path(
        &self,
        (file, structure, line): (FileNumber, &FileStructure, Option<u32>),
        path: &str,
    ) -> Option<Vec<Exported>> {
        let mut parts = path.split('.');
        let imports = structure.imports_binding(parts.next().unwrap_or_default(), line);
        if imports.is_empty() {
            return None;
        }
        let targets: Vec<_> = imports.iter().flat_map(|import| self.targets_of(file, import)).collect();
        if targets.is_empty() {
            return Some(Vec::new());
        }
        let mut modules = self.follow_exports(targets);
        for part in parts {
            modules = self.members_of(&modules, part);
        }
        modules.retain(|module| !matches!(module, Exported::Definition(..)));
        (!modules.is_empty()).then_some(modules)
    }

    /// Returns what a member of modules means.
    pub(super) fn members_of(&self, modules: &[Exported], member: &str) -> Vec<Exported> {
        let open = modules.iter().filter_map(|module| match module {
            Exported::Module(file) => Some((*file, member.to_owned())),
            Exported::DefaultObject(file) => Some((*file, format!("default.{member}"))),
            Exported::Definition(..) => None,
        });
        self.follow_exports(open.collect())
    }
}

impl Resolver<'_> {
    /// Returns the name that the definition has which a use means, if the use is of a name that is imported or a member of a module;
    /// `None` in other languages, and for other uses.
    pub fn find_defined_name(
        paths: &PathIndex,
        structures: &dyn StructureStore,
        file: FileNumber,
        structure: &FileStructure,
        used: &NameUse,
    ) -> Option<String> {
        if LanguageFamily::from_path(paths.path_of(file)) != LanguageFamily::JavaScript {
            return None;
        }
        let exports = Exports { paths, structures };
        let (written, line) = (structure.name(used.name), Some(used.line));
        let found = match used.receiver {
            UseReceiver::None | UseReceiver::Import => {
                let imports = structure.imports_binding(written, line);
                exports.follow_exports(
                    imports.iter().flat_map(|import| exports.targets_of(file, import)).collect(),
                )
            }
            UseReceiver::Named(path) => {
                let modules = exports.modules_of_path((file, structure, line), structure.name(path))?;
                exports.members_of(&modules, written)
            }
            _ => return None,
        };
        found.into_iter().find_map(|found| match found {
            Exported::Definition(_, local) => Some(local),
            _ => None,
        })
    }

    pub(super) fn file_exports(&self) -> Exports<'_> {
        Exports { paths: self.paths, structures: self.structures }
    }

    /// Returns the candidates among what files export.
    pub(super) fn candidates_exported(&self, exported: &[Exported]) -> Vec<DefinitionCandidate> {
        let mut found: Vec<DefinitionCandidate> = Vec::new();
        for one in exported {
            let Exported::Definition(file, local) = one else { continue };
            if local != self.name {
                continue;
            }
            let own = self.candidates.in_file(*file).filter(|(candidate, structure)| {
                is_reachable(structure, candidate.declared_in(structure), self.name)
            });
            found.extend(own.map(|(candidate, _)| *candidate));
        }
        found.sort_unstable_by_key(|found| (found.file, found.declared));
        found.dedup();
        found
    }

    /// Resolves a member of a module of JavaScript; `None` if the path means no module, or nothing is known of the member.
    pub(super) fn resolve_module_member(
        &self,
        place: &UsePlace<'_>,
        path: &str,
    ) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        let exports = self.file_exports();
        let modules = exports.modules_of_path((place.file, place.structure, place.line), path)?;
        let members = exports.members_of(&modules, place.written);
        let found = self.candidates_exported(&members);
        let is_known = !found.is_empty() || modules.is_empty() || self.is_declared_elsewhere(&members);
        is_known.then_some((Certainty::Exact, found))
    }

    /// Returns whether members of modules are definitions that are known, and so not the wanted one.
    fn is_declared_elsewhere(&self, members: &[Exported]) -> bool {
        members.iter().any(|member| match member {
            Exported::Definition(file, local) => is_declared(&self.structures.structure_of(*file), local),
            _ => false,
        })
    }

    /// Resolves a member of a class, or of a function with members, that is imported under any name.
    pub(super) fn resolve_member_of_import(
        &self,
        place: &UsePlace<'_>,
        path: &str,
    ) -> Vec<DefinitionCandidate> {
        let owners = self.follow_in_place(place, None, path);
        self.candidates_of_family(place, |candidate, declared| {
            declared.role == DeclaredRole::Member
                && owners.iter().any(|owner| match owner {
                    Exported::Definition(file, local) => {
                        *file == candidate.file && last_part(declared.owner_title()) == local
                    }
                    _ => false,
                })
        })
    }

    /// Returns the name that a definition has in its file, given the name by which a place imports it, alone or as a member of a
    /// module; the same name in other languages, and for what is not imported.
    pub(super) fn defined_name(&self, place: &UsePlace<'_>, module: Option<&str>, written: &str) -> String {
        if place.family == LanguageFamily::Python && module.is_none() {
            let imports = place.structure.imports_binding(written, place.line);
            let renamed = imports.iter().find(|import| !import.name.is_empty());
            return renamed.map_or(written, |import| &import.name).to_owned();
        }
        let defined =
            self.follow_in_place(place, module, written).into_iter().find_map(|found| match found {
                Exported::Definition(_, local) => Some(local),
                _ => None,
            });
        defined.unwrap_or_else(|| written.to_owned())
    }

    /// Returns a type of JavaScript or Python by its name in the file that declares it; `None` if the type is not imported.
    pub(super) fn imported_type(&self, type_name: &TypeName) -> Option<TypeName> {
        let structure = self.structures.structure_of(type_name.file);
        let place = self.place_within(type_name.file, &structure, type_name.within);
        if place.family == LanguageFamily::Python {
            return self.imported_python_type(type_name);
        }
        let found = self.follow_in_place(&place, type_name.module.as_deref(), &type_name.name);
        found.into_iter().find_map(|found| match found {
            Exported::Definition(file, name) if (file, &name) != (type_name.file, &type_name.name) => {
                Some(TypeName { name, file, module: None, within: None, declared: None, ..type_name.clone() })
            }
            _ => None,
        })
    }

    /// Returns whether a place of JavaScript or Python imports a type from another library.
    pub(super) fn imports_from_another_library(&self, type_name: &TypeName) -> bool {
        let structure = self.structures.structure_of(type_name.file);
        let place = self.place_within(type_name.file, &structure, type_name.within);
        let imports = structure.imports_binding(&type_name.name, place.line);
        let exports = self.file_exports();
        if place.family == LanguageFamily::Python {
            return self.imports_python_type_from_elsewhere(type_name);
        }
        place.family == LanguageFamily::JavaScript
            && type_name.module.is_none()
            && !imports.is_empty()
            && imports.iter().all(|import| exports.targets_of(type_name.file, import).is_empty())
    }

    pub(super) fn follow_in_place(
        &self,
        place: &UsePlace<'_>,
        module: Option<&str>,
        written: &str,
    ) -> Vec<Exported> {
        if place.family != LanguageFamily::JavaScript {
            return Vec::new();
        }
        let exports = self.file_exports();
        if let Some(module) = module {
            let around = (place.file, place.structure, place.line);
            let modules = exports.modules_of_path(around, module);
            return modules.map_or_else(Vec::new, |modules| exports.members_of(&modules, written));
        }
        let imports = place.structure.imports_binding(written, place.line);
        exports.follow_exports(
            imports.iter().flat_map(|import| exports.targets_of(place.file, import)).collect(),
        )
    }

    /// Returns whether the name of a type in a place is imported from the file that declares it.
    pub(super) fn imports_type_of(&self, place: &UsePlace<'_>, file: FileNumber, type_name: &str) -> bool {
        let found = self.follow_in_place(place, None, type_name);
        found.iter().any(|found| matches!(found, Exported::Definition(own, _) if *own == file))
    }
}

/// Returns the names inside of a file that it exports under a name, by statements that say so.
fn locals_exported<'s>(structure: &'s FileStructure, name: &str) -> Vec<&'s str> {
    let exports = structure.exports.iter().filter(|export| export.name == name);
    exports.map(|export| export.local.as_str()).collect()
}

/// Returns whether a file defines a name at its top or in a namespace, or exports the method of that name of an object.
fn is_declared(structure: &FileStructure, name: &str) -> bool {
    let mut declared = structure.declared.iter();
    declared.any(|declared| {
        declared.own_names().any(|own| own == name) && is_reachable(structure, declared, name)
    })
}

/// Returns whether a definition can be exported as `name`: it is no member, unless of an exported object, and inside of no
/// function.
fn is_reachable(structure: &FileStructure, declared: &DeclaredItem, name: &str) -> bool {
    let is_exported = || structure.exports.iter().any(|export| export.local == name);
    let mut around = structure.enclosing_items(declared.parent);
    let is_inside = around.any(|around| {
        let is_object = around.role == DeclaredRole::Free && around.names == DEFAULT;
        matches!(around.role, DeclaredRole::Free | DeclaredRole::Member) && !(is_object && is_exported())
    });
    !is_inside && (!declared.role.is_member() || is_exported())
}
