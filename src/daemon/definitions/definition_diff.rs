//! Compares the definitions of two versions of a file.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use indexmap::IndexMap;
use memod_base::types::{ChunkId, Kind, SourceKey, ViewId, own_part};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_extract::{Chunk, EXTRACTOR_VERSION, Extracted};
use memod_index_db::{Entry, Place, Reader};
use memod_indexing::Extractor;
use memod_proto::{ChangedFile, ChangedSymbols, FileStatus, RpcError, code};
use memod_structure::map::has_word;

use crate::daemon::definitions::known_definitions::Named;
use crate::daemon::definitions::type_members::{TypeParts, parts};
use crate::daemon::process::program::program;
use crate::daemon::shared::Shared;

/// The time limit was reached.
#[derive(Debug)]
pub(in crate::daemon) struct Late;

/// Compares the definitions of two versions of files, in a process that parses.
pub(in crate::daemon) struct Definitions<'a> {
    extractor: Extractor,
    until: Instant,
    shared: &'a Shared,
    view: ViewId,
}

impl<'a> Definitions<'a> {
    pub(in crate::daemon) fn new(shared: &'a Shared, view: ViewId, until: Instant) -> RpcResult<Self> {
        let program = program();
        let program = program.map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))?;
        Ok(Self { extractor: Extractor::new(&program, &shared.engine.progress), until, shared, view })
    }

    /// Returns the added, changed and removed definitions of a file; `None` if it is not code. `hash` is that of the present
    /// content.
    ///
    /// # Errors
    /// When the time limit is reached, or no process can be started.
    pub(in crate::daemon) fn compare(
        &mut self,
        file: &ChangedFile,
        hash: Option<[u8; 32]>,
        old: impl FnOnce() -> Option<String>,
        new: impl FnOnce() -> Option<String>,
    ) -> Result<Option<ChangedSymbols>, Late> {
        if !memod_extract::may_be_code(&file.path) {
            return Ok(None);
        }
        if Instant::now() >= self.until || self.shared.engine.progress.is_cancelled() {
            return Err(Late);
        }
        let from = file.from.as_deref().unwrap_or(&file.path);
        let (old, new) = (old(), new());
        // A content that is there and cannot be read, or is another one by now, is not one without definitions.
        let is_unread = old.is_none() && file.status != FileStatus::Added
            || new.is_none() && file.status != FileStatus::Removed;
        if is_unread {
            return Ok(None);
        }
        let (old_text, new_text) = (old.unwrap_or_default(), new.unwrap_or_default());
        if old_text == new_text {
            return Ok(Some(ChangedSymbols::default())); // moved as it was
        }
        let old = self.named(from, &old_text, None)?;
        let new = self.named(&file.path, &new_text, hash)?;
        Ok(Some(difference(&old, &new)))
    }

    /// Returns the definitions of a version: those that are kept, else those of the index, else those of its text. Only a present
    /// content has a hash.
    fn named(&mut self, path: &str, text: &str, hash: Option<[u8; 32]>) -> Result<Arc<Named>, Late> {
        if text.is_empty() {
            return Ok(Arc::default());
        }
        let known = &self.shared.definitions;
        if let Some(named) = known.of(path, text) {
            return Ok(named);
        }
        let symbols = match hash.and_then(|hash| self.indexed(path, hash)) {
            Some(symbols) => Some(symbols),
            None => self.extract(path, text)?,
        };
        // What cannot be parsed defines nothing.
        Ok(symbols.map(|symbols| known.keep(path, text, named(symbols, text))).unwrap_or_default())
    }

    /// Returns the chunks with definitions of an indexed content; `None` if the path has another one.
    fn indexed(&self, path: &str, hash: [u8; 32]) -> Option<Vec<Symbol>> {
        let read = |reader: &Reader| reader.snapshot(|reader| self.places(reader, path, hash));
        let places = self.shared.engine.read(read).unwrap_or_else(|error: DatabaseError| {
            tracing::warn!(%error, path, "its definitions are not read from the index");
            None
        })?;
        Some(places.into_iter().map(|Place { bytes, symbol, title, .. }| (bytes, symbol, title)).collect())
    }

    /// As [`Definitions::indexed`], at a snapshot.
    fn places(
        &self,
        reader: &Reader,
        path: &str,
        hash: [u8; 32],
    ) -> Result<Option<Vec<Place>>, DatabaseError> {
        let key = SourceKey::new(path);
        let entry = reader.entry(self.view, &key)?;
        let is_same =
            |entry: &Entry| entry.hash == Some(hash) && entry.extractor_version == EXTRACTOR_VERSION;
        let Some(first) = entry.filter(is_same).and(reader.first_chunk(self.view, &key)?) else {
            return Ok(None);
        };
        let chunks = reader.content(first)?.chunks.into_iter().filter(|chunk| is_of_definition(chunk.kind));
        let ids: Vec<ChunkId> = chunks.map(|chunk| chunk.id).collect();
        let places = self.shared.rows.places(reader, &ids)?;
        Ok(places.into_iter().collect())
    }

    /// Returns the chunks with definitions of a text; `None` if it cannot be parsed.
    fn extract(&mut self, path: &str, text: &str) -> Result<Option<Vec<Symbol>>, Late> {
        let extracted = self.extractor.extract(path, text).map_err(|_| Late)?;
        Ok(extracted.ok().map(|Extracted { chunks, .. }| symbols(chunks)))
    }
}

