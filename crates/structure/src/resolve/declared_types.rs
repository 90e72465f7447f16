//! Finds the declarations of a type, the files of its module, and its bases.

use std::collections::HashSet;

use memod_base::types::{DeclaredRole, FileStructure, UseReceiver};

use super::infer_types::{MOST_STEPS, TypeName};
use super::use_place::{LanguageFamily, UsePlace};
use super::{DefinitionCandidate, FileNumber, Resolver};

impl Resolver<'_> {
    /// Returns the declarations of a type: those that the name means in its place, or otherwise the only type with that name.
    pub(super) fn find_type_declarations(&self, type_name: &TypeName) -> Vec<DefinitionCandidate> {
        if let Some(meant) = self.known_types(type_name) {
            return meant;
        }
        if let Some(alias) = self.type_of_alias(type_name) {
            return self.find_type_declarations(&alias);
        }
        let named = self.types_with_name(type_name);
        if LanguageFamily::from_path(self.paths.path_of(type_name.file)).is_by_name() {
            return self.nearest_candidates(named, type_name.file);
        }
        let seen = self.visible_types(type_name, &named);
        match seen.is_empty() {
            true if named.len() > 1 || type_name.module.is_some() => Vec::new(),
            true => named,
            false => seen,
        }
    }

    /// Returns the declared types with the name of `type_name`, in files of the same language family.
    pub(super) fn types_with_name(&self, type_name: &TypeName) -> Vec<DefinitionCandidate> {
        self.types_named(LanguageFamily::from_path(self.paths.path_of(type_name.file)), &type_name.name)
    }

    /// Returns the candidates in files whose type the name of `type_name` can mean in its place.
    pub(super) fn visible_types(
        &self,
        type_name: &TypeName,
        candidates: &[DefinitionCandidate],
    ) -> Vec<DefinitionCandidate> {
        if candidates.is_empty() {
            return Vec::new();
        }
        let structure = self.structures.structure_of(type_name.file);
        let place = self.place_within(type_name.file, &structure, type_name.within);
        let files = self.files_declaring_type(type_name, &place);
        let visible = candidates.iter().filter(|found| match &files {
            Some(files) => files.contains(&found.file),
            // In Go and Python, the text names the module of a type unless the type is imported by name.
            None if matches!(place.family, LanguageFamily::Go | LanguageFamily::Python) => {
                self.sees_unqualified_type(&place, found.file, &type_name.name)
            }
            // Only the end of the path is the same.
            None if type_name.module.is_some() && place.family.has_qualified_types() => false,
            None => self.sees_type(&place, found.file, &type_name.name),
        });
        visible.copied().collect()
    }

    /// Returns the files that may declare a qualified type: the files of its module, and the files whose definitions the
    /// module exports again. Returns no files for a module of another library, and `None` if it is not known which module is
    /// meant.
    fn files_declaring_type(
        &self,
        type_name: &TypeName,
        place: &UsePlace<'_>,
    ) -> Option<HashSet<FileNumber>> {
        let module = type_name.module.as_ref()?;
        let own = self.files_of_module_path(place, module)?;
        let from = own.iter().map(|file| (*file, type_name.name.clone())).collect();
        let exported = self.resolver_for(&type_name.name).resolve_exported(from);
        Some(own.into_iter().chain(exported.into_iter().map(|found| found.file)).collect())
    }

    /// Returns whether a module of another library qualifies a type.
    pub(super) fn is_of_another_library(&self, type_name: &TypeName) -> bool {
        if type_name.module.is_none() {
            return self.imports_from_another_library(type_name);
        }
        let structure = self.structures.structure_of(type_name.file);
        let place = self.place_within(type_name.file, &structure, type_name.within);
        self.files_declaring_type(type_name, &place).is_some_and(|files| files.is_empty())
    }

    /// Returns the types that a type extends or implements according to its declarations.
    pub(super) fn base_types(&self, type_name: &TypeName) -> Vec<TypeName> {
        let imported = self.imported_type(type_name);
        let type_name = imported.as_ref().unwrap_or(type_name);
        self.find_type_declarations(type_name)
            .into_iter()
            .flat_map(|declared| self.declared_bases(type_name, declared))
            .collect()
    }

    fn declared_bases(&self, type_name: &TypeName, declared: DefinitionCandidate) -> Vec<TypeName> {
        let structure = self.structures.structure_of(declared.file);
        let mut bases = Vec::new();
        // A type has the members of the type that it is another name of.
        let base_uses = self.structures.resolution_cache().find_base_uses(declared.file, &structure);
        for used in base_uses.iter().map(|position| &structure.uses[*position]) {
            let name = structure.name(used.name);
            let is_own = name == type_name.name && used.receiver == UseReceiver::None;
            if is_own || !is_declared_within(&structure, declared, used.enclosing_id()) {
                continue;
            }
            let module = match used.receiver {
                UseReceiver::Named(path) => Some(structure.name(path).to_owned()),
                _ => None,
            };
            bases.push(TypeName {
                name: name.to_owned(),
                module,
                is_wrapped: false,
                element: None,
                is_written: type_name.is_written,
                file: declared.file,
                within: used.enclosing_id(),
                declared: None,
            });
        }
        bases
    }

    /// Returns a place inside of a definition of a file, or at the top of the file, without a use.
    pub(super) fn place_within<'b>(
        &self,
        file: FileNumber,
        structure: &'b FileStructure,
        within: Option<u32>,
    ) -> UsePlace<'b> {
        let family = LanguageFamily::from_path(self.paths.path_of(file));
        let line = structure.find_item(within).map(|around| around.name_at.0);
        let (written, is_call) = ("", false);
        UsePlace { file, structure, family, written, within, line, is_call, steps: MOST_STEPS }
    }
}

/// Returns whether `within` is the type itself, or a scope with the title of the type, such as an `impl` block.
fn is_declared_within(structure: &FileStructure, declared: DefinitionCandidate, within: Option<u32>) -> bool {
    let title = &declared.declared_in(structure).title;
    within == Some(declared.declared)
        || structure
            .find_item(within)
            .is_some_and(|around| around.role == DeclaredRole::Scope && around.title == *title)
}
