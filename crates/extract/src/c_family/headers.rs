//! Decides by its content whether a header is C or C++.
//!
//! Lines between `#ifdef __cplusplus` and its end do not count, because headers of C have such lines too.

use super::lexer::{Token, TokenKind, split_tokens};
use super::token_list::TokenList;
use super::words;

/// Least number of tokens between `#ifdef __cplusplus` and its end, for each token elsewhere, in a header of C++.
const GUARDED_SHARE: usize = 2;

/// Returns whether a header is C++: it has a declaration, a keyword or an `#include` that C does not have.
pub(crate) fn is_cpp_header(text: &str) -> bool {
    let tokens = split_tokens(text);
    let (open, guarded) = split_by_guard(text, tokens);
    let (n_open, n_guarded) = (open.len(), guarded.len());
    has_cpp(&TokenList { text, tokens: open })
        || n_guarded > n_open * GUARDED_SHARE && has_cpp(&TokenList { text, tokens: guarded })
}

/// Separates the tokens that every compiler reads from those that only a C++ compiler reads.
fn split_by_guard(text: &str, tokens: Vec<Token>) -> (Vec<Token>, Vec<Token>) {
    let (mut open, mut guarded) = (Vec::with_capacity(tokens.len()), Vec::new());
    // For each conditional around the current place, whether its branch is for C++ only.
    let mut branches: Vec<bool> = Vec::new();
    for token in tokens {
        if token.kind == TokenKind::Directive {
            let line = token.text(text).trim_start_matches(['#', ' ', '\t']);
            let names_cpp = line.contains("__cplusplus");
            if line.starts_with("if") {
                branches.push(names_cpp && !line.starts_with("ifndef") && !line.contains('!'));
            } else if line.starts_with("el") {
                if let Some(branch) = branches.last_mut() {
                    *branch = false;
                }
            } else if line.starts_with("endif") {
                branches.pop();
            }
        }
        let is_guarded = branches.contains(&true);
        if is_guarded { &mut guarded } else { &mut open }.push(token);
    }
    (open, guarded)
}

fn has_cpp(list: &TokenList<'_>) -> bool {
    (0..list.len()).any(|at| match list.kind_at(at) {
        Some(TokenKind::Directive) => includes_cpp(list.directive_at(at).unwrap_or_default()),
        Some(TokenKind::Word) => {
            is_cpp_word(list, at) || declares_method(list, at) || has_reference(list, at)
        }
        // `a::b`; `[[gnu::packed]]` is C.
        Some(TokenKind::Mark(b':')) => {
            list.is_scope_mark(at)
                && at > 0
                && list.is_word(at + 2)
                && !list.is_mark(at.wrapping_sub(2), b'[')
        }
        _ => false,
    })
}

/// Returns whether a line includes a header without an ending, as only C++ has: `#include <vector>`.
fn includes_cpp(line: &str) -> bool {
    let name = line.strip_prefix("include").and_then(|rest| rest.trim().strip_prefix('<'));
    name.and_then(|name| name.split_once('>'))
        .is_some_and(|(name, _)| !name.contains('.') && !name.is_empty())
}

/// Returns whether a statement begins at a position.
fn begins_statement(list: &TokenList<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    match list.kind_at(before) {
        Some(TokenKind::Directive | TokenKind::Mark(b';' | b'{' | b'}' | b'>' | b')' | b':')) => true,
        Some(TokenKind::Word) => list.starts_line(at) && list.is_macro(before),
        _ => false,
    }
}

fn is_cpp_word(list: &TokenList<'_>, at: usize) -> bool {
    let begins = || begins_statement(list, at);
    let is_mark = |at: usize, marks: &[u8]| marks.iter().any(|mark| list.is_mark(at, *mark));
    let before = || at.checked_sub(1).map_or("", |before| list.word_at(before));
    match list.word_at(at) {
        "class" => list.is_word(at + 1) && (begins() || matches!(before(), "enum" | "friend" | "typedef")),
        "namespace" => {
            (list.is_word(at + 1) || list.is_mark(at + 1, b'{')) && (begins() || before() == "inline")
        }
        "template" => list.is_mark(at + 1, b'<'),
        "constexpr" | "nullptr" | "static_cast" | "reinterpret_cast" | "decltype" | "noexcept" => {
            !is_mark(at + 1, b";,)") || list.word_at(at) == "nullptr"
        }
        "using" => {
            begins()
                && list.is_word(at + 1)
                && (list.word_at(at + 1) == "namespace" || list.is_mark(at + 2, b'='))
        }
        "public" | "private" | "protected" => {
            let is_slots = matches!(list.word_at(at + 1), "slots" | "Q_SLOTS");
            begins() && list.is_mark(if is_slots { at + 2 } else { at + 1 }, b':')
        }
        "signals" | "Q_SIGNALS" => begins() && list.is_mark(at + 1, b':'),
        "virtual" | "explicit" | "typename" | "friend" => begins() && list.is_word(at + 1),
        "override" => is_mark(at + 1, b";{") && at > 0 && list.is_mark(at - 1, b')'),
        "operator" => {
            let is_declared = at > 0 && (list.is_word(at - 1) || is_mark(at - 1, b"&*>"));
            is_declared
                && is_mark(at + 1, b"=+-*/<>!([&|^~%")
                && (at + 2..at + 5).any(|at| list.is_mark(at, b'('))
        }
        // `struct A : B {`
        "struct" => {
            let after = list.after_name(at + 1);
            let is_named = list.is_word(at + 1) && begins();
            let base = if list.word_at(after) == "final" { after + 1 } else { after };
            let has_base = list.is_mark(base, b':') && !list.is_scope_mark(base) && list.is_word(base + 1);
            is_named && (has_base || base > after && list.is_mark(base, b'{'))
        }
        _ => false,
    }
}

