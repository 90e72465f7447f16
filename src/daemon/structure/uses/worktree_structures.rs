//! Connects the structures of all files of a worktree by name.
//!
//! It finds which definition a use means, and which uses mean a definition.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_base::types::{
    DeclaredRole, FileStructure, NameUse, Phrase, SourceKey, TypedValue, UseReceiver, UseRole, WorktreeId,
    last_part,
};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_proto::AnswerPart;
use memod_search::worktree_chunks::WorktreeChunks;
use memod_structure::resolve::{
    Certainty, DefinitionCandidate, FileNumber, PathIndex, Resolver, StructureStore, has_overloads,
    hyphenated_tag, shares_language,
};
use memod_text::words::{TokenForm, write_words};

use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::shared::Shared;

/// Maximum number of definitions of one name that are distinguished: a name with more is too common to mean one of them.
const MOST_CANDIDATES: usize = 1_000;
/// Maximum number of structures in memory at once.
const MOST_STRUCTURES: usize = 4_000;

/// Maximum number of steps from value to type and from type to base type for resolving one use.
const MOST_STEPS: u32 = 2_000;
/// Why an answer lacks something while a part of the index cannot be read.
const UNREADABLE_INDEX: &str = "a part of the index cannot be read; the log has the reason";

/// A definition, or the code of a file outside of definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CodeNode {
    pub(super) file: FileNumber,
    /// Index in the declarations of the file; `None` outside of definitions.
    pub(super) declared: Option<u32>,
}

impl From<DefinitionCandidate> for CodeNode {
    fn from(candidate: DefinitionCandidate) -> Self {
        Self { file: candidate.file, declared: Some(candidate.declared) }
    }
}

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

/// The files of a worktree, with what each declares and uses; read when needed.
pub(super) struct WorktreeStructures<'a> {
    shared: &'a Shared,
    reader: &'a IndexReader,
    pub(super) chunks: Arc<WorktreeChunks>,
    pub(super) paths: Arc<PathIndex>,
    /// Number of contents that had been extracted again by then.
    n_replaced: u64,
    structures: RefCell<HashMap<FileNumber, Arc<FileStructure>>>,
    candidates: RefCell<HashMap<String, Arc<[DefinitionCandidate]>>>,
    /// Number of steps taken for the use that is being resolved.
    n_steps: Cell<u32>,
    /// Deadline for finding uses.
    until: Instant,
    /// Number of files that may still be looked at, and of uses that may still be resolved.
    work_left: Cell<usize>,
    /// Numbers of the contents whose last part is in no chunk.
    cut_contents: Vec<u32>,
    /// Why an answer lacks something.
    cut: Cell<Option<&'static str>>,
    /// Whether a part of the index could not be read.
    lacks_index: Cell<bool>,
}

impl<'a> WorktreeStructures<'a> {
    /// Prepares the worktree in the snapshot of `reader`. `gone` are paths of files that do not exist any more, but that other
    /// files may still import.
    pub(super) fn new(
        (shared, reader): (&'a Shared, &'a IndexReader),
        (view, root): (WorktreeId, &Path),
        gone: impl IntoIterator<Item = String>,
        until: Instant,
    ) -> Result<Self, DatabaseError> {
        let chunks = shared.chunks.current_chunks(reader, view)?;
        let mut paths = shared.structures.current_paths(reader, (view, root), &chunks)?;
        let gone: Vec<String> = gone.into_iter().filter(|path| paths.number_of(path).is_none()).collect();
        if !gone.is_empty() {
            paths = Arc::new(paths.with_more_paths(gone));
        }
        let n_replaced = reader.n_extracted_again()?;
        let cut_contents = chunks.cut_contents().collect();
        let (structures, candidates, cut) = (RefCell::default(), RefCell::default(), Cell::default());
        let n_steps = Cell::default();
        Ok(Self {
            shared,
            reader,
            chunks,
            paths,
            n_replaced,
            structures,
            candidates,
            n_steps,
            until,
            work_left: Cell::new(usize::MAX),
            cut_contents,
            cut,
            lacks_index: Cell::default(),
        })
    }

