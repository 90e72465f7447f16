//! Says which definitions of other files a place can see.

use memod_base::types::{Declared, DeclaredRole};

use super::modules::is_header;
use super::place::Place;
use super::{Candidate, Family, FileNumber, Resolver, Structures};

impl<S: Structures> Resolver<'_, S> {
    /// Returns the definitions in any file that are visible here, without members.
    pub(super) fn visible_non_members(&self, place: &Place<'_>) -> Vec<Candidate> {
        self.visible_from(place, self.of_family(place, |_, found| found.role != DeclaredRole::Member))
    }

    /// Leaves out definitions that other places cannot see: those inside of functions, and of other files what is `static` in a source
    /// of C, unless that is included.
    pub(super) fn visible_from(&self, place: &Place<'_>, mut found: Vec<Candidate>) -> Vec<Candidate> {
        let is_function =
            |around: &Declared| matches!(around.role, DeclaredRole::Free | DeclaredRole::Member);
        let modules = place.structure.imports.iter().map(|import| import.module.as_str());
        let sources: Vec<&str> = modules.filter(|module| !is_header(module)).collect();
        found.retain(|found| {
            let structure = self.structures.of(found.file);
            let declared = &structure.declared[found.declared as usize];
            let is_local = || structure.declared_around(declared.parent).any(is_function);
            let is_included = || sources.iter().any(|source| self.means_source(place, source, found.file));
            let is_hidden = declared.is_internal
                && found.file != place.file
                && !self.paths.is_header(found.file)
                && !is_included();
            !is_hidden && !is_local()
        });
        found
    }

    /// Whether an included source of C is a file.
    fn means_source(&self, place: &Place<'_>, source: &str, file: FileNumber) -> bool {
        file_name(source) == file_name(self.paths.path(file))
            && self.files_of(place.family, source, place.file).contains(&file)
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

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
