//! Merges two commits of memory files.
//!
//! Each memory is a file, so the files are merged path by path: `git read-tree` takes what one side changed, and `git merge-file`
//! merges the texts that both changed. `git merge-tree` would count a new memory that resembles a removed one as its new name
//! (before git 2.43 always), and so mix the two.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use memod_base::paths::IoContext as _;
use memod_base::types::MAX_MEMORY_FILE_BYTES;
use memod_terminal::CliError;

use super::notes_files::memory_id_from_path;
use crate::memories::notes_git::{GitObject, MERGE_INDEX_FILE, NotesGit, git_failed_error};

/// Most common ancestors that `git read-tree` is given. It reads at most eight trees.
const MOST_ANCESTORS: usize = 6;
/// Exit statuses of `git merge-file` that count conflicts; a higher status is a failure.
const MOST_COUNTED_CONFLICTS: i32 = 127;

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

/// The objects of a file that two commits changed differently.
#[derive(Debug, Default, PartialEq, Eq)]
struct UnmergedFile<'a> {
    ancestor: Option<&'a str>,
    ours: Option<&'a str>,
    theirs: Option<&'a str>,
}

/// Merges two commits.
///
/// # Errors
/// When git fails, or a file is too large for a memory.
pub(super) fn merge_commits(git: &NotesGit<'_>, ours: &str, theirs: &str) -> Result<NotesMerge, CliError> {
    if is_ancestor(git, theirs, ours)? {
        return Ok(NotesMerge::FastForward(ours.to_owned()));
    }
    if is_ancestor(git, ours, theirs)? {
        return Ok(NotesMerge::FastForward(theirs.to_owned()));
    }
    let index = git.with_index(MERGE_INDEX_FILE);
    index.run_git(&["read-tree", "--empty"])?;
    let ancestors = index.run_git_or_none(&["merge-base", "--all", ours, theirs])?;
    // Two sides that began apart have only the tree without files in common.
    let ancestors = ancestors.unwrap_or(index.run_git(&["hash-object", "-t", "tree", "--stdin"])?);
    let trees: Vec<&str> = ancestors.lines().take(MOST_ANCESTORS).chain([ours, theirs]).collect();
    index.run_git(&[&["read-tree", "-i", "-m", "--aggressive"], &trees[..]].concat())?;

    let listed = index.run_git(&["ls-files", "--unmerged", "-z"])?;
    let (mut kept, mut in_conflict) = (Vec::new(), Vec::new());
    for (path, file) in parse_unmerged_files(&listed) {
        let object = match (file.ours, file.theirs) {
            (Some(ours_text), Some(theirs_text)) => {
                let texts = [Some(ours_text), file.ancestor, Some(theirs_text)];
                let (object, has_conflict) = merge_texts(&index, texts, [ours, theirs])?;
                in_conflict.extend(memory_id_from_path(path).filter(|_| has_conflict).map(str::to_owned));
                object
            }
            (Some(object), None) | (None, Some(object)) => {
                kept.extend(memory_id_from_path(path).map(str::to_owned));
                object.to_owned()
            }
            (None, None) => continue, // `--aggressive` has removed it
        };
        index.run_git(&["update-index", "--cacheinfo", &format!("100644,{object},{path}")])?;
    }
    let tree = index.run_git(&["write-tree"])?;
    Ok(match in_conflict {
        ids if ids.is_empty() => NotesMerge::Tree { tree, kept },
        ids => NotesMerge::Conflict { tree, ids },
    })
}

/// Returns whether the commit `ancestor` is contained in `commit`.
fn is_ancestor(git: &NotesGit<'_>, ancestor: &str, commit: &str) -> Result<bool, CliError> {
    Ok(git.run_git_or_none(&["merge-base", "--is-ancestor", ancestor, commit])?.is_some())
}

/// Parses the output of `git ls-files --unmerged -z`, which is `MODE OBJECT STAGE<tab>PATH`, NUL for each side of a file: stage 1
/// is the common ancestor, 2 ours, 3 theirs.
fn parse_unmerged_files(listed: &str) -> BTreeMap<&str, UnmergedFile<'_>> {
    let mut files: BTreeMap<&str, UnmergedFile<'_>> = BTreeMap::new();
    for (entry, path) in listed.split('\0').filter_map(|entry| entry.split_once('\t')) {
        let fields: Vec<&str> = entry.split(' ').collect();
        let [_, object, stage] = fields[..] else { continue };
        let file = files.entry(path).or_default();
        let side = match stage {
            "1" => &mut file.ancestor,
            "2" => &mut file.ours,
            _ => &mut file.theirs,
        };
        *side = Some(object);
    }
    files
}

/// Merges the texts of a file: ours, that of the common ancestor, and theirs. Returns the object of the merged text, and whether it
/// has conflict markers, which name the two commits. No attribute of git decides how the texts are merged.
fn merge_texts(
    git: &NotesGit<'_>,
    [ours, ancestor, theirs]: [Option<&str>; 3],
    [our_commit, their_commit]: [&str; 2],
) -> Result<(String, bool), CliError> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for (side, object) in [("ours", ours), ("ancestor", ancestor), ("theirs", theirs)] {
        let path = git.git_dir().join(format!("{MERGE_INDEX_FILE}-{side}"));
        fs::write(&path, read_text(git, object)?).at("write", &path)?;
        paths.push(path);
    }
    let names: Vec<&str> = paths.iter().filter_map(|path| path.to_str()).collect();
    let labels = ["-L", our_commit, "-L", "ancestor", "-L", their_commit];
    let args = [&["merge-file", "--quiet"], &labels[..], &names[..]].concat();
    let merged = git.run_git_for_output(&args)?;
    let n_conflicts = merged.status.code().filter(|status| (0..=MOST_COUNTED_CONFLICTS).contains(status));
    let n_conflicts = n_conflicts.ok_or_else(|| git_failed_error(&args, &merged))?;
    // `merge-file` has written the merged text to the first file.
    let object = git.run_git(&["hash-object", "-w", "--no-filters", "--", names[0]])?;
    for path in paths {
        let _ = fs::remove_file(path);
    }
    Ok((object, n_conflicts > 0))
}

/// Returns the bytes of an object; none without an object.
fn read_text(git: &NotesGit<'_>, object: Option<&str>) -> Result<Vec<u8>, CliError> {
    let mut text = Vec::new();
    git.for_each_object(object.as_slice(), MAX_MEMORY_FILE_BYTES, |id, object| match object {
        GitObject::Bytes(bytes) => {
            text = bytes;
            Ok(())
        }
        GitObject::TooLarge => Err(CliError::Git {
            message: format!("git object {id}: too large for a memory; nothing was changed"),
            hint: "ask the person who pushed it to remove it".to_owned(),
        }),
    })?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_of_unmerged_files_are_read() {
        let entries = ["a1 1\tx.md", "a2 2\tx.md", "a3 3\tx.md", "b3 3\ty z.md"];
        let listed: String = entries.iter().map(|entry| format!("100644 {entry}\0")).collect();
        let files = parse_unmerged_files(&listed);
        let x = UnmergedFile { ancestor: Some("a1"), ours: Some("a2"), theirs: Some("a3") };
        let y = UnmergedFile { theirs: Some("b3"), ..UnmergedFile::default() };
        assert_eq!(files, BTreeMap::from([("x.md", x), ("y z.md", y)]));
        assert_eq!(parse_unmerged_files(""), BTreeMap::new());
    }
}
