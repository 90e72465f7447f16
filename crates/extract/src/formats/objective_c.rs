//! Reads the classes, protocols, methods, properties and functions of Objective-C, and the names that it uses.

use std::ops::Range;

use super::braced_code::{BracedCode, Declaration};
use super::format_names::FormatNames;
use crate::definitions::tags::TagKind;

/// Words that are no uses.
const KEYWORDS: [&str; 56] = [
    "BOOL",
    "NO",
    "NULL",
    "YES",
    "assign",
    "atomic",
    "autoreleasepool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "copy",
    "default",
    "do",
    "double",
    "dynamic",
    "else",
    "end",
    "enum",
    "extern",
    "finally",
    "float",
    "for",
    "id",
    "if",
    "implementation",
    "in",
    "int",
    "interface",
    "long",
    "nil",
    "nonatomic",
    "nullable",
    "optional",
    "private",
    "property",
    "protocol",
    "public",
    "readonly",
    "readwrite",
    "required",
    "return",
    "self",
    "short",
    "sizeof",
    "static",
    "strong",
    "struct",
    "super",
    "switch",
    "synthesize",
    "typedef",
    "unsigned",
];
/// More words that are no uses.
const MORE_KEYWORDS: [&str; 5] = ["void", "weak", "while", "try", "selector"];

/// Returns the definitions of a file, and the names that it uses.
pub(super) fn read_names<'a>(_path: &str, text: &'a str) -> FormatNames<'a> {
    let mut code = BracedCode::split_text(text);
    let mut at = 0;
    while at < code.n_tokens() {
        let next = match code.mark_at(at) {
            Some(b'#') => read_directive(&mut code, at),
            Some(b'@') => read_block(&mut code, at),
            _ => read_declaration(&mut code, at),
        };
        at = next.max(at + 1);
    }
    let keywords: Vec<&str> = KEYWORDS.iter().chain(&MORE_KEYWORDS).copied().collect();
    code.add_uses(&keywords);
    code.into_names()
}

/// Reads a directive such as `#define`; returns the token after its line.
fn read_directive(code: &mut BracedCode<'_>, at: usize) -> usize {
    let end = code.next_line(at);
    match code.text_at(at + 1) {
        "define" => {
            code.skip_uses(at + 1..at + 2);
            code.add_item(Declaration { kind: TagKind::Macro, name: at + 2, owner: None }, at..end);
        }
        "if" => code.skip_uses(at + 1..at + 2),
        // `#import <A/B.h>`, `#pragma mark - x`
        _ => code.skip_uses(at + 1..end),
    }
    end
}

/// Reads what begins with `@`: a class, a category, a protocol, or a statement; returns the token after it.
fn read_block(code: &mut BracedCode<'_>, at: usize) -> usize {
    let word = code.text_at(at + 1).to_owned();
    let name = at + 2;
    let is_forward = code.is_mark(name + 1, b';') || code.is_mark(name + 1, b',');
    if !matches!(word.as_str(), "interface" | "implementation" | "protocol")
        || word == "protocol" && is_forward
    {
        return code.end_of_statement(at);
    }
    let end = (name..code.n_tokens())
        .find(|at| code.is_mark(*at, b'@') && code.text_at(at + 1) == "end")
        .map_or(code.n_tokens(), |end| end + 2);
    let is_category = code.is_mark(name + 1, b'(');
    let kind = match word.as_str() {
        _ if is_category => TagKind::Scope,
        "protocol" => TagKind::Interface,
        _ => TagKind::Class,
    };
    code.add_item(Declaration { kind, name, owner: None }, at..end);
    let owner = code.text_at(name).to_owned();
    read_members(code, name + 1..end.saturating_sub(2).max(name + 1), &owner);
    end
}

/// Reads the methods, properties, variables and functions between `@interface` or `@implementation` and `@end`.
fn read_members(code: &mut BracedCode<'_>, span: Range<usize>, owner: &str) {
    let mut at = span.start;
    if code.is_mark(at, b'(') {
        at = code.skip_brackets(at);
    }
    // The base class and the protocols.
    while at < span.end
        && !matches!(code.mark_at(at), Some(b'-' | b'+' | b'@' | b'{' | b'#'))
        && !is_type_start(code, at)
    {
        at += 1;
    }
    if code.is_mark(at, b'{') {
        read_variables(code, at + 1..code.skip_brackets(at) - 1, owner);
        at = code.skip_brackets(at);
    }
    while at < span.end {
        let next = match code.mark_at(at) {
            Some(b'#') => read_directive(code, at),
            Some(b'-' | b'+') => read_method(code, at, owner),
            Some(b'@') if code.text_at(at + 1) == "property" => read_property(code, at, owner),
            Some(b'@') if matches!(code.text_at(at + 1), "synthesize" | "dynamic") => {
                code.end_of_statement(at)
            }
            Some(b'@') => at + 2,
            _ => read_declaration(code, at),
        };
        at = next.max(at + 1);
    }
}

/// Returns whether a declaration begins at a token of the head of a class: two words follow each other there only after it.
fn is_type_start(code: &BracedCode<'_>, at: usize) -> bool {
    matches!(code.text_at(at), "static" | "typedef" | "extern" | "void" | "int")
}

