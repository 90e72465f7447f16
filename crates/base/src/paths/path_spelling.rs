//! Finds the spelling of a path in the directory listings, where the system accepts several spellings of one name.
//!
//! Windows and macOS open `README.md` as `Readme.md` too, and macOS takes the character `é` and the two characters `e` and accent
//! as equal. So the path that a user opens may not be the one that a directory lists. Linux takes both as different names, but a user
//! cannot see or type the difference, so here the accents are equal on each system.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

/// Whether the usual file systems of this platform accept several spellings of one name.
pub const FS_FOLDS_NAMES: bool = cfg!(any(windows, target_os = "macos"));

/// Finds spellings, and lists each directory only once.
///
/// Limits: a change after a directory was listed is not noticed.
#[derive(Debug, Default)]
pub struct SpellingCache {
    names_by_dir: HashMap<PathBuf, Vec<String>>,
}

impl SpellingCache {
    /// Returns a path below `root`, with `/` between its parts, as the directories spell it. A part that is in no listing stays as
    /// it is.
    pub fn spell_path(&mut self, root: &Path, path: &str) -> String {
        let mut dir = root.to_owned();
        let mut spelled: Vec<String> = Vec::new();
        for part in path.split('/') {
            let names = self.names_by_dir.entry(dir.clone()).or_insert_with(|| list_names(&dir));
            let part = find_spelling(names, part).unwrap_or(part);
            dir.push(part);
            spelled.push(part.to_owned());
        }
        spelled.join("/")
    }
}

/// Returns the typed name if it is one of `names`, or else a name that differs from it only in the form of accents, and on systems that
/// fold names in case.
fn find_spelling<'a>(names: &'a [String], typed: &str) -> Option<&'a str> {
    let same = names.iter().find(|name| *name == typed);
    same.or_else(|| names.iter().find(|name| fold_name(name) == fold_name(typed))).map(String::as_str)
}

/// Returns the names in a directory; none if it cannot be read.
fn list_names(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).into_iter().flatten().flatten();
    names.map(|entry| composed_name(&entry.file_name().to_string_lossy()).into_owned()).collect()
}

/// Returns a key that is equal for all spellings of a name.
fn fold_name(name: &str) -> String {
    if FS_FOLDS_NAMES { name.nfc().flat_map(char::to_lowercase).collect() } else { name.nfc().collect() }
}

/// Returns the form of a text in which each letter and its accent are one character, and the form in which they are two; `None` if
/// both are the same.
pub(super) fn accent_forms(text: &str) -> Option<[String; 2]> {
    if text.is_ascii() {
        return None;
    }
    let forms = [text.nfc().collect::<String>(), text.nfd().collect()];
    (forms[0] != forms[1]).then_some(forms)
}

/// Returns a name as git writes it on this platform: on macOS with each letter and its accent as one character
/// (`core.precomposeUnicode`).
pub fn composed_name(name: &str) -> Cow<'_, str> {
    if cfg!(target_os = "macos") && !name.is_ascii() {
        name.nfc().collect::<String>().into()
    } else {
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_spelled_as_the_directories_do() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("Docs/Été")).unwrap();
        fs::write(dir.path().join("Docs/Été/Read me.MD"), "").unwrap();
        let mut spellings = SpellingCache::default();
        let mut check = |typed: &str, expected: &str| {
            assert_eq!(spellings.spell_path(dir.path(), typed), expected, "{typed}");
        };
        check("Docs", "Docs");
        let folded =
            |spelled: &'static str, typed: &'static str| if FS_FOLDS_NAMES { spelled } else { typed };
        check("docs", folded("Docs", "docs"));
        check("docx", "docx");
        check("Docs/E\u{301}te\u{301}", "Docs/Été");
        check("Docs/Été/read ME.md", folded("Docs/Été/Read me.MD", "Docs/Été/read ME.md"));
        check("Docs/none/READ me.md", "Docs/none/READ me.md");
    }

    #[test]
    fn a_name_that_is_there_is_no_other_one() {
        let names = ["b.md", "a.md", "A.md", "e\u{301}.md"].map(str::to_owned);
        let check = |typed: &str, expected: Option<&str>| {
            assert_eq!(find_spelling(&names, typed), expected, "{typed}");
        };
        check("A.md", Some("A.md"));
        check("a.md", Some("a.md"));
        check("é.md", Some("e\u{301}.md"));
        check("B.MD", FS_FOLDS_NAMES.then_some("b.md"));
        check("c.md", None);
    }
}
