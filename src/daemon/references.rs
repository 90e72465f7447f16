//! Answers `refs`: where a definition is used, and how sure that is.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::error::RpcResult;
use super::event::Freshness;
use super::history::key_of;
use super::named_definitions::{definitions_named, nothing, undefined};
use super::path_spec::{Part, named, own_name, parse};
use super::request::{SnapshotAsk, deadline, on_snapshot};
use super::shared::Shared;
use super::show_code::text_of;
use crate::extract::words::{Form, write_words};
use crate::paths::CallerDir;
use crate::proto::{RefCounts, RefDefinition, RefUse, RefsParams, RefsResult};
use crate::resolve::{Candidate, Certainty, FileNumber, PathIndex, Resolver, Structures};
use crate::store::{Reader, StoreError};
use crate::types::{DeclaredRole, Definition, Phrase, Receiver, SourceKey, Structure, ViewId};

/// Uses in a result when the caller names no number.
const LIMIT: usize = 100;
/// Most definitions of one name that are told apart: with more, a name says nothing.
const MOST_CANDIDATES: usize = 1_000;
/// Longest line that is shown, in characters.
const MOST_CHARS: usize = 160;

/// Answers `refs`.
pub(super) async fn refs(shared: &Arc<Shared>, params: RefsParams) -> RpcResult<RefsResult> {
    let began = Instant::now();
    let ask = SnapshotAsk {
        cwd: params.cwd.clone(),
        level: params.sync,
        deadline: deadline(shared, params.wait_ms),
        needs_commits: false,
    };
    let look = move |shared: &Shared, at: &Freshness, _: bool| answer(shared, &params, at);
    let (mut result, why_not) = on_snapshot(shared, ask, look).await?;
    result.fresh &= why_not.is_none();
    result.reason = result.reason.or(why_not);
    result.took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    Ok(result)
}

/// A use that means a target.
struct Found {
    key: SourceKey,
    line: u32,
    column: u32,
    within: Option<String>,
    certainty: Certainty,
}

fn answer(shared: &Shared, params: &RefsParams, at: &Freshness) -> RpcResult<(RefsResult, Vec<SourceKey>)> {
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let read = |reader: &Reader| -> RpcResult<_> {
        let targets = targets(shared, reader, params, at)?;
        let found = uses(shared, reader, at.view, &targets)?;
        Ok((targets, found))
    };
    let (targets, mut found) = shared.read(|reader: &Reader| reader.snapshot(read))?;
    let count = |certainty| found.iter().filter(|found| found.certainty == certainty).count();
    let counts = RefCounts {
        exact: count(Certainty::Exact),
        likely: count(Certainty::Likely),
        by_name: count(Certainty::ByName),
    };
    found.truncate(params.limit.unwrap_or(LIMIT));
    let (uses, stale) = shown(shared, at, &dir, &found)?;
    let definitions = targets.iter().map(|(key, found)| RefDefinition {
        path: key.to_string(),
        cwd_path: dir.shown(key.as_str()),
        title: found.title.clone(),
        lines: found.lines,
    });
    let (fresh, reason, trust) = (at.fresh, at.reason.clone(), "repo".to_owned());
    let definitions = definitions.collect();
    Ok((RefsResult { definitions, uses, counts, fresh, reason, trust, took_ms: 0.0 }, stale))
}

