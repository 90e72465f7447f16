//! Finds the definitions that a question about uses names.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use memod_base::paths::CallerDir;
use memod_base::types::{
    DeclaredItem, DeclaredRole, Definition, FileStructure, PathPart, SourceKey, file_name, has_lines,
    parse_target, qualifier,
};
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_index_db::IndexReader;
use memod_proto::{RefDefinition, RpcError, code};
use memod_structure::resolve::{
    Certainty, DefinitionCandidate, FileNumber, StructureStore as _, list_decorators, shares_language,
};

use super::changed_definitions::ChangedDefinitions;
use super::match_tests_by_name::NameMatcher;
use super::worktree_structures::WorktreeStructures;
use crate::daemon::definitions::named_definitions::{
    check_readable, find_definitions, undefined_name_error, unknown_target_error,
};
use crate::daemon::definitions::similar_targets::suggest_similar_targets;
use crate::daemon::definitions::unindexed_files::{add_unsearched, is_code, list_unindexed_files};
use crate::daemon::request::commit_history::parse_source_key;
use crate::daemon::request::path_spec::{choose_part, explain_path_elsewhere, find_definitions_named};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;

/// A definition as an answer names it; each overload is a definition.
pub(super) struct TargetDefinition {
    pub(super) title: String,
    pub(super) lines: (u32, u32),
}

impl From<&Definition> for TargetDefinition {
    fn from(found: &Definition) -> Self {
        Self { title: found.title.clone(), lines: found.lines }
    }
}

/// The definitions that a question is about.
#[derive(Default)]
pub(super) struct QuestionTargets {
    /// The definitions, as an answer names them.
    pub(super) definitions: Vec<(SourceKey, TargetDefinition)>,
    /// The definitions, as the structures of their files have them.
    pub(super) declared: Vec<DefinitionCandidate>,
    known: HashSet<DefinitionCandidate>,
    /// Number of definitions that were requested by their qualified names and do not exist.
    pub(super) n_gone: usize,
    /// The file whose uses in other files are asked for, if it is not a definition.
    pub(super) whole_file: Option<FileNumber>,
    /// A file from which no definitions and uses are extracted, if there is one.
    unsupported_file: Option<SourceKey>,
    /// Number of definitions whose uses are not looked for, because too many have the name.
    n_left_out: usize,
}

/// Maximum number of definitions of one name whose uses are looked for.
const MOST_OF_NAME: usize = 1_000;

impl QuestionTargets {
    /// Adds definitions of a file with all of their overloads.
    fn add_definitions(
        &mut self,
        structures: &WorktreeStructures<'_>,
        key: &SourceKey,
        definitions: &[Definition],
    ) {
        let titles: HashSet<&str> = definitions.iter().map(|found| found.title.as_str()).collect();
        if !self.add_declared(structures, key, |_, declared| titles.contains(declared.title.as_str())) {
            self.definitions.extend(definitions.iter().map(|found| (key.clone(), found.into())));
        }
    }

    /// Adds definitions that were found by one name, ordered by file, each with its overloads. Of too many, only the first are looked
    /// for; the others are only named.
    fn add_named(&mut self, structures: &WorktreeStructures<'_>, found: &[(SourceKey, Definition)]) {
        for of_file in found.chunk_by(|one, other| one.0 == other.0) {
            let key = &of_file[0].0;
            let named = || of_file.iter().map(|(key, found)| (key.clone(), found.into()));
            let Some(file) = structures.paths.number_of(key.as_str()) else {
                self.definitions.extend(named());
                continue;
            };
            if self.declared.len() >= MOST_OF_NAME {
                self.n_left_out += of_file.len();
                self.definitions.extend(named());
                continue;
            }
            let structure = structures.structure_of(file);
            let mut ids: HashMap<&str, Vec<usize>> = HashMap::new();
            for (id, declared) in structure.declared.iter().enumerate() {
                ids.entry(&declared.title).or_default().push(id);
            }
            let mut parts = None;
            for (key, definition) in of_file {
                let of_title = ids.get(definition.title.as_str()).map(Vec::as_slice).unwrap_or_default();
                if self.declared.len() >= MOST_OF_NAME {
                    self.n_left_out += 1;
                    self.definitions.push((key.clone(), definition.into()));
                } else if !self.add_ids(structures, (key, file), of_title, &mut parts) {
                    self.definitions.push((key.clone(), definition.into()));
                }
            }
        }
    }

