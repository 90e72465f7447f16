//! Finds the two sides of a comparison: commits, or the worktree.

use std::collections::HashMap;
use std::path::Path;

use memod_base::clock::{now_ms, to_local_time};
use memod_base::paths::CallerDir;
use memod_base::types::{SourceKey, TimeDirection, parse_moment};
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_git::{CommitWalk, ObjectId};
use memod_proto::{ChangedParams, RpcError, code};

use crate::daemon::request::commit_history::CommitHistory;
use crate::daemon::request::path_spec::{find_other_repository, resolve_existing_path};
use crate::daemon::request::request_errors::bad_params_error;

/// The commits and paths to compare.
pub(super) struct ComparedSides {
    /// The older side; `None` if every commit is newer than the requested time or there is no commit, so that everything is new.
    pub(super) base: Option<ObjectId>,
    /// The newer side; `None` for the worktree.
    pub(super) until: Option<ObjectId>,
    /// Only files at or below these paths are compared; empty for all files.
    pub(super) paths: Vec<SourceKey>,
}

impl ComparedSides {
    /// Reads `A`, `A..B` and paths as `git diff` takes them.
    ///
    /// # Errors
    /// When a revision names nothing, or a path exists on neither side.
    pub(super) fn from_params(
        params: &ChangedParams,
        history: &CommitHistory,
        at: &Freshness,
    ) -> RpcResult<Self> {
        let since = params.since.as_deref().unwrap_or("HEAD").trim();
        let since = since.strip_prefix("since ").unwrap_or(since).trim_start(); // no revision has a space
        let named = |text: &str| {
            resolve_revision_or_time(history, at, text).map_err(|error| {
                match is_existing_path(since, params, at) {
                    true => error.with_hint(format!("to compare only that path: memo changed -- {since}")),
                    false => error,
                }
            })
        };
        let or_head = |text: &str| named(if text.is_empty() { "HEAD" } else { text });
        let (base, until) = match (since.split_once(".."), &params.until) {
            (Some((from, to)), None) if !to.starts_with('.') => (or_head(from)?, Some(or_head(to)?)),
            (Some((from, to)), None) => {
                let hint = format!("`git merge-base {from} {}` names the commit for A..B", &to[1..]);
                return Err(
                    bad_params_error(format!("{since}: three dots are not supported")).with_hint(hint)
                );
            }
            (Some(_), Some(until)) => {
                let message = format!("{since} has two sides already, and {until} is a third");
                return Err(bad_params_error(message).with_hint("name two: A..B, or A B"));
            }
            (None, until) => (named(since)?, until.as_deref().map(|until| named(until.trim())).transpose()?),
        };
        let Some(until) = until else { return Self::from_commits(base, None, params, history, at) };
        let Some(until) = until else {
            let message = "the second side: every commit is newer than that time".to_owned();
            return Err(RpcError::new(code::NOT_FOUND, message).with_hint("name a later time, or a revision"));
        };
        Self::from_commits(base, Some(until), params, history, at)
    }

    fn from_commits(
        base: Option<ObjectId>,
        until: Option<ObjectId>,
        params: &ChangedParams,
        history: &CommitHistory,
        at: &Freshness,
    ) -> RpcResult<Self> {
        let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
        let mut paths = Vec::new();
        let trees =
            [base, until].into_iter().flatten().filter_map(|id| history.objects.read_commit_node(id).ok());
        let trees: Vec<ObjectId> = trees.map(|node| node.tree).collect();
        let exists = |path: &str| {
            let is_in_tree = |tree: &ObjectId| {
                path.is_empty() || matches!(history.objects.find_tree_entry(*tree, path), Ok(Some(_)))
            };
            at.disk.lstat(&at.layout.root.join(path)).is_ok() || trees.iter().any(is_in_tree)
        };
        for typed in &params.path {
            let key = SourceKey::new(resolve_existing_path(typed, &dir, exists)?);
            if let Some(error) = find_other_repository(at, &key) {
                return Err(error);
            }
            if !exists(key.as_str()) {
                let message = format!("{typed}: neither in the worktree nor in the compared commits");
                return Err(RpcError::new(code::NOT_FOUND, message)
                    .with_hint("give paths relative to the current directory"));
            }
            paths.push(key);
        }
        if paths.iter().any(|path| path.as_str().is_empty()) {
            paths.clear(); // the top has everything
        }
        Ok(Self { base, until, paths })
    }

    /// Returns whether a path is at or below a requested path; true if no path is requested.
    pub(super) fn includes_path(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|dir| is_below(path, dir.as_str()))
    }
}

/// Returns whether a path equals the path `dir` or is below it.
pub(super) fn is_below(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether a text that names no commit is the path of an existing file or directory.
fn is_existing_path(typed: &str, params: &ChangedParams, at: &Freshness) -> bool {
    let path = CallerDir::new(&at.layout, Path::new(&params.cwd)).resolve_path(typed);
    path.is_ok_and(|path| at.disk.lstat(&at.layout.root.join(path)).is_ok())
}

/// Returns the commit that a revision or a time names; `None` if there is no commit, or all are newer than that time.
fn resolve_revision_or_time(
    history: &CommitHistory,
    at: &Freshness,
    since: &str,
) -> RpcResult<Option<ObjectId>> {
    let is_ref = matches!(history.refs.resolve_ref(since), Ok(Some(_)));
    let moment =
        if is_ref { None } else { parse_moment(since, &to_local_time(now_ms()), TimeDirection::Back) };
    let Some(moment) = moment else {
        if since.is_empty() {
            let hint = "--since HEAD~3, main, 2026-11-01 or 3d";
            return Err(bad_params_error("since: empty").with_hint(hint));
        }
        let is_unborn = since == "HEAD" && history.refs.resolve_ref("HEAD")?.is_none();
        return if is_unborn { Ok(None) } else { history.resolve_revision(&at.layout, since).map(Some) };
    };
    let Some(head) = history.refs.resolve_ref("HEAD")? else { return Ok(None) };
    let known = HashMap::new();
    let mut walk = CommitWalk::new(&history.objects, &known, head);
    let mut cut = None;
    let found = walk
        .find(|(id, node)| {
            let is_it = node.time <= moment.div_euclid(1_000);
            // Commits beyond the end of a shallow history may be newer than the one that is found on another branch.
            cut = cut.take().or_else(|| node.why_history_ends(*id).filter(|_| !is_it));
            is_it
        })
        .map(|(id, _)| id);
    if let Some(unread) = walk.unreadable {
        return Err(RpcError::new(code::IO, unread));
    }
    match (found, cut.as_ref().or(walk.gaps.first().filter(|_| found.is_none()))) {
        (_, Some(gap)) => {
            let hint = "earlier history is missing: run `git fetch --unshallow`, or name a revision";
            Err(RpcError::new(code::NOT_FOUND, format!("{since}: {gap}")).with_hint(hint))
        }
        (found, _) => Ok(found),
    }
}