/// Returns the definitions that a target names.
fn targets(
    shared: &Shared,
    reader: &Reader,
    params: &RefsParams,
    at: &Freshness,
) -> RpcResult<Vec<(SourceKey, Definition)>> {
    for (path, part) in parse(&params.target) {
        let Some(key) = key_of(path, &params.cwd, &at.layout) else { continue };
        if reader.entry(at.view, &key)?.is_none() {
            continue;
        }
        let definitions = reader.definitions(at.view, &key)?;
        let found: Vec<Definition> = match part {
            Part::Whole => continue,
            Part::Symbol(name) => named(&definitions, name).into_iter().cloned().collect(),
            Part::Lines(first, last) => {
                let around =
                    definitions.iter().filter(|found| found.lines.0 <= first && last <= found.lines.1);
                around.min_by_key(|found| found.lines.1 - found.lines.0).cloned().into_iter().collect()
            }
        };
        if found.is_empty() {
            let name = if let Part::Symbol(name) = part { name } else { "definition on that line" };
            return Err(undefined(path, name, &definitions));
        }
        return Ok(found.into_iter().map(|found| (key.clone(), found)).collect());
    }
    let found = definitions_named(shared, reader, at.view, &params.target)?;
    if found.is_empty() { Err(nothing(&params.target)) } else { Ok(found) }
}

/// Returns the uses of the targets: the files with the surest uses first, in a file by line.
fn uses(
    shared: &Shared,
    reader: &Reader,
    view: ViewId,
    targets: &[(SourceKey, Definition)],
) -> Result<Vec<Found>, StoreError> {
    let chunks = shared.chunks.current(reader, view)?;
    let all = (0..chunks.n_contents() as u32).flat_map(|content| chunks.paths_of(content));
    let mut paths: Vec<String> = all.map(str::to_owned).collect();
    paths.sort_unstable();
    let paths = PathIndex::new(paths);
    let structures = Stored { reader, view, paths: &paths, known: RefCell::default() };
    let mut found: Vec<Found> = Vec::new();
    let names: BTreeSet<&str> = targets.iter().flat_map(|(_, target)| target.names.split(' ')).collect();
    for name in names {
        let candidates = candidates(shared, reader, view, &structures, name)?;
        let is_target = |candidate: &Candidate| {
            let structure = structures.of(candidate.file);
            let title = &structure.declared[candidate.declared as usize].title;
            targets
                .iter()
                .any(|(key, target)| key.as_str() == paths.path(candidate.file) && target.title == *title)
        };
        let wanted: Vec<Candidate> = candidates.iter().copied().filter(is_target).collect();
        let mut resolver = Resolver::new(&paths, &structures, name, &candidates);
        let mut files = BTreeSet::new();
        let mut names = vec![name.to_owned()];
        while let Some(name) = names.pop() {
            for file in files_with(reader, &chunks, &paths, &name)? {
                names.extend(resolver.learn(&structures.of(file)));
                files.insert(file);
            }
        }
        for file in files {
            let structure = structures.of(file);
            // Uses of one form in one definition mean the same.
            let mut known: HashMap<(u32, Receiver, u32, Option<u32>), Option<Certainty>> = HashMap::new();
            for of in resolver.uses(&structure) {
                let line = (of.receiver == Receiver::Import).then_some(of.line);
                let certainty = *known.entry((of.name, of.receiver, of.within, line)).or_insert_with(|| {
                    let (certainty, meant) = resolver.resolve(file, &structure, of);
                    meant.iter().any(|meant| wanted.contains(meant)).then_some(certainty)
                });
                if let Some(certainty) = certainty {
                    let within = of.within.checked_sub(1).and_then(|id| structure.declared.get(id as usize));
                    found.push(Found {
                        key: SourceKey::new(paths.path(file)),
                        line: of.line,
                        column: of.column + 1,
                        within: within.map(|within| within.title.clone()),
                        certainty,
                    });
                }
            }
        }
    }
    let mut best: HashMap<SourceKey, Certainty> = HashMap::new();
    for use_ in &found {
        let certainty = best.entry(use_.key.clone()).or_insert(use_.certainty);
        *certainty = use_.certainty.min(*certainty);
    }
    found.sort_by_cached_key(|found| (best[&found.key], found.key.clone(), found.line, found.column));
    found.dedup_by(|later, first| {
        (&later.key, later.line, later.column) == (&first.key, first.line, first.column)
    });
    Ok(found)
}