    /// Adds the definition around some lines of a file; returns whether there is one.
    fn add_definition_around(
        &mut self,
        structures: &WorktreeStructures<'_>,
        key: &SourceKey,
        lines: (u32, u32),
        definitions: &[Definition],
    ) -> bool {
        let structure = structures.paths.number_of(key.as_str()).map(|file| structures.structure_of(file));
        let declared = structure.iter().flat_map(|structure| structure.declared.iter().enumerate());
        // A field that a method sets is not what the line of the method is about.
        let is_set_in_function = |own: &DeclaredItem| {
            let around = structure.as_ref().and_then(|structure| structure.find_item(own.parent));
            own.role == DeclaredRole::Field
                && around.is_some_and(|around| around.role == DeclaredRole::Member)
        };
        let declared = declared.filter(|(_, own)| {
            own.role != DeclaredRole::Scope && has_lines(own.lines, lines) && !is_set_in_function(own)
        });
        // Among definitions of the same length, the last is the innermost.
        if let Some((innermost, _)) = declared.rev().min_by_key(|(_, own)| own.lines.1 - own.lines.0) {
            return self.add_declared(structures, key, |id, _| id == innermost);
        }
        let innermost = Definition::innermost_around(definitions, lines);
        self.add_definitions(structures, key, innermost.map(std::slice::from_ref).unwrap_or_default());
        innermost.is_some()
    }

    /// Adds the definitions of a file that `is_wanted` selects; returns whether there are any.
    fn add_declared(
        &mut self,
        structures: &WorktreeStructures<'_>,
        key: &SourceKey,
        is_wanted: impl Fn(usize, &DeclaredItem) -> bool,
    ) -> bool {
        let Some(file) = structures.paths.number_of(key.as_str()) else { return false };
        let structure = structures.structure_of(file);
        let wanted = structure.declared.iter().enumerate().filter(|(id, own)| is_wanted(*id, own));
        let ids: Vec<usize> = wanted.map(|(id, _)| id).collect();
        self.add_ids(structures, (key, file), &ids, &mut None)
    }

    /// Adds definitions of a file by their numbers; returns whether there are any. `parts` are the definitions of the file that belong
    /// to others, when they are known.
    fn add_ids(
        &mut self,
        structures: &WorktreeStructures<'_>,
        (key, file): (&SourceKey, FileNumber),
        ids: &[usize],
        parts: &mut Option<HashSet<usize>>,
    ) -> bool {
        let structure = structures.structure_of(file);
        if structure.is_empty() {
            self.unsupported_file.get_or_insert_with(|| key.clone());
        }
        let (mut is_any, mut whole_titles) = (false, None);
        for id in ids.iter().copied() {
            let declared = &structure.declared[id];
            let own = DefinitionCandidate { file, declared: id as u32 };
            if declared.role == DeclaredRole::Scope {
                continue;
            }
            is_any = true;
            if self.known.insert(own) {
                self.declared.push(own);
                let parts = parts.get_or_insert_with(|| list_parts_of_others(&structure));
                let whole_titles = whole_titles.get_or_insert_with(|| -> HashSet<&str> {
                    let whole = ids.iter().filter(|id| !parts.contains(id));
                    whole.map(|id| structure.declared[*id].title.as_str()).collect()
                });
                // The setter of a property is listed alone if the question is about its line.
                if parts.contains(&id) && whole_titles.contains(declared.title.as_str()) {
                    continue;
                }
                let named = TargetDefinition { title: declared.title.clone(), lines: declared.lines };
                self.definitions.push((key.clone(), named));
            }
        }
        is_any
    }

    /// Adds the definitions that modules export under a name that no definition has: `export { callProcedure as callPublic }`, also
    /// those of another module, with `from './router'`.
    fn add_renamed_exports(&mut self, structures: &WorktreeStructures<'_>, name: &str) -> RpcResult<()> {
        for file in structures.find_files_with_name(name)? {
            let structure = structures.structure_of(file);
            for export in structure.exports.iter().filter(|export| export.name == name) {
                let local = &export.local;
                let imported = structure.imports.iter().find(|import| import.local == *local);
                let original = imported.map_or(local, |import| &import.name);
                if original == name || original.is_empty() {
                    continue;
                }
                if imported.is_some() {
                    self.add_definitions_at_top(structures, original, file)?;
                    continue;
                }
                let key = structures.source_key(file);
                self.add_declared(structures, &key, |_, own| {
                    own.parent.is_none() && own.own_names().any(|own_name| own_name == original)
                });
            }
        }
        Ok(())
    }

