//! Finds the uses in all files that may mean wanted definitions of one name.

use std::collections::{BTreeSet, HashMap, HashSet};

use memod_base::types::{DeclaredRole, FileStructure, TypedValue, UseReceiver, UseRole};
use memod_database::DatabaseError;
use memod_structure::resolve::{
    Certainty, DefinitionCandidate, FileNumber, Resolver, StructureStore as _, hyphenated_tag,
    shares_language,
};

use super::worktree_structures::{CodeNode, WorktreeStructures};

/// A use that may mean a wanted definition.
#[derive(Clone, Debug)]
pub(super) struct ResolvedUse {
    pub(super) line: u32,
    /// Byte in the line, 1-based.
    pub(super) column: u32,
    /// The definition around the use.
    pub(super) within: CodeNode,
    pub(super) role: UseRole,
    /// Whether the use is part of an import.
    pub(super) is_import: bool,
    pub(super) certainty: Certainty,
    /// The wanted definitions that the use may mean.
    pub(super) meant: Vec<DefinitionCandidate>,
    /// Number of all definitions that the use may mean.
    pub(super) n_meant: usize,
}

/// All that determines what a use means: name, receiver, definition around it, role, number of arguments, and line if it is an import or
/// the file has imports in blocks.
type UseForm = (u32, UseReceiver, u32, UseRole, Option<u8>, Option<u32>);

/// The definitions whose uses are looked for.
struct WantedDefinitions<'a> {
    all: HashSet<DefinitionCandidate>,
    files: HashSet<FileNumber>,
    /// The path of one of the files of each language.
    path_of_language: Vec<&'a str>,
}

impl<'a> WantedDefinitions<'a> {
    fn new(structures: &'a WorktreeStructures<'_>, wanted: &[DefinitionCandidate]) -> Self {
        let files: HashSet<FileNumber> = wanted.iter().map(|wanted| wanted.file).collect();
        let mut path_of_language: Vec<&str> = Vec::new();
        for file in &files {
            let path = structures.paths.path_of(*file);
            if !path_of_language.iter().any(|known| shares_language(path, known)) {
                path_of_language.push(path);
            }
        }
        Self { all: wanted.iter().copied().collect(), files, path_of_language }
    }

    /// Returns whether the code of a file can use the definitions: it is in the language of one of them.
    fn may_be_used_in(&self, path: &str) -> bool {
        self.path_of_language.iter().any(|own| shares_language(path, own))
    }
}