/// Returns the definitions with a name in all files.
fn candidates(
    shared: &Shared,
    reader: &Reader,
    view: ViewId,
    structures: &Stored<'_>,
    name: &str,
) -> Result<Vec<Candidate>, StoreError> {
    let defined = definitions_named(shared, reader, view, own_name(name))?;
    let files: BTreeSet<FileNumber> =
        defined.iter().filter_map(|(key, _)| structures.paths.number(key.as_str())).collect();
    let mut found = Vec::new();
    for file in files {
        let structure = structures.of(file);
        for (id, declared) in structure.declared.iter().enumerate() {
            let has_name =
                declared.role != DeclaredRole::Scope && declared.names.split(' ').any(|own| own == name);
            found.extend(has_name.then_some(Candidate { file, declared: id as u32 }));
        }
        if found.len() > MOST_CANDIDATES {
            found.truncate(MOST_CANDIDATES);
            break;
        }
    }
    Ok(found)
}

/// Returns the files whose text has a name, by path.
fn files_with(
    reader: &Reader,
    chunks: &crate::search::view_chunks::ViewChunks,
    paths: &PathIndex,
    name: &str,
) -> Result<BTreeSet<FileNumber>, StoreError> {
    let mut tokens = String::new();
    write_words(name, Form::Whole, &mut tokens);
    let phrase = Phrase { tokens: tokens.trim().to_owned(), is_prefix: false };
    let mut contents = BTreeSet::new();
    if !phrase.tokens.is_empty() {
        reader
            .postings()?
            .each(&phrase, |id, _| contents.extend(chunks.get(id).map(|chunk| chunk.content)))?;
    }
    let files = contents.iter().flat_map(|content| chunks.paths_of(*content));
    Ok(files.filter_map(|path| paths.number(path)).collect())
}

/// Reads structures from the index, each once.
struct Stored<'a> {
    reader: &'a Reader,
    view: ViewId,
    paths: &'a PathIndex,
    known: RefCell<HashMap<FileNumber, Arc<Structure>>>,
}

impl Structures for Stored<'_> {
    fn of(&self, file: FileNumber) -> Arc<Structure> {
        if let Some(known) = self.known.borrow().get(&file) {
            return Arc::clone(known);
        }
        let key = SourceKey::new(self.paths.path(file));
        let read = self.reader.structure(self.view, &key).unwrap_or_else(|error| {
            tracing::warn!(path = %key, %error, "its names are left out of an answer");
            None
        });
        let structure = Arc::new(read.unwrap_or_default());
        self.known.borrow_mut().insert(file, Arc::clone(&structure));
        structure
    }
}

/// Returns the uses with their lines, and the files whose text is another one by now.
fn shown(
    shared: &Shared,
    at: &Freshness,
    dir: &CallerDir,
    found: &[Found],
) -> RpcResult<(Vec<RefUse>, Vec<SourceKey>)> {
    let (mut uses, mut stale) = (Vec::new(), Vec::new());
    for of_file in found.chunk_by(|one, other| one.key == other.key) {
        let key = &of_file[0].key;
        let entry = shared.read(|reader: &Reader| reader.entry(at.view, key))?;
        let text = match &entry {
            Some(entry) => text_of(shared, at, entry, (key, dir))?,
            None => None,
        };
        let Some(text) = text else {
            stale.push(key.clone());
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        for found in of_file {
            let line = lines.get(found.line as usize - 1).map_or("", |line| line.trim());
            uses.push(RefUse {
                path: key.to_string(),
                cwd_path: dir.shown(key.as_str()),
                line: found.line,
                column: found.column,
                within: found.within.clone(),
                certainty: word(found.certainty).to_owned(),
                text: line.chars().take(MOST_CHARS).collect(),
            });
        }
    }
    Ok((uses, stale))
}

fn word(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Exact => "exact",
        Certainty::Likely => "likely",
        Certainty::ByName => "by name",
    }
}
