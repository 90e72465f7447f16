//! Which part of the code map fits the budget of this request?

use std::collections::HashMap;
use std::path::Path;

use super::event::Freshness;
use super::shared::Shared;
use crate::map::{MapFile, MapSymbol, RankedFile, rank, render};
use crate::paths::Place;
use crate::proto::{MapParams, MapResult};
use crate::store::{Reader, StoreError};

/// Tokens when none are asked for.
const BUDGET: usize = 1_024;
/// A file takes at least so many tokens: no need to look up the signatures of more files than could fit.
const LEAST_TOKENS: usize = 4;

/// One file as the index has it.
#[derive(Default)]
struct Source {
    path: String,
    record: String,
    references: String,
    symbols: Vec<(String, u32)>,
}

/// Ranks the files of a view and prints what fits.
pub(super) fn map(shared: &Shared, params: &MapParams, at: &Freshness) -> Result<MapResult, StoreError> {
    let (sources, clock) = shared.read(|reader: &Reader| {
        reader.snapshot(|reader| Ok((load(reader, at)?, super::dispatch::clock(reader, at)?)))
    })?;
    let focus: Vec<String> = params.focus.iter().map(|path| relative(path, &params.cwd, &at.place)).collect();
    let focus: Vec<&str> = focus.iter().map(String::as_str).collect();
    let mut files: Vec<MapFile<'_>> = sources.iter().map(as_file).collect();
    let ranked = rank(&files, &focus);
    let budget = params.budget.unwrap_or(BUDGET);
    for RankedFile { file, .. } in ranked.iter().take(budget / LEAST_TOKENS + 1) {
        let record = &sources[*file].record;
        for symbol in &mut files[*file].symbols {
            symbol.signature = signature(record, symbol.name);
        }
    }
    let rendered = render(&files, &ranked, budget);
    Ok(MapResult {
        text: rendered.text,
        tokens: rendered.n_tokens,
        files: rendered.n_files,
        total_files: files.len(),
        fresh: at.fresh,
        reason: at.reason.clone(),
        clock,
    })
}

fn load(reader: &Reader, at: &Freshness) -> Result<Vec<Source>, StoreError> {
    let mut sources: Vec<Source> = Vec::new();
    reader.each_map(at.view, |path, record, references| {
        let (path, record, references) = (path.to_owned(), record.to_owned(), references.to_owned());
        sources.push(Source { path, record, references, symbols: Vec::new() });
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

/// Returns the line of a map record that declares a name, or the name where none does.
fn signature<'a>(record: &'a str, name: &'a str) -> &'a str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let declares = |line: &&str| {
        line.match_indices(name)
            .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part))
    };
    // The first line lists the names alone.
    record.lines().skip(1).find(declares).map_or(name, str::trim)
}

/// Returns a path of the user's relative to the worktree.
fn relative(path: &str, cwd: &str, place: &Place) -> String {
    let absolute = Path::new(cwd).join(path);
    let clean = absolute.components().filter(|part| !matches!(part, std::path::Component::CurDir));
    let clean: std::path::PathBuf = clean.collect();
    clean
        .strip_prefix(&place.root)
        .map_or_else(|_| path.to_owned(), |below| below.to_string_lossy().into_owned())
}