/// A chunk with definitions: its bytes, their names, and the qualified name.
type Symbol = ((usize, usize), Option<Arc<str>>, Option<Arc<str>>);

/// Between the name of a type and that of its attribute, field or variant.
const MEMBER: char = '\0';

/// Returns each definition with its text; if a chunk has several short ones, each with the line that names it. Of a type, the
/// attributes and fields are told apart.
fn named(symbols: Vec<Symbol>, text: &str) -> Named {
    let mut named: Vec<(String, String)> = Vec::new();
    for ((start, end), symbol, title) in symbols.into_iter().filter(|(_, _, title)| title.is_some()) {
        let body = text.get(start..end).unwrap_or_default();
        let names: Vec<&str> = symbol.iter().flat_map(|names| names.split_whitespace()).collect();
        let title = title.as_deref().unwrap_or_default();
        if names.len() > 1 && title.contains(" … ") {
            let scope =
                title.split(" … ").next().and_then(|first| first.strip_suffix(names[0])).unwrap_or("");
            for name in names {
                let line = body.lines().find(|line| has_word(line, name)).unwrap_or(body);
                named.push((format!("{scope}{name}"), line.trim().to_owned()));
            }
        } else if let Some(same) = named.iter_mut().find(|(known, _)| known == title) {
            // A further part, or another clause.
            same.1.push('\n');
            same.1.push_str(body.trim_end());
        } else {
            named.push((title.to_owned(), body.trim().to_owned()));
        }
    }
    let is_known = |name: &str, member: &str| {
        let rest =
            |title: &str| title.strip_prefix(name)?.strip_suffix(member).map(|between| between.len() < 3);
        named.iter().any(|(title, _)| rest(title) == Some(true))
    };
    let mut all: IndexMap<String, String> = IndexMap::new();
    // Definitions of one name, such as `#[cfg]` variants, are compared as one text.
    let mut add = |name: String, text: &str| all.entry(name).or_default().push_str(text);
    for (name, text) in &named {
        let own = own_part(name);
        let parts =
            parts(text, own).filter(|parts| !parts.members.iter().any(|(member, _)| is_known(name, member)));
        match parts {
            Some(TypeParts { rest, members }) => {
                add(name.clone(), &rest);
                for (member, text) in members {
                    add(format!("{name}{MEMBER}{member}"), &text);
                }
            }
            None => add(name.clone(), text),
        }
    }
    all.into_iter().map(|(name, text)| (name, *blake3::hash(text.as_bytes()).as_bytes())).collect()
}

/// Whether chunks of a kind may have a part of a definition: what stands in a type after its first method is text.
fn is_of_definition(kind: Kind) -> bool {
    matches!(kind, Kind::Symbol | Kind::Text)
}

fn symbols(chunks: Vec<Chunk>) -> Vec<Symbol> {
    let symbols = chunks.into_iter().filter(|chunk| is_of_definition(chunk.kind));
    let of_chunk = |Chunk { bytes, symbol, title, .. }| {
        ((bytes.start, bytes.end), symbol.map(Into::into), title.map(Into::into))
    };
    symbols.map(of_chunk).collect()
}

