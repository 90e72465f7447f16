//! Reads the heads of tests that macros define: `TEST(Suite, name) {`, `TEST_CASE("title") {`.

use std::collections::HashMap;
use std::ops::Range;

use super::lexer::{Token, TokenKind};
use super::token_list::TokenList;
use super::words;
use crate::definitions::tags::{FileTags, TagKind};

/// Parts of the names of macros that define a test or a benchmark.
const TEST_PARTS: [&str; 4] = ["TEST", "BENCHMARK", "SCENARIO", "FUZZ"];
/// Macros that open a block of tests.
const SUITES: [&str; 4] = ["TEST_SUITE", "TEST_GROUP", "TEST_SUITE_BEGIN", "TEST_GROUP_BASE"];
/// Part of the names of macros whose fixture follows the name of the test.
const NAME_FIRST: &str = "BOOST_";

/// A test that a macro defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestMacro {
    /// Bytes of the macro and its arguments.
    pub(super) head: Range<usize>,
    /// Bytes of the macro's name.
    pub(super) word: Range<usize>,
    /// Bytes of the name of the test, without quotes.
    name: Range<usize>,
    /// Bytes of the suite or fixture.
    suite: Option<Range<usize>>,
    /// Positions of the arguments' tokens.
    pub(super) arguments: Range<usize>,
    /// Whether the parameters of the function follow the arguments.
    pub(super) has_parameters: bool,
    /// Position of the brace that opens the body.
    pub(super) open_brace: usize,
}

/// Returns whether a macro with this name defines a test.
pub(super) fn is_test_macro(word: &str) -> bool {
    let is_spelt = words::is_macro_name(word) || word == "Test";
    is_spelt
        && (word == "Test" || TEST_PARTS.iter().any(|part| word.contains(part)))
        && !SUITES.contains(&word)
}

impl TestMacro {
    /// Reads the head of a test whose macro is at a position with arguments after it.
    pub(super) fn read(list: &TokenList<'_>, at: usize) -> Option<Self> {
        let word = list.word_at(at);
        if !is_test_macro(word) {
            return None;
        }
        let after = list.after_brackets(at + 1);
        let open_brace = list.after_arguments(after);
        if !list.is_mark(open_brace, b'{') {
            return None;
        }
        let first = at + 2;
        let second = (first + 1..after).find(|at| list.is_mark(*at, b',')).map(|comma| comma + 1);
        let second = second.filter(|second| *second < after - 1);
        let has_name_first = word.starts_with(NAME_FIRST) || list.kind_at(first) == Some(TokenKind::Literal);
        let (name, suite) = match second {
            Some(second) if !has_name_first => (second, Some(first)),
            Some(second) if list.is_word(second) && word.contains("FIXTURE") => (first, Some(second)),
            _ => (first, None),
        };
        let name = test_name(list, list.tokens.get(name).filter(|_| name < after - 1)?)?;
        let suite = suite.filter(|at| list.is_word(*at)).map(|at| list.tokens[at].byte_range());
        let test = Self {
            head: list.tokens[at].byte_range().start..list.tokens[after - 1].byte_range().end,
            word: list.tokens[at].byte_range(),
            name,
            suite,
            arguments: first..after - 1,
            has_parameters: open_brace > after,
            open_brace,
        };
        let stand_in = list.text.as_bytes().get(test.head.start..test.head.start + test.stand_in().len())?;
        let fits = stand_in.len() <= test.head.len() && !stand_in.contains(&b'\n');
        fits.then_some(test)
    }
}

impl TestMacro {
    /// Returns the byte at which the name of the test starts.
    pub(super) fn name_start(&self) -> usize {
        self.name.start
    }

    /// Returns the head of a function, which the readable copy has in place of the macro.
    pub(super) fn stand_in(&self) -> &'static str {
        if self.has_parameters { "void t" } else { "void t()" }
    }

    /// Returns the byte at which the readable copy has the name of that function.
    pub(super) fn stand_in_name(&self) -> usize {
        self.head.start + "void ".len()
    }
}

fn test_name(list: &TokenList<'_>, token: &Token) -> Option<Range<usize>> {
    let bytes = token.byte_range();
    match token.kind {
        TokenKind::Word => Some(bytes),
        TokenKind::Literal => {
            let text = token.text(list.text);
            let (open, close) = (text.find('"')? + 1, text.rfind('"')?);
            (open < close).then(|| bytes.start + open..bytes.start + close)
        }
        _ => None,
    }
}

/// Names the definitions of tests by their names instead of by the macros that define them.
pub(super) fn name_tests(tests: &[TestMacro], tags: &mut FileTags) {
    if tests.is_empty() {
        return;
    }
    let by_name: HashMap<usize, &TestMacro> = tests.iter().map(|test| (test.stand_in_name(), test)).collect();
    for tag in &mut tags.definitions {
        let test = tag.names.first().and_then(|name| by_name.get(&name.start));
        if let Some(test) = test {
            tag.kind = TagKind::Method;
            tag.names = vec![test.name.clone()];
            tag.owner = test.suite.clone();
            tag.is_test = true;
        }
    }
}
