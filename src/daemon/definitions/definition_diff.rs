//! Compares the definitions of two versions of a file.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use indexmap::IndexMap;
use memod_base::types::{ChunkId, ChunkKind, SourceKey, WorktreeId, last_part};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_extract::{Chunk, EXTRACTOR_VERSION, Extraction};
use memod_index_db::{ChunkLocation, IndexReader};
use memod_indexing::Extractor;
use memod_proto::{ChangedFile, ChangedSymbols, FileStatus, RpcError, code};
use memod_structure::map::has_word;

use crate::daemon::definitions::type_members::{TypeParts, split_type};
use crate::daemon::process::program_path::program_path;
use crate::daemon::shared::Shared;
use crate::daemon::shared::known_definitions::DefinitionHashes;

/// The error of a comparison that was not made because the time limit was reached.
#[derive(Debug)]
pub(in crate::daemon) struct TimeLimitReached;

/// Compares the definitions of two versions of a file, which a separate process parses.
pub(in crate::daemon) struct DefinitionComparer<'a> {
    extractor: Extractor,
    until: Instant,
    shared: &'a Shared,
    worktree: WorktreeId,
}

impl<'a> DefinitionComparer<'a> {
    pub(in crate::daemon) fn new(shared: &'a Shared, view: WorktreeId, until: Instant) -> RpcResult<Self> {
        let program = program_path();
        let program = program.map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))?;
        Ok(Self {
            extractor: Extractor::new(&program, &shared.engine.progress),
            until,
            shared,
            worktree: view,
        })
    }

    /// Returns the added, changed and removed definitions of a file; `None` if the file is not code, or a version cannot be read.
    /// `hash` is the blake3 of the present content.
    ///
    /// # Errors
    /// When the time limit is reached, or no process can be started.
    pub(in crate::daemon) fn compare_versions(
        &mut self,
        file: &ChangedFile,
        hash: Option<[u8; 32]>,
        old: impl FnOnce() -> Option<String>,
        new: impl FnOnce() -> Option<String>,
    ) -> Result<Option<ChangedSymbols>, TimeLimitReached> {
        if !memod_extract::may_be_code(&file.path) {
            return Ok(None);
        }
        if Instant::now() >= self.until || self.shared.engine.progress.is_cancelled() {
            return Err(TimeLimitReached);
        }
        let from = file.from.as_deref().unwrap_or(&file.path);
        let (old, new) = (old(), new());
        // A version that cannot be read, or has changed meanwhile, may have definitions, so nothing is known about the file.
        let is_unread = old.is_none() && file.status != FileStatus::Added
            || new.is_none() && file.status != FileStatus::Removed;
        if is_unread {
            return Ok(None);
        }
        let (old_text, new_text) = (old.unwrap_or_default(), new.unwrap_or_default());
        if old_text == new_text {
            return Ok(Some(ChangedSymbols::default())); // moved without a change
        }
        let old = self.read_definitions(from, &old_text, None)?;
        let new = self.read_definitions(&file.path, &new_text, hash)?;
        Ok(Some(diff_definitions(&old, &new)))
    }

    /// Returns the definitions of one version of a file: from the cache, else from the index, else from the parsed text. `hash` is
    /// that of a present content; a past one has none.
    fn read_definitions(
        &mut self,
        path: &str,
        text: &str,
        hash: Option<[u8; 32]>,
    ) -> Result<Arc<DefinitionHashes>, TimeLimitReached> {
        if text.is_empty() {
            return Ok(Arc::default());
        }
        let known = &self.shared.definitions;
        if let Some(named) = known.find_version(path, text) {
            return Ok(named);
        }
        let spans = match hash.and_then(|hash| self.find_indexed_spans(path, hash)) {
            Some(spans) => Some(spans),
            None => self.extract_spans(path, text)?,
        };
        // A text that cannot be parsed defines nothing.
        Ok(spans
            .map(|spans| known.keep_version(path, text, hash_definitions_of(path, spans, text)))
            .unwrap_or_default())
    }

    /// Returns the indexed spans with definitions of a path; `None` if the index has a different content for the path.
    fn find_indexed_spans(&self, path: &str, hash: [u8; 32]) -> Option<Vec<DefiningSpan>> {
        let places = self
            .shared
            .engine
            .with_reader(|reader| {
                reader.read_snapshot(|reader| self.read_chunk_locations(reader, path, hash))
            })
            .unwrap_or_else(|error: DatabaseError| {
                tracing::warn!(%error, path, "the definitions of a file cannot be read from the index");
                None
            })?;
        Some(
            places
                .into_iter()
                .map(|ChunkLocation { bytes, symbol, title, .. }| DefiningSpan {
                    bytes,
                    names: symbol,
                    title,
                })
                .collect(),
        )
    }

    /// Reads the chunks with definitions of a path from the snapshot of `reader`; `None` if the index has a different content.
    fn read_chunk_locations(
        &self,
        reader: &IndexReader,
        path: &str,
        hash: [u8; 32],
    ) -> Result<Option<Vec<ChunkLocation>>, DatabaseError> {
        let key = SourceKey::new(path);
        let entry = reader.find_entry(self.worktree, &key)?;
        let Some(first) = entry
            .filter(|entry| entry.hash == Some(hash) && entry.extractor_version == EXTRACTOR_VERSION)
            .and(reader.first_chunk(self.worktree, &key)?)
        else {
            return Ok(None);
        };
        let chunks =
            reader.read_content(first)?.chunks.into_iter().filter(|chunk| may_contain_definition(chunk.kind));
        let ids: Vec<ChunkId> = chunks.map(|chunk| chunk.id).collect();
        let places = self.shared.rows.chunk_locations(reader, &ids)?;
        Ok(places.into_iter().collect())
    }

    /// Returns the spans of a text that define something; `None` if the text cannot be parsed.
    fn extract_spans(
        &mut self,
        path: &str,
        text: &str,
    ) -> Result<Option<Vec<DefiningSpan>>, TimeLimitReached> {
        let extracted = self.extractor.extract(path, text).map_err(|_| TimeLimitReached)?;
        Ok(extracted.ok().map(|Extraction { chunks, .. }| list_defining_spans(chunks)))
    }
}

