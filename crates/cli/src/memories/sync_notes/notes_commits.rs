//! Creates and compares commits of memory files.

use std::collections::{BTreeSet, HashMap};

use memod_base::types::MAX_MEMORY_FILE_BYTES;
use memod_terminal::CliError;

use super::notes_file_changes::MemoryFileChange;
use crate::memories::notes_git::{GitObject, NotesGit};

/// A path whose object differs between two trees, as `git diff-tree` lists it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TreeDifference<'a> {
    /// The object in the first tree; `None` if that tree does not have the path.
    pub(super) before: Option<&'a str>,
    /// The object and its mode in the second tree; `None` if that tree does not have the path.
    pub(super) after: Option<(&'a str, &'a str)>,
    pub(super) path: &'a str,
}

impl<'a> TreeDifference<'a> {
    /// Returns the ids of the objects in the first and the second tree.
    fn blob_ids(&self) -> [Option<&'a str>; 2] {
        [self.before, self.after.map(|(blob, _)| blob)]
    }
}

fn owned_paths(entries: &[TreeDifference<'_>]) -> Vec<String> {
    entries.iter().map(|entry| entry.path.to_owned()).collect()
}

impl NotesGit<'_> {
    /// Returns the commit of a ref, if there is one.
    ///
    /// # Errors
    /// As [`Self::run_git_or_none`].
    pub(super) fn find_commit(&self, name: &str) -> Result<Option<String>, CliError> {
        self.run_git_or_none(&["rev-parse", "-q", "--verify", &format!("{name}^{{commit}}")])
    }

    /// Returns the tree of a commit.
    ///
    /// # Errors
    /// As [`Self::run_git`].
    pub(super) fn find_tree(&self, commit: &str) -> Result<String, CliError> {
        self.run_git(&["rev-parse", &format!("{commit}^{{tree}}")])
    }

    /// Creates a commit, and returns its id.
    ///
    /// # Errors
    /// As [`Self::run_git`].
    pub(super) fn create_commit(&self, tree: &str, parents: &[String]) -> Result<String, CliError> {
        let mut args = vec!["commit-tree", tree, "-m", "memories"];
        parents.iter().for_each(|parent| args.extend(["-p", parent]));
        self.run_git(&args)
    }

    /// Returns the paths of files that are new or changed between two trees, and the paths of removed files.
    ///
    /// # Errors
    /// As [`Self::run_git`].
    pub(super) fn changed_paths(
        &self,
        before: &str,
        after: &str,
    ) -> Result<(Vec<String>, Vec<String>), CliError> {
        let listed = self.diff_trees(before, after)?;
        let (gone, changed): (Vec<_>, Vec<_>) =
            parse_tree_differences(&listed).partition(|entry| entry.after.is_none());
        Ok((owned_paths(&changed), owned_paths(&gone)))
    }

    /// Returns the files that differ between two trees, with their texts in both.
    ///
    /// # Errors
    /// When git fails, or one of the files is too large for a memory.
    pub(super) fn read_file_changes(
        &self,
        before: &str,
        after: &str,
    ) -> Result<Vec<MemoryFileChange>, CliError> {
        let listed = self.diff_trees(before, after)?;
        let ids: BTreeSet<&str> =
            parse_tree_differences(&listed).flat_map(|entry| entry.blob_ids()).flatten().collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        let mut texts: HashMap<&str, Vec<u8>> = HashMap::new();
        self.for_each_object(&ids, MAX_MEMORY_FILE_BYTES, |id, object| match object {
            GitObject::Bytes(bytes) => {
                texts.insert(id, bytes);
                Ok(())
            }
            GitObject::TooLarge => Err(CliError::Git {
                message: format!("git object {id}: too large for a memory; nothing was changed"),
                hint: "ask the person who pushed it to remove it".to_owned(),
            }),
        })?;
        let changes = parse_tree_differences(&listed).map(|entry| {
            let [before, after] = entry.blob_ids().map(|blob| texts.get(blob?).cloned());
            MemoryFileChange { path: entry.path.to_owned(), before, after }
        });
        Ok(changes.collect())
    }

    fn diff_trees(&self, before: &str, after: &str) -> Result<String, CliError> {
        self.run_git(&["diff-tree", "-r", "-z", "--no-renames", before, after])
    }
}

/// Parses the output of `git diff-tree -z`: `:MODE MODE OBJECT OBJECT STATUS`, NUL, the path, NUL.
pub(super) fn parse_tree_differences(listed: &str) -> impl Iterator<Item = TreeDifference<'_>> {
    let mut parts = listed.split('\0');
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?))).filter_map(|(form, path)| {
        let form: Vec<&str> = form.trim_start_matches(':').split(' ').collect();
        let [_, mode, before, after, _] = form.as_slice() else { return None };
        let before = Some(*before).filter(|id| !is_null_id(id));
        let after = Some(*after).filter(|id| !is_null_id(id)).map(|blob| (blob, *mode));
        Some(TreeDifference { before, after, path })
    })
}

/// Returns whether an object id is all zeros, with which git marks an absent object.
fn is_null_id(id: &str) -> bool {
    id.bytes().all(|digit| digit == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_diff_are_read() {
        let listed =
            ":000000 100644 00 a1 A\0x.md\0:100644 000000 b1 00 D\0y.md\0:100755 100644 c1 c2 M\0z z.md\0";
        let expected = [
            TreeDifference { before: None, after: Some(("a1", "100644")), path: "x.md" },
            TreeDifference { before: Some("b1"), after: None, path: "y.md" },
            TreeDifference { before: Some("c1"), after: Some(("c2", "100644")), path: "z z.md" },
        ];
        assert_eq!(parse_tree_differences(listed).collect::<Vec<_>>(), expected);
        assert_eq!(parse_tree_differences("").count(), 0);
    }
}
