//! Reads types and expressions from the text of languages that have no type rules of their own here.
//!
//! Types are such as `List<Order>`, expressions such as `repo.find(1)?.total`.

use memod_base::types::last_part;

use super::MAX_NAME_BYTES;

/// Generic types whose values are used like the type that they hold, or hold it after one step such as `await`.
const HOLDERS: [&str; 14] = [
    "AsyncLazy",
    "CompletableFuture",
    "Deferred",
    "Future",
    "FutureOr",
    "Lazy",
    "Mono",
    "Nullable",
    "Option",
    "Optional",
    "Result",
    "Some",
    "Task",
    "ValueTask",
];
/// Words before a type that are no part of it.
const TYPE_MARKS: [&str; 14] = [
    ":",
    "?",
    "=>",
    "any ",
    "const ",
    "final ",
    "in ",
    "inout ",
    "out ",
    "params ",
    "readonly ",
    "ref ",
    "required ",
    "some ",
];
/// Words before an expression that keep its type.
const VALUE_MARKS: [&str; 6] = ["await ", "try! ", "try? ", "try ", "&", "("];
/// Marks between a value and its member, the longest first.
pub(super) const SEPARATORS: [&str; 9] = ["?->", "!!.", "->", "::", "?.", "!.", "&.", ".", "\\"];
/// Most bytes of an expression or a type that are read.
const MAX_BYTES: usize = 400;
/// Deepest nesting of type arguments.
const MAX_DEPTH: usize = 4;

/// The type of a value, as far as the text shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShownType {
    /// The name of the type, followed by `<` and the type of its elements if it has any.
    Named(String),
    /// The expression that the value is set to, as a path.
    Path(String),
}

/// Returns the name of the type that a text writes; `None` for several types, for functions and for what is no class.
pub(super) fn read_type(text: &str) -> Option<String> {
    let name = read_nested_type(text, MAX_DEPTH)?;
    (name.len() <= MAX_NAME_BYTES).then_some(name)
}

fn read_nested_type(text: &str, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let mut rest = text.trim();
    if rest.len() > MAX_BYTES || rest.contains("->") {
        return None;
    }
    while let Some(mark) = TYPE_MARKS.iter().find(|mark| rest.starts_with(**mark)) {
        rest = rest[mark.len()..].trim_start();
    }
    rest = rest.trim_end_matches(['?', '!', ' ']);
    let elements = rest.strip_suffix("[]").or_else(|| rest.strip_suffix('*'));
    if let Some(element) = elements {
        return Some(format!("[]<{}", read_nested_type(element, depth)?));
    }
    if let Some(inner) = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let element = split_arguments(inner).pop()?;
        let element = element.rsplit_once(':').map_or(element, |(_, value)| value);
        return Some(format!("[]<{}", read_nested_type(element, depth)?));
    }
    let mut parts = rest.split('|').map(str::trim).filter(|part| !part.eq_ignore_ascii_case("null"));
    if let (Some(first), true) = (parts.next(), rest.contains('|') && !rest.contains('<')) {
        return if parts.next().is_none() { read_nested_type(first, depth) } else { None };
    }
    let (head, arguments) = match rest.find(['<', '[']) {
        Some(open) => (&rest[..open], Some(rest[open + 1..].strip_suffix(['>', ']'])?)),
        None => (rest, None),
    };
    let is_path = head.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '\\' | ':'));
    let name = last_part(head.rsplit('\\').next().unwrap_or(head));
    if !is_path || !name.starts_with(char::is_uppercase) {
        return None;
    }
    let Some(arguments) = arguments.map(split_arguments) else { return Some(name.to_owned()) };
    if HOLDERS.contains(&name) {
        return read_nested_type(arguments.first()?, depth);
    }
    let element = arguments.last().and_then(|element| read_nested_type(element, depth));
    Some(element.map_or_else(|| name.to_owned(), |element| format!("{name}<{element}")))
}

/// Splits type arguments at the commas outside of brackets.
fn split_arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '<' | '[' | '(' => depth += 1,
            '>' | ']' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// Returns what an expression shows of its type. `creates` are the ways to create a value in the language.
