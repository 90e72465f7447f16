//! Merges two commits of files of memories.

use std::collections::BTreeMap;
use std::process::Output;

use memod_base::types::memory_file;

use super::notes_files::id_of_path;
use super::notes_git::{NotesGit, failed};
use crate::error::CliError;

/// The exit of a git that does not know an option.
const USAGE: i32 = 129;

/// The outcome of a merge.
pub(super) enum Merged {
    /// One of the commits has all of the other one.
    One(String),
    /// A tree with all of both.
    Tree {
        tree: String,
        /// Ids of files that one has changed and the other one has removed: as in a team, they stay.
        kept: Vec<String>,
    },
    /// A tree with conflicts.
    Conflict {
        tree: String,
        /// Ids of the memories whose files git could not merge.
        ids: Vec<String>,
    },
}

/// Merges two commits, whatever attributes the user has set: a conflict must be seen in the file.
pub(super) fn merge(git: &NotesGit<'_>, ours: &str, theirs: &str) -> Result<Merged, CliError> {
    let is_in = |one: &str, other: &str| {
        git.ask(&["merge-base", "--is-ancestor", one, other]).map(|answer| answer.is_some())
    };
    if is_in(theirs, ours)? {
        return Ok(Merged::One(ours.to_owned()));
    }
    if is_in(ours, theirs)? {
        return Ok(Merged::One(theirs.to_owned()));
    }
    // A memory that resembles a removed one is no rename of it; git 2.47 takes no notice of no-renames. Git before 2.43 has no -X
    // here, and goes by the setting.
    let mut output = merge_tree(git, &["-X", "find-renames=100%", ours, theirs])?;
    if output.status.code() == Some(USAGE) {
        output = merge_tree(git, &[ours, theirs])?;
    }
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(failed(&["merge-tree"], &output));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let mut parts = said.split('\0').filter(|part| !part.is_empty());
    let tree = parts.next().unwrap_or_default().to_owned();
    // `MODE OBJECT STAGE<tab>PATH` for each side of what is not merged; stage 1 is what both began from.
    let mut n_sides: BTreeMap<&str, usize> = BTreeMap::new();
    for (entry, path) in parts.filter_map(|part| part.split_once('\t')) {
        *n_sides.entry(path).or_default() += usize::from(!entry.ends_with(" 1"));
    }
    let ids = |wanted: usize| -> Vec<String> {
        let of = n_sides.iter().filter(|(_, n)| **n == wanted);
        of.filter_map(|(path, _)| id_of_path(path)).map(str::to_owned).collect()
    };
    match ids(2) {
        both if both.is_empty() => Ok(Merged::Tree { tree, kept: ids(1) }),
        ids => {
            ids.iter().try_for_each(|id| must_be_marked(git, (ours, &tree), id))?;
            Ok(Merged::Conflict { tree, ids })
        }
    }
}

/// Fails if a conflict is not in the file, as in one that git takes for binary: nobody would see it.
fn must_be_marked(git: &NotesGit<'_>, (ours, tree): (&str, &str), id: &str) -> Result<(), CliError> {
    let path = memory_file(id);
    let text_in = |tree: &str| git.run(&["cat-file", "blob", &format!("{tree}:{path}")]);
    let text = text_in(tree)?;
    // Ours may have such lines of its own.
    if text.lines().any(|line| line.starts_with("<<<<<<<")) && text != text_in(ours)? {
        return Ok(());
    }
    Err(CliError::Git {
        message: format!("{path}: in conflict, and git has put no markers into it; nothing was changed"),
        hint: "take what says how *.md is merged out of .git/info/attributes".to_owned(),
    })
}

fn merge_tree(git: &NotesGit<'_>, args: &[&str]) -> Result<Output, CliError> {
    let options = ["merge-tree", "--write-tree", "--allow-unrelated-histories", "--no-messages", "-z"];
    git.output_without_attributes(&[&options[..], args].concat())
}