/// A span of a text that may define something.
struct DefiningSpan {
    /// Start and end in the text, bytes.
    bytes: (usize, usize),
    /// The names of the definitions, separated by spaces; `None` if the span defines nothing.
    names: Option<Arc<str>>,
    /// The qualified name of the first definition.
    title: Option<Arc<str>>,
}

/// Separates the name of a type from the name of its attribute, field or variant.
const MEMBER_SEPARATOR: char = '\0';

/// Returns the definitions of a file like [`hash_definitions`]. In a notebook, only cells that define something count.
fn hash_definitions_of(path: &str, mut spans: Vec<DefiningSpan>, text: &str) -> DefinitionHashes {
    let readable = memod_extract::readable_text(path, text);
    if memod_extract::is_notebook(path) {
        spans.retain(|span| span.names.is_some());
    }
    hash_definitions(spans, &readable)
}

/// Returns each definition with the hash of its text; if a chunk has several short ones, with the hash of the line that names the
/// definition. Attributes and fields of a type are separate entries.
fn hash_definitions(spans: Vec<DefiningSpan>, text: &str) -> DefinitionHashes {
    let mut named: Vec<(String, String)> = Vec::new();
    for DefiningSpan { bytes: (start, end), names, title } in spans {
        let Some(title) = title.as_deref() else { continue };
        let body = text.get(start..end).unwrap_or_default();
        let names: Vec<&str> = names.iter().flat_map(|names| names.split_whitespace()).collect();
        if names.len() > 1 && title.contains(" … ") {
            let scope =
                title.split(" … ").next().and_then(|first| first.strip_suffix(names[0])).unwrap_or("");
            for name in names {
                let line = body.lines().find(|line| has_word(line, name)).unwrap_or(body);
                named.push((format!("{scope}{name}"), line.trim().to_owned()));
            }
        } else if let Some(same) = named.iter_mut().find(|(known, _)| known == title) {
            // A further part of a long definition, or another clause of a function.
            same.1.push('\n');
            same.1.push_str(body.trim_end());
        } else {
            named.push((title.to_owned(), body.trim().to_owned()));
        }
    }
    let mut all: IndexMap<String, String> = IndexMap::new();
    // Definitions with the same name, such as `#[cfg]` variants, are compared as one text.
    for (name, text) in &named {
        let own = last_part(name);
        let parts = split_type(text, own).filter(|parts| {
            !parts.members.iter().any(|(member, _)| has_own_definition(&named, name, member))
        });
        match parts {
            Some(TypeParts { rest, members }) => {
                all.entry(name.clone()).or_default().push_str(&rest);
                for (member, text) in members {
                    all.entry(format!("{name}{MEMBER_SEPARATOR}{member}")).or_default().push_str(&text);
                }
            }
            None => all.entry(name.clone()).or_default().push_str(text),
        }
    }
    all.into_iter().map(|(name, text)| (name, *blake3::hash(text.as_bytes()).as_bytes())).collect()
}

