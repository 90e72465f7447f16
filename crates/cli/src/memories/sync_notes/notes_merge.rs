//! Merges two commits of memory files.

use std::collections::BTreeMap;
use std::process::Output;

use memod_base::types::memory_file_path;
use memod_terminal::CliError;

use super::notes_files::memory_id_from_path;
use crate::memories::notes_git::{NotesGit, git_failed_error};

/// Exit status of a git that does not know an option.
const EXIT_UNKNOWN_OPTION: i32 = 129;

/// The outcome of a merge.
pub(super) enum NotesMerge {
    /// One of the commits contains the other.
    FastForward(String),
    /// A tree with the changes of both.
    Tree {
        tree: String,
        /// Ids of the memories whose files one commit changed and the other removed. These files stay, as changed memories do in a
        /// team.
        kept: Vec<String>,
    },
    /// A tree with conflicts.
    Conflict {
        tree: String,
        /// Ids of the memories whose files git could not merge.
        ids: Vec<String>,
    },
}

/// Merges two commits. Ignores the attributes that the user has set for git, because a conflict must be visible in the file.
pub(super) fn merge_commits(git: &NotesGit<'_>, ours: &str, theirs: &str) -> Result<NotesMerge, CliError> {
    if is_ancestor(git, theirs, ours)? {
        return Ok(NotesMerge::FastForward(ours.to_owned()));
    }
    if is_ancestor(git, ours, theirs)? {
        return Ok(NotesMerge::FastForward(theirs.to_owned()));
    }
    // A memory that resembles a removed one must not count as a rename. git 2.47 ignores `no-renames`, so the threshold is 100 %.
    // Git before 2.43 has no `-X` here and uses the setting `merge.renames`.
    let mut output = merge_tree(git, &["-X", "find-renames=100%", ours, theirs])?;
    if output.status.code() == Some(EXIT_UNKNOWN_OPTION) {
        output = merge_tree(git, &[ours, theirs])?;
    }
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(git_failed_error(&["merge-tree"], &output));
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut parts = stdout.split('\0').filter(|part| !part.is_empty());
    let tree = parts.next().unwrap_or_default().to_owned();
    // `MODE OBJECT STAGE<tab>PATH` for each side of an unmerged file; stage 1 is the common base.
    let mut n_sides: BTreeMap<&str, usize> = BTreeMap::new();
    for (entry, path) in parts.filter_map(|part| part.split_once('\t')) {
        *n_sides.entry(path).or_default() += usize::from(!entry.ends_with(" 1"));
    }
    match ids_with_sides(&n_sides, 2) {
        both if both.is_empty() => Ok(NotesMerge::Tree { tree, kept: ids_with_sides(&n_sides, 1) }),
        ids => {
            ids.iter().try_for_each(|id| require_conflict_markers(git, ours, &tree, id))?;
            Ok(NotesMerge::Conflict { tree, ids })
        }
    }
}

/// Returns whether the commit `ancestor` is contained in `commit`.
fn is_ancestor(git: &NotesGit<'_>, ancestor: &str, commit: &str) -> Result<bool, CliError> {
    Ok(git.run_git_or_none(&["merge-base", "--is-ancestor", ancestor, commit])?.is_some())
}

/// Returns the ids of the memories whose unmerged file has `wanted` sides.
fn ids_with_sides(n_sides: &BTreeMap<&str, usize>, wanted: usize) -> Vec<String> {
    let paths = n_sides.iter().filter(|(_, n)| **n == wanted).map(|(path, _)| path);
    paths.filter_map(|path| memory_id_from_path(path)).map(str::to_owned).collect()
}

/// Fails if a file in conflict has no conflict markers, as when git takes the file for binary: nobody would see the conflict.
fn require_conflict_markers(git: &NotesGit<'_>, ours: &str, tree: &str, id: &str) -> Result<(), CliError> {
    let path = memory_file_path(id);
    let text = read_blob(git, tree, &path)?;
    // Compare with our text, which may have such lines without a conflict.
    if text.lines().any(|line| line.starts_with("<<<<<<<")) && text != read_blob(git, ours, &path)? {
        return Ok(());
    }
    Err(CliError::Git {
        message: format!("{path}: in conflict, but git wrote no conflict markers; nothing was changed"),
        hint: "remove the attributes that say how *.md files are merged from .git/info/attributes".to_owned(),
    })
}

fn read_blob(git: &NotesGit<'_>, tree: &str, path: &str) -> Result<String, CliError> {
    git.run_git(&["cat-file", "blob", &format!("{tree}:{path}")])
}

fn merge_tree(git: &NotesGit<'_>, args: &[&str]) -> Result<Output, CliError> {
    let options = ["merge-tree", "--write-tree", "--allow-unrelated-histories", "--no-messages", "-z"];
    git.run_git_without_attributes(&[&options[..], args].concat())
}