/// Reads the variables of an instance, in braces.
fn read_variables(code: &mut BracedCode<'_>, span: Range<usize>, owner: &str) {
    let mut at = span.start;
    while at < span.end {
        if code.is_mark(at, b'@') {
            at += 2;
            continue;
        }
        let end = code.end_of_statement(at).min(span.end);
        if code.is_mark(end.saturating_sub(1), b';') {
            let name = code.name_before(end - 1);
            code.add_item(Declaration { kind: TagKind::Field, name, owner: Some(owner) }, at..end);
        }
        at = end.max(at + 1);
    }
}

/// Reads a method, whose name is the first word of its selector; returns the token after it.
fn read_method(code: &mut BracedCode<'_>, at: usize, owner: &str) -> usize {
    let mut name = at + 1;
    if code.is_mark(name, b'(') {
        name = code.skip_brackets(name);
    }
    let body = code.find_before_end(name, b'{');
    let end = body.map_or_else(|| code.end_of_statement(name), |body| code.skip_brackets(body));
    // The parts of the selector are no messages.
    for part in name..body.unwrap_or(end) {
        if code.is_mark(part + 1, b':') {
            code.skip_uses(part..part + 1);
        }
    }
    code.add_item(Declaration { kind: TagKind::Method, name, owner: Some(owner) }, at..end);
    end
}

/// Reads a property, whose name is the last word before `;` or a macro with arguments; returns the token after it.
fn read_property(code: &mut BracedCode<'_>, at: usize, owner: &str) -> usize {
    let end = code.end_of_statement(at);
    let attributes = if code.is_mark(at + 2, b'(') { code.skip_brackets(at + 2) } else { at + 2 };
    let block = (attributes..end).find(|at| code.is_mark(*at, b'(') && code.is_mark(at + 1, b'^'));
    let name = match block {
        // `void (^done)(int)`
        Some(block) => block + 2,
        None => {
            let is_macro =
                |word: &str| word.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit());
            let words =
                (attributes..end).rev().filter(|at| code.word_at(*at).is_some_and(|word| !is_macro(word)));
            words.into_iter().next().unwrap_or(end)
        }
    };
    code.add_item(Declaration { kind: TagKind::Field, name, owner: Some(owner) }, at..end);
    end
}

/// Reads a function, a type or a constant of C; returns the token after it.
fn read_declaration(code: &mut BracedCode<'_>, at: usize) -> usize {
    if code.text_at(at) == "typedef" || matches!(code.text_at(at), "struct" | "enum" | "union") {
        return read_c_type(code, at);
    }
    let mut head = at;
    while head < code.n_tokens()
        && !matches!(code.mark_at(head), Some(b'(' | b'=' | b';' | b'{' | b'}' | b'@' | b'#'))
    {
        head += 1;
    }
    match code.mark_at(head) {
        Some(b'(') if head > at + 1 => {
            let after = code.skip_brackets(head);
            let is_function = code.is_mark(after, b'{');
            let end = if is_function { code.skip_brackets(after) } else { code.end_of_statement(after) };
            let name = code.name_before(head);
            if is_function || code.is_mark(after, b';') {
                code.add_item(Declaration { kind: TagKind::Function, name, owner: None }, at..end);
            }
            end
        }
        Some(b'=') if head > at + 1 => {
            let end = code.end_of_statement(head);
            let name = code.name_before(head);
            code.add_item(Declaration { kind: TagKind::Constant, name, owner: None }, at..end);
            end
        }
        Some(b'@' | b'#') => head,
        Some(b'{' | b'(') => code.skip_brackets(head),
        _ => head + 1,
    }
}

/// Reads `typedef`, `struct` and `enum`, also `typedef NS_ENUM(NSInteger, Color) { Red }`; returns the token after it.
fn read_c_type(code: &mut BracedCode<'_>, at: usize) -> usize {
    let end = code.end_of_statement(at);
    let body = code.find_before_end(at, b'{');
    let head = at..body.unwrap_or(end);
    let call = head.clone().find(|at| code.text_at(*at).starts_with("NS_") && code.is_mark(at + 1, b'('));
    let is_enum = call.is_some() || head.clone().any(|at| code.text_at(at) == "enum");
    let name = match (call, body) {
        (Some(call), _) => code.skip_brackets(call + 1).saturating_sub(2),
        (None, Some(_)) if code.text_at(at) == "typedef" => code.name_before(end.saturating_sub(1)),
        (None, Some(body)) => body.saturating_sub(1),
        (None, None) if code.text_at(at) == "typedef" => {
            let block = head.clone().find(|at| code.is_mark(*at, b'^'));
            block.map_or_else(|| code.name_before(end.saturating_sub(1)), |block| block + 1)
        }
        (None, None) => return end,
    };
    let kind = match (is_enum, body) {
        (true, _) => TagKind::Enum,
        (false, Some(_)) => TagKind::Struct,
        (false, None) => TagKind::Type,
    };
    code.add_item(Declaration { kind, name, owner: None }, at..end);
    if let Some(body) = body {
        let owner = code.text_at(name).to_owned();
        let inner = body + 1..code.skip_brackets(body) - 1;
        if is_enum {
            let mut values: Vec<usize> = code.after_commas(inner.clone());
            values.extend(Some(inner.start).filter(|first| code.word_at(*first).is_some()));
            values.sort_unstable();
            for value in values.into_iter().filter(|value| *value < inner.end) {
                code.add_item(
                    Declaration { kind: TagKind::Field, name: value, owner: Some(&owner) },
                    value..value + 1,
                );
            }
        } else {
            read_variables(code, inner, &owner);
        }
    }
    end
}
