//! Finds the part of a file that a typed place such as `PATH:LINE` or `PATH#SYMBOL` names, and its definitions.

use std::collections::BTreeSet;
use std::path::Path;

use memod_base::paths::{CallerDir, OutsideError};
use memod_base::types::{
    Definition, PathPart, SourceKey, last_part, noun_form, parse_target, to_dotted_name,
};
use memod_engine::freshness::Freshness;
use memod_proto::{RpcError, code};

use super::commit_history::parse_source_key_in;
use super::linked_paths::explain_link;
use super::sparse_paths::SparsePaths;

/// Maximum number of names that a hint lists if a file does not define a symbol.
const MOST_NAMES: usize = 8;

/// Converts a typed path, perhaps with a line or symbol after it, into a path relative to the top: the longest one that exists, or
/// else the whole typed path.
///
/// # Errors
/// When the typed path leads out of the worktree.
pub(in crate::daemon) fn resolve_existing_path(
    typed: &str,
    dir: &CallerDir,
    exists: impl Fn(&str) -> bool,
) -> Result<String, OutsideError> {
    let mut meanings = parse_target(typed).into_iter().filter_map(|(path, _)| dir.resolve_path(path).ok());
    match meanings.find(|path| exists(path)) {
        Some(path) => Ok(path),
        None => dir.resolve_path(typed),
    }
}

/// Returns the error for a target that is not indexed because its path is or leads through a symbolic link, is or lies in a repository
/// below the worktree, as in a submodule, or is outside the sparse checkout; `None` for other targets.
pub(in crate::daemon) fn explain_path_elsewhere(
    at: &Freshness,
    (target, cwd): (&str, &str),
) -> Option<RpcError> {
    let dir = CallerDir::new(&at.layout, Path::new(cwd));
    let paths = parse_target(target).into_iter().filter_map(|(path, _)| parse_source_key_in(path, &dir));
    let paths: Vec<SourceKey> = paths.collect();
    if let Some(error) = paths.iter().find_map(|key| explain_link(at, key, &dir)) {
        return Some(error);
    }
    paths.iter().find_map(|key| find_repository_around(at, key.as_str(), &format!("{key}/"))).or_else(|| {
        let sparse = SparsePaths::read(&at.layout);
        let outside = paths.iter().find(|key| sparse.leaves_out(key.as_str()))?;
        Some(sparse.build_error(outside.as_str(), &dir))
    })
}

/// Returns the error for a path that lies in a repository below the worktree, as in a submodule; `None` for other paths.
pub(in crate::daemon) fn find_other_repository(at: &Freshness, key: &SourceKey) -> Option<RpcError> {
    find_repository_around(at, key.as_str(), key.as_str())
}

/// Returns the error for a path if one of the directories above `inside` is a repository below the worktree.
fn find_repository_around(at: &Freshness, path: &str, inside: &str) -> Option<RpcError> {
    let mut above = inside.match_indices('/').map(|(end, _)| &inside[..end]).filter(|dir| !dir.is_empty());
    let repository = above.find(|dir| at.disk.lstat(&at.layout.root.join(dir).join(".git")).is_ok())?;
    let message = format!("{path}: in another repository: {repository}");
    Some(RpcError::new(code::NOT_FOUND, message).with_hint(format!("ask there: memo -C {repository} …")))
}

/// Returns the part of a file that a target names. `L12` after `#` means a definition with that name if there is one, or else the
/// line.
pub(in crate::daemon) fn choose_part<'a>(part: PathPart<'a>, definitions: &[Definition]) -> PathPart<'a> {
    match (part, part.linked_lines()) {
        (PathPart::Symbol(name), Some(lines)) if find_definitions_named(definitions, name).is_empty() => {
            lines
        }
        _ => part,
    }
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
    let lines = noun_form(u64::from(n_lines), "line", "lines");
    (last > n_lines).then(|| format!("has {n_lines} {lines}, no {what}"))
}

/// Returns a hint that lists the definitions of a file; `None` if there are none.
pub(in crate::daemon) fn list_defined_names(definitions: &[Definition]) -> Option<String> {
    list_names(definitions.iter().filter(|definition| !definition.is_field))
}

/// Returns a hint that lists the members of a type, its fields included; `None` if there are none.
pub(in crate::daemon) fn list_member_names(members: &[Definition]) -> Option<String> {
    list_names(members.iter())
}

/// Returns a hint that lists definitions, private ones last, and after them those that a language gives a meaning (`__init__`).
fn list_names<'a>(definitions: impl Iterator<Item = &'a Definition>) -> Option<String> {
    let rank = |title: &str| {
        let own = last_part(title);
        (own.starts_with("__"), own.starts_with(['_', '#']))
    };
    let names: BTreeSet<_> = definitions.map(|found| (rank(&found.title), found.title.as_str())).collect();
    let n_more = names.len().saturating_sub(MOST_NAMES);
    let shown: Vec<&str> = names.into_iter().take(MOST_NAMES).map(|(_, title)| title).collect();
    match (shown.is_empty(), n_more) {
        (true, _) => None,
        (false, 0) => Some(format!("it defines {}", shown.join(", "))),
        (false, n_more) => Some(format!("it defines {} and {n_more} more", shown.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_link_or_a_definition_of_that_name() {
        let of_name = |title: &str| {
            let names = title.to_owned();
            Definition { title: title.to_owned(), names, ..Definition::default() }
        };
        let (part, other) = (PathPart::Symbol("L2"), [of_name("login")]);
        assert_eq!(choose_part(part, &other), PathPart::Line(2));
        assert_eq!(choose_part(PathPart::Symbol("L2-L5"), &other), PathPart::Lines(2, 5));
        assert_eq!(choose_part(part, &[of_name("L2")]), part);
        assert_eq!(choose_part(PathPart::Symbol("Loss"), &other), PathPart::Symbol("Loss"));
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
