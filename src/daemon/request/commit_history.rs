//! Opens the commit history of a worktree for a request.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::time::Instant;

use memod_base::paths::{CallerDir, RepoLayout, read_regular};
use memod_base::types::SourceKey;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_git::{Commit, ObjectHash, ObjectId, Objects, Refs, Settings, UserDirs};
use memod_proto::CommitInfo;
use memod_scan::{Content, FileSnapshot};
use memod_text::redact::redact;
use memod_text::secrets::Syntax;

use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::shared::Shared;

/// Most commits of a file that are searched for a former name.
const MOST_TOUCHES: usize = 200;

/// Reads the commits and refs of a worktree.
pub(in crate::daemon) struct CommitHistory {
    pub(in crate::daemon) refs: Refs,
    pub(in crate::daemon) objects: Objects,
    pub(in crate::daemon) object_hash: ObjectHash,
    pub(in crate::daemon) settings: Settings,
}

impl CommitHistory {
    /// Opens the history of a worktree.
    ///
    /// # Errors
    /// When the worktree is not in a git repository, or git's settings or objects cannot be read.
    pub(in crate::daemon) fn open(at: &Freshness) -> RpcResult<Self> {
        let layout = &at.layout;
        let settings = Settings::read(layout, &UserDirs::read())?;
        let object_hash = settings.object_hash;
        let objects = Objects::open(layout, object_hash)?;
        match (Refs::new(layout, object_hash), objects) {
            (Some(refs), Some(objects)) => Ok(Self { refs, objects, object_hash, settings }),
            _ => {
                let message =
                    format!("{}: not in a git repository, so it has no history", layout.root.display());
                Err(bad_params_error(message).with_hint("`git init` creates a repository"))
            }
        }
    }

    /// Returns the commits that `git blame` passes over: those in the files of `blame.ignoreRevsFile`, one id in each line, with comments
    /// after `#`. A file that cannot be read lists none.
    pub(in crate::daemon) fn list_ignored_commits(&self) -> HashSet<ObjectId> {
        let mut ignored = HashSet::new();
        for file in &self.settings.ignored_commits_files {
            let text = read_regular(file).unwrap_or_default();
            let lines = text.split(|byte| *byte == b'\n');
            let ids =
                lines.map(|line| line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii());
            ignored.extend(ids.filter_map(|id| ObjectId::from_hex(id).ok()));
        }
        ignored
    }

    /// Returns the commit that a revision names.
    pub(in crate::daemon) fn resolve_revision(
        &self,
        layout: &RepoLayout,
        revision: &str,
    ) -> RpcResult<ObjectId> {
        Ok(self.objects.resolve_revision(&self.refs, revision, |branch| {
            Settings::upstream_ref(layout, &UserDirs::read(), branch)
        })?)
    }

    /// Returns the path that a file of the worktree has in a tree, if the file was renamed and the rename is not committed yet. The path
    /// is gone from the worktree, or is `replaced`, the path of a file that another one has replaced.
    pub(in crate::daemon) fn find_former_name(
        &self,
        (shared, at): (&Shared, &Freshness),
        tree: ObjectId,
        (key, replaced): (&SourceKey, Option<&SourceKey>),
        until: Instant,
    ) -> Option<String> {
        let root = &at.layout.root;
        let Ok(FileSnapshot { content: Content::Text(text), .. }) =
            at.disk.read(root, key, shared.engine.config.index.max_file_bytes)
        else {
            return None;
        };
        let is_gone = |path: &str| {
            replaced.is_some_and(|replaced| replaced.as_str() == path)
                || at.disk.lstat(&root.join(path)).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let found =
            self.objects.find_former_name_in_tree(tree, (key.as_str(), text.as_bytes()), is_gone, until);
        found.ok().flatten()
    }

    /// Returns whether a file of the worktree had the name `old` before, in the worktree or in a commit. `is_replaced` is whether another
    /// file has that name now.
    pub(in crate::daemon) fn was_renamed(
        &self,
        (shared, at): (&Shared, &Freshness),
        head: ObjectId,
        (old, new, is_replaced): (&SourceKey, &SourceKey, bool),
        until: Instant,
    ) -> RpcResult<bool> {
        let tree = self.objects.read_commit_node(head)?.tree;
        let is_committed = matches!(self.objects.find_tree_entry(tree, new.as_str()), Ok(Some(_)));
        let former = match is_committed {
            true => None,
            false => self.find_former_name((shared, at), tree, (new, is_replaced.then_some(old)), until),
        };
        if former.as_deref() == Some(old.as_str()) {
            return Ok(true);
        }
        let path = former.as_deref().unwrap_or(new.as_str());
        let log = self.objects.list_path_commits(head, path, MOST_TOUCHES, until)?;
        Ok(log.touches.iter().any(|touch| touch.path == old.as_str()))
    }

    /// Returns the author and date, the subject and the body of a commit, with credentials removed.
    pub(in crate::daemon) fn describe_commit(&self, id: ObjectId) -> RpcResult<(CommitInfo, String, String)> {
        let Commit { id, author, date, subject, body } = self.objects.read_commit(id)?;
        let (subject, body) = (redact(&subject, Syntax::Prose), redact(&body, Syntax::Prose));
        let info = CommitInfo { oid: id.to_string(), date, author };
        Ok((info, subject.into_owned(), body.into_owned()))
    }
}

/// Returns the key of a path that is relative to `cwd` or absolute; `None` for the top of the worktree, and for paths outside.
pub(in crate::daemon) fn parse_source_key(path: &str, cwd: &str, layout: &RepoLayout) -> Option<SourceKey> {
    parse_source_key_in(path, &CallerDir::new(layout, Path::new(cwd)))
}

/// Like [`parse_source_key`], for a path relative to `dir`.
pub(in crate::daemon) fn parse_source_key_in(path: &str, dir: &CallerDir) -> Option<SourceKey> {
    let path = dir.resolve_path(path).ok()?;
    (!path.is_empty()).then(|| SourceKey::new(path))
}

/// Groups ascending numbers into spans of consecutive numbers: first and last, both inclusive.
pub(in crate::daemon) fn group_into_spans(numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 >= *number => *last = *number,
            _ => spans.push((*number, *number)),
        }
    }
    spans
}
