//! Answers `show` with the text of a file, of some lines, or of a definition.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_base::types::{Definition, PathPart, SourceKey, parse_target};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_index_db::{IndexReader, ManifestEntry};
use memod_proto::{RpcError, ShowParams, ShowResult, ShownPart, UnsearchedFile, code};
use memod_text::redact::mask;
use memod_text::secrets::find_secret_spans;

use crate::daemon::definitions::named_definitions::{
    check_readable, find_definitions, undefined_name_error, unknown_target_error as no_such,
};
use crate::daemon::definitions::similar_targets::suggest_similar_targets;
use crate::daemon::definitions::unindexed_files::{add_unsearched, is_code, list_unindexed_files};
use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::request::commit_history::parse_source_key;
use crate::daemon::request::fresh_snapshot::{SnapshotRequest, question_deadline, run_on_snapshot};
use crate::daemon::request::linked_paths::explain_link;
use crate::daemon::request::path_spec::{
    choose_part, explain_path_elsewhere, find_definitions_named, why_beyond_end,
};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::shared::Shared;

/// Maximum number of definitions of one name that are shown.
pub(in crate::daemon) const MOST_PARTS: usize = 10;

/// Maximum number of lines of a definition around a line that is shown whole.
const MOST_LINES: u32 = 80;
/// Number of lines that are shown before and after a line of a longer definition.
const AROUND: u32 = 15;

/// A span of lines in a file, with the title of the definition there; without lines, the whole file.
pub(in crate::daemon) struct TargetSpan {
    pub(in crate::daemon) key: SourceKey,
    pub(in crate::daemon) lines: Option<(u32, u32)>,
    pub(in crate::daemon) title: Option<String>,
    /// Number of declarations before the implementation.
    pub(in crate::daemon) n_overloads: u32,
}

/// Answers `show`.
pub(in crate::daemon) async fn answer_show(
    request: &Arc<RequestContext>,
    params: ShowParams,
) -> RpcResult<ShowResult> {
    let began = Instant::now();
    let ask = SnapshotRequest {
        cwd: params.cwd.clone(),
        level: params.sync,
        deadline: question_deadline(request, params.wait_ms),
        needs_commits: false,
    };
    let (mut result, why_not) =
        run_on_snapshot(request, ask, move |request, at, _| build_show_result(request, &params, at)).await?;
    result.fresh &= why_not.is_none();
    result.reason = result.reason.or(why_not);
    result.took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    Ok(result)
}

fn build_show_result(
    request: &RequestContext,
    params: &ShowParams,
    at: &Freshness,
) -> RpcResult<(ShowResult, Vec<SourceKey>)> {
    let target = (params.target.as_str(), params.cwd.as_str());
    let mut spans = request.shared.engine.with_reader(|reader: &IndexReader| {
        reader.read_snapshot(|reader| find_spans(request, reader, target, at))
    })?;
    let left_out = spans.len().saturating_sub(MOST_PARTS);
    spans.truncate(MOST_PARTS);
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let (mut parts, mut stale) = (Vec::new(), Vec::new());
    for of_file in spans.chunk_by(|(_, one), (_, other)| one.key == other.key) {
        let (entry, TargetSpan { key, .. }) = &of_file[0];
        match read_shown_text(&request.shared, at, entry, (key, &dir))? {
            Some(text) => {
                for (_, span) in of_file {
                    parts.push(cut_part(span, &text, &dir)?);
                }
            }
            None => stale.push(key.clone()),
        }
    }
    let (fresh, reason, trust) = (at.fresh, at.reason.clone(), "repo".to_owned());
    Ok((ShowResult { parts, left_out, fresh, reason, trust, took_ms: 0.0 }, stale))
}

/// Returns the spans that a target names. If a file and a definition have that name, the file is meant.
pub(in crate::daemon) fn find_spans(
    request: &RequestContext,
    reader: &IndexReader,
    (target, cwd): (&str, &str),
    at: &Freshness,
) -> RpcResult<Vec<(ManifestEntry, TargetSpan)>> {
    for (path, part) in parse_target(target) {
        let Some(key) = parse_source_key(path, cwd, &at.layout) else { continue };
        if let Some(entry) = reader.find_entry(at.worktree, &key)? {
            check_readable(path, &entry)?;
            let needed = key.clone();
            request.caveats.note_needed_files(move |file| file.covers(needed.as_str()));
            let definitions = reader.list_definitions(at.worktree, &key)?;
            let dir = CallerDir::new(&at.layout, Path::new(cwd));
            let spans = find_spans_of_part(&request.caveats, &key, part, &definitions, &dir)?;
            return Ok(spans.into_iter().map(|span| (entry.clone(), span)).collect());
        }
    }
    let found = find_spans_by_name(&request.shared, reader, target, at)?;
    if found.is_empty() {
        let dir = CallerDir::new(&at.layout, Path::new(cwd));
        let similar = suggest_similar_targets((&request.shared, reader), at.worktree, target, &dir)?;
        let unsearched = list_unindexed_files(reader, (at, &dir), is_code)?;
        return Err(target_not_found_error(&request.caveats, (target, cwd), at, (similar, unsearched)));
    }
    Ok(found)
}

