//! Makes and compares commits of files of memories.

use std::collections::{BTreeSet, HashMap};

use memod_base::types::MAX_MEMORY_FILE;

use super::notes_git::{NotesGit, Object};
use super::notes_place::FileChange;
use crate::error::CliError;

/// A path whose object differs between two trees.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// The object there; `None` if there is none.
    pub(super) before: Option<&'a str>,
    /// The object and its mode here; `None` if it is gone.
    pub(super) after: Option<(&'a str, &'a str)>,
    pub(super) path: &'a str,
}

impl NotesGit<'_> {
    /// Returns the commit of a ref, if there is one.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(super) fn commit_of(&self, name: &str) -> Result<Option<String>, CliError> {
        self.ask(&["rev-parse", "-q", "--verify", &format!("{name}^{{commit}}")])
    }

    /// Returns the tree of a commit.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn tree_of(&self, commit: &str) -> Result<String, CliError> {
        self.run(&["rev-parse", &format!("{commit}^{{tree}}")])
    }

    /// Makes a commit.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn commit(&self, tree: &str, parents: &[String]) -> Result<String, CliError> {
        let mut args = vec!["commit-tree", tree, "-m", "memories"];
        parents.iter().for_each(|parent| args.extend(["-p", parent]));
        self.run(&args)
    }

    /// Returns the paths of files that are new or changed between two trees, and those that are gone.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn changed(&self, before: &str, after: &str) -> Result<(Vec<String>, Vec<String>), CliError> {
        let listed = self.diff(before, after)?;
        let (gone, changed): (Vec<_>, Vec<_>) = entries(&listed).partition(|entry| entry.after.is_none());
        let paths = |of: Vec<Entry<'_>>| of.into_iter().map(|entry| entry.path.to_owned()).collect();
        Ok((paths(changed), paths(gone)))
    }

    /// Returns the files that differ between two trees, with what they say.
    ///
    /// # Errors
    /// When git fails, or one of them is too large for a memory.
    pub(super) fn changes(&self, before: &str, after: &str) -> Result<Vec<FileChange>, CliError> {
        let listed = self.diff(before, after)?;
        let blobs = |entry: &Entry<'_>| {
            [entry.before, entry.after.map(|(blob, _)| blob)].map(|id| id.map(str::to_owned))
        };
        let ids: BTreeSet<String> = entries(&listed).flat_map(|entry| blobs(&entry)).flatten().collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut texts: HashMap<&str, Vec<u8>> = HashMap::new();
        self.each_object(&ids, MAX_MEMORY_FILE, |id, object| match object {
            Object::Bytes(bytes) => {
                texts.insert(id, bytes);
                Ok(())
            }
            Object::TooLarge => Err(CliError::Git {
                message: format!("git object {id}: too large for a memory; nothing was changed"),
                hint: "ask who has pushed it to take it out".to_owned(),
            }),
        })?;
        let text = |id: Option<&str>| id.and_then(|id| texts.get(id)).cloned();
        let change = |entry: Entry<'_>| FileChange {
            path: entry.path.to_owned(),
            before: text(entry.before),
            after: text(entry.after.map(|(blob, _)| blob)),
        };
        Ok(entries(&listed).map(change).collect())
    }

    fn diff(&self, before: &str, after: &str) -> Result<String, CliError> {
        self.run(&["diff-tree", "-r", "-z", "--no-renames", before, after])
    }
}

/// Returns the entries that git lists as different: `:MODE MODE OBJECT OBJECT STATUS`, NUL, the path, NUL.
pub(super) fn entries(listed: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut parts = listed.split('\0');
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?))).filter_map(|(form, path)| {
        let form: Vec<&str> = form.trim_start_matches(':').split(' ').collect();
        let [_, mode, before, after, _] = form.as_slice() else { return None };
        let is_object = |id: &&str| id.bytes().any(|digit| digit != b'0');
        let before = Some(*before).filter(is_object);
        let after = Some(*after).filter(is_object).map(|blob| (blob, *mode));
        Some(Entry { before, after, path })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_diff_are_read() {
        let listed =
            ":000000 100644 00 a1 A\0x.md\0:100644 000000 b1 00 D\0y.md\0:100755 100644 c1 c2 M\0z z.md\0";
        let expected = [
            Entry { before: None, after: Some(("a1", "100644")), path: "x.md" },
            Entry { before: Some("b1"), after: None, path: "y.md" },
            Entry { before: Some("c1"), after: Some(("c2", "100644")), path: "z z.md" },
        ];
        assert_eq!(entries(listed).collect::<Vec<_>>(), expected);
        assert_eq!(entries("").count(), 0);
    }
}
