//! Learns under which other names files import and export the wanted definitions.

use std::collections::HashSet;

use memod_base::types::{FileStructure, NameUse};

use super::javascript_exports::{DEFAULT, Exported};
use super::known_aliases::LearnedAliases;
use super::use_place::LanguageFamily;
use super::{FileNumber, Resolver};

/// Most aliases of one definition that are followed.
const MOST_ALIASES: usize = 16;

impl Resolver<'_> {
    /// Returns the uses in a file of the name and of its aliases there.
    pub fn find_uses<'s>(
        &'s self,
        file: FileNumber,
        structure: &'s FileStructure,
    ) -> impl Iterator<Item = &'s NameUse> {
        let mut written: HashSet<&'s str> = HashSet::from([self.name]);
        if self.is_javascript(file) {
            let local = self.aliases.local.get(&file).into_iter().flatten();
            written.extend(self.aliases.names.iter().chain(local).map(String::as_str));
            written.extend((!self.aliases.default_files.is_empty()).then_some(DEFAULT));
        } else {
            let imports = structure.imports.iter().filter(|import| self.is_known(&import.name));
            written.extend(imports.map(|import| import.local.as_str()));
            written.extend(self.aliases.fixtures.iter().map(String::as_str));
        }
        // Names are compared once for all of their uses.
        let ids: Vec<u32> = (0..)
            .zip(&structure.names)
            .filter(|(_, name)| written.contains(name.as_str()))
            .map(|(id, _)| id)
            .collect();
        structure.uses.iter().filter(move |used| ids.contains(&used.name))
    }

    /// Adds the aliases under which a file imports or exports the definitions in `wanted`, so that [`Self::find_uses`] finds
    /// them; returns the new ones.
    pub fn learn_aliases(
        &mut self,
        file: FileNumber,
        structure: &FileStructure,
        wanted: &HashSet<FileNumber>,
    ) -> LearnedAliases {
        if self.is_javascript(file) {
            return self.learn_javascript_aliases(file, structure, wanted);
        }
        let imports = structure.imports.iter().filter(|import| self.is_known(&import.name));
        let new = imports.map(|import| import.local.clone());
        let mut names: Vec<String> = new.filter(|name| !name.is_empty() && !self.is_known(name)).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(MOST_ALIASES.saturating_sub(self.aliases.names.len()));
        self.aliases.names.extend(names.iter().cloned());
        if wanted.contains(&file) {
            // A fixture of pytest may have another name than its function.
            let renamed = structure.exports.iter().filter(|export| export.local == self.name);
            let renamed = renamed.map(|export| export.name.clone()).filter(|name| *name != self.name);
            let renamed: Vec<String> = renamed.filter(|name| !self.aliases.fixtures.contains(name)).collect();
            self.aliases.fixtures.extend(renamed.iter().cloned());
            names.extend(renamed);
        }
        LearnedAliases { names, ..LearnedAliases::default() }
    }

    fn learn_javascript_aliases(
        &mut self,
        file: FileNumber,
        structure: &FileStructure,
        wanted: &HashSet<FileNumber>,
    ) -> LearnedAliases {
        let mut learned = LearnedAliases::default();
        let known_here = self.aliases.local.get(&file).cloned().unwrap_or_default();
        let mut local = Vec::new();
        for import in &structure.imports {
            let is_new =
                import.local != self.name && !import.local.is_empty() && !known_here.contains(&import.local);
            // A module or a default may be imported under any name, so the files are looked up if one of them matters.
            let may_mean = match import.name.as_str() {
                "" | DEFAULT => !self.aliases.default_files.is_empty(),
                name => name == self.name || self.aliases.names.iter().any(|alias| alias == name),
            };
            let targets = || self.file_exports().targets_of(file, import);
            if is_new && may_mean && self.exports_wanted(targets(), wanted) {
                local.push(import.local.clone());
            }
        }
        for export in &structure.exports {
            let is_alias = export.name != self.name || self.name == DEFAULT;
            let is_meant = export.local == self.name
                || known_here.contains(&export.local)
                || local.contains(&export.local);
            if !is_alias || !is_meant || !self.exports_wanted(vec![(file, export.name.clone())], wanted) {
                continue;
            }
            match export.name.strip_prefix("default.").unwrap_or(&export.name) {
                "" | DEFAULT => {
                    if self.aliases.default_files.insert(file) {
                        learned.modules.push(file);
                    }
                }
                name => {
                    if name != self.name && !self.aliases.names.iter().any(|alias| alias == name) {
                        self.aliases.names.push(name.to_owned());
                        learned.names.push(name.to_owned());
                    }
                }
            }
        }
        local.dedup();
        learned.is_local = !local.is_empty();
        if learned.is_local {
            self.aliases.local.entry(file).or_default().extend(local);
        }
        learned
    }

    /// Returns whether names of files mean a definition with the resolver's name in one of the `wanted` files.
    fn exports_wanted(&self, names: Vec<(FileNumber, String)>, wanted: &HashSet<FileNumber>) -> bool {
        let found = self.file_exports().follow_exports(names);
        found.iter().any(|found| match found {
            Exported::Definition(file, local) => local == self.name && wanted.contains(file),
            _ => false,
        })
    }

    fn is_javascript(&self, file: FileNumber) -> bool {
        LanguageFamily::from_path(self.paths.path_of(file)) == LanguageFamily::JavaScript
    }

    fn is_known(&self, name: &str) -> bool {
        name == self.name || self.aliases.names.iter().any(|alias| alias == name)
    }
}
