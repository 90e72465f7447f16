//! Finds the definitions that a question about uses is about.

use std::collections::HashSet;

use super::joined::Joined;
use super::likeness::Likeness;
use crate::daemon::error::{RpcResult, bad_params};
use crate::daemon::event::Freshness;
use crate::daemon::history::key_of;
use crate::daemon::named_definitions::{definitions_named, nothing, undefined};
use crate::daemon::path_spec::{Part, named, parse};
use crate::daemon::shared::Shared;
use crate::proto::{RefDefinition, RpcError, code};
use crate::resolve::{Candidate, Structures as _};
use crate::store::Reader;
use crate::types::{DeclaredRole, Definition, SourceKey};

/// What a target means.
#[derive(Default)]
pub(super) struct Targets {
    /// The definitions, as an answer names them.
    pub(super) definitions: Vec<(SourceKey, Definition)>,
    /// The same as the structures of their files have them.
    pub(super) declared: Vec<Candidate>,
    known: HashSet<Candidate>,
    /// Definitions that were asked for by their qualified names and are not there.
    pub(super) n_gone: usize,
    /// A file whose uses are not known, if there is one.
    unknown: Option<SourceKey>,
}

impl Targets {
    /// Adds definitions of a file.
    fn add(&mut self, joined: &Joined<'_>, key: &SourceKey, definitions: Vec<Definition>) {
        if let Some(file) = joined.paths.number(key.as_str()) {
            let structure = joined.of(file);
            if structure.is_empty() {
                self.unknown.get_or_insert_with(|| key.clone());
            }
            let titles: HashSet<&str> = definitions.iter().map(|found| found.title.as_str()).collect();
            let own = structure.declared.iter().enumerate().filter(|(_, declared)| {
                declared.role != DeclaredRole::Scope && titles.contains(declared.title.as_str())
            });
            let own = own.map(|(id, _)| Candidate { file, declared: id as u32 });
            self.declared.extend(own.filter(|own| self.known.insert(*own)));
        }
        self.definitions.extend(definitions.into_iter().map(|found| (key.clone(), found)));
    }

    /// Returns the definitions as an answer shows them.
    pub(super) fn shown(&self, dir: &crate::paths::CallerDir) -> Vec<RefDefinition> {
        let shown = self.definitions.iter().map(|(key, found)| RefDefinition {
            path: key.to_string(),
            cwd_path: dir.shown(key.as_str()),
            title: found.title.clone(),
            lines: found.lines,
        });
        shown.collect()
    }

    /// Returns what the names of tests are compared with.
    pub(super) fn names(&self) -> Likeness {
        Likeness::new(self.definitions.iter().map(|(key, found)| (key.as_str(), found.title.as_str())))
    }

    /// Returns a reason why an answer about these lacks uses: languages whose uses are not known.
    pub(super) fn unknown_language(&self) -> Option<String> {
        let key = self.unknown.as_ref()?;
        let known = "uses are known in Python, JavaScript, TypeScript, Go, Rust, Java, C and C++";
        Some(format!("{key}: {known}; `memo search` finds the name in other files"))
    }
}

/// Whether a whole file may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WholeFiles {
    Allowed,
    Refused,
}

/// Returns the definitions that a target names: a file, a definition or line of a file, or a name.
///
/// # Errors
/// When nothing has that name, or the index cannot be read.
pub(super) fn targets(
    (shared, reader): (&Shared, &Reader),
    joined: &Joined<'_>,
    at: &Freshness,
    (target, cwd): (&str, &str),
    whole_files: WholeFiles,
) -> RpcResult<Targets> {
    let mut targets = Targets::default();
    for (path, part) in parse(target) {
        let Some(key) = key_of(path, cwd, &at.layout) else { continue };
        if reader.entry(at.view, &key)?.is_none() {
            continue;
        }
        let definitions = reader.definitions(at.view, &key)?;
        let found: Vec<Definition> = match part {
            Part::Whole if whole_files == WholeFiles::Allowed => definitions.clone(),
            Part::Whole => {
                return Err(bad_params(format!(
                    "{path}: a file, and the uses of a definition are asked for"
                ))
                .with_hint(format!("{path}#NAME; `memo outline {path}` lists its definitions")));
            }
            Part::Symbol(name) => named(&definitions, name).into_iter().cloned().collect(),
            Part::Lines(first, last) => {
                let around =
                    definitions.iter().filter(|found| found.lines.0 <= first && last <= found.lines.1);
                around.min_by_key(|found| found.lines.1 - found.lines.0).cloned().into_iter().collect()
            }
        };
        if found.is_empty() {
            let name = match part {
                Part::Symbol(name) => name,
                Part::Whole => "definition",
                Part::Lines(first, _) => {
                    return Err(RpcError::new(
                        code::NOT_FOUND,
                        format!("{path}: no definition is on line {first}"),
                    )
                    .with_hint(format!("`memo outline {path}` lists what is where")));
                }
            };
            return Err(undefined(path, name, &definitions));
        }
        targets.add(joined, &key, found);
        return Ok(targets);
    }
    for (key, found) in definitions_named(shared, reader, at.view, target)? {
        targets.add(joined, &key, vec![found]);
    }
    if targets.definitions.is_empty() { Err(nothing(target)) } else { Ok(targets) }
}

/// Returns the definitions of files by their qualified names; those that are gone are left out.
pub(super) fn of_files(
    reader: &Reader,
    joined: &Joined<'_>,
    at: &Freshness,
    files: &[(String, Vec<String>)],
) -> RpcResult<Targets> {
    let mut targets = Targets::default();
    for (path, names) in files {
        let key = SourceKey::new(path);
        let mut definitions = reader.definitions(at.view, &key)?;
        let titles: HashSet<&str> = definitions.iter().map(|found| found.title.as_str()).collect();
        // A field or a variant is no definition of its own: its type is what has changed.
        let indexed = |name: &String| around(name).find(|title| titles.contains(title)).map(str::to_owned);
        let (known, gone): (Vec<_>, Vec<_>) = names.iter().map(indexed).partition(Option::is_some);
        let known: HashSet<String> = known.into_iter().flatten().collect();
        targets.n_gone += gone.len();
        definitions.retain(|found| known.contains(&found.title));
        targets.add(joined, &key, definitions);
    }
    Ok(targets)
}

/// Returns a qualified name and those of what is around it, innermost first.
fn around(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |inner| {
        Some(inner.rsplit_once(['.', ':', '#'])?.0.trim_end_matches(':'))
    })
}
