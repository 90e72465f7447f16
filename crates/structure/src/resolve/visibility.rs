//! Selects the definitions of other files that are visible in a place.

use memod_base::types::{DeclaredRole, file_name};

use super::module_files::is_header;
use super::use_place::UsePlace;
use super::{DefinitionCandidate, FileNumber, LanguageFamily, Resolver};

impl Resolver<'_> {
    /// Returns the definitions in any file that are visible in a place and are no members.
    pub(super) fn visible_non_members(&self, place: &UsePlace<'_>) -> Vec<DefinitionCandidate> {
        self.retain_visible(place, self.candidates_of_family(place, |_, found| !found.role.is_member()))
    }

    /// Returns `found` without definitions that are not visible in a place: definitions inside of functions, and `static`
    /// definitions in other sources of C, unless this file includes the source.
    pub(super) fn retain_visible(
        &self,
        place: &UsePlace<'_>,
        mut found: Vec<DefinitionCandidate>,
    ) -> Vec<DefinitionCandidate> {
        let modules = place.structure.imports.iter().map(|import| import.module.as_str());
        let sources: Vec<&str> = modules.filter(|module| !is_header(module)).collect();
        found.retain(|found| {
            let structure = self.structures.structure_of(found.file);
            let declared = found.declared_in(&structure);
            let is_hidden = declared.is_internal
                && found.file != place.file
                && !self.paths.is_header(found.file)
                && !sources.iter().any(|source| self.means_source(place, source, found.file));
            !is_hidden
                && !structure
                    .enclosing_items(declared.parent)
                    .any(|around| matches!(around.role, DeclaredRole::Free | DeclaredRole::Member))
        });
        found
    }

    /// Returns whether the path of an included C source means a file.
    fn means_source(&self, place: &UsePlace<'_>, source: &str, file: FileNumber) -> bool {
        file_name(source) == file_name(self.paths.path_of(file))
            && self.find_module_files(place.family, source, place.file).contains(&file)
    }

    /// Returns whether the name of a type in this place can mean a type in `file`: by scope or package, or by an import of
    /// the type or of its module.
    pub(super) fn sees_type(&self, place: &UsePlace<'_>, file: FileNumber, type_name: &str) -> bool {
        let imports = place.structure.imports.iter().filter(|import| import.holds_on(place.line));
        let mut modules = imports.filter(|import| import.name.is_empty());
        self.sees_unqualified_type(place, file, type_name)
            || modules.any(|import| self.is_module_file(place, &import.module, file))
    }

    /// Returns the same as [`Self::sees_type`], for a name that no module qualifies.
    pub(super) fn sees_unqualified_type(
        &self,
        place: &UsePlace<'_>,
        file: FileNumber,
        type_name: &str,
    ) -> bool {
        if place.family == LanguageFamily::JavaScript {
            return place.file == file || self.imports_type_of(place, file, type_name);
        }
        place.file == file
            || self.shares_package(place, file)
            || place.structure.imports.iter().filter(|import| import.holds_on(place.line)).any(|import| {
                let is_named = import.local == type_name;
                (is_named || import.local.is_empty())
                    && self.is_module_file(place, &import.full_module(), file)
                    || is_named && self.is_module_file(place, &import.module, file)
            })
    }

    fn is_module_file(&self, place: &UsePlace<'_>, module: &str, file: FileNumber) -> bool {
        self.find_module_files(place.family, module, place.file).contains(&file)
    }

    /// Returns whether a file belongs to the package of a place, so that its names are visible without an import.
    pub(super) fn shares_package(&self, place: &UsePlace<'_>, file: FileNumber) -> bool {
        match place.family {
            LanguageFamily::Go | LanguageFamily::Java => {
                let package = &self.structures.structure_of(file).package;
                self.paths.dir_of(file) == self.paths.dir_of(place.file)
                    && *package == place.structure.package
                    || place.family == LanguageFamily::Java
                        && !package.is_empty()
                        && *package == place.structure.package
            }
            _ => false,
        }
    }
}
