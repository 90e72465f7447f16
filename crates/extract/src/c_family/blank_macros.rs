//! Blanks the macros around declarations, so that the grammar reads the declarations.
//!
//! The tokens of a file are read once, declaration by declaration. Bodies of functions are skipped.

use std::ops::Range;

use super::declaration_head::DeclarationHead;
use super::lexer::TokenKind;
use super::readable_copy::ReadableCopy;
use super::test_macros::{self, TestMacro};
use super::token_list::TokenList;
use super::words;

/// Most scopes inside each other; deeper ones are skipped as bodies.
const MAX_SCOPES: usize = 64;

/// A pair of braces around the current place.
#[derive(Clone, Debug)]
enum Scope {
    /// The body of a namespace or of `extern "C"`.
    Declarations,
    /// The body of a class, with the position of the class's name.
    Class(Option<usize>),
    /// The body of a function, an enumeration or a value.
    Other,
}

/// Reads declarations, and blanks the macros in them.
pub(super) struct MacroBlanker<'a, 'c> {
    list: &'c TokenList<'a>,
    copy: &'c mut ReadableCopy<'a>,
    scopes: Vec<Scope>,
    /// The scopes at each `#if` around the current place.
    conditionals: Vec<Vec<Scope>>,
    /// Whether the current declaration goes on after the body of a type.
    is_after_body: bool,
    /// The position of the last brace that is blanked, so that it closes no scope.
    blanked_brace: usize,
    pub(super) tests: Vec<TestMacro>,
}

impl<'a, 'c> MacroBlanker<'a, 'c> {
    pub(super) fn new(list: &'c TokenList<'a>, copy: &'c mut ReadableCopy<'a>) -> Self {
        Self {
            list,
            copy,
            scopes: Vec::new(),
            conditionals: Vec::new(),
            is_after_body: false,
            blanked_brace: usize::MAX,
            tests: Vec::new(),
        }
    }

    /// Blanks the macros of the whole file.
    pub(super) fn blank_macros(&mut self) {
        let mut at = 0;
        while at < self.list.len() {
            let next = match self.scopes.last() {
                Some(Scope::Other) => self.read_body(at),
                _ => self.read_declaration(at),
            };
            at = next.max(at + 1);
        }
    }

