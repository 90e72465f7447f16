//! Matches files of tests with changed definitions by their names.
//!
//! Tests are mostly named after what they test, and among the links from tests to code that can be read from a text, this is the
//! most precise: Van Rompaey and Demeyer, "Establishing Traceability Links between Unit Test Cases and Units under Test", CSMR
//! 2009.

use std::collections::{BTreeMap, HashSet};

use memod_base::types::parent_dir;
use memod_search::paths::path_words::PathWords;
use memod_text::words::{TokenForm, write_words};

/// Words in a file's name that mark it as a test.
const TEST_WORDS: [&str; 5] = ["it", "spec", "specs", "test", "tests"];
/// Directories that say what a file is, and not what it is about: `src/a/b.rs` and `tests/a/b.rs` mirror each other.
const ROLE_DIRS: [&str; 19] = [
    "src",
    "source",
    "lib",
    "app",
    "main",
    "java",
    "kotlin",
    "test",
    "tests",
    "__tests__",
    "testsuite",
    "spec",
    "specs",
    "unit",
    "integration",
    "e2e",
    "it",
    "pkg",
    "internal",
];
/// Names of files that people know by the name of their directory.
const KNOWN_BY_DIRECTORY: [&str; 5] = ["index", "init", "lib", "main", "mod"];

/// Compares the names of tests with those of changed files and definitions.
pub(super) struct NameMatcher {
    changed: Vec<ChangedFileWords>,
}

/// The words of a changed file.
struct ChangedFileWords {
    dir: String,
    /// Words of the file's name and of its changed definitions.
    words: HashSet<String>,
}

impl NameMatcher {
    /// Takes the qualified names of changed definitions, each after the path of its file.
    pub(super) fn new<'a>(changed: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut words: BTreeMap<&str, HashSet<String>> = BTreeMap::new();
        for (path, title) in changed {
            let own = words.entry(path).or_insert_with(|| list_file_words(path));
            let mut parts = String::new();
            write_words(title, TokenForm::Parts, &mut parts);
            own.extend(parts.split_ascii_whitespace().map(str::to_owned));
        }
        let changed = words
            .into_iter()
            .map(|(path, words)| ChangedFileWords { dir: parent_dir(path).to_owned(), words });
        Self { changed: changed.collect() }
    }

    /// Returns the share of the words in a file's name that one changed file has too, 0 to 1; the largest share of all changed
    /// files.
    pub(super) fn matching_share(&self, path: &str) -> f64 {
        let own = list_file_words(path);
        let most =
            self.changed.iter().map(|changed| own.intersection(&changed.words).count()).max().unwrap_or(0);
        most as f64 / own.len().max(1) as f64
    }

    /// Returns the number of directories between a file and the nearest changed file, 0 if one mirrors the other.
    pub(super) fn count_dirs_between(&self, path: &str) -> usize {
        let own: Vec<&str> = split_dir(parent_dir(path)).collect();
        self.changed
            .iter()
            .map(|changed| {
                let other: Vec<&str> = split_dir(&changed.dir).collect();
                let n_same = own.iter().zip(&other).take_while(|(one, other)| one == other).count();
                own.len() + other.len() - 2 * n_same
            })
            .min()
            .unwrap_or(usize::MAX)
    }
}

/// Returns the words of a file's name, or of its directory's name for a file such as `mod.rs`.
fn list_file_words(path: &str) -> HashSet<String> {
    let own = list_stem_words(path);
    if own.iter().all(|word| KNOWN_BY_DIRECTORY.contains(&word.as_str())) {
        list_stem_words(parent_dir(path))
    } else {
        own
    }
}

/// Returns the words of the last part of a path, except those that mark tests.
fn list_stem_words(path: &str) -> HashSet<String> {
    let words = PathWords::from_path(path);
    words.file_stem().filter(|word| !TEST_WORDS.contains(word)).map(str::to_owned).collect()
}

/// Returns the parts of a directory's path that say what its files are about.
fn split_dir(dir: &str) -> impl Iterator<Item = &str> {
    dir.split('/').filter(|part| !part.is_empty() && !ROLE_DIRS.contains(part))
}

/// Returns the words of a text, with those that identifiers are made of.
pub(super) fn split_words(text: &str) -> HashSet<String> {
    let mut words = String::new();
    write_words(text, TokenForm::Parts, &mut words);
    words.split_ascii_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_like_what_it_is_named_after() {
        let check = |changed: (&str, &str), test: &str, expected: f64| {
            let likeness = NameMatcher::new([changed]);
            assert!(
                (likeness.matching_share(test) - expected).abs() < 1e-9,
                "{changed:?} {test}: {}",
                likeness.matching_share(test)
            );
        };
        check(("src/config.py", "Config.from_mapping"), "tests/test_config.py", 1.0);
        check(("src/config.py", "Config.from_mapping"), "tests/test_app_config.py", 0.5);
        check(("src/config.py", "Config.from_mapping"), "tests/test_views.py", 0.0);
        check(("src/types.ts", "ZodString._parse"), "src/__tests__/string.test.ts", 1.0);
        check(("main/Gson.java", "Gson.toJson"), "test/GsonTest.java", 1.0);
        check(("main/Gson.java", "Gson.toJson"), "test/GsonBuilderTest.java", 0.5);
        check(("binding/form.go", "setField"), "binding/form_test.go", 1.0);
        // Known by their directories, or by nothing.
        check(("src/middleware/jwt/index.ts", "verify"), "src/middleware/jwt/index.test.ts", 1.0);
        check(("src/middleware/jwt/index.ts", "verify"), "src/middleware/cors/index.test.ts", 0.0);
        check(("src/routing/mod.rs", "Router.call"), "tests/mod.rs", 0.0);
    }

    #[test]
    fn the_nearest_changed_file_counts() {
        let likeness = NameMatcher::new([("a/b/one.rs", "f"), ("c/two.rs", "g")]);
        let distances =
            ["a/b/x.rs", "a/x.rs", "c/tests/deep/x.rs", "x.rs"].map(|path| likeness.count_dirs_between(path));
        assert_eq!(distances, [0, 1, 1, 1]);
        let mirrored = NameMatcher::new([("src/a/b.rs", "f"), ("lib/src/main/java/org/x/B.java", "g")]);
        let distances =
            ["tests/a/b.rs", "src/a/__tests__/b.ts", "lib/src/test/java/org/x/BTest.java", "tests/c/b.rs"]
                .map(|path| mirrored.count_dirs_between(path));
        assert_eq!(distances, [0, 0, 0, 2]);
        assert_eq!(NameMatcher::new([]).matching_share("tests/test_one.py"), 0.0);
    }
}