fn find_spans_of_part(
    caveats: &NotedCaveats,
    key: &SourceKey,
    part: PathPart<'_>,
    definitions: &[Definition],
    dir: &CallerDir,
) -> RpcResult<Vec<TargetSpan>> {
    match choose_part(part, definitions) {
        PathPart::Whole => Ok(vec![build_span(key, None, None)]),
        PathPart::Lines(first, last) => Ok(vec![build_span(key, Some((first, last)), None)]),
        PathPart::Line(line) => {
            let Some(found) = Definition::innermost_around(definitions, (line, line)) else {
                return Ok(vec![build_span(key, Some((line, line)), None)]);
            };
            let (first, last) = found.lines;
            let is_long = last - first >= MOST_LINES;
            let part = (first.max(line.saturating_sub(AROUND)), last.min(line + AROUND));
            Ok(vec![build_span(
                key,
                Some(if is_long { part } else { found.lines }),
                Some(found.title.clone()),
            )])
        }
        PathPart::Symbol(name) => {
            let found = find_definitions_named(definitions, name);
            if found.is_empty() {
                return Err(undefined_name_error(
                    caveats,
                    &dir.display_path(key.as_str()),
                    name,
                    definitions,
                ));
            }
            Ok(found
                .iter()
                .map(|found| TargetSpan {
                    n_overloads: found.n_overloads,
                    ..build_span(key, Some(found.lines), Some(found.title.clone()))
                })
                .collect())
        }
    }
}

fn build_span(key: &SourceKey, lines: Option<(u32, u32)>, title: Option<String>) -> TargetSpan {
    TargetSpan { key: key.clone(), lines, title, n_overloads: 0 }
}

/// Returns the spans of the definitions of a name in all files of the worktree, ordered by path.
fn find_spans_by_name(
    shared: &Shared,
    reader: &IndexReader,
    name: &str,
    at: &Freshness,
) -> Result<Vec<(ManifestEntry, TargetSpan)>, DatabaseError> {
    let mut spans = Vec::new();
    for (key, found) in find_definitions(shared, reader, at.worktree, name)? {
        let Some(entry) = reader.find_entry(at.worktree, &key)? else { continue };
        let (lines, title, n_overloads) = (Some(found.lines), Some(found.title), found.n_overloads);
        spans.push((entry, TargetSpan { key, lines, title, n_overloads }));
    }
    Ok(spans)
}

/// Returns the text of a file with its credentials masked; `None` if the disk differs from the snapshot.
pub(in crate::daemon) fn read_shown_text(
    shared: &Shared,
    at: &Freshness,
    entry: &ManifestEntry,
    (key, dir): (&SourceKey, &CallerDir),
) -> RpcResult<Option<String>> {
    let Some(hash) = &entry.hash else {
        if let Some(error) = explain_link(at, key, dir) {
            return Err(error);
        }
        let why = entry.refusal.map_or("not indexed", |refusal| refusal.as_str());
        let hint = "`memo status --skipped` lists the files that are not indexed";
        return Err(bad_params_error(format!(
            "{}: {why}, so it is not shown",
            dir.display_path(key.as_str())
        ))
        .with_hint(hint));
    };
    let most = shared.engine.config.index.max_file_bytes;
    // An unreadable file counts as stale, so the request is repeated.
    let text = at.disk.read_if_unchanged(&at.layout.root, key, most, hash);
    Ok(text.map(|text| {
        let text = memod_extract::readable_text(key.as_str(), text);
        mask(&text, &find_secret_spans(&text, memod_extract::bare_word_syntax(key.as_str(), &text)))
            .into_owned()
    }))
}

fn cut_part(span: &TargetSpan, text: &str, dir: &CallerDir) -> RpcResult<ShownPart> {
    let TargetSpan { key, lines, title, n_overloads } = span;
    let n_lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let (first, last) = lines.unwrap_or((1, n_lines));
    if let Some(why) = why_beyond_end((first, last), n_lines) {
        let error = RpcError::new(code::NOT_FOUND, format!("{}: {why}", dir.display_path(key.as_str())));
        return Err(error.with_hint("`memo show PATH` shows the whole file"));
    }
    let n_shown = (last + 1).saturating_sub(first) as usize;
    let text = text.split_inclusive('\n').skip(first as usize - 1).take(n_shown).collect();
    Ok(ShownPart {
        cwd_path: dir.relative_path(key.as_str()),
        path: key.to_string(),
        lines: (first, last),
        title: title.clone(),
        n_overloads: *n_overloads as usize,
        text,
    })
}

fn not_found_error(target: &str, why: &str) -> RpcError {
    RpcError::new(code::NOT_FOUND, format!("{target}: {why}"))
}

fn target_not_found_error(
    caveats: &NotedCaveats,
    (target, cwd): (&str, &str),
    at: &Freshness,
    (similar, unsearched): (Option<String>, Vec<UnsearchedFile>),
) -> RpcError {
    if let Err(outside) = CallerDir::new(&at.layout, Path::new(cwd)).resolve_path(target) {
        return outside.into();
    }
    let on_disk = parse_target(target).into_iter().find_map(|(path, _)| {
        let key = parse_source_key(path, cwd, &at.layout)?;
        let stat = at.disk.lstat(&key.path_in(&at.layout.root)).ok()?;
        Some((key, stat))
    });
    if let Some(error) = explain_path_elsewhere(at, (target, cwd)) {
        return error;
    }
    match on_disk.map(|(_, stat)| stat) {
        Some(stat) if stat.is_dir() => not_found_error(target, "is a directory").with_hint(
            "name a file in it; `memo map DIR` shows what its files define, `memo status --files` lists all files",
        ),
        Some(_) if !at.fresh => caveats.add_missing_changes(not_found_error(target, "not indexed yet")),
        Some(_) => not_found_error(target, "not indexed: git or .memoignore leaves it out")
            .with_hint("`git check-ignore -v PATH` names the rule of git"),
        None => add_unsearched(no_such(caveats, target, similar), unsearched),
    }
}
