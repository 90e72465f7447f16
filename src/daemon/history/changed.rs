//! Lists what changed in the worktree since a revision, or between two.
//!
//! Compares the tree of a commit with the manifest, so uncommitted changes and new files count too; or with the tree of
//! another commit. What was found is kept:
//! the same question is asked at the start of every session, and mostly nothing has changed.

mod commits_since;
mod compare;
mod conversions;
mod find;
mod on_disk;
mod renames;
mod sides;
mod texts;
mod trees;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use conversions::Uncompared;
use memod_base::paths::CallerDir;
use memod_base::types::Unreadable;
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_proto::{AnswerPart, ChangedParams, ChangedResult};
use sides::{Sides, is_below};
use texts::Texts;

use crate::daemon::definitions::definition_diff::Definitions;
use crate::daemon::history::kept_changes::Change;
use crate::daemon::request::caveats;
use crate::daemon::request::commit_history::History;
use crate::daemon::request::error::bad_params;
use crate::daemon::request::{deadline, freshness, reading_files};
use crate::daemon::shared::Shared;

/// Time limit for comparing definitions.
const BUDGET: Duration = Duration::from_secs(10);
/// Default and maximum number of files.
const LIMIT: (usize, usize) = (200, 100_000);

/// Answers `changed`.
pub(in crate::daemon) async fn changed(
    shared: &Arc<Shared>,
    params: ChangedParams,
) -> RpcResult<ChangedResult> {
    let began = Instant::now();
    let until = deadline(shared, params.wait_ms);
    let at = freshness(shared, &params.cwd, params.sync, until).await?;
    let answer = move |shared: &Shared, at: &Freshness| answer(shared, &params, at, Instant::now() + BUDGET);
    let result = reading_files(shared, at, answer).await?;
    Ok(ChangedResult { took_ms: began.elapsed().as_secs_f64() * 1_000.0, ..result })
}

/// Notes that two commits need no file of the worktree, and that paths need those below them.
fn note_needed(sides: &Sides) {
    let (is_past, paths) = (sides.until.is_some(), sides.paths.clone());
    if is_past || !paths.is_empty() {
        let has = move |file: &Unreadable| {
            paths.iter().any(|path| file.covers(path.as_str()) || is_below(&file.path, path.as_str()))
        };
        caveats::needs_only(move |file| !is_past && has(file));
    }
}

/// Notes that files are stored in a form that only git knows.
fn note_uncompared(files: &[&Uncompared]) {
    let Some((first, why)) = files.first() else { return };
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    caveats::note(AnswerPart::Code, format!("{first}{more}: not compared: {why}"));
}

fn answer(
    shared: &Shared,
    params: &ChangedParams,
    at: &Freshness,
    until: Instant,
) -> RpcResult<ChangedResult> {
    let limit = params.limit.unwrap_or(LIMIT.0);
    if !(1..=LIMIT.1).contains(&limit) {
        let message = format!("limit: {limit} is not between 1 and {}", LIMIT.1);
        return Err(bad_params(message).with_hint("leave it out for two hundred"));
    }
    let past = History::open(at)?;
    let sides = Sides::of(params, &past, at)?;
    note_needed(&sides);
    let texts = Texts::new(at, &past, shared.engine.config.index.max_file_bytes, sides.until.is_some());
    let (changes, n_uncompared, converted) = match sides.until {
        Some(until) => {
            let (list, n) = trees::changes(&texts, sides.base, until)?;
            (Arc::from(list), n, Vec::new())
        }
        None => {
            let (list, converted) = find::changes(shared, &texts, sides.base)?;
            (list, 0, converted)
        }
    };
    let converted: Vec<&Uncompared> = converted.iter().filter(|(path, _)| sides.has(path)).collect();
    note_uncompared(&converted);
    let is_asked = |change: &&Change| {
        sides.has(&change.file.path) || change.file.from.iter().any(|from| sides.has(from))
    };
    let changes: Vec<&Change> = changes.iter().filter(is_asked).collect();
    let mut definitions = Definitions::new(shared, at.view, until)?;
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let mut n_late = 0;
    let mut files = Vec::with_capacity(limit.min(changes.len()));
    for change in changes.iter().take(limit) {
        let mut file = change.file.clone();
        file.cwd_path = dir.shown(&file.path);
        file.cwd_from = file.from.as_ref().and_then(|from| dir.shown(from));
        let present = || texts.new_text(&file.path, change.hash, change.new?);
        match definitions.compare(&change.file, change.hash, || texts.past(change.old?), present) {
            Ok(symbols) => file.symbols = symbols,
            Err(_) => n_late += 1,
        }
        files.push(file);
    }
    let commits = commits_since::since(&past, &sides)?;
    let named = |id| commits_since::described(&past, id);
    let base = sides.base.map(named).transpose()?.map(|base| (base.commit, base.subject));
    let (base, subject) = base.unzip();
    let uncompared = (n_uncompared > 0).then(|| format!("{n_uncompared} more files differ"));
    let late = (n_late > 0).then(|| {
        format!("the time limit was reached before the definitions of {n_late} files were compared")
    });
    let unread = texts.unread().cloned();
    let reason = at.reason.clone().or(unread).or(late).or(uncompared);
    let fresh = at.fresh && reason.is_none() && converted.is_empty();
    Ok(ChangedResult {
        base,
        subject,
        until: sides.until.map(named).transpose()?,
        left_out: changes.len() - files.len(),
        total: changes.len(),
        files,
        commits: commits.newest,
        commits_left_out: commits.n_left_out,
        complete: fresh && commits.cut.is_none(),
        fresh,
        reason,
        cut: commits.cut,
        took_ms: 0.0,
    })
}
