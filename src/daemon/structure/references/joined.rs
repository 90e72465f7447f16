//! Joins the structures of all files of a view by name: which definition a use means, and which uses mean a definition.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_base::types::{
    ClassSet, DeclaredRole, Phrase, Receiver, SourceKey, Structure, Use, UseRole, ViewId,
};
use memod_database::DatabaseError;
use memod_index_db::Reader;
use memod_search::class_rules;
use memod_search::view_chunks::ViewChunks;
use memod_structure::resolve::{
    Candidate, Certainty, FileNumber, Packages, PathIndex, Resolver, Structures, has_overloads,
};
use memod_text::words::{Form, write_words};

use super::method_sets;
use crate::daemon::definitions::named_definitions::definitions_named;
use crate::daemon::request::path_spec::own_name;
use crate::daemon::shared::Shared;
use crate::daemon::structure::kept_maps::ASIDE;

/// Most definitions of one name that are told apart: with more, a name says nothing.
const MOST_CANDIDATES: usize = 1_000;
/// Most structures in memory at once.
const MOST_STRUCTURES: usize = 4_000;

/// Most steps from value to type and from type to base for one use.
const MOST_STEPS: u32 = 2_000;
/// Most manifests that are read, and most bytes of one.
const MOST_MANIFESTS: usize = 500;
const MOST_MANIFEST_BYTES: u64 = 256 << 10;

/// A definition, or the code at the top of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Node {
    pub(super) file: FileNumber,
    /// Index in what the file declares; `None` at the top.
    pub(super) declared: Option<u32>,
}

impl From<Candidate> for Node {
    fn from(candidate: Candidate) -> Self {
        Self { file: candidate.file, declared: Some(candidate.declared) }
    }
}

/// A use that may mean a wanted definition.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) line: u32,
    /// Byte in the line, 1-based.
    pub(super) column: u32,
    /// Where it stands.
    pub(super) within: Node,
    pub(super) role: UseRole,
    /// Whether it stands in an import.
    pub(super) is_import: bool,
    pub(super) certainty: Certainty,
    /// The wanted definitions that it may mean.
    pub(super) meant: Vec<Candidate>,
    /// How many definitions it may mean.
    pub(super) n_meant: usize,
}

/// Name, receiver, definition around, number of arguments, and line of an import.
type UseForm = (u32, Receiver, u32, Option<u8>, Option<u32>);

/// The files of a view, with what each declares and uses.
pub(super) struct Joined<'a> {
    shared: &'a Shared,
    reader: &'a Reader,
    view: ViewId,
    pub(super) chunks: Arc<ViewChunks>,
    pub(super) paths: PathIndex,
    structures: RefCell<HashMap<FileNumber, Arc<Structure>>>,
    candidates: RefCell<HashMap<String, Arc<[Candidate]>>>,
    /// Steps taken for the use that is resolved.
    n_steps: Cell<u32>,
    /// When looking for uses ends.
    until: Instant,
    /// Why an answer lacks something.
    cut: Cell<Option<&'static str>>,
}

impl<'a> Joined<'a> {
    /// Prepares the view in the snapshot of `reader`. `gone` are paths of files that are not there any more, but that others may still
    /// import.
    pub(super) fn new(
        (shared, reader): (&'a Shared, &'a Reader),
        (view, root): (ViewId, &Path),
        gone: impl IntoIterator<Item = String>,
        until: Instant,
    ) -> Result<Self, DatabaseError> {
        let chunks = shared.chunks.current(reader, view)?;
        let all = (0..chunks.n_contents() as u32).flat_map(|content| chunks.paths_of(content));
        let mut paths: Vec<String> = all.map(str::to_owned).collect();
        // What has no text has no chunks, but may say that its directory is a package.
        paths.extend(reader.empty_files(view)?);
        paths.extend(gone);
        paths.sort_unstable();
        paths.dedup();
        let packages = packages(root, &paths);
        let paths = PathIndex::new(paths).with_packages(packages);
        let (structures, candidates, cut) = (RefCell::default(), RefCell::default(), Cell::default());
        let n_steps = Cell::default();
        Ok(Self { shared, reader, view, chunks, paths, structures, candidates, n_steps, until, cut })
    }

