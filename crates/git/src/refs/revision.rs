//! Resolves a revision such as `HEAD~3` to a commit.
//!
//! Supports the common part of gitrevisions(7): `HEAD` or `@`, branches, tags and remote branches, object ids and their
//! prefixes, each with any number of `~`, `~N`, `^`, `^N`; and `@{upstream}` or `@{u}` of a branch.

use std::collections::HashSet;

use gix::ObjectId;

use super::Refs;
use crate::git_error::GitError;
use crate::objects::Objects;

/// Minimum length of a prefix of an object id; the same as git's.
const LEAST_DIGITS: usize = 4;

/// Why a revision cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// No branch, tag or commit has the name.
    #[error("{0}: no branch, tag or commit has that name")]
    Unknown(String),
    /// The name has the form of a date, but there is no such day.
    #[error("{0}: there is no such date")]
    WrongDate(String),
    /// Several objects begin with these digits.
    #[error("{prefix}: several commits begin with these digits: {}", .candidates.join(", "))]
    Ambiguous {
        /// As typed.
        prefix: String,
        /// The ids of some commits, at most eight.
        candidates: Vec<String>,
    },
    /// The branch of `HEAD` has no commit yet.
    #[error("HEAD: the branch {0} has no commit yet")]
    Unborn(String),
    /// The ancestor does not exist.
    #[error("{revision}: {id} has no {ancestor}")]
    NoParent {
        /// As typed.
        revision: String,
        /// The commit that lacks the ancestor.
        id: ObjectId,
        /// The missing ancestor: `parent`, `parent 3`.
        ancestor: String,
    },
    /// The branch has no upstream.
    #[error("{0}: no upstream branch is set")]
    NoUpstream(String),
    /// Git's files cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Objects {
    /// Returns the commit that a revision names; `upstream` returns the ref that tracks the upstream of a branch, by the full
    /// name of the branch.
    ///
    /// # Errors
    /// When the revision names no commit or several, or git's files cannot be read.
    pub fn resolve_revision(
        &self,
        refs: &Refs,
        revision: &str,
        upstream: impl Fn(&str) -> Option<String>,
    ) -> Result<ObjectId, RevisionError> {
        let base_end = revision.find(['~', '^']).unwrap_or(revision.len());
        let (base, mut steps) = revision.split_at(base_end);
        let base = match base {
            "@" | "" if !revision.is_empty() => "HEAD",
            base => base,
        };
        let mut id = self.peel_to_commit(self.resolve_base(refs, base, upstream)?)?;
        while let Some(kind) = steps.chars().next() {
            let rest = &steps[1..];
            let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number: usize = match &rest[..n_digits] {
                "" => 1,
                digits => digits.parse().map_err(|_| RevisionError::Unknown(revision.to_owned()))?,
            };
            steps = &rest[n_digits..];
            if !steps.is_empty() && !steps.starts_with(['~', '^']) {
                return Err(RevisionError::Unknown(revision.to_owned()));
            }
            if kind == '~' {
                for _ in 0..number {
                    let parent = self.read_commit_node(id)?.parents.first().copied();
                    id = parent.ok_or_else(|| no_parent_error(revision, id, "parent".to_owned()))?;
                }
            } else if number > 0 {
                let parent = self.read_commit_node(id)?.parents.get(number - 1).copied();
                id = parent.ok_or_else(|| no_parent_error(revision, id, format!("parent {number}")))?;
            }
        }
        Ok(id)
    }

    fn resolve_base(
        &self,
        refs: &Refs,
        base: &str,
        upstream: impl Fn(&str) -> Option<String>,
    ) -> Result<ObjectId, RevisionError> {
        let suffix = ["@{upstream}", "@{u}"].into_iter().find_map(|suffix| base.strip_suffix(suffix));
        if let Some(name) = suffix {
            let branch = match name {
                "" | "HEAD" => refs.current_branch(),
                name => Some(format!("refs/heads/{name}")),
            };
            let tracked = branch.and_then(|branch| upstream(&branch));
            let tracked = tracked.ok_or_else(|| RevisionError::NoUpstream(base.to_owned()))?;
            return refs.resolve_ref(&tracked)?.ok_or_else(|| unknown_error(base));
        }
        if let Some(id) = refs.resolve_ref(base)? {
            return Ok(id);
        }
        if base == "HEAD" {
            let branch = refs.current_branch().unwrap_or_default();
            return Err(RevisionError::Unborn(branch.trim_start_matches("refs/heads/").to_owned()));
        }
        if base.len() < LEAST_DIGITS || !base.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown_error(base));
        }
        self.find_by_prefix(base)?.ok_or_else(|| unknown_error(base))
    }

    /// Returns the commit or tag whose id begins with these digits.
    fn find_by_prefix(&self, digits: &str) -> Result<Option<ObjectId>, RevisionError> {
        let Ok(prefix) = gix::hash::Prefix::from_hex(digits) else { return Ok(None) };
        let mut found = HashSet::new();
        let looked_up = self.odb.lookup_prefix(prefix, Some(&mut found));
        looked_up.map_err(|error| GitError::Ref { name: digits.to_owned(), reason: error.to_string() })?;
        let is_commit = |id: &ObjectId| {
            matches!(self.object_kind(*id), Ok(gix::objs::Kind::Commit | gix::objs::Kind::Tag))
        };
        let mut commits: Vec<ObjectId> = found.into_iter().filter(is_commit).collect();
        commits.sort_unstable();
        match commits.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            several => Err(RevisionError::Ambiguous {
                prefix: digits.to_owned(),
                candidates: several.iter().take(8).map(ToString::to_string).collect(),
            }),
        }
    }
}

/// Returns the error for a name that no ref or commit has.
fn unknown_error(name: &str) -> RevisionError {
    let parts: Vec<&str> = name.splitn(3, '-').collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        [year, month, day]
            if year.len() == 4 && !month.is_empty() && !day.is_empty() && parts.iter().all(is_number) =>
        {
            RevisionError::WrongDate(name.to_owned())
        }
        _ => RevisionError::Unknown(name.to_owned()),
    }
}

/// Returns the error for a commit without the requested parent.
fn no_parent_error(revision: &str, id: ObjectId, ancestor: String) -> RevisionError {
    RevisionError::NoParent { revision: revision.to_owned(), id, ancestor }
}
