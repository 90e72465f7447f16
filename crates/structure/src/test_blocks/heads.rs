//! Reads the lines with which tests begin, by the conventions of each language's frameworks.

use memod_base::types::file_name;

use super::javascript_heads::{Runners, read_calls};
use super::titles::read_text;

/// Annotations of Java and Kotlin above a test.
const ANNOTATIONS: [&str; 7] = [
    "@Test",
    "@ParameterizedTest",
    "@RepeatedTest",
    "@TestFactory",
    "@TestTemplate",
    "@Property",
    "@ClusterTest",
];

/// The line with which a test or a group begins.
pub(super) struct Head {
    /// Line, 0-based.
    pub(super) at: usize,
    /// Bytes of white space before it.
    pub(super) indent: usize,
    /// Byte in the line, and the byte after what begins there, if that ends on the line.
    pub(super) bytes: (usize, Option<usize>),
    pub(super) name: String,
    /// The text between the name of the group and this name; empty if the name has no group before it.
    pub(super) separator: &'static str,
    pub(super) is_test: bool,
    pub(super) is_parametrised: bool,
}

/// A language whose tests can be told from other code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TestLanguage {
    JavaScript,
    Python,
    Go,
    Rust,
    Java,
    Cpp,
}

impl TestLanguage {
    fn from_path(path: &str) -> Option<Self> {
        match file_name(path).rsplit_once('.')?.1 {
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => Some(Self::JavaScript),
            "py" => Some(Self::Python),
            "go" => Some(Self::Go),
            "rs" => Some(Self::Rust),
            "java" | "kt" => Some(Self::Java),
            "cc" | "cpp" | "cxx" | "c" => Some(Self::Cpp),
            _ => None,
        }
    }
}

/// Returns whether the tests in a file of this language can be told from other code, so that a file without any is no test. In C,
/// tests are often plain functions.
pub fn knows_tests_of(path: &str) -> bool {
    TestLanguage::from_path(path).is_some_and(|language| language != TestLanguage::Cpp)
}

/// Returns the heads in a text, in the order of its lines.
pub(super) fn read_heads(path: &str, lines: &[&str]) -> Vec<Head> {
    let Some(language) = TestLanguage::from_path(path) else { return Vec::new() };
    if language == TestLanguage::JavaScript {
        return read_javascript(lines);
    }
    let is_named_go = path.ends_with("_test.go");
    let mut heads = Vec::new();
    // Attributes, decorators and annotations above the next function.
    let mut is_marked = false;
    let mut is_parametrised = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let found = match language {
            TestLanguage::JavaScript => None,
            TestLanguage::Python => read_python(text).filter(|_| !is_marked), // a fixture is no test
            TestLanguage::Go => read_go(text).filter(|_| is_named_go),
            TestLanguage::Rust => read_function(text, "fn ").map(|name| (name, "", is_marked)),
            TestLanguage::Java => read_java(text, is_marked),
            TestLanguage::Cpp => read_cpp(text),
        };
        if let Some((name, separator, is_test)) = found {
            let is_wanted = language != TestLanguage::Rust || is_test;
            let is_group = !is_test;
            if is_wanted {
                let is_parametrised = !is_group && is_parametrised;
                let indent = line.len() - text.len();
                let bytes = (indent, None);
                heads.push(Head { at, indent, bytes, name, separator, is_test, is_parametrised });
            }
            (is_marked, is_parametrised) = (false, false);
        } else if is_mark(language, text) {
            is_marked |= marks_test(language, text);
            is_parametrised |= marks_parameters(language, text);
        } else if !text.is_empty() && !continues_mark(language, text) {
            (is_marked, is_parametrised) = (false, false);
        }
    }
    heads
}

/// Reads the calls of test runners, each as a head.
fn read_javascript(lines: &[&str]) -> Vec<Head> {
    let runners = Runners::find_in(lines);
    let calls = (0..lines.len()).flat_map(|at| {
        let indent = lines[at].len() - lines[at].trim_start().len();
        read_calls(lines, at, &runners).into_iter().map(move |call| Head {
            at,
            indent,
            bytes: (call.column, call.end),
            name: call.title,
            separator: " > ",
            is_test: call.is_test,
            is_parametrised: call.is_parametrised,
        })
    });
    calls.collect()
}

/// Reads `def test_x(`, `class TestX`.
fn read_python(text: &str) -> Option<(String, &'static str, bool)> {
    if let Some(name) = text.strip_prefix("class ").map(read_word) {
        let is_group = name.starts_with("Test")
            || name.ends_with("Test")
            || name.ends_with("Tests")
            || name.ends_with("TestCase");
        return is_group.then(|| (name.to_owned(), "::", false));
    }
    let name = read_function(text, "def ")?;
    name.starts_with("test").then_some((name, "::", true))
}

