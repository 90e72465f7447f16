//! Parses `PATH`, `PATH:LINE`, `PATH:FIRST-LAST` and `PATH#SYMBOL`.

use std::collections::BTreeSet;

use memod_base::types::{Definition, to_dotted_name};

/// Maximum number of names that a hint lists if a file does not define a symbol.
const MOST_NAMES: usize = 8;

/// The part of a file that a target names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::daemon) enum PathPart<'a> {
    Whole,
    /// First and last, 1-based and inclusive; `PATH:LINE` is one line twice.
    Lines(u32, u32),
    Symbol(&'a str),
}

/// Returns whether a target names a range of lines, as `PATH:3-3` does, rather than one line, which means the definition around it.
pub(in crate::daemon) fn is_range(target: &str) -> bool {
    target.rsplit_once(':').is_some_and(|(_, lines)| lines.contains('-'))
}

/// Returns the possible meanings of a target, the likeliest first, because file names may contain `:` and `#`.
pub(in crate::daemon) fn parse_target(target: &str) -> Vec<(&str, PathPart<'_>)> {
    let mut parse = vec![(target, PathPart::Whole)];
    if let Some((path, symbol)) = target.split_once('#').filter(|(_, symbol)| !symbol.is_empty()) {
        parse.push((path, PathPart::Symbol(symbol)));
    }
    if let Some((path, part)) =
        target.rsplit_once(':').and_then(|(path, text)| Some((path, parse_lines(text)?)))
    {
        parse.push((path, part));
    }
    parse
}

/// Parses `LINE` or `FIRST-LAST`.
fn parse_lines(text: &str) -> Option<PathPart<'static>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first > 0 && last >= first).then_some(PathPart::Lines(first, last))
}

/// Returns the definitions that match a name: those with exactly that qualified name, or else those whose qualified names end with
/// the name. Its parts may be joined in any style (`Type::method`, `Type.method`).
pub(in crate::daemon) fn find_definitions_named<'a>(
    definitions: &'a [Definition],
    name: &str,
) -> Vec<&'a Definition> {
    let name = to_dotted_name(name);
    let exact: Vec<_> =
        definitions.iter().filter(|definition| to_dotted_name(&definition.title) == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    definitions
        .iter()
        .filter(|definition| {
            let title = to_dotted_name(&definition.title);
            let is_end = title.strip_suffix(&name).is_some_and(|before| before.ends_with('.'));
            is_end || definition.names.split_whitespace().any(|own| own == name)
        })
        .collect()
}

/// Returns the message for a span of lines that goes beyond the end of a file with `n_lines` lines; `None` if the file has them
/// all.
pub(in crate::daemon) fn why_beyond_end((first, last): (u32, u32), n_lines: u32) -> Option<String> {
    let what = if first == last { format!("line {last}") } else { format!("lines {first}-{last}") };
    (last > n_lines).then(|| format!("has {n_lines} lines, no {what}"))
}

/// Returns a hint that lists the definitions of a file; `None` if there are none.
pub(in crate::daemon) fn list_defined_names(definitions: &[Definition]) -> Option<String> {
    let mut names: BTreeSet<&str> = definitions.iter().map(|definition| definition.title.as_str()).collect();
    let n_more = names.len().saturating_sub(MOST_NAMES);
    while names.len() > MOST_NAMES {
        names.pop_last();
    }
    let names: Vec<&str> = names.into_iter().collect();
    match (names.is_empty(), n_more) {
        (true, _) => None,
        (false, 0) => Some(format!("it defines {}", names.join(", "))),
        (false, n_more) => Some(format!("it defines {} and {n_more} more", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_target_can_mean() {
        let check = |target: &str, expected: &[(&str, PathPart<'_>)]| {
            assert_eq!(parse_target(target), expected, "{target}");
        };
        check("a.rs", &[("a.rs", PathPart::Whole)]);
        check("a.rs:7", &[("a.rs:7", PathPart::Whole), ("a.rs", PathPart::Lines(7, 7))]);
        check("a.rs:7-9", &[("a.rs:7-9", PathPart::Whole), ("a.rs", PathPart::Lines(7, 9))]);
        check("a.rs:0", &[("a.rs:0", PathPart::Whole)]);
        check("a.rs:9-7", &[("a.rs:9-7", PathPart::Whole)]);
        check("a.rs#B::c", &[("a.rs#B::c", PathPart::Whole), ("a.rs", PathPart::Symbol("B::c"))]);
        check("a.rs#", &[("a.rs#", PathPart::Whole)]);
    }

    #[test]
    fn a_name_or_the_end_of_a_qualified_one() {
        let definition = |title: &str| {
            let names = memod_base::types::last_part(title).to_owned();
            Definition { title: title.to_owned(), names, ..Definition::default() }
        };
        let titles = ["login", "a::Session::login", "a::Key::login", "Web.relogin", "x, y"];
        let mut all = titles.map(definition).to_vec();
        all[4].names = "x y".to_owned();
        let check = |name: &str, expected: &[&str]| {
            let found: Vec<_> =
                find_definitions_named(&all, name).iter().map(|found| found.title.as_str()).collect();
            assert_eq!(found, expected, "{name}");
        };
        check("login", &["login"]);
        check("Session::login", &["a::Session::login"]);
        check("Session.login", &["a::Session::login"]);
        check("Web::relogin", &["Web.relogin"]);
        check("relogin", &["Web.relogin"]);
        check("ession::login", &[]);
        check("y", &["x, y"]);
        all.remove(0);
        let found: Vec<_> =
            find_definitions_named(&all, "login").iter().map(|found| found.title.as_str()).collect();
        assert_eq!(found, ["a::Session::login", "a::Key::login"]);
    }
}
