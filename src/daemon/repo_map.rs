//! Answers `map`: the most important part of the code map that fits a budget.

use std::collections::HashMap;

use super::definition_diff::has_word;
use super::event::Freshness;
use super::history::below;
use super::shared::Shared;
use crate::map::{MapFile, MapSymbol, holds, rank, render};
use crate::proto::{MapParams, MapResult};
use crate::scan;
use crate::store::{Reader, StoreError};
use crate::types::SourceKey;

/// Default budget, tokens.
const BUDGET: usize = 1_024;
/// Minimum tokens of a file with a symbol; it bounds the number of files to read.
const LEAST_TOKENS: usize = 10;
/// Documentation longer than this would hide the signature of its definition.
const MOST_DOC_LINES: usize = 60;
/// Prefixes of documentation and attribute lines in various languages.
const COMMENT_STARTS: [&str; 8] = ["//", "/*", "*", "# ", "#[", "--", "@", "\"\"\""];

/// An indexed file.
#[derive(Default)]
struct Source {
    path: String,
    hash: [u8; 32],
    references: String,
    symbols: Vec<(String, u32)>,
}

/// Ranks the files of a view and prints as many as fit.
pub(super) fn map(shared: &Shared, params: &MapParams, at: &Freshness) -> Result<MapResult, StoreError> {
    let (sources, clock) = shared.read(|reader: &Reader| {
        reader.snapshot(|reader| Ok((load(reader, at)?, super::request::clock(reader, at)?)))
    })?;
    let relative = |path: &String| below(path, &params.cwd, &at.layout).unwrap_or_else(|| path.clone());
    let focus: Vec<String> = params.focus.iter().map(relative).collect();
    let leads_nowhere = |at: &String| !sources.iter().any(|source| holds(at, &source.path));
    let unfocused = params.focus.iter().zip(&focus).filter(|(_, at)| leads_nowhere(at));
    let unfocused = unfocused.map(|(typed, _)| typed.clone()).collect();
    let focus: Vec<&str> = focus.iter().map(String::as_str).collect();
    let mut files: Vec<MapFile<'_>> = sources.iter().map(as_file).collect();
    let ranked = rank(&files, &focus);
    let budget = params.budget.unwrap_or(BUDGET);
    let looked_at: Vec<usize> =
        ranked.iter().take(budget / LEAST_TOKENS + 1).map(|ranked| ranked.file).collect();
    let texts: HashMap<usize, String> = looked_at
        .into_iter()
        .filter_map(|file| Some((file, text_of(&sources[file], at, shared.config.index.max_file_bytes)?)))
        .collect();
    for (file, text) in &texts {
        let lines: Vec<&str> = text.lines().collect();
        for symbol in &mut files[*file].symbols {
            if let Some((line, signature)) = signature(&lines, symbol) {
                (symbol.line, symbol.signature) = (line, signature);
            }
        }
    }
    let rendered = render(&files, &ranked, budget);
    Ok(MapResult {
        text: rendered.text,
        tokens: rendered.n_tokens,
        files: rendered.n_files,
        total_files: files.len(),
        unfocused,
        fresh: at.fresh,
        reason: at.reason.clone(),
        clock,
    })
}

fn load(reader: &Reader, at: &Freshness) -> Result<Vec<Source>, StoreError> {
    let mut sources: Vec<Source> = Vec::new();
    reader.each_map(at.view, |path, hash, references| {
        let (path, references) = (path.to_owned(), references.to_owned());
        sources.push(Source { path, hash, references, symbols: Vec::new() });
    })?;
    let index: HashMap<String, usize> =
        sources.iter().enumerate().map(|(index, source)| (source.path.clone(), index)).collect();
    reader.each_symbol(at.view, |path, names, line| {
        let Some(source) = index.get(path).map(|index| &mut sources[*index]) else { return };
        for name in names.split_whitespace() {
            // A long definition has several chunks.
            if source.symbols.last().is_none_or(|(last, _)| last != name) {
                source.symbols.push((name.to_owned(), line));
            }
        }
    })?;
    Ok(sources)
}

fn as_file(source: &Source) -> MapFile<'_> {
    let symbols = source.symbols.iter().map(|(name, line)| MapSymbol { name, signature: name, line: *line });
    let references = source.references.lines().filter_map(|line| {
        let (name, count) = line.rsplit_once(' ')?;
        Some((name, count.parse().ok()?))
    });
    MapFile { path: &source.path, symbols: symbols.collect(), references: references.collect() }
}

/// Returns the text of a file if it still equals the indexed content, so that no stale line is shown.
fn text_of(source: &Source, at: &Freshness, max_file_bytes: u64) -> Option<String> {
    let key = SourceKey::new(source.path.as_str());
    scan::read_same(&at.layout.root, &key, max_file_bytes, &source.hash).ok().flatten()
}

/// Returns the line that names a definition, with its 1-based number; the chunk may begin with documentation.
fn signature<'a>(lines: &[&'a str], symbol: &MapSymbol<'_>) -> Option<(u32, &'a str)> {
    let is_comment = |line: &str| COMMENT_STARTS.iter().any(|start| line.starts_with(start));
    let from = symbol.line as usize - 1;
    let window = lines.iter().map(|line| line.trim()).enumerate().skip(from).take(MOST_DOC_LINES);
    let mut declared = window.filter(|(_, line)| has_word(line, symbol.name) && !is_comment(line));
    declared.next().map(|(index, line)| (index as u32 + 1, line))
}
