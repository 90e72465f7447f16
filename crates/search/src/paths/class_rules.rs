//! Classifies files by paths, formats and contents, and defines how each class lowers the score of a hit.

use memod_base::types::{ClassSet, FileClass};
use memod_extract::lang::FormatGroup;

use super::path_words::PathWords;
use crate::query::Query;

/// The signs of a class in paths and queries, and the factor of the class.
struct ClassRule {
    class: FileClass,
    /// A folder name contains one of these words.
    folders: &'static [&'static str],
    /// The file name, without its extension, begins or ends with one of these words.
    stems: &'static [&'static str],
    /// File names without extension, their words joined.
    names: &'static [&'static str],
    /// Ends of paths.
    endings: &'static [&'static str],
    /// Words by which a query asks for files of the class, in addition to `folders`, `stems` and `names`.
    query_words: &'static [&'static str],
    /// Factor of the score of a hit in such a file, unless the query asks for the class.
    factor: f64,
}

/// A rule without signs and without effect, as a base for others.
const EMPTY_RULE: ClassRule = ClassRule {
    class: FileClass::Code,
    folders: &[],
    stems: &[],
    names: &[],
    endings: &[],
    query_words: &[],
    factor: 1.0,
};

/// The rules of all classes that have signs or a factor. The factors were chosen on repositories outside the quality sets
/// (docs/src/reference/benchmarks-history.md, Ranking). Settings and data need no factor.
const RULES: [ClassRule; 14] = [
    // A test contains every name that the tested code contains, and more often.
    ClassRule {
        class: FileClass::Test,
        folders: &["test", "tests", "testsuite", "spec", "specs", "testing", "e2e"],
        stems: &["test", "tests", "spec", "specs", "conftest"],
        query_words: &["assert", "asserts", "coverage", "mock", "mocks", "tested", "unittest"],
        factor: 0.5,
        ..EMPTY_RULE
    },
    // Input and expected output of tests, which contain words by chance.
    ClassRule {
        class: FileClass::Fixture,
        folders: &["fixture", "fixtures", "testdata", "mock", "mocks", "stubs"],
        stems: &["fixture", "fixtures", "mock"],
        query_words: &["sample", "test", "tests"],
        factor: 0.6,
        ..EMPTY_RULE
    },
    ClassRule {
        class: FileClass::Snapshot,
        folders: &["snapshot", "snapshots", "golden"],
        endings: &[".snap", ".golden", ".snap.new", ".ambr"],
        query_words: &["sample", "test", "tests", "expected"],
        factor: 0.6,
        ..EMPTY_RULE
    },
    // Examples show how something is used, not how it is implemented.
    ClassRule {
        class: FileClass::Example,
        folders: &["example", "examples", "demo", "demos", "sample", "samples", "tutorial", "tutorials"],
        stems: &["example", "demo", "sample"],
        query_words: &["usage"],
        factor: 0.5,
        ..EMPTY_RULE
    },
    ClassRule {
        class: FileClass::Benchmark,
        folders: &["bench", "benches", "benchmark", "benchmarks", "perf"],
        stems: &["bench", "benchmark"],
        query_words: &["performance", "speed"],
        factor: 0.75,
        ..EMPTY_RULE
    },
    ClassRule {
        class: FileClass::Config,
        endings: &[".config.js", ".config.ts", ".config.mjs", ".config.cjs"],
        ..EMPTY_RULE
    },
    // Third-party code, which is not edited in this repository.
    ClassRule {
        class: FileClass::Vendored,
        folders: &[
            "vendor",
            "vendored",
            "thirdparty",
            "3rdparty",
            "nodemodules",
            "bowercomponents",
            "godeps",
        ],
        query_words: &["dependency", "dependencies"],
        factor: 0.5,
        ..EMPTY_RULE
    },
    // Files that tools write from other sources.
    ClassRule {
        class: FileClass::Generated,
        folders: &["dist", "generated"],
        stems: &["generated"],
        endings: &[
            ".min.js",
            ".min.css",
            ".pb.go",
            ".pb.cc",
            ".pb.h",
            "_pb2.py",
            "_pb2.pyi",
            "_pb2_grpc.py",
            "_pb.rb",
            "_pb.js",
            ".g.dart",
            ".g.cs",
            ".gen.go",
            ".map",
            ".svg",
        ],
        query_words: &["generator", "codegen", "protobuf", "svg"],
        factor: 0.5,
        ..EMPTY_RULE
    },
    ClassRule {
        class: FileClass::Lock,
        endings: &[
            ".lock",
            ".lockfile",
            "-lock.json",
            "-lock.yaml",
            ".lock.json",
            "npm-shrinkwrap.json",
            "go.sum",
            "Package.resolved",
        ],
        query_words: &["lock", "lockfile", "dependency", "dependencies"],
        factor: 0.5,
        ..EMPTY_RULE
    },
    ClassRule {
        class: FileClass::Licence,
        folders: &["licenses", "licences"],
        stems: &["license", "licence", "licenses", "licences", "copying", "unlicense", "copyright"],
        names: &["notice", "notices", "thirdpartynotices"],
        query_words: &["licensed", "licensing", "legal", "spdx"],
        factor: 0.5,
        ..EMPTY_RULE
    },
    // A changelog mentions every change, without saying how the code works.
    ClassRule {
        class: FileClass::Changelog,
        folders: &["changelog", "changelogs", "changeset", "changesets", "releasenotes", "newsfragments"],
        stems: &["changelog", "changelogs"],
        names: &["changelog", "changes", "history", "news", "releases", "releasenotes", "whatsnew"],
        query_words: &["release", "released", "version", "deprecated", "changed"],
        factor: 0.25,
        ..EMPTY_RULE
    },
    // A translation repeats its original in another language. `super::translation` finds these files.
    ClassRule {
        class: FileClass::Translation,
        query_words: &[
            "translation",
            "translations",
            "translated",
            "localized",
            "locale",
            "locales",
            "i18n",
            "l10n",
        ],
        factor: 0.5,
        ..EMPTY_RULE
    },
    // Each migration repeats a part of the schema.
    ClassRule {
        class: FileClass::Migration,
        folders: &["migration", "migrations", "migrate"],
        stems: &["migration"],
        query_words: &["alembic", "schema", "upgrade", "downgrade"],
        factor: 0.75,
        ..EMPTY_RULE
    },
    // Signatures without bodies, next to the code that has them.
    ClassRule {
        class: FileClass::Declaration,
        endings: &[".d.ts", ".d.mts", ".d.cts", ".pyi"],
        query_words: &[
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
        ..EMPTY_RULE
    },
];

/// Classes that only prose can have: `src/history.rs` is code.
const PROSE_ONLY_CLASSES: [FileClass; 2] = [FileClass::Licence, FileClass::Changelog];
/// Classes of files that do not count as code of the project itself.
const NON_CODE_CLASSES: [FileClass; 9] = [
    FileClass::Test,
    FileClass::Fixture,
    FileClass::Snapshot,
    FileClass::Example,
    FileClass::Benchmark,
    FileClass::Config,
    FileClass::Generated,
    FileClass::Vendored,
    FileClass::Translation,
];

/// Returns the classes whose signs a path contains.
pub fn classes_by_path(path: &str) -> ClassSet {
    let words = PathWords::from_path(path);
    let stem: Vec<&str> = words.file_stem().collect();
    let whole = stem.concat();
    let ends = [stem.first(), stem.last()];
    RULES
        .iter()
        .filter(|rule| {
            words.folder_words().any(|word| rule.folders.contains(&word))
                || ends.iter().flatten().any(|word| rule.stems.contains(word))
                || rule.names.contains(&whole.as_str())
                || rule.endings.iter().any(|ending| path.ends_with(ending))
        })
        .map(|rule| rule.class)
        .collect()
}

/// Returns the classes of a file: the classes of its path that its format can have, the class of its content, and `Code`, `Docs` or
/// `Config` if the format and the other classes imply it.
pub(crate) fn classify_file(
    by_path: ClassSet,
    group: FormatGroup,
    of_content: Option<FileClass>,
) -> ClassSet {
    let may_be_prose = matches!(group, FormatGroup::Prose | FormatGroup::Other);
    let mut classes: ClassSet = by_path
        .iter()
        .filter(|class| may_be_prose || !PROSE_ONLY_CLASSES.contains(class))
        .chain(of_content)
        .collect();
    match group {
        FormatGroup::Code if !classes.intersects(ClassSet::from_classes(&NON_CODE_CLASSES)) => {
            classes.insert(FileClass::Code);
        }
        FormatGroup::Prose if !classes.intersects(ClassSet::from_classes(&PROSE_ONLY_CLASSES)) => {
            classes.insert(FileClass::Docs);
        }
        FormatGroup::Data if !classes.contains(FileClass::Lock) => classes.insert(FileClass::Config),
        _ => {}
    }
    classes
}

/// Returns the classes of files that the words of a query ask for.
pub(crate) fn asked_classes(query: &Query) -> ClassSet {
    let mut asked: ClassSet = RULES
        .iter()
        .filter(|rule| {
            [rule.folders, rule.stems, rule.names, rule.query_words]
                .iter()
                .any(|words| query.has_any_word(words))
        })
        .map(|rule| rule.class)
        .collect();
    if query.asks_for_history() {
        asked.insert(FileClass::Changelog);
    }
    asked
}

/// Returns the name and factor of each of `classes` that lowers the score, except for the classes that the query asks for.
pub(crate) fn lowering_factors(
    classes: ClassSet,
    asked: ClassSet,
) -> impl Iterator<Item = (&'static str, f64)> {
    RULES
        .iter()
        .filter(move |rule| classes.contains(rule.class) && !asked.contains(rule.class))
        .map(|rule| (rule.class.as_str(), rule.factor))
}

#[cfg(test)]
mod tests {
    use memod_extract::format_name;

    use super::*;
    use crate::query::parse_query;

    fn class_names(path: &str) -> Vec<&'static str> {
        let group = FormatGroup::from_format_name(format_name(path, ""));
        classify_file(classes_by_path(path), group, None).iter().map(FileClass::as_str).collect()
    }

    #[test]
    fn classes_of_paths() {
        #[rustfmt::skip]
        let cases: [(&str, &[&str]); 35] = [
            ("src/auth/login.rs", &["code"]), ("tests/it/login.rs", &["test"]),
            ("src/__tests__/login.js", &["test"]), ("src/login.test.ts", &["test"]),
            ("pkg/login_test.go", &["test"]), ("src/LoginTest.java", &["test"]), ("test_login.py", &["test"]),
            ("flask/testsuite/basic.py", &["test"]), ("src/latest.rs", &["code"]), ("src/contest/attest.rs", &["code"]),
            ("pkg/testdata/a.txt", &["docs", "fixture"]), ("tests/fixtures/a.json", &["test", "fixture", "config"]),
            ("src/__snapshots__/a.js.snap", &["snapshot"]), ("examples/login/main.go", &["example"]),
            ("third_party/x/login.c", &["vendored"]), ("node_modules/x/index.js", &["vendored"]),
            ("Cargo.lock", &["lock"]), ("web/package-lock.json", &["lock"]), ("go.sum", &["lock"]),
            ("types/index.d.ts", &["code", "declaration"]), ("app/migrations/0001_login.py", &["code", "migration"]),
            ("LICENSE", &["licence"]), ("LICENSE-MIT.txt", &["licence"]), ("src/license.rs", &["code"]),
            ("CHANGELOG.md", &["changelog"]), ("ChangeLog", &["changelog"]), ("HISTORY.rst", &["changelog"]),
            ("docs/release-notes/1.2.md", &["changelog"]), ("src/history.rs", &["code"]),
            ("README.md", &["docs"]), (".github/workflows/ci.yml", &["config"]), ("vite.config.ts", &["config"]),
            ("api/login.pb.go", &["generated"]), ("Makefile", &[]), ("", &[]),
        ];
        for (path, expected) in cases {
            assert_eq!(class_names(path), expected, "{path}");
        }
    }

    #[test]
    fn a_class_that_the_query_asks_for_is_not_lowered() {
        let check = |query: &str, path: &str, expected: &[&str]| {
            let asked = asked_classes(&parse_query(query));
            let names: Vec<_> =
                lowering_factors(classes_by_path(path), asked).map(|(name, _)| name).collect();
            assert_eq!(names, expected, "{query} {path}");
        };
        check("login", "tests/it/login.rs", &["test"]);
        check("login tests", "tests/it/login.rs", &[]);
        check("migration of login", "app/migrations/0001_login.py", &[]);
        check("which changelog says so", "CHANGELOG.md", &[]);
        check("why was login changed", "CHANGELOG.md", &[]);
        check("login", "LICENSE", &["licence"]);
        check("what licence is this", "LICENSE", &[]);
        check("", "", &[]);
    }

    #[test]
    fn the_content_adds_a_class() {
        let generated =
            classify_file(classes_by_path("src/api.rs"), FormatGroup::Code, Some(FileClass::Generated));
        assert_eq!(generated, ClassSet::from_classes(&[FileClass::Generated]));
    }
}