    /// Returns why an answer lacks something, if it does.
    pub(super) fn why_cut(&self) -> Option<&'static str> {
        if self.lacks_index.get() { Some(UNREADABLE_INDEX) } else { self.cut.get() }
    }

    /// Notes that the answer is not fresh if a part of the index could not be read.
    pub(super) fn note_unread_index(&self, caveats: &NotedCaveats) {
        if self.lacks_index.get() {
            caveats.note_caveat(AnswerPart::Code, UNREADABLE_INDEX);
        }
    }

    /// Allows at most so much further work; see [`Self::is_past_deadline`]. Has no effect if less is allowed already.
    pub(super) fn limit_work(&self, most: usize) {
        self.work_left.set(self.work_left.get().min(most));
    }

    fn spend_work(&self) {
        self.work_left.set(self.work_left.get().saturating_sub(1));
    }

    /// Returns whether the deadline has passed, or the allowed work is done; if so, records that as the reason why the answer is cut.
    pub(super) fn is_past_deadline(&self) -> bool {
        let why = if self.work_left.get() == 0 {
            "many uses of uses are left out"
        } else if Instant::now() >= self.until {
            "the time limit was reached"
        } else {
            return false;
        };
        self.cut.set(Some(why));
        true
    }

    /// Returns the uses in all files that may mean one of the `wanted`, which all have this name.
    pub(super) fn find_uses(
        &self,
        name: &str,
        wanted: &[DefinitionCandidate],
    ) -> Result<Vec<ResolvedUse>, DatabaseError> {
        // The wanted definitions are always candidates, even if the name has too many definitions.
        let mut candidates = self.find_candidates(name)?.to_vec();
        let missing: Vec<_> = wanted.iter().filter(|own| !candidates.contains(own)).copied().collect();
        candidates.extend(missing);
        let mut resolver = Resolver::new(&self.paths, self, name, &candidates);
        let mut files = BTreeSet::new();
        let wanted_files: HashSet<FileNumber> = wanted.iter().map(|wanted| wanted.file).collect();
        // Nearly every file has the word `default`, so importers of what has no other name are found by their modules.
        let is_nameless = name == "default" && wanted.iter().all(|wanted| !self.is_member(*wanted));
        let mut open = match is_nameless {
            true => wanted_files.iter().copied().collect(),
            false => self.find_files_with_name(name)?,
        };
        let tags: BTreeSet<String> =
            wanted_files.iter().filter_map(|file| hyphenated_tag(self.paths.path_of(*file), name)).collect();
        for tag in tags {
            open.extend(self.find_files_with_name(&tag)?);
        }
        while !open.is_empty() {
            // Code of other languages cannot use the definitions.
            open.retain(|file| {
                let path = self.paths.path_of(*file);
                wanted_files.iter().any(|wanted| shares_language(path, self.paths.path_of(*wanted)))
            });
            let mut next = BTreeSet::new();
            // The files of the definitions come first, because they say whether there is a default.
            let (first, rest): (Vec<_>, Vec<_>) = open.iter().partition(|file| wanted_files.contains(file));
            for file in first.into_iter().chain(rest).take_while(|_| !self.is_past_deadline()) {
                self.spend_work();
                let learned = resolver.learn_aliases(file, &self.structure_of(file), &wanted_files);
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
        let files = files.into_iter().take_while(|_| !self.is_past_deadline());
        Ok(files.flat_map(|file| self.find_uses_in(file, &resolver, wanted)).collect())
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

    fn find_uses_in(
        &self,
        file: FileNumber,
        resolver: &Resolver<'_>,
        wanted: &[DefinitionCandidate],
    ) -> Vec<ResolvedUse> {
        let structure = self.structure_of(file);
        // Uses of one form mean the same, so each form is resolved once. Imports in a block hold only there, and a variable may be
        // set to values of several types.
        let has_blocks = structure.imports.iter().any(|import| import.scope_lines.is_some());
        let reset = list_reset_values(&structure);
        let mut known: HashMap<UseForm, (Certainty, Vec<DefinitionCandidate>, usize)> = HashMap::new();
        let mut found = Vec::new();
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
        found
    }

    /// Lowers a certainty to likely if some of the other definitions that a use may mean are overloads of a meant one, because only
    /// the types of the arguments decide which of them is called.
    fn lower_if_overloaded(
        &self,
        certainty: Certainty,
        meant: &[DefinitionCandidate],
        other: &[DefinitionCandidate],
    ) -> Certainty {
        let is_overloaded = meant.iter().any(|one| other.iter().any(|other| self.is_overload(*one, *other)));
        if is_overloaded { certainty.max(Certainty::Likely) } else { certainty }
    }

    /// Returns whether two definitions are overloads of one name in one file.
    fn is_overload(&self, one: DefinitionCandidate, other: DefinitionCandidate) -> bool {
        if one.file != other.file || one == other {
            return false;
        }
        let structure = self.structure_of(one.file);
        let [one_title, other_title] = [one, other].map(|each| &each.declared_in(&structure).title);
        one_title == other_title && has_overloads(self.paths.path_of(one.file))
    }

    /// Returns the definitions that a use may mean, all with one certainty.
    pub(super) fn resolve_use(
        &self,
        file: FileNumber,
        structure: &FileStructure,
        used: &NameUse,
    ) -> Result<(Certainty, Vec<DefinitionCandidate>), DatabaseError> {
        let written = structure.name(used.name);
        let defined = Resolver::find_defined_name(&self.paths, self, file, structure, used);
        let imports = structure.imports_binding(written, Some(used.line)).into_iter();
        let renamed = imports
            .into_iter()
            .find(|import| !matches!(import.name.as_str(), "" | "default") && import.name != written);
        let name = match used.receiver {
            _ if defined.is_some() => defined.as_deref().unwrap_or(written),
            UseReceiver::None | UseReceiver::Import => renamed.map_or(written, |import| &import.name),
            _ => written,
        };
        let candidates = self.find_candidates(name)?;
        if candidates.is_empty() {
            return Ok((Certainty::ByName, Vec::new()));
        }
        let (certainty, meant) =
            Resolver::new(&self.paths, self, name, &candidates).resolve_use(file, structure, used);
        Ok((self.lower_if_overloaded(certainty, &meant, &meant), meant))
    }

    /// Returns whether a use in the file `importer` means something of the file `exporter`, imported by its name or through its
    /// module.
    pub(super) fn is_imported_from(
        &self,
        exporter: FileNumber,
        importer: FileNumber,
        structure: &FileStructure,
        used: &NameUse,
    ) -> bool {
        let written = match used.receiver {
            UseReceiver::Named(path) => structure.name(path),
            _ => structure.name(used.name),
        };
        let mut imports = structure.imports.iter().filter(|import| import.local == written);
        imports.any(|import| self.paths.imports_file(importer, import, exporter))
            || matches!(used.receiver, UseReceiver::Named(_))
                && self.paths.names_file(importer, written, exporter)
    }

    /// Returns the definitions with a name in all files, up to a limit.
    pub(super) fn find_candidates(&self, name: &str) -> Result<Arc<[DefinitionCandidate]>, DatabaseError> {
        if let Some(known) = self.candidates.borrow().get(name) {
            return Ok(Arc::clone(known));
        }
        let defined = self.reader.find_definitions_named(last_part(name))?;
        let contents = defined.iter().filter_map(|(id, _)| self.chunks.get(*id)).map(|chunk| chunk.content);
        let contents: BTreeSet<u32> = contents.chain(self.cut_contents.iter().copied()).collect();
        let paths = contents.iter().flat_map(|content| self.chunks.paths_of(*content));
        let files: BTreeSet<FileNumber> = paths.filter_map(|path| self.paths.number_of(path)).collect();
        let mut found = Vec::new();
        for file in files {
            found.extend(self.list_declared(file, name));
            if found.len() > MOST_CANDIDATES {
                found.truncate(MOST_CANDIDATES);
                self.cut.set(Some(
                    "more than 1,000 definitions have one name; only the first 1,000 are distinguished",
                ));
                break;
            }
        }
        let found: Arc<[DefinitionCandidate]> = found.into();
        self.candidates.borrow_mut().insert(name.to_owned(), Arc::clone(&found));
        Ok(found)
    }

    /// Returns the definitions with a name in one file.
    pub(super) fn list_declared(&self, file: FileNumber, name: &str) -> Vec<DefinitionCandidate> {
        let structure = self.structure_of(file);
        let with_name = (0..).zip(&structure.declared).filter(|(_, declared)| {
            declared.role != DeclaredRole::Scope && declared.own_names().any(|own| own == name)
        });
        with_name.map(|(declared, _)| DefinitionCandidate { file, declared }).collect()
    }

    /// Returns the files whose text contains a name, and those that are not indexed to their end, ordered by path.
    pub(super) fn find_files_with_name(&self, name: &str) -> Result<BTreeSet<FileNumber>, DatabaseError> {
        let mut tokens = String::new();
        write_words(name, TokenForm::Whole, &mut tokens);
        let phrase = Phrase { tokens: tokens.trim().to_owned(), is_prefix: false };
        let mut contents: BTreeSet<u32> = self.cut_contents.iter().copied().collect();
        if !phrase.tokens.is_empty() {
            self.reader.read_postings()?.each_match(&phrase, |id, _| {
                contents.extend(self.chunks.get(id).map(|chunk| chunk.content));
            })?;
        }
        let files = contents.iter().flat_map(|content| self.chunks.paths_of(*content));
        Ok(files.filter_map(|path| self.paths.number_of(path)).collect())
    }

    /// Returns the path of a file.
    pub(super) fn source_key(&self, file: FileNumber) -> SourceKey {
        SourceKey::new(self.paths.path_of(file))
    }
}

impl StructureStore for WorktreeStructures<'_> {
    fn structure_of(&self, file: FileNumber) -> Arc<FileStructure> {
        if let Some(known) = self.structures.borrow().get(&file) {
            return Arc::clone(known);
        }
        let path = self.paths.path_of(file);
        let first = self.chunks.first_chunk_of(path);
        let read = first.map(|first| {
            self.shared.structures.find_structure(self.n_replaced, first, || {
                self.reader.read_content_structure(first).map(Option::unwrap_or_default)
            })
        });
        let structure = read.transpose().unwrap_or_else(|error| {
            tracing::warn!(path, %error, "the names of a file are left out of an answer");
            self.lacks_index.set(true);
            None
        });
        let structure = structure.unwrap_or_default();
        if structure.lacks_uses || structure.lacks_definitions {
            self.cut.set(Some("a file has more uses or definitions than the index keeps for a file"));
        }
        let mut known = self.structures.borrow_mut();
        if known.len() >= MOST_STRUCTURES {
            known.clear();
        }
        known.insert(file, Arc::clone(&structure));
        structure
    }

    fn reset_steps(&self) {
        self.n_steps.set(0);
    }

    fn count_step(&self) -> bool {
        self.n_steps.set(self.n_steps.get() + 1);
        self.n_steps.get() <= MOST_STEPS
    }

    fn definitions_named(&self, name: &str) -> Vec<DefinitionCandidate> {
        let read = self.find_candidates(name).map(|candidates| candidates.to_vec());
        read.unwrap_or_else(|error| {
            tracing::warn!(name, %error, "the definitions of a name are left out of an answer");
            self.lacks_index.set(true);
            Vec::new()
        })
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
