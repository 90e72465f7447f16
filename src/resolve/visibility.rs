//! Says which definitions of other files a place can see.

use super::place::Place;
use super::{Candidate, Family, FileNumber, Resolver, Structures};
use crate::types::{Declared, DeclaredRole};

impl<S: Structures> Resolver<'_, S> {
    /// Returns the definitions of any file that are visible from here and no members.
    pub(super) fn not_members(&self, place: &Place<'_>) -> Vec<Candidate> {
        self.seen_from(place, self.of_family(place, |_, found| found.role != DeclaredRole::Member))
    }

    /// Leaves out definitions that other files cannot see: those inside of functions, and what is `static` in a source of C, unless
    /// that is included.
    pub(super) fn seen_from(&self, place: &Place<'_>, mut found: Vec<Candidate>) -> Vec<Candidate> {
        let is_function =
            |around: &Declared| matches!(around.role, DeclaredRole::Free | DeclaredRole::Member);
        found.retain(|found| {
            let structure = self.structures.of(found.file);
            let declared = &structure.declared[found.declared as usize];
            let is_inside = structure.declared_around(declared.parent).any(is_function);
            let is_kept_back = || declared.is_internal && !self.is_included(place, found.file);
            found.file == place.file || !is_inside && !is_kept_back()
        });
        found
    }

    /// Whether a file of C is a header, or a source that the file around includes itself.
    fn is_included(&self, place: &Place<'_>, file: FileNumber) -> bool {
        let own_name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let name = own_name(self.paths.path(file));
        let mut imports = place.structure.imports.iter();
        self.paths.is_header(file) || imports.any(|import| own_name(&import.module) == name)
    }

    /// Whether a type's name in this place means one of `file`: by scope, package or import, of the type or of its module.
    pub(super) fn sees(&self, place: &Place<'_>, file: FileNumber, type_name: &str) -> bool {
        let is_of = |module: &str| self.files_of(place.family, module, place.file).contains(&file);
        let mut modules = place.structure.imports.iter().filter(|import| import.name.is_empty());
        self.sees_alone(place, file, type_name) || modules.any(|import| is_of(&import.module))
    }

    /// As [`Self::sees`], of a name that no module qualifies.
    pub(super) fn sees_alone(&self, place: &Place<'_>, file: FileNumber, type_name: &str) -> bool {
        let is_of = |module: &str| self.files_of(place.family, module, place.file).contains(&file);
        place.file == file
            || self.shares_package(place, file)
            || place.structure.imports.iter().any(|import| {
                let is_named = import.local == type_name;
                (is_named || import.local.is_empty()) && is_of(&import.full_module())
                    || is_named && is_of(&import.module)
            })
    }

    /// Whether a file belongs to the same package, whose names are visible without an import.
    pub(super) fn shares_package(&self, place: &Place<'_>, file: FileNumber) -> bool {
        match place.family {
            Family::Go | Family::Java => {
                let package = &self.structures.of(file).package;
                self.paths.dir(file) == self.paths.dir(place.file) && *package == place.structure.package
                    || place.family == Family::Java
                        && !package.is_empty()
                        && *package == place.structure.package
            }
            _ => false,
        }
    }
}