    /// Returns why an answer lacks something, if it does.
    pub(super) fn cut(&self) -> Option<&'static str> {
        self.cut.get()
    }

    /// Whether the time is up.
    pub(super) fn is_late(&self) -> bool {
        let is_late = Instant::now() >= self.until;
        if is_late {
            self.cut.set(Some("the time limit was reached"));
        }
        is_late
    }

    /// Returns the uses in all files that may mean one of the `wanted`, which all have this name.
    pub(super) fn uses_of(&self, name: &str, wanted: &[Candidate]) -> Result<Vec<Found>, DatabaseError> {
        // Of too many definitions of a name those that are asked for are among the candidates in any case.
        let mut candidates = self.candidates(name)?.to_vec();
        let missing: Vec<_> = wanted.iter().filter(|own| !candidates.contains(own)).copied().collect();
        candidates.extend(missing);
        let mut resolver = Resolver::new(&self.paths, self, name, &candidates);
        let mut files = BTreeSet::new();
        let mut names = vec![name.to_owned()];
        while let Some(name) = names.pop() {
            for file in self.files_with(&name)?.into_iter().take_while(|_| !self.is_late()) {
                names.extend(resolver.learn(&self.of(file)));
                files.insert(file);
            }
        }
        let files = files.into_iter().take_while(|_| !self.is_late());
        Ok(files.flat_map(|file| self.uses_in(file, &resolver, wanted)).collect())
    }

    fn uses_in(&self, file: FileNumber, resolver: &Resolver<'_, Self>, wanted: &[Candidate]) -> Vec<Found> {
        let structure = self.of(file);
        // Uses of one form in one definition mean the same.
        let mut known: HashMap<UseForm, (Certainty, Vec<Candidate>, usize)> = HashMap::new();
        let mut found = Vec::new();
        for of in resolver.uses(&structure).take_while(|_| !self.is_late()) {
            let is_import = of.receiver == Receiver::Import;
            let line = is_import.then_some(of.line);
            let form = (of.name, of.receiver, of.within, of.n_arguments, line);
            let (certainty, meant, n_meant) = known.entry(form).or_insert_with(|| {
                let (certainty, all) = resolver.resolve(file, &structure, of);
                let (meant, other): (Vec<_>, Vec<_>) = all.iter().partition(|meant| wanted.contains(meant));
                (self.unless_overloaded(certainty, &meant, &other), meant, all.len())
            });
            if !meant.is_empty() {
                found.push(Found {
                    line: of.line,
                    column: of.column + 1,
                    within: Node { file, declared: of.within.checked_sub(1) },
                    role: of.role,
                    is_import,
                    certainty: *certainty,
                    meant: meant.clone(),
                    n_meant: *n_meant,
                });
            }
        }
        found
    }

    /// Lowers a certainty to likely if some of the other definitions that are meant are overloads: only the types of the arguments
    /// tell which of them is.
    fn unless_overloaded(&self, certainty: Certainty, meant: &[Candidate], other: &[Candidate]) -> Certainty {
        let is_overload = |one: &Candidate, other: &Candidate| {
            let structure = self.of(one.file);
            let title = |of: &Candidate| &structure.declared[of.declared as usize].title;
            one.file == other.file
                && one != other
                && title(one) == title(other)
                && has_overloads(self.paths.path(one.file))
        };
        let is_told = !meant.iter().any(|one| other.iter().any(|other| is_overload(one, other)));
        if is_told { certainty } else { certainty.max(Certainty::Likely) }
    }

    /// Returns the definitions that a use may mean, all with one certainty.
    pub(super) fn meant_by(
        &self,
        file: FileNumber,
        structure: &Structure,
        of: &Use,
    ) -> Result<(Certainty, Vec<Candidate>), DatabaseError> {
        let written = structure.name(of.name);
        let renamed = structure.imports.iter().find(|import| {
            import.local == written
                && !matches!(import.name.as_str(), "" | "default")
                && import.name != written
        });
        let name = match of.receiver {
            Receiver::None | Receiver::Import => renamed.map_or(written, |import| &import.name),
            _ => written,
        };
        let candidates = self.candidates(name)?;
        if candidates.is_empty() {
            return Ok((Certainty::ByName, Vec::new()));
        }
        let (certainty, meant) =
            Resolver::new(&self.paths, self, name, &candidates).resolve(file, structure, of);
        Ok((self.unless_overloaded(certainty, &meant, &meant), meant))
    }

    /// Whether a use is of what a file imports from another one, under its name or through its module.
    pub(super) fn is_imported_from(
        &self,
        exporter: FileNumber,
        importer: FileNumber,
        structure: &Structure,
        of: &Use,
    ) -> bool {
        let written = match of.receiver {
            Receiver::Named(path) => structure.name(path),
            _ => structure.name(of.name),
        };
        let mut imports = structure.imports.iter().filter(|import| import.local == written);
        imports.any(|import| self.paths.imports_file(importer, import, exporter))
            || matches!(of.receiver, Receiver::Named(_)) && self.paths.names_file(importer, written, exporter)
    }

    /// Returns the members of bases that a member may be called for: those that it overrides, or implements.
    pub(super) fn overridden(&self, member: Candidate) -> Result<Vec<Candidate>, DatabaseError> {
        let structure = self.of(member.file);
        let declared = &structure.declared[member.declared as usize];
        if declared.role != DeclaredRole::Member {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for name in declared.names.split(' ') {
            let candidates = self.candidates(name)?;
            found.extend(Resolver::new(&self.paths, self, name, &candidates).overridden(member));
            found.extend(method_sets::implemented(self, member, &candidates)?);
        }
        Ok(found)
    }

    /// Returns the definitions with a name in all files.
    pub(super) fn candidates(&self, name: &str) -> Result<Arc<[Candidate]>, DatabaseError> {
        if let Some(known) = self.candidates.borrow().get(name) {
            return Ok(Arc::clone(known));
        }
        let defined = definitions_named(self.shared, self.reader, self.view, own_name(name))?;
        let files: BTreeSet<FileNumber> =
            defined.iter().filter_map(|(key, _)| self.paths.number(key.as_str())).collect();
        let mut found = Vec::new();
        for file in files {
            let structure = self.of(file);
            for (id, declared) in structure.declared.iter().enumerate() {
                let has_name =
                    declared.role != DeclaredRole::Scope && declared.names.split(' ').any(|own| own == name);
                found.extend(has_name.then_some(Candidate { file, declared: id as u32 }));
            }
            if found.len() > MOST_CANDIDATES {
                found.truncate(MOST_CANDIDATES);
                self.cut.set(Some("of more than 1,000 definitions of one name the first are told apart"));
                break;
            }
        }
        let found: Arc<[Candidate]> = found.into();
        self.candidates.borrow_mut().insert(name.to_owned(), Arc::clone(&found));
        Ok(found)
    }

    /// Returns the files whose text has a name, by path, and those that are not indexed to the end.
    pub(super) fn files_with(&self, name: &str) -> Result<BTreeSet<FileNumber>, DatabaseError> {
        let mut tokens = String::new();
        write_words(name, Form::Whole, &mut tokens);
        let phrase = Phrase { tokens: tokens.trim().to_owned(), is_prefix: false };
        let mut contents: BTreeSet<u32> = self.chunks.cut_contents().collect();
        if !phrase.tokens.is_empty() {
            let see = |id, _| contents.extend(self.chunks.get(id).map(|chunk| chunk.content));
            self.reader.postings()?.each(&phrase, see)?;
        }
        let files = contents.iter().flat_map(|content| self.chunks.paths_of(*content));
        Ok(files.filter_map(|path| self.paths.number(path)).collect())
    }

    /// Returns the path of a file.
    pub(super) fn key(&self, file: FileNumber) -> SourceKey {
        SourceKey::new(self.paths.path(file))
    }
}

