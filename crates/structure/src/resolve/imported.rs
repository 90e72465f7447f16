//! Resolves names by the imports that bring them in.

use std::collections::HashSet;

use memod_base::types::{DeclaredRole, Import, own_part};

use super::place::{Family, Place};
use super::{Candidate, FileNumber, Resolver, Structures};

/// Most files that are followed from one import: each may export the names of others again, as `__init__.py` of Python and headers of C do.
const MOST_REEXPORTS: usize = 512;

impl<S: Structures> Resolver<'_, S> {
    /// Returns the definitions that the file imports without naming them, which are the same for all of its uses.
    pub(super) fn of_wildcards(&self, place: &Place<'_>) -> Vec<Candidate> {
        if let Some(known) = self.wildcards.borrow().get(&place.file) {
            return known.clone();
        }
        let found = self.imported(place, |import| import.local.is_empty());
        self.wildcards.borrow_mut().insert(place.file, found.clone());
        found
    }

    /// Resolves a name by the imports that bring it in.
    pub(super) fn imported(&self, place: &Place<'_>, is_it: impl Fn(&Import) -> bool) -> Vec<Candidate> {
        let mut from: Vec<(FileNumber, String)> = Vec::new();
        for import in place.structure.imports.iter().filter(|import| is_it(import)) {
            let name =
                if import.name.is_empty() || import.name == "default" { self.name } else { &import.name };
            // `import a.b.C` names a file in some languages.
            for module in [import.module.clone(), import.full_module()] {
                let files = self.files_of(place.family, &module, place.file);
                from.extend(files.into_iter().map(|file| (file, name.to_owned())));
            }
        }
        let exported = self.visible_from(place, self.exported(from));
        if !exported.is_empty() || place.family != Family::Java {
            return exported;
        }
        self.imported_members(place, is_it)
    }

    /// Returns the members of types that `import static a.Type.f` of Java brings in.
    fn imported_members(&self, place: &Place<'_>, is_it: impl Fn(&Import) -> bool) -> Vec<Candidate> {
        let of_import = |import: &Import| {
            let files = self.files_of(place.family, &import.module, place.file);
            let owner = own_part(&import.module).to_owned();
            self.of_family(place, move |candidate, found| {
                found.role == DeclaredRole::Member
                    && own_part(found.owner()) == owner
                    && files.contains(&candidate.file)
            })
        };
        place.structure.imports.iter().filter(|import| is_it(import)).flat_map(of_import).collect()
    }

    /// Returns the definitions that files export under names, their own and those that they import.
    pub(super) fn exported(&self, mut open: Vec<(FileNumber, String)>) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        // Files may import each other.
        let mut seen: HashSet<(FileNumber, String)> = HashSet::new();
        while let Some((file, name)) = open.pop() {
            if seen.len() >= MOST_REEXPORTS || !seen.insert((file, name.clone())) {
                continue;
            }
            let own = self.candidates.iter().filter(|(candidate, structure)| {
                let declared = &structure.declared[candidate.declared as usize];
                candidate.file == file && name == self.name && declared.role != DeclaredRole::Member
            });
            let n_before = found.len();
            found.extend(own.map(|(candidate, _)| *candidate));
            if found.len() > n_before {
                continue;
            }
            let family = Family::of(self.paths.path(file));
            if family == Family::C && !self.paths.is_header(file) {
                continue; // a header brings in what its source defines, not what that includes
            }
            let structure = self.structures.of(file);
            let reexports = structure.imports.iter();
            for import in reexports.filter(|import| import.local == name || import.local.is_empty()) {
                let there = if import.name.is_empty() { &name } else { &import.name };
                let modules = self.files_of(family, &import.module, file);
                open.extend(modules.into_iter().map(|module| (module, there.clone())));
            }
        }
        found.sort_unstable_by_key(|found| (found.file, found.declared));
        found.dedup();
        found
    }
}
