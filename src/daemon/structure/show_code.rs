//! Answers `show`: the text of a file, of lines of it, or of a definition.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_base::types::{Definition, SourceKey};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_index_db::{Entry, Reader};
use memod_proto::{RpcError, ShowParams, ShowResult, ShownPart, code};
use memod_text::redact::mask;
use memod_text::secrets::find_secret_spans;

use crate::daemon::definitions::named_definitions::{
    check_readable, definitions_named, nothing as no_such, undefined,
};
use crate::daemon::request::caveats;
use crate::daemon::request::commit_history::key_of;
use crate::daemon::request::error::bad_params;
use crate::daemon::request::path_spec::{Part, beyond, is_range, named, parse};
use crate::daemon::request::{SnapshotAsk, deadline, on_snapshot};
use crate::daemon::shared::Shared;

/// Most definitions of one name that are shown.
pub(in crate::daemon) const MOST_PARTS: usize = 10;

/// Most lines of the definition that a line stands for.
const MOST_LINES: u32 = 80;
/// Lines before and after a line of a longer one.
const AROUND: u32 = 15;

/// Lines of a file, with the title of their definition; without lines the whole file.
pub(in crate::daemon) struct Span {
    pub(in crate::daemon) key: SourceKey,
    pub(in crate::daemon) lines: Option<(u32, u32)>,
    pub(in crate::daemon) title: Option<String>,
}