/// Returns whether a member of a type has a definition of its own: the type, up to two separators, and the member.
fn has_own_definition(named: &[(String, String)], owner: &str, member: &str) -> bool {
    named.iter().any(|(title, _)| {
        let between = title.strip_prefix(owner).and_then(|rest| rest.strip_suffix(member));
        between.is_some_and(|between| between.len() < 3)
    })
}

/// Returns whether a chunk of a kind may contain a part of a definition: the rest of a type after its first method is a text chunk.
fn may_contain_definition(kind: ChunkKind) -> bool {
    matches!(kind, ChunkKind::Symbol | ChunkKind::Text)
}

fn list_defining_spans(chunks: Vec<Chunk>) -> Vec<DefiningSpan> {
    let symbols = chunks.into_iter().filter(|chunk| may_contain_definition(chunk.kind));
    symbols
        .map(|Chunk { bytes, symbol, title, .. }| DefiningSpan {
            bytes: (bytes.start, bytes.end),
            names: symbol.map(Into::into),
            title: title.map(Into::into),
        })
        .collect()
}

fn diff_definitions(old: &DefinitionHashes, new: &DefinitionHashes) -> ChangedSymbols {
    let (was, is): (HashMap<_, _>, HashMap<_, _>) =
        (old.iter().cloned().collect(), new.iter().cloned().collect());
    let mut symbols = ChangedSymbols::default();
    for (name, text) in new {
        match was.get(name) {
            None if is_listed(name, &was) => symbols.added.push(display_name(name)),
            Some(before) if before != text => symbols.changed.push(display_name(name)),
            None | Some(_) => {}
        }
    }
    let gone =
        old.iter().map(|(name, _)| name).filter(|name| !is.contains_key(*name) && is_listed(name, &is));
    symbols.removed = gone.map(|name| display_name(name)).collect();
    symbols
}

/// Returns whether an added or removed definition is listed: a member is not if the other version lacks its whole type.
fn is_listed(name: &str, other: &HashMap<String, [u8; 32]>) -> bool {
    name.split_once(MEMBER_SEPARATOR).is_none_or(|(owner, _)| other.contains_key(owner))
}

fn display_name(name: &str) -> String {
    name.replace(MEMBER_SEPARATOR, if name.contains("::") { "::" } else { "." })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: [&[&str]; 3]) {
        check_in("a.rs", old, new, expected);
    }

    fn check_in(path: &str, old: &str, new: &str, expected: [&[&str]; 3]) {
        let of = |text: &str| {
            hash_definitions(list_defining_spans(memod_extract::extract(path, text).chunks), text)
        };
        let ChangedSymbols { added, changed, removed } = diff_definitions(&of(old), &of(new));
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
