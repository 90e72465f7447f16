//! Resolves names by the imports that bring them in.

use std::collections::HashSet;

use memod_base::types::{ImportedName, last_part};

use super::use_place::{LanguageFamily, UsePlace};
use super::{DefinitionCandidate, FileNumber, Resolver};

/// Most files that are followed from one import, because a file may export the names of other files again, as `__init__.py`
/// of Python and headers of C do.
const MOST_REEXPORTS: usize = 512;

impl Resolver<'_> {
    /// Returns the definitions that the file of `place` imports without naming them, such as `use a::*`. They are the same
    /// for all uses in the file, unless such an import is in a block.
    pub(super) fn resolve_wildcards(&self, place: &UsePlace<'_>) -> Vec<DefinitionCandidate> {
        let mut in_blocks = place.structure.imports.iter().filter(|import| import.local.is_empty());
        let has_blocks = in_blocks.any(|import| import.scope_lines.is_some());
        let key = (place.file, place.line.filter(|_| has_blocks));
        if let Some(known) = self.candidates.wildcards.borrow().get(&key) {
            return known.clone();
        }
        // `export * from` of JavaScript binds no names in its own file.
        let binds = place.family != LanguageFamily::JavaScript;
        let found = self.resolve_imported(place, |import| {
            binds && import.local.is_empty() && import.holds_on(place.line)
        });
        self.candidates.wildcards.borrow_mut().insert(key, found.clone());
        found
    }

    /// Resolves a name by the imports that bring it in.
    pub(super) fn resolve_imported(
        &self,
        place: &UsePlace<'_>,
        is_wanted: impl Fn(&ImportedName) -> bool,
    ) -> Vec<DefinitionCandidate> {
        if place.family == LanguageFamily::JavaScript {
            let exports = self.file_exports();
            let imports = place.structure.imports.iter().filter(|import| is_wanted(import));
            let targets = imports.flat_map(|import| exports.targets_of(place.file, import));
            let exported = exports.follow_exports(targets.collect());
            return self.candidates_exported(&exported);
        }
        let mut from: Vec<(FileNumber, String)> = Vec::new();
        for import in place.structure.imports.iter().filter(|import| is_wanted(import)) {
            let name = if import.name.is_empty() { self.name } else { &import.name };
            // In Java, `import a.b.C` names a file. In Python and Rust, a file with the name of what is imported is what is meant, and
            // not a definition of that name in it.
            let names_file = import.name.is_empty() || place.family == LanguageFamily::Java;
            let whole = names_file.then(|| import.full_module());
            for module in std::iter::once(import.module.clone()).chain(whole) {
                let mut files = self.find_module_files(place.family, &module, place.file);
                files.retain(|file| !import.local.is_empty() || self.exports_to_all(*file, name));
                from.extend(files.into_iter().map(|file| (file, name.to_owned())));
            }
        }
        let exported = self.retain_visible(place, self.resolve_exported(from));
        if !exported.is_empty() || place.family != LanguageFamily::Java {
            return exported;
        }
        self.resolve_imported_members(place, is_wanted)
    }

    /// Returns the members of types that `import static a.Type.f` of Java imports.
    fn resolve_imported_members(
        &self,
        place: &UsePlace<'_>,
        is_wanted: impl Fn(&ImportedName) -> bool,
    ) -> Vec<DefinitionCandidate> {
        let imports = place.structure.imports.iter().filter(|import| is_wanted(import));
        let members = imports.flat_map(|import| {
            let files = self.find_module_files(place.family, &import.module, place.file);
            let members = self.candidates.members_with_owner(place.family, last_part(&import.module));
            members.filter(move |candidate| files.contains(&candidate.file))
        });
        members.collect()
    }

    /// Returns the definitions that files export under the given names: their own, and those that they import.
    pub(super) fn resolve_exported(&self, mut open: Vec<(FileNumber, String)>) -> Vec<DefinitionCandidate> {
        let is_javascript = |(file, _): &(FileNumber, String)| {
            LanguageFamily::from_path(self.paths.path_of(*file)) == LanguageFamily::JavaScript
        };
        let of_javascript = open.extract_if(.., |named| is_javascript(named)).collect();
        let mut found = self.candidates_exported(&self.file_exports().follow_exports(of_javascript));
        // Files may import each other.
        let mut seen: HashSet<(FileNumber, String)> = HashSet::new();
        while let Some((file, name)) = open.pop() {
            if seen.len() >= MOST_REEXPORTS || !seen.insert((file, name.clone())) {
                continue;
            }
            let own = self.candidates.in_file(file).filter(|(candidate, structure)| {
                let declared = candidate.declared_in(structure);
                name == self.name && !declared.role.is_member()
            });
            let n_before = found.len();
            found.extend(own.map(|(candidate, _)| *candidate));
            if found.len() > n_before {
                continue;
            }
            let family = LanguageFamily::from_path(self.paths.path_of(file));
            if family == LanguageFamily::C && !self.paths.is_header(file) {
                continue; // a header brings in the definitions of its source, not the includes of its source
            }
            let structure = self.structures.structure_of(file);
            // An import in a block is known to no other file.
            let reexports = structure.imports.iter().filter(|import| import.scope_lines.is_none());
            for import in reexports.filter(|import| import.local == name || import.local.is_empty()) {
                let exported = if import.name.is_empty() { &name } else { &import.name };
                let mut modules = self.find_module_files(family, &import.module, file);
                modules.retain(|module| !import.local.is_empty() || self.exports_to_all(*module, exported));
                open.extend(modules.into_iter().map(|module| (module, exported.clone())));
            }
        }
        found.sort_unstable_by_key(|found| (found.file, found.declared));
        found.dedup();
        found
    }

    /// Returns whether `from module import *` brings in a name: in Python, the names in `__all__`, or all without an underscore.
    fn exports_to_all(&self, module: FileNumber, name: &str) -> bool {
        if LanguageFamily::from_path(self.paths.path_of(module)) != LanguageFamily::Python {
            return true;
        }
        let structure = self.structures.structure_of(module);
        let mut listed = structure.exports.iter().filter(|export| export.name == export.local).peekable();
        match listed.peek() {
            Some(_) => listed.any(|export| export.name == name),
            None => !name.starts_with('_'),
        }
    }
}
