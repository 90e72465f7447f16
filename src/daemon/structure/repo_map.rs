//! Answers `map`: the most important part of the code map that fits a budget.

use std::path::Path;

use memod_base::paths::CallerDir;
use memod_base::types::{SourceKey, is_compound};
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_proto::{MapParams, MapResult};
use memod_structure::map::{CodeMap, ListedFile, Ranking, rank, render};
use memod_text::redact::redact;
use memod_text::secrets::Syntax;

use crate::daemon::request::clock;
use crate::daemon::shared::Shared;
use crate::daemon::structure::kept_maps::KeptMap;

/// Default budget, tokens.
const BUDGET: usize = 1_024;

/// Number of files of which a name is listed.
const MOST_NAMES: usize = 10;

/// Ranks the files of a view and prints as many as fit.
pub(in crate::daemon) fn map(shared: &Shared, params: &MapParams, at: &Freshness) -> RpcResult<MapResult> {
    let KeptMap { map, clock, .. } = shared.maps.of(at.view, |former| {
        shared.engine.read(|reader| {
            reader.snapshot(|reader| {
                shared.maps.retain(&reader.views()?);
                KeptMap::current(former, reader, at.view, clock(reader, at)?)
            })
        })
    })?;
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let paths = params.paths.iter().map(|typed| dir.path(typed)).collect::<Result<Vec<_>, _>>()?;
    let unmapped = params.paths.iter().zip(&paths).filter(|(_, at)| !map.has(at));
    let unmapped = unmapped.map(|(typed, _)| typed.clone()).collect();
    let relative = |path: &String| dir.path(path).unwrap_or_else(|_| path.clone());
    let focus: Vec<String> = params.focus.iter().map(relative).collect();
    let unfocused = params.focus.iter().zip(&focus).filter(|(_, at)| !map.has(at));
    let unfocused = unfocused.map(|(typed, _)| typed.clone()).collect();
    let focus: Vec<&str> = focus.iter().map(String::as_str).collect();
    let ranking = rank(&map, &focus).below(&map, &paths);
    let budget = params.budget.unwrap_or(BUDGET);
    let text = |file| text_of(map.listed(file), at, shared.engine.config.index.max_file_bytes);
    let rendered = render(&map, &ranking, budget, &dir, text);
    // What stands for a credential is shorter.
    let text = redact(&rendered.text, Syntax::Code).into_owned();
    Ok(MapResult {
        text,
        tokens: rendered.n_tokens,
        files: rendered.n_files,
        names: names(&map, &ranking),
        total_files: ranking.files.len(),
        unmapped,
        unfocused,
        fresh: at.fresh,
        reason: at.reason.clone(),
        clock,
    })
}

/// Returns the most used name of each of the first files, those of several words first: they are hardly anything else's.
fn names(map: &CodeMap, ranking: &Ranking) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for &file in ranking.files.iter().take(MOST_NAMES) {
        let symbol = ranking.symbols(map, file).first().copied();
        names.extend(symbol.map(|symbol| map.symbol(file, symbol).0.to_owned()));
    }
    names.sort_by_key(|name| !is_compound(name));
    names
}

/// Returns the text of a file if it still equals the indexed content, so that no stale line is shown.
fn text_of(file: &ListedFile, at: &Freshness, max_file_bytes: u64) -> Option<String> {
    let key = SourceKey::new(file.path.as_str());
    let text = at.disk.read_same(&at.layout.root, &key, max_file_bytes, &file.hash);
    text.map(|text| memod_extract::readable(&file.path, text).into_owned())
}
