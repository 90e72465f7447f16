//! Holds the definitions of one name with what is found out about them, so that it is found out once for all uses.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use memod_base::types::{DeclaredRole, FileStructure, UseRole, last_part};

use super::candidate_kind::CandidateKind;
use super::path_index::{FileNumber, PathIndex};
use super::structure_store::{DefinitionCandidate, StructureStore};
use super::use_place::LanguageFamily;

/// Maximum number of definitions in all sets of a cache. A cache with more is emptied.
const MOST_HELD: usize = 100_000;

/// A definition with the structure of its file.
pub(super) type CandidateInFile = (DefinitionCandidate, Arc<FileStructure>);

/// A file, and a line if the file imports all names of a module in a block.
pub(super) type WildcardPlace = (FileNumber, Option<u32>);

/// The members of a set by the last name of the type around them.
type MembersByOwner = HashMap<String, Vec<(LanguageFamily, DefinitionCandidate)>>;

/// The definitions of one name that a use may mean.
pub(super) struct CandidateSet {
    pub(super) all: Vec<CandidateInFile>,
    /// The language family of the file of each definition.
    pub(super) families: Vec<LanguageFamily>,
    by_file: OnceCell<HashMap<FileNumber, Vec<usize>>>,
    members_by_owner: OnceCell<MembersByOwner>,
    fixture_positions: OnceCell<Vec<usize>>,
    /// The sets with fewer definitions that were needed so far; `None` for a kind that includes all.
    restricted: RefCell<HashMap<CandidateKind, Option<Rc<CandidateSet>>>>,
    /// The definitions that each file imports without naming them, such as `use a::*`; if a file does that in a block, for each line.
    pub(super) wildcards: RefCell<HashMap<WildcardPlace, Vec<DefinitionCandidate>>>,
}

impl CandidateSet {
    pub(super) fn new(
        paths: &PathIndex,
        structures: &dyn StructureStore,
        candidates: &[DefinitionCandidate],
    ) -> Self {
        let family =
            |candidate: &DefinitionCandidate| LanguageFamily::from_path(paths.path_of(candidate.file));
        let families = candidates.iter().map(family).collect();
        let in_file = |candidate: &DefinitionCandidate| (*candidate, structures.structure_of(candidate.file));
        Self::from_parts(candidates.iter().map(in_file).collect(), families)
    }

    fn from_parts(all: Vec<CandidateInFile>, families: Vec<LanguageFamily>) -> Self {
        Self {
            all,
            families,
            by_file: OnceCell::new(),
            members_by_owner: OnceCell::new(),
            fixture_positions: OnceCell::new(),
            restricted: RefCell::default(),
            wildcards: RefCell::default(),
        }
    }

    /// Returns the definitions in a file. A name such as `close` has thousands of definitions and of uses.
    pub(super) fn in_file(&self, file: FileNumber) -> impl Iterator<Item = &CandidateInFile> {
        let by_file = self.by_file.get_or_init(|| {
            let mut by_file: HashMap<FileNumber, Vec<usize>> = HashMap::new();
            for (position, (candidate, _)) in self.all.iter().enumerate() {
                by_file.entry(candidate.file).or_default().push(position);
            }
            by_file
        });
        by_file.get(&file).into_iter().flatten().map(|position| &self.all[*position])
    }

    /// Returns the members of types that are named `owner`, in files of a language family.
    pub(super) fn members_with_owner(
        &self,
        family: LanguageFamily,
        owner: &str,
    ) -> impl Iterator<Item = DefinitionCandidate> {
        let members = self.members_by_owner.get_or_init(|| self.group_members()).get(owner);
        let of_family = members.into_iter().flatten().filter(move |(found, _)| family.sees_family(*found));
        of_family.map(|(_, candidate)| *candidate)
    }

    fn group_members(&self) -> MembersByOwner {
        let mut members = MembersByOwner::new();
        for ((candidate, structure), family) in self.all.iter().zip(&self.families) {
            let declared = candidate.declared_in(structure);
            if declared.role.is_member() {
                let owner = last_part(declared.owner_title()).to_owned();
                members.entry(owner).or_default().push((*family, *candidate));
            }
        }
        members
    }

