//! Lists what changed in the worktree since a revision, or between two.
//!
//! Compares the tree of a commit with the manifest, so uncommitted changes and new files count too; or with the tree of
//! another commit. The result is cached, because every session begins with this question, and mostly nothing has changed.

mod commits_since;
mod compare_trees;
mod compare_worktree;
mod compared_sides;
mod conversions;
mod find_changes;
mod outside_checkout;
mod renames;
mod tree_changes;
mod unlisted_paths;
mod version_texts;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compared_sides::{ComparedSides, is_below};
use conversions::UncomparedFile;
use memod_base::paths::CallerDir;
use memod_base::types::noun_form;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_proto::{AnswerPart, ChangedParams, ChangedResult};
use version_texts::VersionTextReader;

use crate::daemon::definitions::definition_diff::DefinitionComparer;
use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::request::commit_history::CommitHistory;
use crate::daemon::request::fresh_snapshot::{question_deadline, wait_until_fresh};
use crate::daemon::request::reader_threads::run_reading_files;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::shared::change_cache::ContentChange;

/// Time limit for comparing definitions.
const BUDGET: Duration = Duration::from_secs(10);
/// Default and maximum number of files.
const LIMIT: (usize, usize) = (200, 100_000);

/// Answers `changed`.
pub(in crate::daemon) async fn answer_changed(
    request: &Arc<RequestContext>,
    params: ChangedParams,
) -> RpcResult<ChangedResult> {
    let began = Instant::now();
    let until = question_deadline(request, params.wait_ms);
    let at = wait_until_fresh(request, &params.cwd, params.sync, until).await?;
    let result = run_reading_files(request, at, move |request, at| {
        build_changed_result(request, &params, at, Instant::now() + BUDGET)
    })
    .await?;
    Ok(ChangedResult { took_ms: began.elapsed().as_secs_f64() * 1_000.0, ..result })
}

/// Notes which unreadable files the answer needs: none if two commits are compared, else those at or below the requested paths.
fn note_needed_files(caveats: &NotedCaveats, sides: &ComparedSides) {
    let (is_newer_side_a_commit, paths) = (sides.until.is_some(), sides.paths.clone());
    if is_newer_side_a_commit || !paths.is_empty() {
        caveats.note_needed_files(move |file| {
            let mut paths = paths.iter();
            !is_newer_side_a_commit
                && paths.any(|path| file.covers(path.as_str()) || is_below(&file.path, path.as_str()))
        });
    }
}

/// Notes that files were not compared because only git can convert their contents.
fn note_uncompared_files(caveats: &NotedCaveats, files: &[&UncomparedFile]) {
    let Some((first, why)) = files.first() else { return };
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    caveats.note_caveat(AnswerPart::Code, format!("{first}{more}: not compared: {why}"));
}

/// Returns whether the new or the old path of a file is requested.
fn is_requested(sides: &ComparedSides, change: &ContentChange) -> bool {
    sides.includes_path(&change.file.path) || change.file.from.iter().any(|from| sides.includes_path(from))
}

fn build_changed_result(
    request: &RequestContext,
    params: &ChangedParams,
    at: &Freshness,
    until: Instant,
) -> RpcResult<ChangedResult> {
    let limit = params.limit.unwrap_or(LIMIT.0);
    if !(1..=LIMIT.1).contains(&limit) {
        let message = format!("limit: {limit} is not between 1 and {}", LIMIT.1);
        return Err(bad_params_error(message).with_hint("omit the limit for the default, 200"));
    }
    let history = CommitHistory::open(at)?;
    let sides = ComparedSides::from_params(params, &history, at)?;
    note_needed_files(&request.caveats, &sides);
    let texts = VersionTextReader::new(
        at,
        &history,
        request.shared.engine.config.index.max_file_bytes,
        sides.until.is_some(),
    );
    let (changes, n_uncompared, converted) = match sides.until {
        Some(until) => {
            let (list, n) = compare_trees::compare_trees(&texts, sides.base, until)?;
            (Arc::from(list), n, Vec::new())
        }
        None => {
            let (list, converted) = find_changes::find_changes(&request.shared, &texts, sides.base)?;
            (list, 0, converted)
        }
    };
    let converted: Vec<&UncomparedFile> =
        converted.iter().filter(|(path, _)| sides.includes_path(path)).collect();
    note_uncompared_files(&request.caveats, &converted);
    let changes: Vec<&ContentChange> = changes.iter().filter(|change| is_requested(&sides, change)).collect();
    let mut definitions = DefinitionComparer::new(&request.shared, at.worktree, until)?;
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let mut n_late = 0;
    let mut files = Vec::with_capacity(limit.min(changes.len()));
    for change in changes.iter().take(limit) {
        let mut file = change.file.clone();
        file.cwd_path = dir.relative_path(&file.path);
        file.cwd_from = file.from.as_ref().and_then(|from| dir.relative_path(from));
        match definitions.compare_versions(
            &change.file,
            change.hash,
            || texts.read_object_text(change.old?),
            || texts.new_text(&file.path, change.hash, change.new?),
        ) {
            Ok(symbols) => file.symbols = symbols,
            Err(_) => n_late += 1,
        }
        files.push(file);
    }
    let commits = commits_since::list_commits_since(&history, &sides)?;
    let base = sides.base.map(|base| commits_since::read_changed_commit(&history, base)).transpose()?;
    let (base, subject) = base.map(|base| (base.commit, base.subject)).unzip();
    let uncompared = (n_uncompared > 0).then(|| format!("{n_uncompared} more files differ and are left out"));
    let late = (n_late > 0).then(|| {
        let files = noun_form(n_late as u64, "file", "files");
        format!("the time limit was reached before the definitions of {n_late} {files} were compared")
    });
    let unread = texts.first_error().cloned();
    let reason = at.reason.clone().or(unread).or(late).or(uncompared);
    let fresh = at.fresh && reason.is_none() && converted.is_empty();
    Ok(ChangedResult {
        base,
        subject,
        until: sides.until.map(|until| commits_since::read_changed_commit(&history, until)).transpose()?,
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