    /// Adds the definitions of a name at the top of files that `user` can import from.
    fn add_definitions_at_top(
        &mut self,
        structures: &WorktreeStructures<'_>,
        name: &str,
        user: FileNumber,
    ) -> RpcResult<()> {
        for found in structures.find_candidates(name)?.iter() {
            let key = structures.source_key(found.file);
            let is_at_top = found.declared_in(&structures.structure_of(found.file)).parent.is_none();
            if is_at_top && shares_language(key.as_str(), structures.source_key(user).as_str()) {
                self.add_declared(structures, &key, |id, _| id == found.declared as usize);
            }
        }
        Ok(())
    }

    /// Returns whether a use in a file is asked for. Of a whole file those are, which certainly mean it and are in another file: each
    /// of its names alone would lead to many.
    pub(super) fn wants_use_in(&self, file: FileNumber, certainty: Certainty) -> bool {
        self.whole_file.is_none_or(|whole| file != whole && certainty < Certainty::ByName)
    }

    /// Returns the definitions as an answer shows them.
    pub(super) fn list_definitions(&self, dir: &CallerDir) -> Vec<RefDefinition> {
        let shown = self.definitions.iter().map(|(key, found)| RefDefinition {
            path: key.to_string(),
            cwd_path: dir.relative_path(key.as_str()),
            title: found.title.clone(),
            lines: found.lines,
        });
        shown.collect()
    }

    /// Returns the matcher that compares the names of tests with these definitions.
    pub(super) fn build_name_matcher(&self) -> NameMatcher {
        NameMatcher::new(self.definitions.iter().map(|(key, found)| (key.as_str(), found.title.as_str())))
    }

    /// Returns why uses of some of the definitions were not looked for, if too many have the name.
    pub(super) fn why_left_out(&self) -> Option<String> {
        let (n_all, n_asked) = (self.definitions.len(), self.definitions.len() - self.n_left_out);
        (self.n_left_out > 0).then(|| {
            format!(
                "{n_all} definitions have the name, and only uses of the first {n_asked} were looked for; ask about one as PATH#NAME"
            )
        })
    }

    /// Returns the reason why an answer about these definitions lacks uses, if it does: the language of a file is not supported.
    pub(super) fn why_uses_unknown(&self) -> Option<String> {
        let key = self.unsupported_file.as_ref()?;
        let known = "uses are known in Python, JavaScript, TypeScript, Go, Rust, Java, C, C++, Vue, Svelte, Astro, Terraform, \
                     Protocol Buffers, SQL, GraphQL, CMake, Dockerfiles and makefiles, and by name in C#, Dart, Elixir, Kotlin, \
                     Lua, Objective-C, PHP, Ruby, Scala, Swift and Zig";
        Some(format!("{key}: {known}; `memo search` finds the name in other files"))
    }
}

/// The Python definitions of a file that belong to another definition of the same title: an `@overload` to its implementation, the setter
/// to its property.
fn list_parts_of_others(structure: &FileStructure) -> HashSet<usize> {
    let mut parts: HashMap<u32, (&str, Option<&str>)> = HashMap::new();
    for (id, name, receiver) in list_decorators(structure) {
        if matches!(name, "overload" | "setter" | "deleter" | "getter") {
            parts.entry(id).or_insert((name, receiver));
        }
    }
    let numbered = || (0..).zip(&structure.declared);
    let is_overload = |id: &u32| parts.get(id).is_some_and(|(name, _)| *name == "overload");
    let implemented = numbered().filter(|(id, _)| !is_overload(id)).map(|(_, own)| own.title.as_str());
    let implemented: HashSet<&str> = if parts.is_empty() { HashSet::new() } else { implemented.collect() };
    let belongs = |id: u32, own: &DeclaredItem| match parts.get(&id)? {
        ("overload", _) => Some(implemented.contains(own.title.as_str())),
        (_, receiver) => Some(receiver.is_some_and(|of| own.own_names().any(|name| name == of))),
    };
    let found = numbered().filter(|(id, own)| belongs(*id, own).unwrap_or_default());
    found.map(|(id, _)| id as usize).collect()
}

/// How a question treats a target that is a whole file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WholeFiles {
    /// All that depends on the file.
    Allowed,
    /// The uses in other files.
    UsesElsewhere,
    Refused,
}

