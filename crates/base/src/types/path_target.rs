//! Parses the forms in which people and programs write a place in a file, such as `PATH:LINE:COL` and `PATH#SYMBOL`.
//!
//! | form | who writes it |
//! |---|---|
//! | `PATH:12`, `PATH:12-20`, `PATH:L12`, `PATH#SYMBOL` | people |
//! | `PATH:12:5`, `PATH:12:`, `PATH:12:TEXT` | compilers, linters, `grep -n`; the column and the text are not used |
//! | `PATH(12)`, `PATH(12,5)`, `PATH(12,5): TEXT` | compilers of C#, C++ and TypeScript |
//! | `PATH#L12`, `PATH#L12-L20`, `PATH#L12C5-L20C9`, `PATH#12` | links to lines of a hosted repository |
//! | `File "PATH", line 12, in TEXT` | Python |

/// The part of a file that a target names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathPart<'a> {
    /// The whole file.
    Whole,
    /// One line, 1-based, which also means the definition around it.
    Line(u32),
    /// First and last line, 1-based and inclusive.
    Lines(u32, u32),
    /// A definition with this name.
    Symbol(&'a str),
}

impl PathPart<'_> {
    /// Returns the first and last line, 1-based and inclusive; `None` for a whole file or a definition.
    pub fn line_range(self) -> Option<(u32, u32)> {
        match self {
            Self::Line(line) => Some((line, line)),
            Self::Lines(first, last) => Some((first, last)),
            Self::Whole | Self::Symbol(_) => None,
        }
    }

    /// Returns the lines of a part that is written as in a link, such as `L12-L20`, which may also be the name of a definition.
    pub fn linked_lines(self) -> Option<Self> {
        match self {
            Self::Symbol(name) => parse_linked_lines(name),
            _ => None,
        }
    }
}

/// Returns the possible meanings of a target, the likeliest first, because file names may contain `:`, `#` and parentheses.
///
/// The path that exists decides which meaning holds.
pub fn parse_target(target: &str) -> Vec<(&str, PathPart<'_>)> {
    let mut meanings = vec![(target, PathPart::Whole)];
    let named = target.match_indices('#').map(|(at, _)| (&target[..at], &target[at + 1..]));
    // `#save` is a private name of JavaScript.
    let named = named.filter(|(path, symbol)| !path.is_empty() && !symbol.is_empty());
    meanings.extend(named.map(|(path, symbol)| (path, PathPart::Symbol(symbol))));
    meanings.extend(list_typed_lines(target).filter_map(|(path, text)| Some((path, parse_lines(text)?))));
    meanings
}

/// Returns why the lines of a target are not lines, and what to type instead; `None` if they are lines, or there are none.
pub fn explain_wrong_lines(target: &str) -> Option<(String, String)> {
    let linked = target.split_once('#').map(|(path, text)| (path, text.trim_start_matches('L')));
    let (path, (first, last)) =
        list_typed_lines(target).chain(linked).find_map(|(path, text)| Some((path, parse_numbers(text)?)))?;
    if first == 0 || last == 0 {
        let message = format!("{target}: lines are counted from 1");
        return Some((message, format!("{path}:{}", first.max(1))));
    }
    let message = format!("{target}: line {first} comes after line {last}");
    (last < first).then(|| (message, format!("{path}:{last}-{first}")))
}

/// Returns the paths in a target that text follows which may be lines, the longest path first.
fn list_typed_lines(target: &str) -> impl Iterator<Item = (&str, &str)> {
    let after_colons = target.match_indices(':').rev().map(|(at, _)| {
        let rest = &target[at + 1..];
        (&target[..at], rest.split_once(':').map_or(rest, |(lines, _)| lines))
    });
    let in_parentheses = target.match_indices('(').rev().filter_map(|(at, _)| {
        let (inside, after) = target[at + 1..].split_once(')')?;
        let lines = inside.split_once(',').map_or(inside, |(line, _)| line);
        (after.is_empty() || after.starts_with(':')).then_some((&target[..at], lines))
    });
    let of_python = target.strip_prefix("File ").unwrap_or(target).strip_prefix('"');
    let of_python = of_python.and_then(|rest| {
        let (path, rest) = rest.split_once("\", line ")?;
        Some((path, rest.split_once(',').map_or(rest, |(line, _)| line)))
    });
    after_colons.chain(in_parentheses).chain(of_python).filter(|(path, _)| !path.is_empty())
}

/// Parses `LINE` or `FIRST-LAST`, with an `L` before it or without.
fn parse_lines(text: &str) -> Option<PathPart<'static>> {
    let (first, last) = parse_numbers(text)?;
    let is_range = text.contains('-');
    (first > 0 && last >= first).then_some(match is_range {
        true => PathPart::Lines(first, last),
        false => PathPart::Line(first),
    })
}

/// Parses `12`, `L12`, `L12-L20` and `L12C5-L20C9`.
fn parse_linked_lines(text: &str) -> Option<PathPart<'static>> {
    match text.split_once('-') {
        Some((first, last)) => parse_lines(&format!("{}-{}", strip_column(first), strip_column(last))),
        None => parse_lines(strip_column(text)),
    }
}