impl Structures for Joined<'_> {
    fn of(&self, file: FileNumber) -> Arc<Structure> {
        if let Some(known) = self.structures.borrow().get(&file) {
            return Arc::clone(known);
        }
        let key = self.key(file);
        let read = self.reader.structure(self.view, &key).unwrap_or_else(|error| {
            tracing::warn!(path = %key, %error, "its names are left out of an answer");
            self.cut.set(Some("a part of the index cannot be read; the log has the reason"));
            None
        });
        let structure = Arc::new(read.unwrap_or_default());
        if structure.lacks_uses || structure.lacks_definitions {
            self.cut.set(Some("a file has more uses or definitions than are kept of one"));
        }
        let mut known = self.structures.borrow_mut();
        if known.len() >= MOST_STRUCTURES {
            known.clear();
        }
        known.insert(file, Arc::clone(&structure));
        structure
    }

    fn begin(&self) {
        self.n_steps.set(0);
    }

    fn may_step(&self) -> bool {
        self.n_steps.set(self.n_steps.get() + 1);
        self.n_steps.get() <= MOST_STEPS
    }

    fn named(&self, name: &str) -> Vec<Candidate> {
        let read = self.candidates(name).map(|candidates| candidates.to_vec());
        read.unwrap_or_else(|error| {
            tracing::warn!(name, %error, "its definitions are left out of an answer");
            self.cut.set(Some("a part of the index cannot be read; the log has the reason"));
            Vec::new()
        })
    }
}

/// Reads the manifests among the files of a worktree.
fn packages(root: &Path, paths: &[String]) -> Packages {
    let mut packages = Packages::default();
    let mut manifests: Vec<&String> = paths.iter().filter(|path| Packages::is_manifest(path)).collect();
    // Of several with one name the one nearest to the top counts, and none of a test before one that is not.
    manifests.sort_by_key(|path| {
        let is_aside = class_rules::by_path(path).meets(ClassSet::of(&ASIDE));
        (is_aside, path.matches('/').count())
    });
    for path in manifests.into_iter().take(MOST_MANIFESTS) {
        let read = memod_scan::read(root, &SourceKey::new(path), MOST_MANIFEST_BYTES);
        if let Ok(memod_scan::Content::Text(text)) = read.map(|read| read.content) {
            packages.add(path, &text);
        }
    }
    packages
}
