//! Finds where a type is declared, which module qualifies it, and what it extends.

use std::collections::HashSet;

use memod_base::types::{DeclaredRole, Receiver, Structure, Use, UseRole};

use super::place::{Family, Place};
use super::values::{MOST_STEPS, TypeName};
use super::{Candidate, FileNumber, Resolver, Structures};

impl<S: Structures> Resolver<'_, S> {
    /// Returns where a type is declared: what its name means where it stands, or else the only type of that name.
    pub(super) fn declarations(&self, of: &TypeName) -> Vec<Candidate> {
        let named = self.types_named(of);
        let seen = self.seen(of, &named);
        match seen.is_empty() {
            true if named.len() > 1 || of.module.is_some() => Vec::new(),
            true => named,
            false => seen,
        }
    }

    /// Returns the types with the name of a type, in files of its language.
    pub(super) fn types_named(&self, of: &TypeName) -> Vec<Candidate> {
        let family = Family::of(self.paths.path(of.file));
        let mut named = self.structures.named(&of.name);
        named.retain(|candidate| {
            let role = self.structures.of(candidate.file).declared[candidate.declared as usize].role;
            role == DeclaredRole::Type && Family::of(self.paths.path(candidate.file)) == family
        });
        named
    }

    /// Returns those candidates whose file a type's name means.
    pub(super) fn seen(&self, of: &TypeName, candidates: &[Candidate]) -> Vec<Candidate> {
        if candidates.is_empty() {
            return Vec::new();
        }
        let structure = self.structures.of(of.file);
        let place = self.place_in(of.file, &structure, of.within);
        let files = self.files_of_module(of, &place);
        let sees = |file: FileNumber| match &files {
            Some(files) => files.contains(&file),
            // In these languages the text says the module of a type, if there is one.
            None if matches!(place.family, Family::Go | Family::Python) => {
                self.sees_alone(&place, file, &of.name)
            }
            None => self.sees(&place, file, &of.name),
        };
        candidates.iter().filter(|found| sees(found.file)).copied().collect()
    }

    /// Returns the files that a qualified type may be in: those of its module, and those that it exports the name from; `None` if no
    /// module of this worktree or of another library is known to be meant.
    fn files_of_module(&self, of: &TypeName, place: &Place<'_>) -> Option<HashSet<FileNumber>> {
        let module = of.module.as_ref()?;
        let own = self.modules(place, module)?;
        let candidates = self.structures.named(&of.name);
        let from = own.iter().map(|file| (*file, of.name.clone())).collect();
        let exported = self.other(&of.name, &candidates).exported(from);
        Some(own.into_iter().chain(exported.into_iter().map(|found| found.file)).collect())
    }

    /// Whether a type is qualified by a module of another library.
    pub(super) fn is_of_another_library(&self, of: &TypeName) -> bool {
        if of.module.is_none() {
            return false;
        }
        let structure = self.structures.of(of.file);
        let place = self.place_in(of.file, &structure, of.within);
        self.files_of_module(of, &place).is_some_and(|files| files.is_empty())
    }

    /// Returns what a type says that it extends or implements.
    pub(super) fn bases(&self, of: &TypeName) -> Vec<TypeName> {
        let of_declaration = |declared: Candidate| {
            let structure = self.structures.of(declared.file);
            let title = &structure.declared[declared.declared as usize].title;
            let is_own = |within: u32| {
                let around = within.checked_sub(1).and_then(|id| structure.declared.get(id as usize));
                within == declared.declared + 1
                    || around
                        .is_some_and(|around| around.role == DeclaredRole::Scope && around.title == *title)
            };
            let bases = structure.uses.iter().filter(|of| of.role == UseRole::Base && is_own(of.within));
            let module = |used: &Use| match used.receiver {
                Receiver::Named(path) => Some(structure.name(path).to_owned()),
                _ => None,
            };
            let base = |used: &Use| TypeName {
                name: structure.name(used.name).to_owned(),
                module: module(used),
                is_wrapped: false,
                is_written: of.is_written,
                file: declared.file,
                within: None,
            };
            bases.map(base).filter(|base| base.name != of.name).collect::<Vec<TypeName>>()
        };
        self.declarations(of).into_iter().flat_map(of_declaration).collect()
    }

    /// Returns the place inside of a definition of a file, where no use stands.
    pub(super) fn place_in<'b>(
        &self,
        file: FileNumber,
        structure: &'b Structure,
        within: Option<u32>,
    ) -> Place<'b> {
        let family = Family::of(self.paths.path(file));
        Place { file, structure, family, written: "", within, is_call: false, steps: MOST_STEPS }
    }
}
