//! Connects the structures of all files of a worktree by name.
//!
//! It finds which definition a use means, and which uses mean a definition.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memod_base::types::{
    DeclaredItem, DeclaredRole, FileStructure, NameUse, Phrase, SourceKey, UseReceiver, WorktreeId, last_part,
};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_proto::AnswerPart;
use memod_search::worktree_chunks::WorktreeChunks;
use memod_structure::resolve::{
    Certainty, DefinitionCandidate, FileNumber, PathIndex, ResolutionCache, Resolver, StructureStore,
    has_overloads, reads_uses,
};
use memod_text::words::{TokenForm, write_words};

use super::implementers::Implementers;
use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::shared::Shared;

/// Time limit for following uses; the answer has what was found by then.
pub(super) const BUDGET: Duration = Duration::from_secs(8);
/// Maximum number of definitions of one name that are distinguished: a name with more is too common to mean one of them.
const MOST_CANDIDATES: usize = 1_000;
/// Number of definitions from which those of a file are found by an index of their names.
const MOST_SCANNED: usize = 200;
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
    /// The part that was not finished when the deadline passed, and whether its size is given.
    stopped: RefCell<Option<(String, bool)>>,
    resolution_cache: ResolutionCache,
    /// The definitions of each large file by their own names.
    declared_names: RefCell<HashMap<FileNumber, HashMap<String, Vec<u32>>>>,
    /// The types that implement each interface of Go that was looked at.
    pub(super) implementers: RefCell<HashMap<DefinitionCandidate, Rc<Implementers>>>,
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
            stopped: RefCell::default(),
            resolution_cache: ResolutionCache::default(),
            declared_names: RefCell::default(),
            implementers: RefCell::default(),
            lacks_index: Cell::default(),
        })
    }

    /// Returns why an answer lacks something, if it does.
    pub(super) fn why_cut(&self) -> Option<String> {
        if self.lacks_index.get() {
            return Some(UNREADABLE_INDEX.to_owned());
        }
        let stopped = self.stopped.borrow().as_ref().map(|(why, _)| why.clone());
        stopped.or_else(|| self.cut.get().map(str::to_owned))
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

    pub(super) fn spend_work(&self) {
        self.work_left.set(self.work_left.get().saturating_sub(1));
    }

    /// Returns whether the deadline has passed, or the allowed work is done; if so, records that as the reason why the answer is cut.
    pub(super) fn is_past_deadline(&self) -> bool {
        if self.work_left.get() == 0 {
            self.cut.set(Some("many uses of uses are left out"));
            return true;
        }
        let is_past = Instant::now() >= self.until;
        if is_past {
            let why =
                || (format!("stopped after {} s: not all uses were looked at", BUDGET.as_secs()), false);
            self.stopped.borrow_mut().get_or_insert_with(why);
        }
        is_past
    }

    /// Returns whether the deadline passed while something was looked at.
    pub(super) fn has_stopped(&self) -> bool {
        self.stopped.borrow().is_some()
    }

    /// Records how many of the files with a name had been looked at when the deadline passed. The first call counts.
    pub(super) fn note_progress(&self, name: &str, n_done: usize, n_files: usize) {
        self.note_stop(|| format!("{n_done} of {n_files} files with the name {name} were looked at"));
    }

    /// Records what had been looked at when the deadline passed. The first call counts.
    pub(super) fn note_stop(&self, describe: impl FnOnce() -> String) {
        let mut stopped = self.stopped.borrow_mut();
        if let Some((why, is_counted @ false)) = stopped.as_mut() {
            *why = format!("stopped after {} s: {}", BUDGET.as_secs(), describe());
            *is_counted = true;
        }
    }

    /// Lowers a certainty to likely if some of the other definitions that a use may mean are overloads of a meant one, because only
    /// the types of the arguments decide which of them is called.
    pub(super) fn lower_if_overloaded(
        &self,
        certainty: Certainty,
        meant: &[DefinitionCandidate],
        other: &[DefinitionCandidate],
    ) -> Certainty {
        if certainty >= Certainty::Likely {
            return certainty;
        }
        let title_of = |one: &DefinitionCandidate| {
            let structure = self.structure_of(one.file);
            (one.file, one.declared_in(&structure).title.clone())
        };
        let with_overloads = meant.iter().filter(|one| has_overloads(self.paths.path_of(one.file)));
        let mut by_title: HashMap<(FileNumber, String), Vec<DefinitionCandidate>> = HashMap::new();
        with_overloads.for_each(|one| by_title.entry(title_of(one)).or_default().push(*one));
        let is_overload = |other: &DefinitionCandidate| {
            let same = by_title.get(&title_of(other));
            same.is_some_and(|same| same.iter().any(|one| one != other))
        };
        let is_overloaded = !by_title.is_empty() && other.iter().any(is_overload);
        if is_overloaded { Certainty::Likely } else { certainty }
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
        if self.find_candidates(name)?.is_empty() {
            return Ok((Certainty::ByName, Vec::new()));
        }
        let (certainty, meant) =
            Resolver::with_all_definitions(&self.paths, self, name).resolve_use(file, structure, used);
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
        let has_name = |declared: &DeclaredItem| {
            declared.role != DeclaredRole::Scope && declared.own_names().any(|own| own == name)
        };
        if structure.declared.len() < MOST_SCANNED {
            let with_name = (0..).zip(&structure.declared).filter(|(_, declared)| has_name(declared));
            return with_name.map(|(declared, _)| DefinitionCandidate { file, declared }).collect();
        }
        let mut indexes = self.declared_names.borrow_mut();
        let index = indexes.entry(file).or_insert_with(|| {
            let mut index: HashMap<String, Vec<u32>> = HashMap::new();
            for (id, declared) in (0..).zip(&structure.declared) {
                for own in declared.own_names() {
                    index.entry(own.to_owned()).or_default().push(id);
                }
            }
            index
        });
        let ids = index.get(name).into_iter().flatten().copied();
        let with_name = ids.filter(|id| has_name(&structure.declared[*id as usize]));
        let mut found: Vec<_> = with_name.map(|declared| DefinitionCandidate { file, declared }).collect();
        found.dedup(); // a definition may have a name twice
        found
    }

    /// Returns the files whose text contains a name, and those that are not indexed to their end, ordered by path.
    pub(super) fn find_files_with_name(&self, name: &str) -> Result<BTreeSet<FileNumber>, DatabaseError> {
        let mut contents = self.find_contents_with_word(name)?;
        contents.extend(self.cut_contents.iter().copied());
        Ok(self.list_files_of(&contents))
    }

    /// Returns the files whose indexed text contains a name but whose uses are not known, because they were read as text only, ordered
    /// by path; each with the reason.
    pub(super) fn find_text_files_with_name(
        &self,
        name: &str,
    ) -> Result<Vec<(FileNumber, String)>, DatabaseError> {
        let mut found = Vec::new();
        for file in self.list_files_of(&self.find_contents_with_word(name)?) {
            let path = self.paths.path_of(file);
            if !reads_uses(path) || !self.structure_of(file).is_empty() {
                continue;
            }
            let first = self.chunks.first_chunk_of(path);
            let why = first.map(|first| self.reader.why_read_as_text(first)).transpose()?.flatten();
            found.extend(why.map(|why| (file, why)));
        }
        Ok(found)
    }

    /// Returns the numbers of the contents whose indexed text contains a name.
    fn find_contents_with_word(&self, name: &str) -> Result<BTreeSet<u32>, DatabaseError> {
        let mut tokens = String::new();
        write_words(name, TokenForm::Whole, &mut tokens);
        let phrase = Phrase { tokens: tokens.trim().to_owned(), is_prefix: false };
        let mut contents = BTreeSet::new();
        if !phrase.tokens.is_empty() {
            self.reader.read_postings()?.each_match(&phrase, |id, _| {
                contents.extend(self.chunks.get(id).map(|chunk| chunk.content));
            })?;
        }
        Ok(contents)
    }

    fn list_files_of(&self, contents: &BTreeSet<u32>) -> BTreeSet<FileNumber> {
        let files = contents.iter().flat_map(|content| self.chunks.paths_of(*content));
        files.filter_map(|path| self.paths.number_of(path)).collect()
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

    fn definitions_named(&self, name: &str) -> Arc<[DefinitionCandidate]> {
        self.find_candidates(name).unwrap_or_else(|error| {
            tracing::warn!(name, %error, "the definitions of a name are left out of an answer");
            self.lacks_index.set(true);
            Arc::default()
        })
    }

    fn resolution_cache(&self) -> &ResolutionCache {
        &self.resolution_cache
    }
}
