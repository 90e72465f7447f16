//! Splits a path into its words.

use memod_text::words as tokens;

/// The words of a path, in the form of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathWords {
    folders: String,
    file_stem_words: String,
}

impl PathWords {
    /// Splits a path, whose separator is `/`.
    pub fn from_path(path: &str) -> Self {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem =
            name.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty()).unwrap_or(name);
        Self {
            folders: split_words(folder, tokens::TokenForm::Both),
            file_stem_words: split_words(stem, tokens::TokenForm::Parts),
        }
    }

    /// Returns the words of all folder names, and each name with its words joined.
    pub(crate) fn folder_words(&self) -> impl Iterator<Item = &str> {
        self.folders.split_ascii_whitespace()
    }

    /// Returns the words of the file name without its extension.
    pub fn file_stem(&self) -> impl Iterator<Item = &str> {
        self.file_stem_words.split_ascii_whitespace()
    }
}

/// Returns the words of a name, separated by spaces. A hyphen joins the words of a name as an underscore does.
fn split_words(name: &str, form: tokens::TokenForm) -> String {
    let mut out = String::new();
    match name.contains('-') {
        true => tokens::write_words(&name.replace('-', "_"), form, &mut out),
        false => tokens::write_words(name, form, &mut out),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_paths() {
        let check = |path: &str, folders: &[&str], stem: &[&str]| {
            let words = PathWords::from_path(path);
            assert_eq!(words.folder_words().collect::<Vec<_>>(), folders, "{path}");
            assert_eq!(words.file_stem().collect::<Vec<_>>(), stem, "{path}");
        };
        check("src/user-data/sessionStore.rs", &["src", "userdata", "user", "data"], &["session", "store"]);
        check(".gitignore", &[], &["gitignore"]);
        check("Makefile", &[], &["makefile"]);
    }
}
