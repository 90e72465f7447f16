//! Lists what changed in the worktree since a revision.
//!
//! Compares the tree of a commit with the manifest, so uncommitted changes and new files count too. What was found is kept:
//! the same question is asked at the start of every session, and mostly nothing has changed.

mod compare;
mod find;
mod renames;
mod texts;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::clock::{local, now_ms};
use super::definition_diff::Definitions;
use super::error::{RpcResult, bad_params};
use super::event::Freshness;
use super::history::History;
use super::request::{deadline, freshness, reading};
use super::shared::Shared;
use crate::git::{ObjectId, Walk};
use crate::paths::CallerDir;
use crate::proto::{ChangedParams, ChangedResult, RpcError, code};
use crate::types::{Way, moment};
use texts::Texts;

/// Time limit for comparing definitions.
const BUDGET: Duration = Duration::from_secs(10);
/// Default and maximum number of files.
const LIMIT: (usize, usize) = (200, 100_000);

/// Answers `changed`.
pub(super) async fn changed(shared: &Arc<Shared>, params: ChangedParams) -> RpcResult<ChangedResult> {
    let began = Instant::now();
    let until = deadline(shared, params.wait_ms);
    let at = freshness(shared, &params.cwd, params.sync, until).await?;
    let root = at.layout.root.clone();
    let answer = move |shared: &Shared| answer(shared, &params, &at, Instant::now() + BUDGET);
    let result = reading(shared, &root, answer).await?;
    Ok(ChangedResult { took_ms: began.elapsed().as_secs_f64() * 1_000.0, ..result })
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
    let base = base(&past, at, params.since.as_deref().unwrap_or("HEAD").trim())?;
    let texts = Texts::new(at, &past, shared.config.index.max_file_bytes);
    let changes = find::changes(shared, &texts, base)?;
    let mut definitions = Definitions::new(shared, at.view, until)?;
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let mut n_late = 0;
    let mut files = Vec::with_capacity(limit.min(changes.len()));
    for change in changes.iter().take(limit) {
        let mut file = change.file.clone();
        file.cwd_path = dir.shown(&file.path);
        file.cwd_from = file.from.as_ref().and_then(|from| dir.shown(from));
        let present = || texts.present(&file.path, &change.hash?);
        match definitions.compare(&change.file, change.hash, || texts.past(change.old?), present) {
            Ok(symbols) => file.symbols = symbols,
            Err(_) => n_late += 1,
        }
        files.push(file);
    }
    let described = base.map(|base| past.describe(base)).transpose()?;
    let (base, subject) = described.map(|(base, subject, _)| (base, subject)).unzip();
    let late = (n_late > 0).then(|| {
        format!("the time limit was reached before the definitions of {n_late} files were compared")
    });
    let unread = texts.unread().cloned();
    Ok(ChangedResult {
        base,
        subject,
        left_out: changes.len() - files.len(),
        total: changes.len(),
        files,
        complete: at.fresh && unread.is_none() && late.is_none(),
        fresh: at.fresh && unread.is_none(),
        reason: at.reason.clone().or(unread).or(late),
        took_ms: 0.0,
    })
}

/// Returns the commit to compare with; `None` if all commits are newer than the requested time.
fn base(past: &History, at: &Freshness, since: &str) -> RpcResult<Option<ObjectId>> {
    let is_ref = matches!(past.refs.find(since), Ok(Some(_)));
    let moment = if is_ref { None } else { moment(since, &local(now_ms()), Way::Back) };
    let Some(moment) = moment else {
        if since.is_empty() {
            let hint = "--since HEAD~3, main, 2026-11-01 or 3d";
            return Err(bad_params("since: empty").with_hint(hint));
        }
        return past.resolve(&at.layout, since).map(Some);
    };
    let Some(head) = past.refs.find("HEAD")? else { return Ok(None) };
    let known = HashMap::new();
    let mut walk = Walk::new(&past.objects, &known, head);
    let found = walk.find(|(_, node)| node.time <= moment.div_euclid(1_000)).map(|(id, _)| id);
    if let Some(unread) = walk.unread {
        return Err(RpcError::new(code::IO, unread));
    }
    match (found, walk.gaps.first()) {
        (None, Some(gap)) => {
            let hint = "earlier history is missing: run `git fetch --unshallow`, or name a revision";
            Err(RpcError::new(code::NOT_FOUND, format!("{since}: {gap}")).with_hint(hint))
        }
        (found, _) => Ok(found),
    }
}
