//! Blanks what no grammar of C needs, wherever it is.
//!
//! These are annotations of compilers, launches of CUDA kernels, Qt's `emit`, and the interfaces of Objective-C.

use std::ops::Range;

use super::lexer::{Token, TokenKind};
use super::readable_copy::ReadableCopy;
use super::token_list::TokenList;
use super::words;

/// Blanks the annotations in the copy of `text`, and returns the tokens that remain.
pub(super) fn blank_annotations(text: &str, tokens: Vec<Token>, copy: &mut ReadableCopy<'_>) -> Vec<Token> {
    let has_kernels = text.contains("<<<");
    let has_objects = has_objective_c(text);
    let list = TokenList { text, tokens };
    let mut dropped: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < list.len() {
        let end = match list.kind_at(at) {
            Some(TokenKind::Word) => annotation_end(&list, at),
            Some(TokenKind::Mark(b'<')) if has_kernels => launch_end(&list, at),
            Some(TokenKind::Mark(b'@')) if has_objects => objective_c_end(&list, at),
            _ => None,
        };
        match end {
            Some(end) => {
                copy.blank_tokens(&list, at..end);
                dropped.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    let mut tokens = list.tokens;
    if dropped.is_empty() {
        return tokens;
    }
    let mut position = 0;
    let mut starts_line = false;
    tokens.retain_mut(|token| {
        let n_before = dropped.partition_point(|span| span.end <= position);
        let is_dropped = dropped.get(n_before).is_some_and(|span| span.contains(&position));
        position += 1;
        // A line begins with its first token that remains.
        starts_line = token.starts_line || starts_line;
        token.starts_line = starts_line;
        starts_line &= is_dropped;
        !is_dropped
    });
    tokens
}

/// Returns the end of the annotation or `emit` at a position.
fn annotation_end(list: &TokenList<'_>, at: usize) -> Option<usize> {
    let word = list.word_at(at);
    if matches!(word, "emit" | "Q_EMIT") {
        let is_after_name = at > 0 && (list.is_word(at - 1) || list.is_mark(at - 1, b'.'));
        let calls = list.is_word(at + 1) && !words::is_keyword(list.word_at(at + 1))
            || list.word_at(at + 1) == "this";
        return (calls && !is_after_name).then_some(at + 1);
    }
    if word == "noexcept" && list.is_mark(at + 1, b'(') && at > 0 {
        let is_after_parameters = list.is_mark(at - 1, b')')
            || list.is_mark(at - 1, b'&')
            || matches!(list.word_at(at - 1), "const" | "volatile" | "mutable");
        return is_after_parameters.then(|| list.after_brackets(at + 1));
    }
    if !words::is_annotation(word) {
        return None;
    }
    if !words::has_arguments(word) {
        return Some(at + 1);
    }
    // The grammars read `__asm__ volatile (…)`.
    list.is_mark(at + 1, b'(').then(|| list.after_arguments(at + 1))
}

/// Returns the end of `<<<grid, block>>>` at a position.
fn launch_end(list: &TokenList<'_>, at: usize) -> Option<usize> {
    let is_triple = |at: usize, mark: u8| {
        (at..at + 3).all(|at| list.is_mark(at, mark))
            && list.tokens[at].start + 2 == list.tokens[at + 2].start
    };
    let follows_name = at > 0 && (list.is_word(at - 1) || list.is_mark(at - 1, b'>'));
    if !follows_name
        || list.word_at(at - 1) == "operator"
        || !is_triple(at, b'<')
        || list.is_mark(at + 3, b'<')
    {
        return None;
    }
    let mut end = at + 3;
    while end + 2 < list.len() && !list.is_mark(end, b';') && !list.is_mark(end, b'}') {
        if is_triple(end, b'>') {
            return list.is_mark(end + 3, b'(').then_some(end + 3);
        }
        end = if list.is_mark(end, b'(') || list.is_mark(end, b'{') {
            list.after_brackets(end)
        } else {
            end + 1
        };
    }
    None
}

fn has_objective_c(text: &str) -> bool {
    ["@interface", "@protocol", "@implementation", "@class", "@import"].iter().any(|word| text.contains(word))
}

/// Returns the end of the part of Objective-C that begins with `@` at a position.
fn objective_c_end(list: &TokenList<'_>, at: usize) -> Option<usize> {
    let semicolon = || (at..list.len()).find(|at| list.is_mark(*at, b';')).map_or(list.len(), |end| end + 1);
    match list.word_at(at + 1) {
        "class" | "import" => Some(semicolon()),
        // `@protocol A, B;`
        "protocol" if list.is_mark(at + 3, b';') || list.is_mark(at + 3, b',') => Some(semicolon()),
        "interface" | "protocol" | "implementation" => {
            let is_end = |at: &usize| list.is_mark(*at, b'@') && list.word_at(at + 1) == "end";
            Some((at + 2..list.len()).find(is_end).map_or(list.len(), |end| end + 2))
        }
        _ => None,
    }
}
