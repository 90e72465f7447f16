//! Prepares C and C++ text for the grammar, which does not expand macros.
//!
//! [`lexer`] splits the text into tokens. [`blank_macros`] and [`blank_annotations`] blank the macros in a copy of the text that
//! has the same length, so that the grammar reads the declarations around them, and every span is one of the text itself.
//! [`token_uses`] reads the uses in what the grammar does not see, [`test_macros`] the names of tests, and [`headers`] tells
//! the headers of C and C++ apart.

mod blank_annotations;
mod blank_macros;
mod declaration_head;
pub(crate) mod headers;
mod lexer;
mod readable_copy;
mod test_macros;
mod token_list;
pub(crate) mod token_uses;
mod words;

use std::borrow::Cow;

use self::blank_macros::MacroBlanker;
use self::lexer::{Token, TokenKind};
use self::readable_copy::ReadableCopy;
use self::test_macros::TestMacro;
use self::token_list::TokenList;
use self::token_uses::TokenUse;
use crate::definitions::tags::FileTags;

/// A text as the grammar reads it.
pub(crate) struct ReadableCode<'a> {
    /// The text to parse, as long as the text of the file.
    pub(crate) text: Cow<'a, str>,
    /// Uses that the syntax tree of `text` does not show, in order.
    pub(crate) uses: Vec<TokenUse>,
    tests: Vec<TestMacro>,
}

impl<'a> ReadableCode<'a> {
    /// Returns the code of a text that the grammar reads as it is.
    pub(crate) fn from_readable_text(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), uses: Vec::new(), tests: Vec::new() }
    }

    /// Prepares `text` if `language` is C or C++.
    pub(crate) fn prepare_text(language: &str, text: &'a str) -> Self {
        if !matches!(language, "c" | "cpp") {
            return Self::from_readable_text(text);
        }
        let mut copy = ReadableCopy::new(text);
        let tokens = lexer::split_tokens(text);
        let mut uses = macro_uses(text, &tokens);
        let tokens = blank_annotations::blank_annotations(text, tokens, &mut copy);
        let list = TokenList { text, tokens };
        let mut blanker = MacroBlanker::new(&list, &mut copy);
        blanker.blank_macros();
        let tests = blanker.tests;
        let (readable, blanked_uses) = copy.into_text();
        uses.extend(blanked_uses);
        uses.sort_by_key(|found| found.bytes.start);
        uses.dedup_by_key(|found| found.bytes.start);
        Self { text: readable, uses, tests }
    }

    /// Returns whether the readable text has a word at a byte that the text of the file does not have.
    pub(crate) fn is_stand_in(&self, at: usize) -> bool {
        self.tests.binary_search_by_key(&at, TestMacro::stand_in_name).is_ok()
    }

    /// Corrects the tags of the parsed text: names the tests, and counts the uses that the tree does not show.
    pub(crate) fn complete_tags(&self, text: &str, tags: &mut FileTags) {
        test_macros::name_tests(&self.tests, tags);
        let calls = self.uses.iter().filter(|found| found.is_call);
        for name in calls.filter_map(|found| text.get(found.bytes.clone())) {
            match tags.uses.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
                Ok(at) => tags.uses[at].1 += 1,
                Err(at) => tags.uses.insert(at, (name.to_owned(), 1)),
            }
        }
    }
}

fn macro_uses(text: &str, tokens: &[Token]) -> Vec<TokenUse> {
    let directives = tokens.iter().filter(|token| token.kind == TokenKind::Directive);
    directives.flat_map(|directive| token_uses::read_macro_uses(text, directive)).collect()
}

#[cfg(test)]
mod tests;