/// Returns whether a method of a `struct` is declared at a position: a type, a name and parameters directly inside.
fn declares_method(list: &TokenList<'_>, key: usize) -> bool {
    if list.word_at(key) != "struct" || !list.is_mark(key + 2, b'{') {
        return false;
    }
    let end = list.after_brackets(key + 2);
    let mut at = key + 3;
    while at < end {
        let is_name = list.is_mark(at + 1, b'(') && list.is_word(at) && list.is_word(at - 1);
        let name = list.word_at(at);
        let is_plain =
            |word: &str| !words::is_macro_name(word) && !word.starts_with("__") && !words::is_keyword(word);
        if is_name
            && is_plain(name)
            && !words::is_macro_name(list.word_at(at - 1))
            && !list.is_mark(at + 2, b'*')
        {
            let after = list.after_brackets(at + 1);
            let word = list.word_at(after);
            let is_body = list.is_mark(after, b'{') || matches!(word, "const" | "override" | "noexcept");
            // `int x attribute(y);` is an annotation: a type and two names.
            let is_declared = list.is_mark(after, b';')
                && (words::is_primitive(list.word_at(at - 1)) || !list.is_word(at.saturating_sub(2)));
            if is_body || is_declared {
                return true;
            }
        }
        let opens = matches!(list.kind_at(at), Some(TokenKind::Mark(b'(' | b'[' | b'{')));
        at = if opens { list.after_brackets(at) } else { at + 1 };
    }
    false
}

/// Returns whether a function whose name is at a position has a reference among its parameters: `int f(const T& a)`.
fn has_reference(list: &TokenList<'_>, at: usize) -> bool {
    let is_function = list.is_mark(at + 1, b'(')
        && at > 0
        && (list.is_word(at - 1) || list.is_mark(at - 1, b'*') || list.is_mark(at - 1, b'&'))
        && !words::is_keyword(list.word_at(at))
        && !list.is_macro(at)
        && !matches!(list.word_at(at - 1), "return" | "else" | "case" | "goto");
    if !is_function {
        return false;
    }
    let end = list.after_brackets(at + 1);
    (at + 2..end).any(|at| {
        let first = if list.word_at(at) == "const" { at + 1 } else { at };
        let begins = list.is_mark(at - 1, b'(') || list.is_mark(at - 1, b',');
        let after = if list.is_word(first) { list.after_name(first) } else { return false };
        let name = after + 1;
        begins
            && list.is_mark(after, b'&')
            && list.is_word(name)
            && (list.is_mark(name + 1, b',') || name + 2 == end)
            && (first > at || words::is_primitive(list.word_at(first)) || is_declaration(list, end))
    })
}

/// Returns whether a list of parameters belongs to a declaration and no call.
fn is_declaration(list: &TokenList<'_>, end: usize) -> bool {
    list.is_mark(end, b';') || list.is_mark(end, b'{')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_told_by_its_content() {
        let cpp = [
            "class A;",
            "#pragma once\r\n  namespace a {\n}",
            "enum class A { B };",
            "inline constexpr int N = 3;",
            "class API A {\n public:\n};",
            "struct A { void f(); };",
            "struct A { int f(int x) const; int x; };",
            "struct A { bool operator==(const A& o) const; };",
            "struct A : B { int x; };",
            "struct A final {};",
            "template <typename T> T f(T x);",
            "using X = int;",
            "void *p = nullptr;",
            "int f(const T& a);",
            "void f(int a, std::string b);",
            "void f(Thing& a, int b);",
            "#include <vector>\nint f(int);",
            "#include <QObject>\n",
            "#ifdef __cplusplus\nnamespace a { int f(); int g(); int h(); }\n#endif",
        ];
        for text in cpp {
            assert!(is_cpp_header(text), "{text}");
        }
        let c = [
            "",
            "/* no class here */\nstruct a;",
            "struct device { struct class *class; int private : 1; };",
            "struct ops { int (*open)(int a); int x; };",
            "struct a { char data[3] __aligned(8); int n PACKED(3); };",
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(int x, int y);\nint g(void);\n#ifdef __cplusplus\n}\n#endif",
            "#ifdef __cplusplus\nclass A;\n#else\ntypedef struct A A;\n#endif\nvoid f(A *a); void g(A *a);",
            "[[gnu::packed]] int x;",
            "static inline int f(int a, int b) { return g(a & b) + h(1, a & b); }",
            "int new, delete, template, this; void namespace(int);",
            "#include <stdio.h>\n#include \"x\"\n",
            "#define A(x) std::move(x)\n",
            "@interface A : NSObject\n- (void)f;\n@end",
            "@class A;\nint f(int x);",
            "struct a operator; int x = a.operator;",
        ];
        for text in c {
            assert!(!is_cpp_header(text), "{text}");
        }
    }
}
