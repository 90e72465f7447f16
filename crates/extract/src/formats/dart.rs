//! Reads the types, functions and fields of Dart, and the names that it uses.

use std::ops::Range;

use super::braced_code::{BracedCode, Declaration};
use super::format_names::FormatNames;
use crate::definitions::tags::TagKind;

/// Words before a declaration that are no part of its type or name.
const MODIFIERS: [&str; 12] = [
    "abstract",
    "base",
    "const",
    "covariant",
    "external",
    "factory",
    "final",
    "interface",
    "late",
    "sealed",
    "static",
    "var",
];
/// Words that are no uses.
const KEYWORDS: [&str; 58] = [
    "abstract",
    "as",
    "assert",
    "async",
    "await",
    "base",
    "bool",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "dynamic",
    "else",
    "enum",
    "export",
    "extends",
    "extension",
    "external",
    "factory",
    "false",
    "final",
    "finally",
    "for",
    "get",
    "if",
    "implements",
    "import",
    "in",
    "int",
    "is",
    "late",
    "library",
    "mixin",
    "new",
    "null",
    "on",
    "part",
    "required",
    "return",
    "set",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "var",
    "void",
    "while",
    "with",
    "yield",
];
/// Words that begin a directive of a library.
const DIRECTIVES: [&str; 4] = ["export", "import", "library", "part"];

/// Returns the definitions of a file, and the names that it uses.
pub(super) fn read_names<'a>(_path: &str, text: &'a str) -> FormatNames<'a> {
    let mut code = BracedCode::split_text(text);
    let mut open = vec![(0..code.n_tokens(), None)];
    while let Some((span, owner)) = open.pop() {
        read_body(&mut code, span, owner.as_deref(), &mut open);
    }
    code.add_uses(&KEYWORDS);
    code.add_uses_in_texts(&KEYWORDS);
    code.into_names()
}

type OpenBodies = Vec<(Range<usize>, Option<String>)>;

/// Reads the declarations of a file or of the body of a type.
fn read_body(code: &mut BracedCode<'_>, span: Range<usize>, owner: Option<&str>, open: &mut OpenBodies) {
    let mut at = span.start;
    while at < span.end {
        let start = at;
        at = skip_annotations(code, at).min(span.end);
        let first = at;
        while MODIFIERS.contains(&code.text_at(at)) && code.word_at(at + 1).is_some() {
            at += 1;
        }
        let next = match code.text_at(at) {
            word if DIRECTIVES.contains(&word) && owner.is_none() && !code.is_mark(at + 1, b'(') => {
                code.end_of_statement(at)
            }
            "typedef" if owner.is_none() => read_alias(code, first, at),
            "class" | "mixin" | "enum" | "extension" if owner.is_none() => read_type(code, first, at, open),
            _ => read_member(code, first, at, owner),
        };
        at = next.max(start + 1);
    }
}

/// Returns the token after annotations such as `@Deprecated('x')`.
fn skip_annotations(code: &BracedCode<'_>, mut at: usize) -> usize {
    while code.is_mark(at, b'@') {
        at += 2;
        while code.is_mark(at, b'.') {
            at += 2;
        }
        if code.is_mark(at, b'(') {
            at = code.skip_brackets(at);
        }
    }
    at
}

fn read_alias(code: &mut BracedCode<'_>, first: usize, at: usize) -> usize {
    let end = code.end_of_statement(at);
    let set = (at..end).find(|at| code.is_mark(*at, b'='));
    let name = set.map_or(at + 1, |_| at + 1);
    code.add_item(Declaration { kind: TagKind::Type, name, owner: None }, first..end);
    end
}

/// Reads a class, mixin, enum or extension; returns the token after it.
fn read_type(code: &mut BracedCode<'_>, first: usize, at: usize, open: &mut OpenBodies) -> usize {
    let word = code.text_at(at).to_owned();
    let mut name = at + 1;
    // `mixin class A`, `extension type A`
    if matches!(code.text_at(name), "class" | "type") && code.word_at(name + 1).is_some() {
        name += 1;
    }
    add_bases(code, name);
    let Some(body) = code.find_before_end(name, b'{') else {
        let end = code.end_of_statement(at);
        code.add_item(Declaration { kind: TagKind::Class, name, owner: None }, first..end);
        return end;
    };
    let end = code.skip_brackets(body);
    let is_unnamed = word == "extension" && code.text_at(name) == "on";
    let (kind, name) = match word.as_str() {
        "enum" => (TagKind::Enum, name),
        _ if is_unnamed => (TagKind::Scope, name + 1),
        _ => (TagKind::Class, name),
    };
    code.add_item(Declaration { kind, name, owner: None }, first..end);
    let owner = code.text_at(name).to_owned();
    let mut start = body + 1;
    if kind == TagKind::Enum {
        start = read_values(code, start..end - 1, &owner);
    }
    open.push((start..end - 1, Some(owner)));
    end
}

