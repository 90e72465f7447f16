//! Resolves names of languages whose scopes are not read: C#, Kotlin, Swift, PHP, Scala, Ruby and others.
//!
//! A name without a receiver means, in this order: a member of the types around, a member that they inherit or mix in, a definition
//! outside of types, a member of a type that the file imports, and else any member of the name, because a block may run in another
//! object.

use std::collections::HashSet;

use memod_base::types::{DeclaredItem, DeclaredRole, FileStructure, UseReceiver, file_name, last_part};

use super::split_path::split_path;
use super::use_place::{LanguageFamily, UsePlace};
use super::{Certainty, DefinitionCandidate, FileNumber, Resolver};

/// Most definitions of one name among which the nearest are not chosen.
const MOST_EQUAL: usize = 4;

impl Resolver<'_> {
    /// Resolves a name by what is written before it: members of the type around, of the type that is named, and of the type of a value are
    /// likely; others are found by name.
    pub(super) fn resolve_name_alone(
        &self,
        place: &UsePlace<'_>,
        receiver: UseReceiver,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        if place.written != self.name {
            return (Certainty::ByName, Vec::new());
        }
        match receiver {
            UseReceiver::None => self.resolve_bare_name(place),
            UseReceiver::Own => self.resolve_around(place),
            UseReceiver::Named(path) => match place.structure.name(path) {
                "self" | "this" => self.resolve_around(place),
                path => self.resolve_behind_path(place, path),
            },
            UseReceiver::Import => {
                let others = self.candidates_of_family(place, |_, found| is_free(found));
                let all = if others.is_empty() { self.any_by_name(place).1 } else { others };
                let meant = self.named_by_import(place, &all);
                if meant.is_empty() { by_name(all, self.name) } else { (Certainty::Likely, meant) }
            }
            _ => self.any_by_name(place),
        }
    }

    /// Resolves a member of the value around.
    fn resolve_around(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        match self.members_around(place) {
            found if found.is_empty() => self.any_by_name(place),
            found => (Certainty::Likely, found),
        }
    }

    fn resolve_bare_name(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        let inner = self.members_around(place);
        if !inner.is_empty() {
            return (Certainty::Likely, inner);
        }
        let others = self.candidates_of_family(place, |_, found| is_free(found));
        if !others.is_empty() {
            let near = self.visible_definitions(place, &others);
            return if near.is_empty() { by_name(others, self.name) } else { (Certainty::Likely, near) };
        }
        let imported = imported_names(place);
        let of_imports = self.candidates_of_family(place, |_, found| {
            found.role.is_member() && imported.contains(last_part(found.owner_title()))
        });
        match of_imports.len() {
            0 => (Certainty::ByName, self.any_by_name(place).1),
            _ => (Certainty::Likely, of_imports),
        }
    }

    /// Returns those definitions that a place sees: of its file, its directory or its package, or imported.
    fn visible_definitions(
        &self,
        place: &UsePlace<'_>,
        found: &[DefinitionCandidate],
    ) -> Vec<DefinitionCandidate> {
        let select = |is_it: &dyn Fn(DefinitionCandidate) -> bool| -> Vec<DefinitionCandidate> {
            found.iter().filter(|found| is_it(**found)).copied().collect()
        };
        let own = select(&|found| found.file == place.file);
        // Objective-C declares in a header what it defines beside it.
        if !own.is_empty() && place.family != LanguageFamily::ObjectiveC {
            return own;
        }
        let dir = self.paths.dir_of(place.file);
        let near = select(&|found| self.paths.dir_of(found.file) == dir);
        if !near.is_empty() {
            return near;
        }
        let own = self.namespace_of(place.file, place.structure, place.within);
        let same = select(&|found| self.namespace_of_definition(found) == own && !own.is_empty());
        if !same.is_empty() {
            return same;
        }
        let imported = imported_names(place);
        let of_imports = select(&|found| {
            imported.contains(last_part(&self.namespace_of_definition(found)).trim_matches(':'))
        });
        if !of_imports.is_empty() {
            return of_imports;
        }
        if imported.contains(place.written) && found.len() == 1 { found.to_vec() } else { Vec::new() }
    }

    /// Returns those definitions whose package, type, file or directory an import names on the line of a place.
    fn named_by_import(
        &self,
        place: &UsePlace<'_>,
        found: &[DefinitionCandidate],
    ) -> Vec<DefinitionCandidate> {
        let uses = place.structure.uses.iter();
        let on_line =
            uses.filter(|used| used.receiver == UseReceiver::Import && Some(used.line) == place.line);
        let words: HashSet<&str> = on_line.map(|used| place.structure.name(used.name)).collect();
        let is_meant = |found: &&DefinitionCandidate| {
            let structure = self.structures.structure_of(found.file);
            let owner = last_part(found.declared_in(&structure).owner_title()).to_owned();
            let package = self.namespace_of_definition(**found);
            let dir = split_path(self.paths.dir_of(found.file)).1;
            let stem = file_name(self.paths.path_of(found.file)).split('.').next().unwrap_or_default();
            [owner.as_str(), last_part(&package), dir, stem].iter().any(|part| words.contains(part))
        };
        found.iter().filter(is_meant).copied().collect()
    }

    fn namespace_of_definition(&self, found: DefinitionCandidate) -> String {
        let structure = self.structures.structure_of(found.file);
        let parent = found.declared_in(&structure).parent;
        self.namespace_of(found.file, &structure, parent)
    }

    /// Returns the package or the outermost namespace of a place; for Swift, whose files name none, the directory of the target.
    fn namespace_of(&self, file: FileNumber, structure: &FileStructure, within: Option<u32>) -> String {
        if !structure.package.is_empty() {
            return structure.package.clone();
        }
        let path = self.paths.path_of(file);
        if path.ends_with(".swift") {
            let n_dirs = if path.starts_with("Sources/") || path.starts_with("Tests/") { 2 } else { 1 };
            return path.split('/').take(n_dirs).collect::<Vec<_>>().join("/");
        }
        let modules = structure.enclosing_items(within).filter(|item| item.role == DeclaredRole::Module);
        modules.last().map(|module| module.title.clone()).unwrap_or_default()
    }

    /// Returns the members of the innermost type around that has any, with those of its bases.
    fn members_around(&self, place: &UsePlace<'_>) -> Vec<DefinitionCandidate> {
        let types = place.definitions_around().filter(|id| {
            let role = place.structure.declared[*id as usize].role;
            matches!(role, DeclaredRole::Type | DeclaredRole::Scope | DeclaredRole::Module)
        });
        let mut around = std::iter::once(place.within).chain(types.map(Some));
        let found = around.find_map(|within| {
            let within_place = UsePlace { within, ..*place };
            let module = place.structure.find_item(within).filter(|item| item.role == DeclaredRole::Module);
            // A module of Ruby or Elixir has methods, too.
            let owner = within_place.owner_name().or_else(|| Some(last_part(&module?.title).to_owned()))?;
            let found = self.members_of_named(place, &owner);
            (!found.is_empty()).then_some(found)
        });
        found.unwrap_or_default()
    }

    fn members_of_named(&self, place: &UsePlace<'_>, owner: &str) -> Vec<DefinitionCandidate> {
        let of_type = self.written_type(&UsePlace { within: None, ..*place }, owner);
        self.members_of(&of_type, place.steps).1
    }

    /// Resolves a member behind the path of a type or of a value.
    fn resolve_behind_path(&self, place: &UsePlace<'_>, path: &str) -> (Certainty, Vec<DefinitionCandidate>) {
        if let Some(of_value) = self.infer_type(place, path) {
            let (_, found) = self.members_of(&of_value, place.steps);
            if !found.is_empty() {
                return (Certainty::Likely, found);
            }
        }
        // A call of a constructor: `Order(1)`, and `Order.new` of Ruby.
        let of_type = path.trim_end_matches("()");
        let of_type = of_type.strip_suffix(".new").unwrap_or(of_type);
        let named = self.members_of_named(place, last_part(of_type));
        if named.is_empty() { self.any_by_name(place) } else { (Certainty::Likely, named) }
    }

    /// Returns all definitions of the name.
    fn any_by_name(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        by_name(self.candidates_of_family(place, |_, _| true), self.name)
    }

    /// Returns the candidates in the files nearest to a file, if there are many.
    pub(super) fn nearest_candidates(
        &self,
        mut found: Vec<DefinitionCandidate>,
        from: FileNumber,
    ) -> Vec<DefinitionCandidate> {
        if found.len() > MOST_EQUAL {
            let files: Vec<FileNumber> = found.iter().map(|found| found.file).collect();
            let nearest = self.paths.nearest_files(&files, from);
            found.retain(|found| nearest.contains(&found.file));
        }
        found
    }
}

fn by_name(found: Vec<DefinitionCandidate>, name: &str) -> (Certainty, Vec<DefinitionCandidate>) {
    (Certainty::from_name_alone(found.len(), name), found)
}

/// Returns whether a definition is outside of types. A method of Ruby may be.
fn is_free(declared: &DeclaredItem) -> bool {
    !declared.role.is_member() || declared.owner_title().is_empty()
}

/// Returns the names in the imports of a file.
fn imported_names<'a>(place: &UsePlace<'a>) -> HashSet<&'a str> {
    let uses = place.structure.uses.iter();
    let imports = uses.filter(|used| used.receiver == UseReceiver::Import);
    imports.map(|used| place.structure.name(used.name)).collect()
}