pub(super) fn read_value(text: &str, creates: &[Creation]) -> Option<ShownType> {
    let mut rest = text.trim();
    if rest.len() > MAX_BYTES {
        rest = rest.get(..MAX_BYTES)?;
    }
    while let Some(mark) = VALUE_MARKS.iter().find(|mark| rest.starts_with(**mark)) {
        rest = rest[mark.len()..].trim_start();
    }
    if let Some(created) = rest.strip_prefix("new ") {
        let end = created.find(['(', '{', ')', ';', '\n']).unwrap_or(created.len());
        return read_type(&created[..end]).map(ShownType::Named);
    }
    let (path, after) = read_path(rest)?;
    let after = after.trim_start_matches([')', ' ', '!', '?']);
    if let Some(of_type) = after.strip_prefix("as ").or_else(|| after.strip_prefix("as? ")) {
        return read_type(of_type.trim_end_matches(')')).map(ShownType::Named);
    }
    let is_whole =
        after.is_empty() || after.starts_with([':', '|', '\n', ';', '?', '{']) || after.starts_with("else");
    if !is_whole || path.len() > MAX_NAME_BYTES {
        return None;
    }
    let created = creates.iter().find_map(|creation| creation.created_type(&path));
    Some(match created {
        Some(name) => ShownType::Named(name.to_owned()),
        None => ShownType::Path(path),
    })
}

/// A way in which an expression creates a value of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Creation {
    /// `Order(1)`
    Call,
    /// `Order.new(1)`
    New,
}

impl Creation {
    fn created_type(self, path: &str) -> Option<&str> {
        let name = match self {
            Self::Call => path.strip_suffix("()")?,
            Self::New => path.trim_end_matches("()").strip_suffix(".new")?,
        };
        // A method may have a capital letter, too.
        if name.starts_with("self.") || name.contains("().") {
            return None;
        }
        let name = last_part(name);
        (name.starts_with(char::is_uppercase) && !name.contains(['(', '['])).then_some(name)
    }
}

/// Reads the path at the start of an expression: its parts joined by `.`, with `()` after calls and `[]` after an index. Returns the
/// text after it, too.
fn read_path(text: &str) -> Option<(String, &str)> {
    let (mut path, mut rest) = (String::new(), text);
    loop {
        let end = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
        let own = rest[..end].trim_start_matches('$');
        if own.is_empty() || own.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        path.push_str(own);
        rest = &rest[end..];
        loop {
            let before = rest;
            if rest.starts_with('<') {
                // Type arguments of a call.
                let close = rest.find('>').filter(|close| rest[close + 1..].starts_with('('));
                rest = close.map_or(rest, |close| &rest[close + 1..]);
            }
            if let Some(inner) = rest.strip_prefix('(') {
                rest = skip_bracket(inner, ')')?;
                path.push_str("()");
            } else if let Some(inner) = rest.strip_prefix('[') {
                rest = skip_bracket(inner, ']')?;
                // `apply[Int](1)` of Scala has types in its brackets.
                if !rest.starts_with('(') {
                    path.push_str("[]");
                }
            }
            if rest.len() == before.len() {
                break;
            }
        }
        let next = rest.trim_start_matches([' ', '\n', '\r', '\t']);
        match SEPARATORS.iter().find(|separator| next.starts_with(**separator)) {
            Some(separator) => {
                rest = next[separator.len()..].trim_start();
                path.push('.');
            }
            None => return Some((root_path(path), rest.trim_start_matches('!').trim_start())),
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '@')
}

/// Returns the text after the bracket that closes the one before `text`. Brackets in strings may come in pairs only.
fn skip_bracket(text: &str, close: char) -> Option<&str> {
    let open = if close == ')' { '(' } else { '[' };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            if depth == 0 {
                return Some(&text[at + close.len_utf8()..]);
            }
            depth -= 1;
        }
    }
    None
}