fn difference(old: &Named, new: &Named) -> ChangedSymbols {
    let (was, is): (HashMap<_, _>, HashMap<_, _>) =
        (old.iter().cloned().collect(), new.iter().cloned().collect());
    let mut symbols = ChangedSymbols::default();
    // The attributes of a new type go without saying, as those of one that is gone.
    let is_told = |name: &str, other: &HashMap<String, [u8; 32]>| {
        name.split_once(MEMBER).is_none_or(|(owner, _)| other.contains_key(owner))
    };
    let shown = |name: &str| name.replace(MEMBER, if name.contains("::") { "::" } else { "." });
    for (name, text) in new {
        match was.get(name) {
            None if is_told(name, &was) => symbols.added.push(shown(name)),
            Some(before) if before != text => symbols.changed.push(shown(name)),
            None | Some(_) => {}
        }
    }
    let gone = old.iter().map(|(name, _)| name).filter(|name| !is.contains_key(*name) && is_told(name, &is));
    symbols.removed = gone.map(|name| shown(name)).collect();
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: [&[&str]; 3]) {
        check_in("a.rs", old, new, expected);
    }

    fn check_in(path: &str, old: &str, new: &str, expected: [&[&str]; 3]) {
        let of = |text: &str| named(symbols(memod_extract::extract(path, text).chunks), text);
        let ChangedSymbols { added, changed, removed } = difference(&of(old), &of(new));
        assert_eq!(
            [added, changed, removed].map(|names| names.join(" ")),
            expected.map(|names| names.join(" "))
        );
    }

    #[test]
    fn definitions_by_name_and_text() {
        let body = "let mut total = 0;\n    for value in values {\n        total += value;\n    }\n    total";
        let sum = format!("fn sum(values: &[u32]) -> u32 {{\n    {body}\n}}\n");
        check(&sum, &sum, [&[], &[], &[]]);
        check(&sum, &format!("\n\n{sum}"), [&[], &[], &[]]);
        check(&sum, &sum.replace("+=", "*="), [&[], &["sum"], &[]]);
        check(&sum, &sum.replace("sum", "add"), [&["add"], &[], &["sum"]]);
        check(
            "const A: u8 = 1;\nconst B: u8 = 2;\n",
            "const A: u8 = 1;\nconst B: u8 = 3;\n",
            [&[], &["B"], &[]],
        );
        check("", &sum, [&["sum"], &[], &[]]);
        let key = "pub struct Key {\n    id: u64,\n    // The name.\n    name: String,\n}\n";
        check(key, &key.replace("u64", "u32"), [&[], &["Key.id"], &[]]);
        check(key, &key.replace("pub struct", "struct"), [&[], &["Key"], &[]]);
        check(key, &key.replace("    id: u64,\n", "    at: u8,\n"), [&["Key.at"], &[], &["Key.id"]]);
        let twice =
            "pub struct Key {\n    #[cfg(unix)]\n    id: u64,\n    #[cfg(windows)]\n    id: u32,\n}\n";
        check(twice, &format!("\n{twice}"), [&[], &[], &[]]);
        check(twice, &twice.replace("u32", "u16"), [&[], &["Key.id"], &[]]);
        check("", key, [&["Key"], &[], &[]]);
        check(key, "", [&[], &[], &["Key"]]);
    }

    #[test]
    fn fields_after_methods_are_told() {
        let python = "class Key:\n    id = 1\n\n    def run(self):\n        return 1\n\n    at = 2\n";
        check_in("a.py", python, &python.replace("at = 2", "at = 9"), [&[], &["Key.at"], &[]]);
        check_in("a.py", python, &python.replace("id = 1", "id = 9"), [&[], &["Key.id"], &[]]);
        let java = "class Key {\n    int id = 1;\n    void run() {}\n    int at = 2;\n    int of = 3;\n}\n";
        check_in("A.java", java, &java.replace("at = 2", "at = 9"), [&[], &["Key.at"], &[]]);
        check_in("A.java", java, &java.replace("of = 3", "of = 9"), [&[], &["Key.of"], &[]]);
    }
}
