//! Splits a path into its words.

use crate::extract::words as tokens;

/// Words of a path, as the index has them, without duplicates of whole and parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathWords {
    /// Of all folders; with the joined name of each.
    pub folders: Vec<String>,
    /// Of the file name up to its last dot.
    pub stem: Vec<String>,
}

impl PathWords {
    /// Splits a path with `/`.
    pub fn of(path: &str) -> Self {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem =
            name.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty()).unwrap_or(name);
        Self { folders: words(folder, tokens::Form::Both), stem: words(stem, tokens::Form::Parts) }
    }
}

fn words(name: &str, form: tokens::Form) -> Vec<String> {
    let mut out = String::new();
    tokens::write_words(&name.replace('-', "_"), form, &mut out);
    out.split_ascii_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_paths() {
        let check = |path: &str, folders: &[&str], stem: &[&str]| {
            let words = PathWords::of(path);
            assert_eq!((words.folders, words.stem), (owned(folders), owned(stem)), "{path}");
        };
        fn owned(words: &[&str]) -> Vec<String> {
            words.iter().map(|word| (*word).to_owned()).collect()
        }
        check("src/user-data/sessionStore.rs", &["src", "userdata", "user", "data"], &["session", "store"]);
        check(".gitignore", &[], &["gitignore"]);
        check("Makefile", &[], &["makefile"]);
    }
}