/// Returns the path that ends at the end of a text, as [`read_path`] writes it; `None` if another expression ends there.
pub(super) fn path_before(text: &str) -> Option<String> {
    let (mut rest, mut parts) = (text, Vec::new());
    let n_bytes = text.len();
    loop {
        rest = rest.trim_end();
        let mut suffix = String::new();
        loop {
            rest = rest.trim_end_matches(['!', '?']);
            let (bracket, mark) = match rest.chars().next_back()? {
                ')' => (('(', ')'), "()"),
                ']' => (('[', ']'), "[]"),
                _ => break,
            };
            rest = before_bracket(rest, bracket)?;
            suffix.insert_str(0, mark);
        }
        let start = rest.char_indices().rev().take_while(|(_, c)| is_name_char(*c)).last()?.0;
        let own = rest[start..].trim_start_matches('$');
        if own.is_empty() || own.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        parts.push(format!("{own}{suffix}"));
        rest = &rest[..start];
        let before = rest.trim_end();
        if n_bytes - before.len() > MAX_BYTES {
            return None;
        }
        match SEPARATORS.iter().find(|separator| before.ends_with(**separator)) {
            // The path of a namespace may begin with its separator: `\Shop\Order`.
            Some(separator) if before.len() > separator.len() && !starts_path(before, separator) => {
                rest = &before[..before.len() - separator.len()];
            }
            _ => break,
        }
    }
    parts.reverse();
    Some(root_path(parts.join("."))).filter(|path| path.len() <= MAX_NAME_BYTES)
}

/// Returns whether a separator at the end of a text has no value before it.
fn starts_path(before: &str, separator: &str) -> bool {
    let value = &before[..before.len() - separator.len()];
    !value
        .trim_end()
        .ends_with(|c: char| is_name_char(c) || matches!(c, ')' | ']' | '!' | '?' | '}' | '"' | '\''))
}

/// Returns the text before the bracket that the last byte closes.
fn before_bracket(text: &str, (open, close): (char, char)) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev().take(MAX_BYTES) {
        if c == close {
            depth += 1;
        } else if c == open {
            depth -= 1;
            if depth == 0 {
                return Some(&text[..at]);
            }
        }
    }
    None
}

/// Returns a path whose start is `self` if it begins at the value around: `this.total`, `@total`.
fn root_path(path: String) -> String {
    if let Some(field) = path.strip_prefix('@') {
        return format!("self.{}", field.trim_start_matches('@'));
    }
    match path.split_once('.') {
        Some(("this" | "super" | "base" | "parent" | "static" | "Self", rest)) => format!("self.{rest}"),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::{Creation, ShownType, path_before, read_type, read_value};

    #[test]
    fn types_have_their_own_name_and_that_of_their_elements() {
        let cases = [
            ("Order", Some("Order")),
            ("shop.Order?", Some("Order")),
            ("?\\Shop\\Order", Some("Order")),
            ("Order|null", Some("Order")),
            ("Order|Cart", None),
            ("List<Order>", Some("List<Order")),
            ("Order[]", Some("[]<Order")),
            ("[Order]", Some("[]<Order")),
            ("[String: Order]", Some("[]<Order")),
            ("Map<String, List<Order>>", Some("Map<List<Order")),
            ("Option[Order]", Some("Order")),
            ("Task<Order>", Some("Order")),
            ("inout Order", Some("Order")),
            ("int", None),
            ("(Int) -> Order", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read_type(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn values_are_types_or_paths() {
        let creates = [Creation::Call, Creation::New];
        let named = |name: &str| Some(ShownType::Named(name.to_owned()));
        let path = |path: &str| Some(ShownType::Path(path.to_owned()));
        let cases = [
            ("Order(1, (2))", named("Order")),
            ("new Order { Total = 1 }", named("Order")),
            ("Order.new(1)", named("Order")),
            ("Shop::Order.new", named("Order")),
            ("repo.find(1)?.total", path("repo.find().total")),
            ("await this.repo.Get<Order>(1)", path("self.repo.Get()")),
            ("xs[0]", path("xs[]")),
            ("$this->repo->find(1)", path("self.repo.find()")),
            ("x as Order", named("Order")),
            ("@orders.first", path("self.orders.first")),
            ("1 + 2", None),
            ("a + b", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read_value(text, &creates), expected, "{text}");
        }
    }

    #[test]
    fn paths_end_before_a_separator() {
        let cases = [
            ("return repo.find(1, \"a\")", Some("repo.find()")),
            ("x = this.repo", Some("self.repo")),
            ("f(\n  repo\n    .find { it }", None),
            ("f(\n  repo\n    .find(1)", Some("repo.find()")),
            ("xs[0]!", Some("xs[]")),
            ("\\Shop\\Order", Some("Shop.Order")),
            ("@order", Some("self.order")),
            ("(a + b)", None),
            ("1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(path_before(text).as_deref(), expected, "{text}");
        }
    }
}