/// Returns the definitions that a target names: a file, a definition or line of a file, or a name.
///
/// # Errors
/// When nothing has that name, or the index cannot be read.
pub(super) fn find_targets(
    (request, reader): (&RequestContext, &IndexReader),
    structures: &WorktreeStructures<'_>,
    at: &Freshness,
    (target, cwd): (&str, &str),
    whole_files: WholeFiles,
) -> RpcResult<QuestionTargets> {
    let mut targets = QuestionTargets::default();
    for (path, part) in parse_target(target) {
        let Some(key) = parse_source_key(path, cwd, &at.layout) else { continue };
        let Some(entry) = reader.find_entry(at.worktree, &key)? else { continue };
        check_readable(path, &entry)?;
        let definitions = reader.list_definitions(at.worktree, &key)?;
        let part = choose_part(part, &definitions);
        if let Some((first, last)) = part.line_range() {
            return match targets.add_definition_around(structures, &key, (first, last), &definitions) {
                true => Ok(targets),
                false => {
                    let message = format!("{path}: no definition is on line {first}");
                    let hint = format!("`memo outline {path}` lists its definitions with their lines");
                    Err(RpcError::new(code::NOT_FOUND, message).with_hint(hint))
                }
            };
        }
        let (name, found): (_, Vec<Definition>) = match part {
            PathPart::Symbol(name) => {
                (name, find_definitions_named(&definitions, name).into_iter().cloned().collect())
            }
            _ if definitions.is_empty() => {
                if let Some(error) = explain_path_elsewhere(at, (target, cwd)) {
                    return Err(error);
                }
                let message = format!("{path}: defines nothing that can be used");
                let hint = format!("`memo search {}` finds where it is mentioned", file_name(path));
                return Err(bad_params_error(message).with_hint(hint));
            }
            _ if whole_files != WholeFiles::Refused => {
                if whole_files == WholeFiles::UsesElsewhere {
                    targets.whole_file = structures.paths.number_of(key.as_str());
                }
                ("definition", definitions.iter().filter(|found| !found.is_field).cloned().collect())
            }
            _ => {
                let message = format!("{path}: a file, but only definitions have uses");
                let hint = format!("{path}#NAME; `memo outline {path}` lists its definitions");
                return Err(bad_params_error(message).with_hint(hint));
            }
        };
        if found.is_empty() {
            return Err(undefined_name_error(&request.caveats, path, name, &definitions));
        }
        targets.add_definitions(structures, &key, &found);
        return Ok(targets);
    }
    targets.add_named(structures, &find_definitions(&request.shared, reader, at.worktree, target)?);
    if targets.definitions.is_empty() {
        targets.add_renamed_exports(structures, target)?;
    }
    if targets.definitions.is_empty() {
        if let Some(error) = explain_path_elsewhere(at, (target, cwd)) {
            return Err(error);
        }
        let dir = CallerDir::new(&at.layout, Path::new(cwd));
        let similar = suggest_similar_targets((&request.shared, reader), at.worktree, target, &dir)?;
        let unsearched = list_unindexed_files(reader, (at, &dir), is_code)?;
        Err(add_unsearched(unknown_target_error(&request.caveats, target, similar), unsearched))
    } else {
        Ok(targets)
    }
}

/// Returns the changed definitions, and all definitions of renamed files. Definitions that do not exist any more are only counted.
pub(super) fn find_changed_targets(
    reader: &IndexReader,
    structures: &WorktreeStructures<'_>,
    at: &Freshness,
    changes: &ChangedDefinitions,
) -> RpcResult<QuestionTargets> {
    let mut targets = QuestionTargets::default();
    for (_, path) in &changes.renamed {
        let key = SourceKey::new(path);
        let mut definitions = reader.list_definitions(at.worktree, &key)?;
        definitions.retain(|found| !found.is_field);
        targets.add_definitions(structures, &key, &definitions);
    }
    for (path, names) in &changes.present {
        let key = SourceKey::new(path);
        let mut definitions = reader.list_definitions(at.worktree, &key)?;
        let titles: HashSet<&str> =
            definitions.iter().filter(|found| !found.is_field).map(|found| found.title.as_str()).collect();
        // For a field or a variant, its type counts as changed.
        let (known, gone): (Vec<_>, Vec<_>) = names
            .iter()
            .map(|name| list_enclosing_names(name).find(|title| titles.contains(title)).map(str::to_owned))
            .partition(Option::is_some);
        let known: HashSet<String> = known.into_iter().flatten().collect();
        targets.n_gone += gone.len();
        definitions.retain(|found| known.contains(&found.title));
        targets.add_definitions(structures, &key, &definitions);
    }
    Ok(targets)
}

/// Returns a qualified name and those of the definitions around it, innermost first.
fn list_enclosing_names(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |inner| qualifier(inner))
}
