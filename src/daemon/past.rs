//! How is the history of a worktree opened for a question, and what is said where it cannot be?

use std::path::{Component, Path, PathBuf};

use super::dispatch::Outcome;
use super::event::Freshness;
use crate::extract::redact;
use crate::git::{Commit, GitError, ObjectHash, ObjectId, Objects, Refs, RevisionError, Settings, UserDirs};
use crate::paths::Place;
use crate::proto::{CommitInfo, ErrorData, RpcError, code};
use crate::types::SourceKey;

/// The history of a worktree.
pub(super) struct Past {
    pub(super) refs: Refs,
    pub(super) objects: Objects,
    pub(super) object_hash: ObjectHash,
}

impl Past {
    /// Opens it; an error outside git.
    pub(super) fn open(at: &Freshness) -> Outcome<Self> {
        let place = &at.place;
        let settings = Settings::read(place, &UserDirs::read()).map_err(|error| unreadable(&error))?;
        let object_hash = settings.object_hash;
        let objects = Objects::open(place, object_hash).map_err(|error| unreadable(&error))?;
        match (Refs::new(place, object_hash), objects) {
            (Some(refs), Some(objects)) => Ok(Self { refs, objects, object_hash }),
            _ => {
                let message =
                    format!("{}: not in a git repository, so it has no history", place.root.display());
                Err(failure(code::INVALID_PARAMS, message, "`git init` begins one"))
            }
        }
    }

    /// Returns the commit that a revision names.
    pub(super) fn resolve(&self, place: &Place, revision: &str) -> Outcome<ObjectId> {
        let upstream = |branch: &str| Settings::upstream(place, &UserDirs::read(), branch);
        self.objects.resolve(&self.refs, revision, upstream).map_err(|error| not_resolved(&error))
    }

    /// Returns a commit for people, without what looks like a credential: who and when, subject, body.
    pub(super) fn describe(&self, id: ObjectId) -> Outcome<(CommitInfo, String, String)> {
        let Commit { id, author, date, subject, body } =
            self.objects.commit(id).map_err(|error| unreadable(&error))?;
        let (subject, body) = (redact::redact(&subject), redact::redact(&body));
        let info = CommitInfo { oid: id.to_string(), date, author };
        Ok((info, subject.into_owned(), body.into_owned()))
    }
}

pub(super) fn failure(code: i64, message: String, hint: &str) -> RpcError {
    let data = ErrorData { hint: Some(hint.to_owned()), retry_after_ms: None };
    RpcError { code, message, data: Some(data) }
}

/// Says what of git's could not be read.
pub(super) fn unreadable(error: &GitError) -> RpcError {
    let hint = match error {
        GitError::Missing { .. } => {
            "a shallow or partial clone lacks it: `git fetch --unshallow` or `git fetch --refetch`"
        }
        GitError::Config { .. } => "`git config --list` says what is wrong with it",
        GitError::Ref { .. } => "`git show-ref` lists the refs",
        _ => "`git fsck` tells what is damaged",
    };
    failure(code::INTERNAL, error.to_string(), hint)
}

fn not_resolved(error: &RevisionError) -> RpcError {
    let (code, hint) = match error {
        RevisionError::Git(error) => return unreadable(error),
        RevisionError::Unknown(_) => {
            (code::NOT_FOUND, "`git log --oneline` and `git branch -a` list what there is")
        }
        RevisionError::Ambiguous { .. } => (code::INVALID_PARAMS, "give more digits"),
        RevisionError::Unborn(_) => (code::NOT_FOUND, "there is a history once something is committed"),
        RevisionError::NoParent { .. } => (code::NOT_FOUND, "history is shorter, or this is a shallow clone"),
        RevisionError::NoUpstream(_) => {
            (code::NOT_FOUND, "`git branch --set-upstream-to=origin/BRANCH` sets one")
        }
    };
    failure(code, error.to_string(), hint)
}

/// Returns what a path of the user's is called from the top of the worktree; none where it leads out of it.
pub(super) fn key_of(path: &str, cwd: &str, place: &Place) -> Option<SourceKey> {
    let mut clean = PathBuf::new();
    for part in Path::new(cwd).join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    let below = clean.strip_prefix(&place.root).ok()?.to_str()?;
    (!below.is_empty()).then(|| SourceKey::new(below.replace(std::path::MAIN_SEPARATOR, "/")))
}

/// Returns ascending numbers as spans, inclusive.
pub(super) fn spans(numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 >= *number => *last = *number,
            _ => spans.push((*number, *number)),
        }
    }
    spans
}
