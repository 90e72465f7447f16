//! Finds the definitions that a question about uses is about.

use std::collections::HashSet;

use memod_base::types::{Declared, DeclaredRole, Definition, SourceKey, qualifier};
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_index_db::Reader;
use memod_proto::{RefDefinition, RpcError, code};
use memod_structure::resolve::{Candidate, Structures as _};

use super::changed_definitions::Changes;
use super::joined::Joined;
use super::likeness::Likeness;
use crate::daemon::definitions::named_definitions::{check_readable, definitions_named, nothing, undefined};
use crate::daemon::request::commit_history::key_of;
use crate::daemon::request::error::bad_params;
use crate::daemon::request::path_spec::{Part, named, parse};
use crate::daemon::shared::Shared;

/// A definition as an answer names it; each overload is one.
pub(super) struct TargetDefinition {
    pub(super) title: String,
    pub(super) lines: (u32, u32),
}

/// What a target means.
#[derive(Default)]
pub(super) struct Targets {
    /// The definitions, as an answer names them.
    pub(super) definitions: Vec<(SourceKey, TargetDefinition)>,
    /// The same as the structures of their files have them.
    pub(super) declared: Vec<Candidate>,
    known: HashSet<Candidate>,
    /// Definitions that were asked for by their qualified names and are not there.
    pub(super) n_gone: usize,
    /// A file whose uses are not known, if there is one.
    unknown: Option<SourceKey>,
}

impl Targets {
    /// Adds definitions of a file with all of their overloads.
    fn add(&mut self, joined: &Joined<'_>, key: &SourceKey, definitions: Vec<Definition>) {
        let titles: HashSet<&str> = definitions.iter().map(|found| found.title.as_str()).collect();
        if !self.add_declared(joined, key, |_, declared| titles.contains(declared.title.as_str())) {
            let named = definitions
                .into_iter()
                .map(|found| TargetDefinition { title: found.title, lines: found.lines });
            self.definitions.extend(named.map(|named| (key.clone(), named)));
        }
    }

    /// Adds the definition around some lines of a file; returns whether there is one.
    fn add_around(
        &mut self,
        joined: &Joined<'_>,
        key: &SourceKey,
        lines: (u32, u32),
        definitions: Vec<Definition>,
    ) -> bool {
        let is_around = |around: (u32, u32)| around.0 <= lines.0 && lines.1 <= around.1;
        let structure = joined.paths.number(key.as_str()).map(|file| joined.of(file));
        let declared = structure.iter().flat_map(|structure| structure.declared.iter().enumerate());
        let declared = declared.filter(|(_, own)| own.role != DeclaredRole::Scope && is_around(own.lines));
        // The last of those with one length is the innermost.
        if let Some((innermost, _)) = declared.rev().min_by_key(|(_, own)| own.lines.1 - own.lines.0) {
            return self.add_declared(joined, key, |id, _| id == innermost);
        }
        let around = definitions.into_iter().filter(|found| is_around(found.lines));
        let innermost = around.min_by_key(|found| found.lines.1 - found.lines.0);
        self.add(joined, key, innermost.clone().into_iter().collect());
        innermost.is_some()
    }

    /// Adds the definitions of a file that are wanted; returns whether there are any.
    fn add_declared(
        &mut self,
        joined: &Joined<'_>,
        key: &SourceKey,
        is_wanted: impl Fn(usize, &Declared) -> bool,
    ) -> bool {
        let Some(file) = joined.paths.number(key.as_str()) else { return false };
        let structure = joined.of(file);
        if structure.is_empty() {
            self.unknown.get_or_insert_with(|| key.clone());
        }
        let mut is_any = false;
        for (id, declared) in structure.declared.iter().enumerate() {
            let own = Candidate { file, declared: id as u32 };
            if declared.role == DeclaredRole::Scope || !is_wanted(id, declared) {
                continue;
            }
            is_any = true;
            if self.known.insert(own) {
                self.declared.push(own);
                let named = TargetDefinition { title: declared.title.clone(), lines: declared.lines };
                self.definitions.push((key.clone(), named));
            }
        }
        is_any
    }

    /// Returns the definitions as an answer shows them.
    pub(super) fn shown(&self, dir: &memod_base::paths::CallerDir) -> Vec<RefDefinition> {
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
        let Some(entry) = reader.entry(at.view, &key)? else { continue };
        check_readable(path, &entry)?;
        let definitions = reader.definitions(at.view, &key)?;
        if let Part::Lines(first, last) = part {
            return match targets.add_around(joined, &key, (first, last), definitions) {
                true => Ok(targets),
                false => {
                    let message = format!("{path}: no definition is on line {first}");
                    let hint = format!("`memo outline {path}` lists what is where");
                    Err(RpcError::new(code::NOT_FOUND, message).with_hint(hint))
                }
            };
        }
        let (name, found) = match part {
            Part::Symbol(name) => (name, named(&definitions, name).into_iter().cloned().collect()),
            _ if whole_files == WholeFiles::Allowed => ("definition", definitions.clone()),
            _ => {
                let message = format!("{path}: a file, and the uses of a definition are asked for");
                let hint = format!("{path}#NAME; `memo outline {path}` lists its definitions");
                return Err(bad_params(message).with_hint(hint));
            }
        };
        if found.is_empty() {
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

/// Returns the definitions of files by their qualified names, and all of those of renamed files; those that are gone are left out.
pub(super) fn of_files(
    reader: &Reader,
    joined: &Joined<'_>,
    at: &Freshness,
    changes: &Changes,
) -> RpcResult<Targets> {
    let mut targets = Targets::default();
    for (_, path) in &changes.renamed {
        let key = SourceKey::new(path);
        targets.add(joined, &key, reader.definitions(at.view, &key)?);
    }
    for (path, names) in &changes.present {
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
    std::iter::successors(Some(name), |inner| qualifier(inner))
}