/// Answers `show`.
pub(in crate::daemon) async fn show(shared: &Arc<Shared>, params: ShowParams) -> RpcResult<ShowResult> {
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

fn answer(shared: &Shared, params: &ShowParams, at: &Freshness) -> RpcResult<(ShowResult, Vec<SourceKey>)> {
    let target = (params.target.as_str(), params.cwd.as_str());
    let mut spans =
        shared.engine.read(|reader: &Reader| reader.snapshot(|reader| spans(shared, reader, target, at)))?;
    let left_out = spans.len().saturating_sub(MOST_PARTS);
    spans.truncate(MOST_PARTS);
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let (mut parts, mut stale) = (Vec::new(), Vec::new());
    for of_file in spans.chunk_by(|(_, one), (_, other)| one.key == other.key) {
        let (entry, Span { key, .. }) = &of_file[0];
        match text_of(shared, at, entry, (key, &dir))? {
            Some(text) => {
                for (_, span) in of_file {
                    parts.push(part(span, &text, &dir)?);
                }
            }
            None => stale.push(key.clone()),
        }
    }
    let (fresh, reason, trust) = (at.fresh, at.reason.clone(), "repo".to_owned());
    Ok((ShowResult { parts, left_out, fresh, reason, trust, took_ms: 0.0 }, stale))
}

/// Returns what the target names: a path comes before a definition of that name.
pub(in crate::daemon) fn spans(
    shared: &Shared,
    reader: &Reader,
    (target, cwd): (&str, &str),
    at: &Freshness,
) -> RpcResult<Vec<(Entry, Span)>> {
    for (path, part) in parse(target) {
        let Some(key) = key_of(path, cwd, &at.layout) else { continue };
        if let Some(entry) = reader.entry(at.view, &key)? {
            check_readable(path, &entry)?;
            let needed = key.clone();
            caveats::needs_only(move |file| file.covers(needed.as_str()));
            let definitions = reader.definitions(at.view, &key)?;
            let dir = CallerDir::new(&at.layout, Path::new(cwd));
            let spans = match part {
                Part::Lines(first, last) if is_range(target) => vec![span(&key, Some((first, last)), None)],
                part => of_part(&key, part, &definitions, &dir)?,
            };
            return Ok(spans.into_iter().map(|span| (entry.clone(), span)).collect());
        }
    }
    let found = by_name(shared, reader, target, at)?;
    if found.is_empty() {
        return Err(nothing((target, cwd), at));
    }
    Ok(found)
}

fn of_part(
    key: &SourceKey,
    part: Part<'_>,
    definitions: &[Definition],
    dir: &CallerDir,
) -> RpcResult<Vec<Span>> {
    let whole = |found: &&Definition| span(key, Some(found.lines), Some(found.title.clone()));
    match part {
        Part::Whole => Ok(vec![span(key, None, None)]),
        Part::Lines(line, _) => {
            let around = definitions.iter().filter(|found| (found.lines.0..=found.lines.1).contains(&line));
            let innermost = around.min_by_key(|found| found.lines.1 - found.lines.0);
            let Some(found) = innermost else { return Ok(vec![span(key, Some((line, line)), None)]) };
            let (first, last) = found.lines;
            let is_long = last - first >= MOST_LINES;
            let part = (first.max(line.saturating_sub(AROUND)), last.min(line + AROUND));
            Ok(vec![span(key, Some(if is_long { part } else { found.lines }), Some(found.title.clone()))])
        }
        Part::Symbol(name) => {
            let found = named(definitions, name);
            if found.is_empty() {
                return Err(undefined(&dir.display(key.as_str()), name, definitions));
            }
            Ok(found.iter().map(whole).collect())
        }
    }
}

fn span(key: &SourceKey, lines: Option<(u32, u32)>, title: Option<String>) -> Span {
    Span { key: key.clone(), lines, title }
}

/// Returns the definitions of a name in all files of the view, by path.
fn by_name(
    shared: &Shared,
    reader: &Reader,
    name: &str,
    at: &Freshness,
) -> Result<Vec<(Entry, Span)>, DatabaseError> {
    let mut spans = Vec::new();
    for (key, found) in definitions_named(shared, reader, at.view, name)? {
        let Some(entry) = reader.entry(at.view, &key)? else { continue };
        spans.push((entry, Span { key, lines: Some(found.lines), title: Some(found.title) }));
    }
    Ok(spans)
}

/// Returns the text of a file, without its credentials; `None` if the disk has another one than the snapshot.
pub(in crate::daemon) fn text_of(
    shared: &Shared,
    at: &Freshness,
    entry: &Entry,
    (key, dir): (&SourceKey, &CallerDir),
) -> RpcResult<Option<String>> {
    let Some(hash) = &entry.hash else {
        let why = entry.refusal.map_or("not indexed", |refusal| refusal.as_str());
        let hint = "`memo status --skipped` lists the files that are not indexed";
        return Err(
            bad_params(format!("{}: {why}, so it is not shown", dir.display(key.as_str()))).with_hint(hint)
        );
    };
    let most = shared.engine.config.index.max_file_bytes;
    // What cannot be read counts as stale, so the request is repeated.
    let text = at.disk.read_same(&at.layout.root, key, most, hash);
    Ok(text.map(|text| {
        let text = memod_extract::readable(key.as_str(), text);
        mask(&text, &find_secret_spans(&text, memod_extract::syntax_of(key.as_str(), &text))).into_owned()
    }))
}

fn part(span: &Span, text: &str, dir: &CallerDir) -> RpcResult<ShownPart> {
    let Span { key, lines, title } = span;
    let n_lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let (first, last) = lines.unwrap_or((1, n_lines));
    if let Some(why) = beyond((first, last), n_lines) {
        let error = RpcError::new(code::NOT_FOUND, format!("{}: {why}", dir.display(key.as_str())));
        return Err(error.with_hint("`memo show PATH` shows the whole file"));
    }
    let n_shown = (last + 1).saturating_sub(first) as usize;
    let text = text.split_inclusive('\n').skip(first as usize - 1).take(n_shown).collect();
    Ok(ShownPart {
        cwd_path: dir.shown(key.as_str()),
        path: key.to_string(),
        lines: (first, last),
        title: title.clone(),
        text,
    })
}

fn nothing((target, cwd): (&str, &str), at: &Freshness) -> RpcError {
    if let Err(outside) = CallerDir::new(&at.layout, Path::new(cwd)).path(target) {
        return outside.into();
    }
    let on_disk = parse(target).into_iter().find_map(|(path, _)| {
        let key = key_of(path, cwd, &at.layout)?;
        at.disk.lstat(&at.layout.root.join(key.as_str())).ok()
    });
    let not_found = |why: &str| RpcError::new(code::NOT_FOUND, format!("{target}: {why}"));
    match on_disk {
        Some(stat) if stat.is_dir() => not_found("a directory").with_hint(
            "name a file of it; `memo map DIR` shows what they define, `memo status --files` lists them",
        ),
        Some(_) if !at.fresh => caveats::while_behind(not_found("not indexed yet")),
        Some(_) => not_found("not indexed: git or .memoignore leaves it out")
            .with_hint("`git check-ignore -v PATH` names the rule of git"),
        None => no_such(target),
    }
}