    /// Returns the definitions that are fixtures of pytest, as `is_fixture` says, as positions in the set.
    pub(super) fn fixture_positions(&self, is_fixture: fn(&FileStructure, u32) -> bool) -> &[usize] {
        self.fixture_positions.get_or_init(|| {
            let all = self.all.iter().enumerate();
            all.filter(|(_, (candidate, structure))| is_fixture(structure, candidate.declared))
                .map(|(position, _)| position)
                .collect()
        })
    }

    /// Returns the set of only the definitions of a kind; `None` if all are of it.
    pub(super) fn restrict_to_kind(&self, kind: CandidateKind) -> Option<Rc<Self>> {
        let known = self.restricted.borrow().get(&kind).cloned();
        known.unwrap_or_else(|| {
            let both = self.all.iter().zip(&self.families);
            let of_kind = both.filter(|((candidate, structure), _)| {
                kind.includes_definition(structure, candidate.declared_in(structure))
            });
            let (all, families): (Vec<_>, Vec<_>) =
                of_kind.map(|(candidate, family)| (candidate.clone(), *family)).unzip();
            let is_smaller = all.len() < self.all.len();
            let restricted = is_smaller.then(|| Rc::new(Self::from_parts(all, families)));
            self.restricted.borrow_mut().insert(kind, restricted.clone());
            restricted
        })
    }
}

/// The types of one name, each with the language family of its file.
type TypesOfName = Rc<[(LanguageFamily, DefinitionCandidate)]>;

/// The definitions of the names that were needed so far; valid for one worktree in one snapshot.
#[derive(Default)]
pub struct ResolutionCache {
    sets: RefCell<HashMap<String, Rc<CandidateSet>>>,
    n_held: RefCell<usize>,
    types: RefCell<HashMap<String, TypesOfName>>,
    /// The uses of base types and other names of types in each file, as positions among its uses.
    base_uses: RefCell<HashMap<FileNumber, Rc<[usize]>>>,
}

impl ResolutionCache {
    /// Returns the set of all definitions of a name.
    pub(super) fn find_set(
        &self,
        paths: &PathIndex,
        structures: &dyn StructureStore,
        name: &str,
    ) -> Rc<CandidateSet> {
        if let Some(known) = self.sets.borrow().get(name) {
            return Rc::clone(known);
        }
        let set = Rc::new(CandidateSet::new(paths, structures, &structures.definitions_named(name)));
        let mut n_held = self.n_held.borrow_mut();
        *n_held += set.all.len();
        if *n_held > MOST_HELD {
            *n_held = set.all.len();
            self.sets.borrow_mut().clear();
        }
        self.sets.borrow_mut().insert(name.to_owned(), Rc::clone(&set));
        set
    }

    /// Returns the types of a name, each with the language family of its file.
    pub(super) fn find_types(
        &self,
        paths: &PathIndex,
        structures: &dyn StructureStore,
        name: &str,
    ) -> TypesOfName {
        if let Some(known) = self.types.borrow().get(name) {
            return Rc::clone(known);
        }
        let set = self.find_set(paths, structures, name);
        let both = set.all.iter().zip(&set.families);
        let types = both.filter(|((candidate, structure), _)| {
            candidate.declared_in(structure).role == DeclaredRole::Type
        });
        let types: Rc<[_]> = types.map(|((candidate, _), family)| (*family, *candidate)).collect();
        self.types.borrow_mut().insert(name.to_owned(), Rc::clone(&types));
        types
    }

    /// Returns the uses in a file that name the base of a type, or the type that a type is another name of, as positions among its uses.
    pub(super) fn find_base_uses(&self, file: FileNumber, structure: &FileStructure) -> Rc<[usize]> {
        let mut base_uses = self.base_uses.borrow_mut();
        let known = base_uses.entry(file).or_insert_with(|| {
            let uses = structure.uses.iter().enumerate();
            let of_bases = uses.filter(|(_, used)| matches!(used.role, UseRole::Base | UseRole::Alias));
            of_bases.map(|(position, _)| position).collect()
        });
        Rc::clone(known)
    }
}