/// Reads `func TestX(`, `t.Run("name", …`, and methods of suites.
fn read_go(text: &str) -> Option<(String, &'static str, bool)> {
    if let Some(rest) = text.strip_prefix("func ") {
        // A method of a suite: `func (s *Suite) TestX() {`.
        let rest = if rest.starts_with('(') { rest.split_once(") ")?.1 } else { rest };
        let name = read_word(rest);
        let is_test = ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|start| name.starts_with(start));
        return is_test.then(|| (name.to_owned(), "", true));
    }
    let (runner, arguments) = text.split_once(".Run(")?;
    let is_runner = !runner.is_empty() && runner.chars().all(char::is_alphanumeric);
    let title = is_runner.then(|| read_text(arguments))??;
    Some((title.replace(' ', "_"), "/", true))
}

/// Reads the head of a method below an annotation, or named as JUnit 3 requires; and the class around.
fn read_java(text: &str, is_marked: bool) -> Option<(String, &'static str, bool)> {
    let text = ANNOTATIONS.iter().find_map(|mark| text.strip_prefix(mark)).map_or(text, str::trim_start);
    if text.starts_with(['@', '*', '/', '}']) {
        return None;
    }
    let (head, _) = text.split_once('(')?;
    let head = head.trim_end();
    if head.contains(['=', '.', '"', ';']) && !head.contains('`') {
        return None;
    }
    let name = match head.split_once("fun `") {
        Some((_, name)) => name.trim_end_matches('`').to_owned(),
        None => head.rsplit([' ', '\t']).next().unwrap_or_default().to_owned(),
    };
    let is_declared = head.contains(' ') && !head.starts_with("return ") && !head.starts_with("new ");
    let is_old_form = head.starts_with("public void test");
    (is_declared && (is_marked || is_old_form)).then_some((name, "", true))
}

/// Reads `TEST_F(Suite, name)`, `TEST_CASE("title")`, `SECTION("title")`.
fn read_cpp(text: &str) -> Option<(String, &'static str, bool)> {
    let (word, arguments) = text.split_once('(')?;
    let word = word.trim_end();
    if matches!(word, "SECTION" | "SUBCASE" | "WHEN" | "THEN" | "GIVEN") {
        return Some((read_text(arguments)?, " > ", true));
    }
    let is_test = word.contains("TEST") || word == "SCENARIO";
    let is_macro = word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    if !is_test || !is_macro || word.contains("SUITE") {
        return None;
    }
    if let Some(title) = read_text(arguments) {
        return Some((title, "", true));
    }
    let (inside, _) = arguments.split_once(')')?;
    let mut parts = inside.split(',').map(str::trim).filter(|part| !part.is_empty());
    let (first, second) = (parts.next()?, parts.next());
    Some((second.map_or_else(|| first.to_owned(), |second| format!("{first}.{second}")), "", true))
}

/// Returns the name in the head of a function that begins with `keyword`, after words such as `pub async`.
fn read_function(text: &str, keyword: &str) -> Option<String> {
    let (before, after) = text.split_at(text.find(keyword)?);
    let is_head = before.split_whitespace().all(|word| {
        matches!(word, "pub" | "async" | "const" | "unsafe" | "extern")
            || word.starts_with("pub(")
            || word.starts_with('#')
    });
    let name = read_word(&after[keyword.len()..]);
    (is_head && !name.is_empty()).then(|| name.to_owned())
}

fn read_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Returns whether a line is an attribute, a decorator or an annotation, which belongs to the next function.
fn is_mark(language: TestLanguage, text: &str) -> bool {
    match language {
        TestLanguage::Rust => text.starts_with("#["),
        TestLanguage::Python | TestLanguage::Java => text.starts_with('@'),
        _ => false,
    }
}

/// Returns whether a line may come between the mark of a test and its function.
fn continues_mark(language: TestLanguage, text: &str) -> bool {
    match language {
        TestLanguage::Rust => {
            text.starts_with("//") || text.starts_with([')', ']', '"']) || text.ends_with(',')
        }
        // Arguments of a mark on lines of their own.
        TestLanguage::Python => !text.starts_with("def ") && !text.starts_with("class "),
        TestLanguage::Java => text.starts_with(['/', '*', '"', '{', '}', ')']) || text.ends_with(','),
        _ => false,
    }
}

/// Returns whether a mark says that the next function is a test: `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[test_case(1)]`,
/// `@ParameterizedTest`; in Python, that it is none.
fn marks_test(language: TestLanguage, text: &str) -> bool {
    match language {
        TestLanguage::Rust => {
            let inside = text.trim_start_matches("#[");
            let end =
                inside.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(inside.len());
            let name = inside[..end].rsplit("::").next().unwrap_or_default();
            name.starts_with("test")
                || name.ends_with("test")
                || matches!(name, "case" | "quickcheck" | "proptest")
        }
        // `@pytest.fixture(scope="module")`, but not `@pytest.mark.usefixtures("db")`.
        TestLanguage::Python => {
            text.split('(').next().is_some_and(|name| name.trim_end().ends_with("fixture"))
        }
        TestLanguage::Java => ANNOTATIONS.contains(&text.split(['(', ' ']).next().unwrap_or_default()),
        _ => false,
    }
}

fn marks_parameters(language: TestLanguage, text: &str) -> bool {
    match language {
        TestLanguage::Rust => text.starts_with("#[case") || text.starts_with("#[test_case"),
        TestLanguage::Python => text.contains("parametrize"),
        TestLanguage::Java => text.starts_with("@ParameterizedTest"),
        _ => false,
    }
}