impl WorktreeStructures<'_> {
    /// Returns the uses in all files that may mean one of the `wanted`, which all have this name.
    pub(super) fn find_uses(
        &self,
        name: &str,
        wanted: &[DefinitionCandidate],
    ) -> Result<Vec<ResolvedUse>, DatabaseError> {
        let candidates = self.find_candidates(name)?;
        let known: HashSet<&DefinitionCandidate> = candidates.iter().collect();
        let missing: Vec<_> = wanted.iter().filter(|own| !known.contains(own)).copied().collect();
        let mut resolver = match missing.is_empty() {
            true => Resolver::with_all_definitions(&self.paths, self, name),
            // The wanted definitions are always candidates, even if the name has too many definitions.
            false => Resolver::new(&self.paths, self, name, &[&candidates, missing.as_slice()].concat()),
        };
        let is_nameless = name == "default" && wanted.iter().all(|wanted| !self.is_member(*wanted));
        let wanted = WantedDefinitions::new(self, wanted);
        let mut files = BTreeSet::new();
        // Nearly every file has the word `default`, so importers of what has no other name are found by their modules.
        let mut open = match is_nameless {
            true => wanted.files.iter().copied().collect(),
            false => self.find_files_with_name(name)?,
        };
        let paths = wanted.files.iter().map(|file| self.paths.path_of(*file));
        let tags: BTreeSet<String> = paths.filter_map(|path| hyphenated_tag(path, name)).collect();
        for tag in tags {
            open.extend(self.find_files_with_name(&tag)?);
        }
        let mut is_cut = false;
        while !open.is_empty() && !is_cut {
            open.retain(|file| wanted.may_be_used_in(self.paths.path_of(*file)));
            let mut next = BTreeSet::new();
            // The files of the definitions come first, because they say whether there is a default.
            let (first, rest): (Vec<_>, Vec<_>) = open.iter().partition(|file| wanted.files.contains(file));
            for file in first.into_iter().chain(rest).copied() {
                if self.is_past_deadline() {
                    self.note_progress(name, 0, files.len().max(open.len()));
                    is_cut = true;
                    break;
                }
                self.spend_work();
                let learned = resolver.learn_aliases(file, &self.structure_of(file), &wanted.files);
                for name in &learned.names {
                    next.extend(self.find_files_with_name(name)?);
                }
                for module in &learned.modules {
                    next.extend(self.find_importers(*module)?);
                }
                files.insert(file);
            }
            open = next;
        }
        let (mut found, n_files) = (Vec::new(), files.len());
        for (n_done, file) in files.into_iter().enumerate() {
            if self.is_past_deadline() {
                self.note_progress(name, n_done, n_files);
                break;
            }
            self.add_uses_in(file, &resolver, &wanted.all, &mut found);
        }
        Ok(found)
    }

    fn is_member(&self, candidate: DefinitionCandidate) -> bool {
        candidate.declared_in(&self.structure_of(candidate.file)).role == DeclaredRole::Member
    }

    /// Returns the files that may import a file of JavaScript, by the words of its path and of its names in manifests.
    fn find_importers(&self, module: FileNumber) -> Result<BTreeSet<FileNumber>, DatabaseError> {
        let (words, near) = self.paths.words_of_imports(module);
        let mut files: BTreeSet<FileNumber> = near.into_iter().collect();
        for word in words {
            files.extend(self.find_files_with_name(&word)?);
        }
        Ok(files)
    }

    /// Adds the uses in one file to `found`, until the deadline.
    fn add_uses_in(
        &self,
        file: FileNumber,
        resolver: &Resolver<'_>,
        wanted: &HashSet<DefinitionCandidate>,
        found: &mut Vec<ResolvedUse>,
    ) {
        let structure = self.structure_of(file);
        // Uses of one form mean the same, so each form is resolved once. Imports in a block hold only there, and a variable may be
        // set to values of several types.
        let has_blocks = structure.imports.iter().any(|import| import.scope_lines.is_some());
        let reset = list_reset_values(&structure);
        let mut known: HashMap<UseForm, (Certainty, Vec<DefinitionCandidate>, usize)> = HashMap::new();
        for used in resolver.find_uses(file, &structure).take_while(|_| !self.is_past_deadline()) {
            let is_import = used.receiver == UseReceiver::Import;
            let is_of_reset = matches!(used.receiver, UseReceiver::Named(path) if reset.contains(root_of(structure.name(path))));
            let line = (is_import || has_blocks || is_of_reset).then_some(used.line);
            let form = (used.name, used.receiver, used.within, used.role, used.n_arguments, line);
            let (certainty, meant, n_meant) = known.entry(form).or_insert_with(|| {
                self.spend_work();
                let (certainty, all) = resolver.resolve_use(file, &structure, used);
                let (meant, other): (Vec<_>, Vec<_>) = all.iter().partition(|meant| wanted.contains(meant));
                (self.lower_if_overloaded(certainty, &meant, &other), meant, all.len())
            });
            let is_own = |meant: &DefinitionCandidate| meant.is_named_by(file, &structure, used);
            if !meant.is_empty() && !meant.iter().all(is_own) {
                found.push(ResolvedUse {
                    line: used.line,
                    column: used.column + 1,
                    within: CodeNode { file, declared: used.enclosing_id() },
                    role: used.role,
                    is_import,
                    certainty: *certainty,
                    meant: meant.clone(),
                    n_meant: *n_meant,
                });
            }
        }
    }
}

/// Returns the names of the variables whose type differs between the lines of one function.
fn list_reset_values(structure: &FileStructure) -> HashSet<&str> {
    let mut first: HashMap<(u32, u32), &TypedValue> = HashMap::new();
    let values = structure.values.iter().filter(|value| {
        let known = *first.entry((value.name, value.within)).or_insert(value);
        !known.is_set_like(value) || value.is_narrowed
    });
    values.map(|value| structure.name(value.name)).collect()
}

/// Returns the variable with which a path begins.
fn root_of(path: &str) -> &str {
    path.split('.').next().unwrap_or_default().trim_end_matches(['(', ')', '?'])
}
