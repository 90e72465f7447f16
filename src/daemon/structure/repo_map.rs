//! Answers `map` with the most important part of the code map that fits a budget.

use std::collections::HashSet;
use std::path::Path;

use memod_base::paths::CallerDir;
use memod_base::types::{SourceKey, is_compound};
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_proto::{MapParams, MapResult};
use memod_structure::map::{CodeFile, CodeMap, Ranking, rank_files, render_map};
use memod_text::redact::redact;
use memod_text::secrets::Syntax;

use crate::daemon::request::fresh_snapshot::format_clock;
use crate::daemon::request::path_spec::{explain_path_elsewhere, resolve_existing_path};
use crate::daemon::shared::Shared;
use crate::daemon::shared::code_map_cache::CachedCodeMap;
use crate::daemon::shared::project_survey::ProjectSurvey;

/// Default budget, tokens.
const BUDGET: usize = 1_024;

/// Maximum number of main files that are favoured; of more, none is what a reader needs first.
const MOST_MAIN_FILES: usize = 8;

/// Maximum number of files whose main name is listed.
const MOST_NAMES: usize = 10;

/// Answers `map`: ranks the files of a worktree, and shows as many as fit the budget.
pub(in crate::daemon) fn answer_map(
    shared: &Shared,
    params: &MapParams,
    at: &Freshness,
) -> RpcResult<MapResult> {
    let CachedCodeMap { map, clock, .. } = shared.maps.update_value(at.worktree, |former| {
        shared.engine.with_reader(|reader| {
            reader.read_snapshot(|reader| {
                shared.maps.retain_worktrees(&reader.list_worktrees()?);
                CachedCodeMap::bring_up_to_date(former, reader, at.worktree, format_clock(reader, at)?)
            })
        })
    })?;
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let resolve = |typed: &String| resolve_existing_path(typed, &dir, |path| map.has_path(path));
    let paths = params.paths.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
    let unmapped = params.paths.iter().zip(&paths).filter(|(_, at)| !map.has_path(at));
    let unmapped: Vec<String> = unmapped.map(|(typed, _)| typed.clone()).collect();
    if let Some(error) = unmapped.iter().find_map(|typed| explain_path_elsewhere(at, (typed, &params.cwd))) {
        return Err(error);
    }
    let focus: Vec<String> =
        params.focus.iter().map(|path| resolve(path).unwrap_or_else(|_| path.clone())).collect();
    let unfocused = params.focus.iter().zip(&focus).filter(|(_, at)| !map.has_path(at));
    let unfocused = unfocused.map(|(typed, _)| typed.clone()).collect();
    let focus: Vec<&str> = focus.iter().map(String::as_str).collect();
    let survey = shared.engine.with_reader(|reader| {
        reader.read_snapshot(|reader| shared.surveys.current_survey(reader, at.worktree))
    })?;
    let main_files = list_main_files(&map, &survey, &at.layout.root);
    let ranking = rank_files(&map, &focus, &main_files).retain_below(&map, &paths);
    let budget = params.budget.unwrap_or(BUDGET);
    let rendered = render_map(&map, &ranking, budget, &dir, |file| {
        read_unchanged_text(map.file_at(file), at, shared.engine.config.index.max_file_bytes)
    });
    // A mask is shorter than its credential, so the text still fits the budget.
    let text = redact(&rendered.text, Syntax::Code).into_owned();
    Ok(MapResult {
        text,
        tokens: rendered.n_tokens,
        files: rendered.n_files,
        names: list_main_names(&map, &ranking),
        total_files: ranking.files.len(),
        unmapped,
        unfocused,
        fresh: at.fresh,
        reason: at.reason.clone(),
        clock,
    })
}

/// Returns the positions of the files in which a reader begins: the entry points of programs, and the files that define what has the
/// name of the project, such as `Flask` in `flask`.
fn list_main_files(map: &CodeMap, survey: &ProjectSurvey, root: &Path) -> Vec<usize> {
    let project = normalize_name(&root.file_name().unwrap_or_default().to_string_lossy());
    let programs: HashSet<&str> = survey.programs.iter().map(|(path, _)| path.as_str()).collect();
    let has_main_definition = |file: usize| {
        (0..map.n_symbols(file)).any(|symbol| {
            let (name, qualifier, _) = map.symbol_at(file, symbol);
            qualifier.is_empty() && name.starts_with(char::is_uppercase) && normalize_name(name) == project
        })
    };
    let own: Vec<usize> = (0..map.n_files()).filter(|file| !map.file_at(*file).ranks_last).collect();
    let is_program = |file: usize| programs.contains(map.file_at(file).path.as_str());
    let mut main_files: Vec<usize> =
        own.iter().copied().filter(|file| is_program(*file) || has_main_definition(*file)).collect();
    if main_files.len() > MOST_MAIN_FILES {
        main_files.retain(|file| has_main_definition(*file));
    }
    main_files.truncate(MOST_MAIN_FILES);
    main_files
}

/// Returns the letters and digits of a name in lower case.
fn normalize_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the most used name of each of the first files. Names of several words come first, because they rarely mean anything
/// else.
fn list_main_names(map: &CodeMap, ranking: &Ranking) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for &file in ranking.files.iter().take(MOST_NAMES) {
        let symbol = ranking.ordered_symbols(map, file).first().copied();
        names.extend(symbol.map(|symbol| map.symbol_at(file, symbol).0.to_owned()));
    }
    names.sort_by_key(|name| !is_compound(name));
    names
}

/// Returns the text of a file if it still equals the indexed content, so that no stale line is shown.
fn read_unchanged_text(file: &CodeFile, at: &Freshness, max_file_bytes: u64) -> Option<String> {
    let key = SourceKey::new(file.path.as_str());
    let text = at.disk.read_if_unchanged(&at.layout.root, &key, max_file_bytes, &file.hash);
    text.map(|text| memod_extract::readable_text(&file.path, text).into_owned())
}