/// Returns `L12` of `L12C5`.
fn strip_column(text: &str) -> &str {
    text.split_once('C').map_or(text, |(line, _)| line)
}

/// Parses the numbers of `LINE` or `FIRST-LAST` in any order.
fn parse_numbers(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((parse_number(first)?, parse_number(last)?))
}

fn parse_number(text: &str) -> Option<u32> {
    text.strip_prefix('L').unwrap_or(text).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_target_can_mean() {
        let check = |target: &str, expected: &[(&str, PathPart<'_>)]| {
            let (whole, rest) = expected.split_first().expect("the whole target is a meaning");
            assert_eq!(*whole, (target, PathPart::Whole));
            assert_eq!(parse_target(target)[1..], *rest, "{target}");
        };
        let whole = |target| (target, PathPart::Whole);
        let one = PathPart::Line(7);
        check("a.rs", &[whole("a.rs")]);
        check("a.rs:7", &[whole("a.rs:7"), ("a.rs", one)]);
        check("a.rs:L7", &[whole("a.rs:L7"), ("a.rs", one)]);
        check("a.rs:7-9", &[whole("a.rs:7-9"), ("a.rs", PathPart::Lines(7, 9))]);
        check("a.rs:7-7", &[whole("a.rs:7-7"), ("a.rs", PathPart::Lines(7, 7))]);
        check("a.rs:0", &[whole("a.rs:0")]);
        check("a.rs:9-7", &[whole("a.rs:9-7")]);
        check("a.rs:7:", &[whole("a.rs:7:"), ("a.rs", one)]);
        check("a.rs:7:3", &[whole("a.rs:7:3"), ("a.rs:7", PathPart::Line(3)), ("a.rs", one)]);
        check("a.rs:7:  return x", &[whole("a.rs:7:  return x"), ("a.rs", one)]);
        check("C:\\w\\a.rs:7", &[whole("C:\\w\\a.rs:7"), ("C:\\w\\a.rs", one)]);
        check("a.ts(7)", &[whole("a.ts(7)"), ("a.ts", one)]);
        check("a.ts(7,3)", &[whole("a.ts(7,3)"), ("a.ts", one)]);
        check("a.ts(7,3): error TS1", &[whole("a.ts(7,3): error TS1"), ("a.ts", one)]);
        check("a(1).ts:7", &[whole("a(1).ts:7"), ("a(1).ts", one)]);
        check("f(7)x", &[whole("f(7)x")]);
        check("a.rs#B::c", &[whole("a.rs#B::c"), ("a.rs", PathPart::Symbol("B::c"))]);
        check("a.rs#", &[whole("a.rs#")]);
        check("a.rs#L7", &[whole("a.rs#L7"), ("a.rs", PathPart::Symbol("L7"))]);
        let python = "File \"a b.py\", line 7, in f";
        check(python, &[whole(python), ("a b.py", one)]);
        check("\"a.py\", line 7", &[whole("\"a.py\", line 7"), ("a.py", one)]);
        check(":7", &[whole(":7")]);
    }

    #[test]
    fn lines_of_a_link() {
        let check = |name: &str, expected: Option<PathPart<'_>>| {
            assert_eq!(PathPart::Symbol(name).linked_lines(), expected, "{name}");
        };
        check("L7", Some(PathPart::Line(7)));
        check("L7C3", Some(PathPart::Line(7)));
        check("L7-L9", Some(PathPart::Lines(7, 9)));
        check("L7-9", Some(PathPart::Lines(7, 9)));
        check("L7C3-L9C1", Some(PathPart::Lines(7, 9)));
        check("7", Some(PathPart::Line(7)));
        check("7-9", Some(PathPart::Lines(7, 9)));
        for name in ["L", "Line", "L9-L7", "L0", "L7x", "l7", "7x", "C3"] {
            check(name, None);
        }
        assert_eq!(PathPart::Line(7).linked_lines(), None);
    }

    #[test]
    fn why_lines_are_wrong() {
        let check = |target: &str, expected: Option<(&str, &str)>| {
            let found = explain_wrong_lines(target);
            let found = found.as_ref().map(|(message, hint)| (message.as_str(), hint.as_str()));
            assert_eq!(found, expected, "{target}");
        };
        check("a.rs:20-10", Some(("a.rs:20-10: line 20 comes after line 10", "a.rs:10-20")));
        check("a.rs#L20-L10", Some(("a.rs#L20-L10: line 20 comes after line 10", "a.rs:10-20")));
        check("a.rs:0", Some(("a.rs:0: lines are counted from 1", "a.rs:1")));
        check("a.rs(0,3)", Some(("a.rs(0,3): lines are counted from 1", "a.rs:1")));
        for target in ["a.rs", "a.rs:7", "a.rs:7-9", "A::b", "a.rs#b"] {
            check(target, None);
        }
    }
}