/// Marks the types that a type extends, implements, mixes in or is an extension on.
fn add_bases(code: &mut BracedCode<'_>, name: usize) {
    let (mut at, mut depth, mut is_base) = (name + 1, 0_i32, code.text_at(name) == "on");
    while at < code.n_tokens() && !matches!(code.mark_at(at), Some(b'{' | b';')) {
        match code.mark_at(at) {
            Some(b'<') => depth += 1,
            Some(b'>') => depth -= 1,
            None if matches!(code.text_at(at), "extends" | "implements" | "on" | "with") => is_base = true,
            None if is_base && depth == 0 => code.add_base(at),
            _ => {}
        }
        at += 1;
    }
}

/// Reads the values of an enum; returns the token after them.
fn read_values(code: &mut BracedCode<'_>, span: Range<usize>, owner: &str) -> usize {
    let mut at = span.start;
    while at < span.end {
        at = skip_annotations(code, at);
        if code.word_at(at).is_none() {
            break;
        }
        code.add_item(Declaration { kind: TagKind::Field, name: at, owner: Some(owner) }, at..at + 1);
        at += 1;
        while at < span.end && !code.is_mark(at, b',') && !code.is_mark(at, b';') {
            at = code.skip_brackets(at);
        }
        at += 1;
        if code.is_mark(at - 1, b';') {
            break;
        }
    }
    at.min(span.end)
}

/// Reads a function, a getter, a constructor or variables; returns the token after it.
fn read_member(code: &mut BracedCode<'_>, first: usize, at: usize, owner: Option<&str>) -> usize {
    let mut head = at;
    let mut depth = 0_i32;
    while head < code.n_tokens() {
        match code.mark_at(head) {
            Some(b'<') => depth += 1,
            Some(b'>') => depth -= 1,
            None if code.text_at(head) == "operator" && code.mark_at(head + 1).is_some() => {
                let parameters = code.find_before_end(head + 1, b'(').unwrap_or(head + 1);
                return end_of_function(code, code.skip_brackets(parameters));
            }
            // A record type, `(int, int) f()`, and a function type, `int Function(int) f`.
            Some(b'(') if head == at || code.text_at(head - 1) == "Function" => {
                head = code.skip_brackets(head);
                continue;
            }
            Some(b'(' | b'=' | b';' | b'{' | b'}') if depth <= 0 => break,
            Some(b',') if depth <= 0 => break,
            _ => {}
        }
        head += 1;
    }
    let mark = code.mark_at(head);
    let is_getter =
        (at..head).any(|word| code.text_at(word) == "get") && code.text_at(head.wrapping_sub(1)) != "get";
    let is_arrow = mark == Some(b'=') && code.is_mark(head + 1, b'>');
    if mark == Some(b'}') || head == at {
        return code.skip_brackets(head.max(at));
    }
    let name = code.name_before(head);
    if mark == Some(b'(') || is_getter && (is_arrow || mark == Some(b'{')) {
        let parameters = if mark == Some(b'(') { code.skip_brackets(head) } else { head };
        let end = end_of_function(code, parameters);
        let kind = if owner.is_some() { TagKind::Method } else { TagKind::Function };
        code.add_item(Declaration { kind, name, owner }, first..end);
        return end;
    }
    if mark == Some(b'{') {
        return code.skip_brackets(head);
    }
    let end = code.end_of_statement(head);
    let kind = if owner.is_some() { TagKind::Field } else { TagKind::Constant };
    // `int a = 1, b = 2;`
    let more: Vec<usize> = code.after_commas(head..end);
    let own_end = more.first().map_or(end, |next| next - 1);
    code.add_item(Declaration { kind, name, owner }, first..own_end);
    for name in more {
        code.add_item(Declaration { kind, name, owner }, name..name + 1);
    }
    end
}

/// Returns the token after the body of a function whose parameters end before `at`: a block, an expression after `=>`, or nothing.
fn end_of_function(code: &BracedCode<'_>, mut at: usize) -> usize {
    while at < code.n_tokens() {
        match code.mark_at(at) {
            Some(b'{') => return code.skip_brackets(at),
            Some(b';') => return at + 1,
            Some(b'=') if code.is_mark(at + 1, b'>') => return code.end_of_statement(at),
            Some(b'}') => return at,
            _ => at = code.skip_brackets(at),
        }
    }
    at
}
