//! Lists the tracked files that a sparse checkout leaves out of the worktree, because what they contain is unknown and not gone.

use std::collections::{BTreeSet, HashSet};

use memod_base::paths::{CallerDir, RepoLayout};
use memod_base::types::parent_dir;
use memod_git::Objects;
use memod_proto::{RpcError, code};

use crate::daemon::request::sparse_index::SparseIndex;

/// Most files of one directory that a sparse index has as a whole.
const MOST_FILES_OF_DIR: usize = 100_000;

/// The tracked files outside the sparse checkout of a worktree.
#[derive(Debug, Default)]
pub(in crate::daemon) struct SparsePaths {
    /// The files. If the tree of a directory is missing, as in a partial clone, the directory is listed with `/` at its end.
    files: BTreeSet<String>,
    /// The directories in which a tracked file is in the worktree.
    kept_dirs: HashSet<String>,
    /// Whether the sparse checkout is set up by directories, and not by patterns.
    is_cone: bool,
}

impl SparsePaths {
    /// Reads what a sparse checkout leaves out; nothing if there is no sparse checkout, or git's files cannot be read.
    pub(in crate::daemon) fn read(layout: &RepoLayout) -> Self {
        Self::read_if_sparse(layout).unwrap_or_default()
    }

    fn read_if_sparse(layout: &RepoLayout) -> Option<Self> {
        let SparseIndex { tracked, object_hash, is_cone } = SparseIndex::read(layout).ok()??;
        let objects = Objects::open(layout, object_hash).ok().flatten();
        let mut sparse = Self { is_cone, ..Self::default() };
        for (path, is_outside, id) in tracked.paths_by_sparseness() {
            let Ok(path) = std::str::from_utf8(path) else { continue };
            if !is_outside {
                sparse.keep_dirs_of(path);
                continue;
            }
            let mut below = Vec::new();
            if path.ends_with('/') {
                let listed = (&mut below, MOST_FILES_OF_DIR);
                let read = objects.as_ref().map(|objects| objects.list_files_below(id, path, listed));
                if !matches!(read, Some(Ok(()))) {
                    below = vec![path.to_owned()];
                }
            } else {
                below.push(path.to_owned());
            }
            sparse.files.extend(below);
        }
        Some(sparse)
    }

    fn keep_dirs_of(&mut self, path: &str) {
        let mut dir = parent_dir(path);
        while !dir.is_empty() && self.kept_dirs.insert(dir.to_owned()) {
            dir = parent_dir(dir);
        }
    }

    /// Returns whether a path is a file outside, or a directory without files inside.
    pub(in crate::daemon) fn leaves_out(&self, path: &str) -> bool {
        self.files.contains(path) || self.is_dir(path) || self.is_in_unknown_dir(path)
    }

    /// Returns the directories without files inside, and other files outside, as far as they have files that `admits` admits.
    pub(in crate::daemon) fn list_tops(&self, admits: impl Fn(&str) -> bool) -> Vec<String> {
        let admitted = self.files.iter().filter(|path| admits(path));
        let tops: BTreeSet<&str> = admitted.map(|path| self.find_topmost_outside(path)).collect();
        tops.into_iter().map(str::to_owned).collect()
    }

    /// Returns the error for a path that [`Self::has`] names.
    pub(in crate::daemon) fn build_error(&self, path: &str, dir: &CallerDir) -> RpcError {
        let message = format!("{}: outside the sparse checkout", dir.display_path(path));
        let hint = format!("`{}` brings it into the worktree", self.command_for(path, dir));
        RpcError::new(code::NOT_FOUND, message).with_hint(hint)
    }

    /// Returns the command that brings a file or directory into the worktree. Git takes directories relative to the current
    /// directory, and patterns only at the top.
    pub(in crate::daemon) fn command_for(&self, path: &str, dir: &CallerDir) -> String {
        let path = path.trim_end_matches('/');
        let is_dir = self.is_dir(path);
        let argument = match self.is_cone {
            true => dir.display_path(if is_dir { path } else { parent_dir(path) }).clone(),
            false => format!("/{path}{}", if is_dir { "/" } else { "" }),
        };
        format!("git sparse-checkout add {argument}")
    }

    fn is_dir(&self, path: &str) -> bool {
        let below = format!("{path}/");
        !self.kept_dirs.contains(path)
            && self.files.range(below.clone()..).next().is_some_and(|file| file.starts_with(&below))
    }

    fn is_in_unknown_dir(&self, path: &str) -> bool {
        path.match_indices('/').any(|(end, _)| self.files.contains(&path[..=end]))
    }

    /// Returns the highest directory around a path without files inside, or else the path.
    fn find_topmost_outside<'a>(&self, path: &'a str) -> &'a str {
        let mut dirs = path.match_indices('/').map(|(end, _)| &path[..end]);
        dirs.find(|dir| !self.kept_dirs.contains(*dir)).unwrap_or(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_files_outside() {
        let mut sparse = SparsePaths { is_cone: false, ..SparsePaths::default() };
        for path in ["lib/a.py", "lib/in/b.py", "src/out.py", "docs/"] {
            sparse.files.insert(path.to_owned());
        }
        sparse.keep_dirs_of("src/in/kept.py");
        for path in ["lib", "lib/in", "lib/a.py", "src/out.py", "docs", "docs/any/thing.md"] {
            assert!(sparse.leaves_out(path), "{path}");
        }
        for path in ["src", "src/in", "li", "lib/none.py", "doc", "top.py"] {
            assert!(!sparse.leaves_out(path), "{path}");
        }
        assert_eq!(sparse.list_tops(|_| true), ["docs", "lib", "src/out.py"]);
        assert_eq!(sparse.list_tops(|path| path.ends_with("b.py")), ["lib"]);
        assert!(sparse.list_tops(|path| path.ends_with(".rs")).is_empty());
    }
}
