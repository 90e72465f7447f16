//! Resolves the names of formats that have no scopes, values or members: Terraform, Protocol Buffers, SQL and others.

use memod_base::types::DeclaredRole;

use super::split_path::split_path;
use super::use_place::{LanguageFamily, UsePlace};
use super::{Certainty, DefinitionCandidate, FileNumber, Resolver};

/// Separates what a Terraform module has from its block: `output@module.vpc`.
const OF_MODULE: char = '@';

impl Resolver<'_> {
    /// Resolves a name with a receiver, which is empty for a name without one.
    pub(super) fn resolve_declared_name(
        &self,
        place: &UsePlace<'_>,
        receiver: &str,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        if place.written != self.name {
            return (Certainty::ByName, Vec::new());
        }
        match place.family {
            LanguageFamily::Terraform => self.resolve_block(place, receiver),
            LanguageFamily::Protobuf => self.resolve_message(place, receiver),
            LanguageFamily::Dockerfile | LanguageFamily::Makefile => {
                let own = self.candidates_of_family(place, |found, _| found.file == place.file);
                (Certainty::Exact, own)
            }
            _ => self.resolve_in_worktree(place, receiver),
        }
    }

    /// Resolves a reference of Terraform in the module of its file, which is the directory, or in the module that a block calls.
    fn resolve_block(&self, place: &UsePlace<'_>, receiver: &str) -> (Certainty, Vec<DefinitionCandidate>) {
        let (of, module) =
            receiver.split_once(OF_MODULE).map_or((receiver, None), |(of, module)| (of, Some(module)));
        let title = format!("{of}.{}", self.name);
        let all = self.candidates_of_family(place, |_, found| found.title == title);
        if let Some(module) = module {
            let imports = place.structure.imports.iter().filter(|import| import.local == module);
            let files: Vec<FileNumber> = imports
                .flat_map(|import| self.paths.find_module_files(place.family, &import.module, place.file))
                .collect();
            let found = all.into_iter().filter(|found| files.contains(&found.file));
            return (Certainty::Exact, found.collect());
        }
        let own: Vec<_> = all.iter().filter(|found| found.file == place.file).copied().collect();
        if !own.is_empty() {
            return (Certainty::Exact, own);
        }
        let in_dir = |dir: &str| -> Vec<DefinitionCandidate> {
            all.iter().filter(|found| self.paths.dir_of(found.file) == dir).copied().collect()
        };
        let mut dir = self.paths.dir_of(place.file);
        let found = in_dir(dir);
        // Values and tests of a module may be in a directory below it.
        let path = self.paths.path_of(place.file);
        let may_be_below = path.ends_with("vars") || path.ends_with("vars.hcl") || path.ends_with("test.hcl");
        if !found.is_empty() || !may_be_below {
            return (Certainty::Exact, found);
        }
        while !dir.is_empty() {
            dir = split_path(dir).0;
            let found = in_dir(dir);
            if !found.is_empty() {
                return (Certainty::Likely, found);
            }
        }
        (Certainty::Likely, Vec::new())
    }

    /// Resolves the name of a type of Protocol Buffers, from the innermost scope outwards, in this file and those that it imports.
    fn resolve_message(&self, place: &UsePlace<'_>, receiver: &str) -> (Certainty, Vec<DefinitionCandidate>) {
        let imports = place.structure.imports.iter();
        let mut visible: Vec<FileNumber> = imports
            .flat_map(|import| self.paths.find_module_files(place.family, &import.module, place.file))
            .collect();
        visible.push(place.file);
        let written = join_names(receiver.trim_end_matches('.'), self.name);
        let scopes = if receiver.starts_with('.') { vec![String::new()] } else { list_scopes(place) };
        let names = scopes.iter().map(|scope| join_names(scope, written.trim_start_matches('.')));
        let names: Vec<String> = names.collect();
        let all = self.candidates_of_family(place, |_, _| true);
        let named: Vec<(String, DefinitionCandidate)> =
            all.into_iter().map(|found| (self.full_name(found), found)).collect();
        let find = |name: &str, is_visible: bool| -> Vec<DefinitionCandidate> {
            let found = named
                .iter()
                .filter(|(own, found)| own == name && (!is_visible || visible.contains(&found.file)));
            found.map(|(_, found)| *found).collect()
        };
        if let Some(found) = names.iter().map(|name| find(name, true)).find(|found| !found.is_empty()) {
            return (Certainty::Exact, found);
        }
        // The import may be public in another file, or its path may begin at a directory that is not known.
        let found =
            names.iter().map(|name| find(name, false)).find(|found| !found.is_empty()).unwrap_or_default();
        (if found.len() > 1 { Certainty::ByName } else { Certainty::Likely }, found)
    }

    /// Returns the name of a definition with its package.
    fn full_name(&self, found: DefinitionCandidate) -> String {
        let structure = self.structures.structure_of(found.file);
        join_names(&structure.package, &found.declared_in(&structure).title)
    }

    /// Resolves a name that has one meaning in the whole worktree: in the own file, else in the nearest directory.
    fn resolve_in_worktree(
        &self,
        place: &UsePlace<'_>,
        receiver: &str,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        let is_graphql = place.family == LanguageFamily::GraphQl;
        let is_sql = place.family == LanguageFamily::Sql;
        let all = self.candidates_of_family(place, |_, found| {
            let owner = found.owner_title();
            let is_of = match (receiver, owner) {
                ("", "") => true,
                // The schema of SQL may be left out on either side.
                ("", _) | (_, "") => is_sql,
                _ => receiver.eq_ignore_ascii_case(&owner.replace("::", ".")),
            };
            is_of
                && (is_graphql || found.role != DeclaredRole::Member)
                && !(is_sql && place.is_call && found.role == DeclaredRole::Type)
        });
        let own: Vec<_> = all.iter().filter(|found| found.file == place.file).copied().collect();
        if !own.is_empty() {
            return (Certainty::Exact, own);
        }
        // Migrations create and alter one table in many files.
        if is_sql {
            return (Certainty::Likely, all);
        }
        let files: Vec<FileNumber> = all.iter().map(|found| found.file).collect();
        let nearest = self.paths.nearest_files(&files, place.file);
        let near: Vec<_> = all.iter().filter(|found| nearest.contains(&found.file)).copied().collect();
        (if near.len() > 1 { Certainty::ByName } else { Certainty::Likely }, near)
    }
}

fn join_names(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

/// Returns the scopes around a place, innermost first: `a.b.Outer`, `a.b`, `a` and the empty one.
fn list_scopes(place: &UsePlace<'_>) -> Vec<String> {
    let around = place.definitions_around().next();
    let title = place.structure.find_item(around).map_or("", |item| &item.title);
    let innermost = match (place.structure.package.as_str(), title) {
        (package, "") => package.to_owned(),
        (package, title) => join_names(package, title),
    };
    let outwards = std::iter::successors(Some(innermost.as_str()), |inner| {
        (!inner.is_empty()).then(|| inner.rsplit_once('.').map_or("", |(outer, _)| outer))
    });
    outwards.map(str::to_owned).collect()
}
