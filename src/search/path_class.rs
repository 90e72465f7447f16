//! Classifies files by their paths: tests, vendored code, documents.

use super::query::Query;
use crate::extract::words as tokens;

/// A sort of files that seldom holds what was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathClass {
    /// As `explain` shows it.
    pub name: &'static str,
    /// Words of folder names.
    folders: &'static [&'static str],
    /// First or last word of the stem.
    stems: &'static [&'static str],
    /// Ends of the file name.
    endings: &'static [&'static str],
    /// Words of a query that ask for just these files, besides those of `folders` and `stems`.
    asked: &'static [&'static str],
    /// What the score is multiplied with.
    pub factor: f64,
}

/// Every sort with its reason. A file may be of several.
const SORTS: [PathClass; 8] = [
    // A test names everything its subject names, and more often.
    PathClass {
        name: "test",
        folders: &["test", "tests", "spec", "specs", "testing", "e2e"],
        stems: &["test", "tests", "spec", "specs", "conftest"],
        endings: &["Test.java", "Tests.java", "Test.kt", "Tests.cs", "Tests.swift"],
        asked: &["assert", "asserts", "coverage", "mock", "mocks", "tested", "unittest"],
        factor: 0.6,
    },
    // Input and expected output of tests: texts that happen to hold the words.
    PathClass {
        name: "fixture",
        folders: &[
            "fixture",
            "fixtures",
            "testdata",
            "snapshot",
            "snapshots",
            "golden",
            "mock",
            "mocks",
            "stubs",
        ],
        stems: &["fixture", "fixtures", "mock"],
        endings: &[".snap", ".golden"],
        asked: &["sample", "test", "tests"],
        factor: 0.6,
    },
    // Shows how a thing is used, not how it is made.
    PathClass {
        name: "example",
        folders: &["example", "examples", "demo", "demos", "sample", "samples", "tutorial", "tutorials"],
        stems: &["example", "demo", "sample"],
        endings: &[],
        asked: &["usage"],
        factor: 0.75,
    },
    PathClass {
        name: "benchmark",
        folders: &["bench", "benches", "benchmark", "benchmarks", "perf"],
        stems: &["bench", "benchmark"],
        endings: &[],
        asked: &["performance", "speed"],
        factor: 0.75,
    },
    // Other people's code: nobody edits it here.
    PathClass {
        name: "vendored",
        folders: &["vendor", "vendored", "thirdparty", "nodemodules", "bowercomponents"],
        stems: &[],
        endings: &[],
        asked: &["dependency", "dependencies"],
        factor: 0.5,
    },
    // Written by tools; its source is what answers.
    PathClass {
        name: "generated",
        folders: &["dist", "generated"],
        stems: &["generated"],
        endings: &[
            ".lock",
            "-lock.json",
            "-lock.yaml",
            ".min.js",
            ".min.css",
            ".pb.go",
            "_pb2.py",
            ".g.dart",
            ".gen.go",
            ".map",
            ".svg",
        ],
        asked: &["lock", "lockfile", "dependency", "dependencies", "protobuf", "svg"],
        factor: 0.5,
    },
    // Each repeats a piece of the schema.
    PathClass {
        name: "migration",
        folders: &["migration", "migrations", "migrate"],
        stems: &["migration"],
        endings: &[],
        asked: &["alembic", "schema", "upgrade", "downgrade"],
        factor: 0.75,
    },
    // Signatures without bodies, beside the code that has them.
    PathClass {
        name: "declaration",
        folders: &[],
        stems: &[],
        endings: &[".d.ts", ".d.mts", ".d.cts", ".pyi"],
        asked: &[
            "declaration",
            "declarations",
            "interface",
            "type",
            "types",
            "typing",
            "typings",
            "stub",
            "stubs",
        ],
        factor: 0.7,
    },
];

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

/// Returns the sorts of a file that the query does not ask for.
pub fn unasked_sorts(query: &Query, path: &str, words: &PathWords) -> Vec<&'static PathClass> {
    SORTS.iter().filter(|sort| sort.holds(path, words) && !sort.is_asked_by(query)).collect()
}

impl PathClass {
    fn holds(&self, path: &str, words: &PathWords) -> bool {
        let ends = [words.stem.first(), words.stem.last()];
        let is_stem = |word: Option<&String>| word.is_some_and(|word| self.stems.contains(&word.as_str()));
        words.folders.iter().any(|word| self.folders.contains(&word.as_str()))
            || ends.into_iter().any(is_stem)
            || self.endings.iter().any(|ending| path.ends_with(ending))
    }

    fn is_asked_by(&self, query: &Query) -> bool {
        [self.folders, self.stems, self.asked].iter().any(|words| query.has_any(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::query::parse;

    #[test]
    fn sorts_of_paths() {
        let check = |query: &str, path: &str, expected: &[&str]| {
            let path_class = unasked_sorts(&parse(query), path, &PathWords::of(path));
            let names: Vec<_> = path_class.iter().map(|sort| sort.name).collect();
            assert_eq!(names, expected, "{path}");
        };
        check("login", "src/auth/login.rs", &[]);
        check("login", "tests/it/login.rs", &["test"]);
        check("login tests", "tests/it/login.rs", &[]);
        check("login", "src/__tests__/login.js", &["test"]);
        check("login", "src/login.test.ts", &["test"]);
        check("login", "pkg/login_test.go", &["test"]);
        check("login", "src/LoginTest.java", &["test"]);
        check("login", "src/latest.rs", &[]);
        check("login", "src/contest/attest.rs", &[]);
        check("login", "test_login.py", &["test"]);
        check("login", "pkg/testdata/a.txt", &["fixture"]);
        check("login", "examples/login/main.go", &["example"]);
        check("login", "third_party/x/login.c", &["vendored"]);
        check("login", "node_modules/x/index.js", &["vendored"]);
        check("login", "Cargo.lock", &["generated"]);
        check("login", "types/index.d.ts", &["declaration"]);
        check("login", "app/migrations/0001_login.py", &["migration"]);
        check("migration of login", "app/migrations/0001_login.py", &[]);
        check("", "", &[]);
    }

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