    /// Reads up to the next brace or directive of a body; returns the position after.
    fn read_body(&mut self, mut at: usize) -> usize {
        while let Some(kind) = self.list.kind_at(at) {
            match kind {
                TokenKind::Mark(b'{') => {
                    self.open_scope(Scope::Other);
                    return at + 1;
                }
                TokenKind::Mark(b'}') => {
                    self.scopes.pop();
                    return at + 1;
                }
                TokenKind::Directive => {
                    self.read_directive(at);
                    return at + 1;
                }
                TokenKind::Word if words::is_class_key(self.list.word_at(at)) => {
                    self.blank_class_macros(at);
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    fn open_scope(&mut self, scope: Scope) {
        self.scopes.push(if self.scopes.len() < MAX_SCOPES { scope } else { Scope::Other });
    }

    /// Keeps the scopes the same in each branch of a conditional.
    fn read_directive(&mut self, at: usize) {
        let line = self.list.directive_at(at).unwrap_or_default();
        if line.starts_with("if") {
            self.conditionals.push(self.scopes.clone());
        } else if line.starts_with("el") {
            if let Some(scopes) = self.conditionals.last() {
                self.scopes.clone_from(scopes);
            }
        } else if line.starts_with("endif") {
            self.conditionals.pop();
        }
    }

    fn class_name(&self) -> &'a str {
        match self.scopes.last() {
            Some(Scope::Class(Some(name))) => self.list.word_at(*name),
            _ => "",
        }
    }

    /// Reads a declaration, or a part of one up to the brace that opens its body; returns the position after.
    fn read_declaration(&mut self, at: usize) -> usize {
        let is_after_body = std::mem::take(&mut self.is_after_body);
        let list = self.list;
        match list.kind_at(at) {
            Some(TokenKind::Directive) => {
                self.read_directive(at);
                self.is_after_body = is_after_body;
                return at + 1;
            }
            Some(TokenKind::Mark(b'}')) if at == self.blanked_brace => return at + 1,
            Some(TokenKind::Mark(b'}')) => {
                self.is_after_body = matches!(self.scopes.pop(), Some(Scope::Class(_)));
                return at + 1;
            }
            Some(TokenKind::Mark(b'{')) => {
                self.open_scope(Scope::Other);
                return at + 1;
            }
            Some(TokenKind::Word | TokenKind::Mark(b'[' | b':' | b'~' | b'*')) => {}
            _ => return at + 1,
        }
        if let Some(after) = self.read_access(at).or_else(|| self.read_block_start(at)) {
            return after;
        }
        if !is_after_body && let Some(after) = self.read_macro_statement(at) {
            return after;
        }
        let start = list.after_prefixes(at);
        if start > at
            && let Some(after) = self.read_macro_statement(start)
        {
            return after;
        }
        let head = DeclarationHead::read(list, start, self.class_name(), is_after_body);
        for macro_tokens in head.list_macros(list) {
            self.copy.blank_tokens(list, macro_tokens);
        }
        let tail = match head.class_key {
            Some(key) => self.blank_class_macros(key),
            None => head.end,
        };
        self.read_tail(tail.max(start), head.class_key)
    }

    /// Reads `public:`, and makes one of Qt's `signals:` and `public slots:`; returns the position after.
    fn read_access(&mut self, at: usize) -> Option<usize> {
        let list = self.list;
        let is_slots = matches!(list.word_at(at + 1), "slots" | "Q_SLOTS");
        let colon = match list.word_at(at) {
            word if words::is_access(word) && is_slots => {
                self.copy.blank_tokens(list, at + 1..at + 2);
                at + 2
            }
            word if words::is_access(word) => at + 1,
            "signals" | "Q_SIGNALS" if list.is_mark(at + 1, b':') && !list.is_scope_mark(at + 1) => {
                self.copy.write_over(list.tokens[at].byte_range(), "public");
                at + 1
            }
            _ => return None,
        };
        list.is_mark(colon, b':').then_some(colon + 1)
    }

    /// Reads `namespace a {` and `extern "C" {`; returns the position after.
    fn read_block_start(&mut self, at: usize) -> Option<usize> {
        let list = self.list;
        let first = if list.word_at(at) == "inline" { at + 1 } else { at };
        if list.word_at(first) == "extern" && list.kind_at(first + 1) == Some(TokenKind::Literal) {
            if list.is_mark(first + 2, b'{') {
                if !self.blank_guarded_block(first) {
                    self.open_scope(Scope::Declarations);
                }
                return Some(first + 3);
            }
            return Some(first + 2);
        }
        if list.word_at(first) != "namespace" {
            return None;
        }
        let mut end = first + 1;
        if list.is_word(end) {
            end = list.after_name(end);
        }
        let past_macros = self.after_macros(end);
        if list.is_mark(past_macros, b'{') {
            self.copy.blank_tokens(list, end..past_macros);
            self.open_scope(Scope::Declarations);
            return Some(past_macros + 1);
        }
        None
    }

    /// Blanks `extern "C" {` between `#ifdef __cplusplus` and `#endif`, and the brace that closes it. The grammars expect whole
    /// declarations between these lines.
    fn blank_guarded_block(&mut self, at: usize) -> bool {
        let list = self.list;
        let is_guard = |at: usize| {
            list.directive_at(at).is_some_and(|line| line.starts_with("if") && line.contains("__cplusplus"))
        };
        let is_end = |at: usize| list.directive_at(at).is_some_and(|line| line.starts_with("endif"));
        if at == 0 || !is_guard(at - 1) || !is_end(at + 3) {
            return false;
        }
        let is_close = |at: &usize| is_guard(at - 1) && list.is_mark(*at, b'}') && is_end(*at + 1);
        let Some(close) = (at + 4..list.len()).find(is_close) else { return false };
        self.copy.blank_tokens(list, at..at + 3);
        self.copy.blank_tokens(list, close..close + 1);
        self.blanked_brace = close;
        true
    }

    /// Returns the position after macros with and without arguments.
    fn after_macros(&self, mut at: usize) -> usize {
        while self.list.is_macro(at) {
            at = self.list.after_arguments(at + 1);
        }
        at
    }

    /// Reads a macro that stands for a whole declaration, such as `Q_OBJECT`, or for the head of a test; returns the
    /// position after.
    fn read_macro_statement(&mut self, at: usize) -> Option<usize> {
        let list = self.list;
        if !list.is_macro(at) && !test_macros::is_test_macro(list.word_at(at)) {
            return None;
        }
        let word = list.word_at(at);
        let after = list.after_arguments(at + 1);
        let has_arguments = after > at + 1;
        if has_arguments && let Some(test) = TestMacro::read(list, at) {
            self.copy.write_test(list, &test);
            let open = test.open_brace;
            self.tests.push(test);
            self.open_scope(Scope::Other);
            return Some(open + 1);
        }
        if word == self.class_name() || !list.is_macro(at) {
            return None;
        }
        if list.is_mark(after, b';') {
            let is_member = matches!(self.scopes.last(), Some(Scope::Class(_))) && has_arguments;
            if is_member {
                self.copy.blank_tokens(list, at..after);
            }
            return is_member.then_some(after + 1);
        }
        let is_known = words::is_line_macro(word) || !has_arguments && words::brackets_declarations(word);
        let is_alone = list.starts_line(at) && list.starts_line(after);
        if is_alone && (is_known || self.begins_declaration(after)) {
            self.copy.blank_tokens(list, at..after);
            return Some(after);
        }
        None
    }

    /// Returns whether what begins at a position needs no type before it.
    fn begins_declaration(&self, at: usize) -> bool {
        let list = self.list;
        match list.kind_at(at) {
            None | Some(TokenKind::Directive | TokenKind::Mark(b'}')) => return true,
            Some(TokenKind::Word | TokenKind::Mark(b'~' | b'[')) => {}
            _ => return false,
        }
        let word = list.word_at(at);
        if matches!(word, "template" | "namespace" | "using" | "signals") || words::is_access(word) {
            return true;
        }
        // Another macro on a line of its own.
        let after = list.after_arguments(at + 1);
        if list.is_macro(at) && list.starts_line(after) && !list.is_mark(after, b'{') {
            let is_block = after == at + 1 && words::brackets_declarations(word);
            return is_block || after > at + 1 && !list.is_mark(after, b':');
        }
        let head = DeclarationHead::read(list, list.after_prefixes(at), self.class_name(), false);
        head.is_complete(list)
    }

    /// Blanks the macros around the name of a class; returns the position after the name.
    fn blank_class_macros(&mut self, key: usize) -> usize {
        let is_in_body = matches!(self.scopes.last(), Some(Scope::Other));
        let name = ClassName::read(self.list, key, is_in_body);
        for macro_tokens in name.macros {
            self.copy.blank_tokens(self.list, macro_tokens);
        }
        name.end
    }

    /// Reads the rest of a declaration, and blanks the macros after its parameters; returns the position after the
    /// declaration, or after the brace that opens its body.
    fn read_tail(&mut self, mut at: usize, class_key: Option<usize>) -> usize {
        let list = self.list;
        let mut class_key = class_key;
        while let Some(kind) = list.kind_at(at) {
            match kind {
                TokenKind::Mark(b';') => return at + 1,
                TokenKind::Mark(b'}') | TokenKind::Directive => return at,
                TokenKind::Mark(b'{') => {
                    self.open_scope(match class_key {
                        Some(key) if list.word_at(key) == "enum" => Scope::Other,
                        Some(key) => Scope::Class(ClassName::read(list, key, false).name),
                        None => Scope::Other,
                    });
                    return at + 1;
                }
                TokenKind::Mark(b'(') => {
                    self.blank_in_parentheses(at);
                    at = list.after_brackets(at);
                    self.blank_after_parameters(at);
                    // A function that returns a `struct`.
                    class_key = class_key.filter(|key| self.has_bases(*key, at));
                    continue;
                }
                TokenKind::Mark(b'[') => {
                    at = list.after_brackets(at);
                    continue;
                }
                TokenKind::Mark(b'=') => class_key = None,
                TokenKind::Word if words::is_class_key(list.word_at(at)) => class_key = Some(at),
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Returns whether a `:` is between a class key and `end`, so that parentheses belong to a base.
    fn has_bases(&self, key: usize, end: usize) -> bool {
        let name = ClassName::read(self.list, key, false);
        name.end < end && self.list.is_mark(name.end, b':') && !self.list.is_scope_mark(name.end)
    }

    /// Blanks the calling convention in `(CALLBACK_API *name)`.
    fn blank_in_parentheses(&mut self, open: usize) {
        let list = self.list;
        // `(FILE *file)` is a list of parameters.
        let is_pointer = list.is_mark(open + 2, b'*') && list.is_word(open + 3);
        let has_parameters = list.is_mark(open + 4, b')') && list.is_mark(open + 5, b'(');
        if list.is_macro(open + 1) && is_pointer && has_parameters {
            self.copy.blank_tokens(list, open + 1..open + 2);
        }
    }

    /// Blanks the macros between the parameters of a function and its body or `;`.
    fn blank_after_parameters(&mut self, mut at: usize) {
        let list = self.list;
        while matches!(list.word_at(at), "const" | "override" | "final" | "noexcept" | "volatile") {
            at = list.after_arguments(at + 1);
        }
        let end = self.after_macros(at);
        let goes_on = matches!(list.kind_at(end), Some(TokenKind::Mark(b';' | b'{' | b'=' | b'-' | b':')))
            || matches!(list.word_at(end), "const" | "override" | "final" | "noexcept");
        if end > at && goes_on {
            self.copy.blank_tokens(list, at..end);
            self.blank_after_parameters(end);
        }
    }
}

/// The name of a class, and the macros around it.
struct ClassName {
    /// The position of the name, if there is one.
    name: Option<usize>,
    macros: Vec<Range<usize>>,
    /// The position after the name and the macros.
    end: usize,
}

impl ClassName {
    /// Reads the words after a class key. Fewer macros are found in the body of a function, where `struct STAT st{}` is a
    /// variable.
    fn read(list: &TokenList<'_>, key: usize, is_in_body: bool) -> Self {
        let mut words: Vec<Range<usize>> = Vec::new();
        let mut at = list.after_prefixes(key + 1);
        if list.word_at(key) == "enum" && words::is_class_key(list.word_at(at)) {
            at = list.after_prefixes(at + 1);
        }
        while list.is_word(at) && !words::is_keyword(list.word_at(at)) {
            let after = list.after_name(at);
            let is_call = list.is_macro(at) && list.is_mark(after, b'(');
            // `struct point MAKE(int x)` is a function.
            let past = if is_call { list.after_brackets(after) } else { after };
            if is_call && !list.is_word(past) && !list.is_mark(past, b'{') {
                break;
            }
            words.push(at..past);
            at = list.after_prefixes(past);
        }
        let is_colon = list.is_mark(at, b':') && !list.is_scope_mark(at);
        let is_body = list.is_mark(at, b'{') || is_colon || list.word_at(at) == "final";
        let is_linkage = |word: &Range<usize>| words::is_linkage_macro(list.word_at(word.start));
        let is_forward = list.is_mark(at, b';') && words.first().is_some_and(is_linkage);
        let is_pointer = list.is_mark(at, b'*') || list.is_mark(at, b'&');
        let has_name = is_body && !is_in_body || is_forward || is_pointer;
        let n_names = if has_name || is_body && words.first().is_some_and(is_linkage) { 1 } else { 2 };
        let mut macros = Vec::new();
        let is_macro =
            |word: &Range<usize>| list.is_macro(word.start) || list.word_at(word.start).starts_with("__");
        let is_final = |word: &Range<usize>| list.word_at(word.start).ends_with("FINAL");
        while words.len() > n_names {
            let last = words.len() - 1;
            let taken = if is_final(&words[last]) {
                last
            } else if let Some(found) = words[..last].iter().position(is_macro) {
                found
            } else if is_macro(&words[last]) {
                last
            } else {
                break;
            };
            macros.push(words.remove(taken));
        }
        let name = words.first().filter(|_| has_name).map(|word| word.start);
        Self { name, macros, end: at }
    }
}
