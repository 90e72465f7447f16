//! Reads the words of a declaration before the name that it declares.

use std::ops::Range;

use super::lexer::TokenKind;
use super::token_list::TokenList;
use super::words;

/// Most tokens of a head.
const MAX_HEAD_TOKENS: usize = 60;

/// A word of the head that may be a type or a macro.
#[derive(Clone, Debug)]
pub(super) struct HeadWord {
    /// Positions of its tokens, with those of its arguments.
    pub(super) tokens: Range<usize>,
    /// Whether it is spelt as a macro.
    pub(super) is_macro: bool,
    has_arguments: bool,
}

/// The words before the name of a declaration.
#[derive(Debug, Default)]
pub(super) struct DeclarationHead {
    pub(super) words: Vec<HeadWord>,
    /// Whether a keyword shows that a declaration begins.
    pub(super) has_keyword: bool,
    has_type: bool,
    /// Whether the declared function needs no type, because it is a constructor, a destructor or an operator of conversion.
    is_untyped: bool,
    /// The position of the declared name, or the one after the head if there is none.
    pub(super) end: usize,
    /// Whether the name was found.
    has_name: bool,
    /// The position of `struct`, `class`, `union` or `enum`, if the head ends there.
    pub(super) class_key: Option<usize>,
}

impl DeclarationHead {
    /// Reads the head that begins at `at`; `class_name` is the name of the class around it, or `""`. `is_after_body` holds for
    /// what follows the body of a type in its declaration, which needs no other type.
    pub(super) fn read(list: &TokenList<'_>, at: usize, class_name: &str, is_after_body: bool) -> Self {
        let mut head = Self { end: at, has_type: is_after_body, ..Self::default() };
        let limit = list.len().min(at + MAX_HEAD_TOKENS);
        while head.end < limit && head.read_word(list, class_name) {}
        head
    }

    /// Reads the next word; returns whether the head goes on.
    fn read_word(&mut self, list: &TokenList<'_>, class_name: &str) -> bool {
        let at = self.end;
        let word = list.word_at(at);
        match list.kind_at(at) {
            Some(TokenKind::Word) => {}
            Some(TokenKind::Mark(b'*' | b'&')) => {
                self.end += 1;
                return true;
            }
            Some(TokenKind::Mark(b'[')) if list.is_mark(at + 1, b'[') => {
                self.end = list.after_brackets(at);
                return true;
            }
            Some(TokenKind::Mark(b':')) if list.is_scope_mark(at) && list.is_word(at + 2) => {
                self.end += 2;
                return true;
            }
            // `~A()`
            Some(TokenKind::Mark(b'~')) => {
                self.is_untyped = true;
                return false;
            }
            _ => {
                self.take_name();
                return false;
            }
        }
        if words::is_class_key(word) {
            self.class_key = Some(at);
            self.has_keyword = true;
            return false;
        }
        if word == "operator" {
            let after = list.word_at(at + 1);
            self.is_untyped = !matches!(after, "" | "new" | "delete" | "co_await");
            self.has_name = true;
            return false;
        }
        if words::is_primitive(word) || words::is_specifier(word) {
            self.has_keyword = true;
            self.has_type |= words::is_primitive(word);
            self.end += 1;
            if matches!(word, "decltype" | "alignas" | "explicit" | "noexcept") {
                self.end = list.after_arguments(self.end);
            }
            return true;
        }
        if words::is_keyword(word) {
            return false;
        }
        self.read_type_or_name(list, class_name)
    }

    fn read_type_or_name(&mut self, list: &TokenList<'_>, class_name: &str) -> bool {
        let at = self.end;
        let is_macro = list.is_macro(at);
        let after = list.after_name(at);
        if !list.is_mark(after, b'(') {
            self.words.push(HeadWord { tokens: at..after, is_macro, has_arguments: false });
            self.end = after;
            return true;
        }
        let past = list.after_brackets(after);
        let goes_on = list.is_word(past) && !words::is_access(list.word_at(past))
            || list.is_mark(past, b'~')
            || list.is_scope_mark(past)
            || list.is_mark(past, b'[') && list.is_mark(past + 1, b'[');
        let ends_function = matches!(list.word_at(past), "const" | "override" | "final" | "noexcept" | "try")
            && (self.has_type || !self.words.is_empty());
        let names_function = (self.has_type || self.words.iter().any(|word| !word.is_macro))
            && (list.is_macro(past) || words::is_keyword(list.word_at(past)));
        if is_macro && goes_on && !ends_function && !names_function && after == at + 1 {
            self.words.push(HeadWord { tokens: at..past, is_macro, has_arguments: true });
            self.end = past;
            return true;
        }
        self.has_name = true;
        let name = list.word_at(at);
        let last = list.word_at(after - 1);
        self.is_untyped = name == class_name && after == at + 1
            || after >= at + 4 && last == list.word_at(after - 4)
            || after >= at + 2 && list.is_mark(after - 2, b'~');
        false
    }

    /// Takes the last plain word as the declared name, as in `int count;`.
    fn take_name(&mut self) {
        let is_name = |word: &HeadWord| !word.has_arguments && word.tokens.end == self.end;
        if self.words.last().is_some_and(is_name) && (self.has_type || self.words.len() > 1) {
            let name = self.words.pop();
            self.end = name.map_or(self.end, |name| name.tokens.start);
            self.has_name = true;
        }
    }

    /// Returns whether the head has what a declaration needs, so that a word before it is no type.
    pub(super) fn is_complete(&self, list: &TokenList<'_>) -> bool {
        let mut words = self.words.iter().map(|word| list.word_at(word.tokens.start));
        let has_word = self.has_name && words.any(|word| !words::is_linkage_macro(word));
        self.has_keyword || self.is_untyped || has_word
    }

    /// Returns the words that are macros. At least one word remains as the type, unless the declaration needs none.
    pub(super) fn list_macros(&self, list: &TokenList<'_>) -> Vec<Range<usize>> {
        let mut macros: Vec<&HeadWord> = self.words.iter().filter(|word| word.is_macro).collect();
        let has_type = self.has_type || self.words.iter().any(|word| !word.is_macro);
        if !has_type && !self.is_untyped && self.class_key.is_none() {
            let plain = |word: &&HeadWord| !word.has_arguments;
            let is_type =
                |word: &&HeadWord| plain(word) && !words::is_linkage_macro(list.word_at(word.tokens.start));
            let kept = macros.iter().rposition(is_type).or_else(|| macros.iter().rposition(plain));
            // `EXPORT(int) f()` has its type in the arguments.
            macros.remove(match kept {
                Some(kept) => kept,
                None if macros.is_empty() => return Vec::new(),
                None => macros.len() - 1,
            });
        }
        macros.into_iter().map(|word| word.tokens.clone()).collect()
    }
}
