//! Resolves `PATH`, `PATH:LINES` and `PATH#SYMBOL` to an anchor.

use std::path::Path;

use memod_base::paths::{self, CallerDir};
use memod_base::types::{Definition, PathPart, ReadRefusal, SourceKey, explain_wrong_lines, parse_target};
use memod_engine::errors::RpcResult;
use memod_memory::anchor::MOST_LINES;
use memod_proto::anchor::Anchor;
use memod_proto::{RpcError, code};

use super::{AnchorChecker, AnchorLocation};
use crate::daemon::definitions::named_definitions::{
    ambiguous_name_error, find_definitions, undefined_name_error, unknown_target_error,
};
use crate::daemon::definitions::similar_targets::suggest_similar_targets;
use crate::daemon::request::commit_history::{parse_source_key, parse_source_key_in};
use crate::daemon::request::path_spec::{choose_part, find_definitions_named, why_beyond_end};
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::request::sparse_paths::SparsePaths;

/// Returns an anchor for the present code of a target.
///
/// # Errors
/// When the target does not exist or is not indexed, or when several definitions have its name. The hint suggests similar names.
pub(in crate::daemon) fn resolve_target(
    checker: &mut AnchorChecker<'_>,
    target: &str,
    cwd: &str,
) -> RpcResult<Anchor> {
    let mut found = None;
    for (path, part) in parse_target(target) {
        if let Some(key) = parse_source_key(path, cwd, &checker.at.layout)
            && checker.find_entry(&key)?.is_some()
        {
            found = Some((key, part));
            break;
        }
    }
    let dir = &CallerDir::new(&checker.at.layout, Path::new(cwd));
    let Some((key, part)) = found else {
        let location = locate_by_name(checker, target, dir)?;
        return build_anchor(checker, &location, dir);
    };
    let entry = checker.find_entry(&key)?;
    if let Some(refusal) = entry.and_then(|entry| entry.refusal) {
        return Err(not_indexed_error(&dir.display_path(key.as_str()), refusal));
    }
    let definitions = checker.reader.list_definitions(checker.at.worktree, &key)?;
    let location = match choose_part(part, &definitions) {
        PathPart::Whole => AnchorLocation { key, symbol: None, lines: None },
        PathPart::Line(line) => locate_lines(checker, key, (line, line), dir)?,
        PathPart::Lines(first, last) => locate_lines(checker, key, (first, last), dir)?,
        PathPart::Symbol(name) => locate_symbol(checker, key, name, dir)?,
    };
    build_anchor(checker, &location, dir)
}

fn build_anchor(
    checker: &mut AnchorChecker<'_>,
    location: &AnchorLocation,
    dir: &CallerDir,
) -> RpcResult<Anchor> {
    let anchor = checker.build_anchor(location)?;
    anchor.ok_or_else(|| {
        let path = dir.display_path(location.key.as_str());
        target_error(&format!("{path} changed while it was read"), "try again")
    })
}

/// Returns the location of the only definition of a name in any file.
fn locate_by_name(checker: &AnchorChecker<'_>, name: &str, dir: &CallerDir) -> RpcResult<AnchorLocation> {
    match find_definitions(&checker.request.shared, checker.reader, checker.at.worktree, name)?.as_slice() {
        [] => Err(missing_target_error(checker, name, dir)),
        [(key, found)] => Ok(AnchorLocation::from_definition(key.clone(), found)),
        found => Err(prefix_about_param(ambiguous_name_error(name, found, dir))),
    }
}

/// Returns whether the original or the present location of an anchor is at a target or below it. A target that is a bare name
/// stands for the definitions of that name.
///
/// # Errors
/// When the target is outside the worktree.
pub(in crate::daemon) fn is_anchor_at_target(
    anchor: &Anchor,
    target: &str,
    dir: &CallerDir,
) -> RpcResult<bool> {
    dir.resolve_path(target)?;
    let made_for = match (&anchor.symbol, anchor.lines) {
        (Some(symbol), _) => PathPart::Symbol(symbol),
        (None, Some((first, last))) => PathPart::Lines(first, last),
        (None, None) => PathPart::Whole,
    };
    let now = anchor.now.as_deref().and_then(|now| parse_target(now).pop());
    let places: Vec<_> = now.into_iter().chain([(anchor.path.as_str(), made_for)]).collect();
    Ok(parse_target(target).into_iter().any(|(path, part)| {
        let Ok(wanted) = dir.resolve_path(path) else { return false };
        places.iter().any(|(place, own)| {
            let is_below = is_at_or_below(place, wanted.as_str());
            match part {
                PathPart::Whole => is_below || is_symbol_named(*own, target),
                PathPart::Line(line) => is_below && overlaps_lines(*own, anchor, (line, line)),
                PathPart::Lines(first, last) => is_below && overlaps_lines(*own, anchor, (first, last)),
                PathPart::Symbol(name) => {
                    let lines = part.linked_lines().and_then(PathPart::line_range);
                    let is_line = lines.is_some_and(|lines| overlaps_lines(*own, anchor, lines));
                    is_below && (is_symbol_named(*own, name) || is_line)
                }
            }
        })
    }))
}

/// Returns whether a path is `dir` or lies in it; an empty `dir` is the root of the worktree.
fn is_at_or_below(path: &str, dir: &str) -> bool {
    let below = if dir.is_empty() { Some("") } else { path.strip_prefix(dir) };
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether the part of an anchor overlaps a range of lines.
fn overlaps_lines(part: PathPart<'_>, anchor: &Anchor, (first, last): (u32, u32)) -> bool {
    let own = part.line_range().or(anchor.lines.filter(|_| part != PathPart::Whole));
    own.is_some_and(|(from, to)| first <= to && from <= last)
}

/// Returns whether a part of a file is a symbol to which a name refers.
fn is_symbol_named(part: PathPart<'_>, name: &str) -> bool {
    match part {
        PathPart::Symbol(title) => is_title_named(title, name),
        _ => false,
    }
}

/// Returns whether a name refers to a definition with this title.
fn is_title_named(title: &str, name: &str) -> bool {
    let definition = Definition { title: title.to_owned(), ..Definition::default() };
    !find_definitions_named(std::slice::from_ref(&definition), name).is_empty()
}

/// Returns the index of the anchor that a target names. The target is an anchor as displayed, or a path relative to `cwd`.
pub(in crate::daemon) fn find_named_anchor(
    anchors: &[Anchor],
    target: &str,
    cwd: &str,
    layout: &paths::RepoLayout,
) -> Option<usize> {
    let exact = anchors.iter().position(|anchor| anchor.to_string() == target);
    exact.or_else(|| {
        parse_target(target).into_iter().find_map(|(path, part)| {
            let key = parse_source_key(path, cwd, layout)?;
            anchors.iter().position(|anchor| key.as_str() == anchor.path && has_part(anchor, part))
        })
    })
}

/// Returns whether an anchor is for this part of its file.
fn has_part(anchor: &Anchor, part: PathPart<'_>) -> bool {
    match (part, &anchor.symbol) {
        (PathPart::Symbol(name), Some(title)) => is_title_named(title, name),
        (PathPart::Symbol(_), None) => part.linked_lines().is_some_and(|lines| has_part(anchor, lines)),
        (_, symbol) => symbol.is_none() && anchor.lines == part.line_range(),
    }
}

fn target_error(message: &str, hint: &str) -> RpcError {
    prefix_about_param(bad_params_error(message)).with_hint(hint)
}

/// Puts the name of the param, `about`, before the message of an error.
fn prefix_about_param(error: RpcError) -> RpcError {
    RpcError { code: code::INVALID_PARAMS, message: format!("about: {}", error.message), ..error }
}

/// Returns the location of a range of lines. Fails if the lines do not exist, are too many, or are all empty.
fn locate_lines(
    checker: &mut AnchorChecker<'_>,
    key: SourceKey,
    (first, last): (u32, u32),
    dir: &CallerDir,
) -> RpcResult<AnchorLocation> {
    let path = dir.display_path(key.as_str());
    let text = checker.read_text(&key)?.unwrap_or_default();
    let n_lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if let Some(why) = why_beyond_end((first, last), n_lines) {
        return Err(target_error(&format!("{path} {why}"), "name existing lines"));
    }
    if last - first >= MOST_LINES {
        let message = format!("{path}: {} lines are more than {MOST_LINES}", last - first + 1);
        return Err(target_error(&message, "name fewer lines, or the whole file"));
    }
    let mut wanted = text.lines().skip(first as usize - 1).take((last - first + 1) as usize);
    if wanted.all(|line| line.trim().is_empty()) {
        return Err(target_error(&format!("{path}: these lines are empty"), "name lines with text"));
    }
    Ok(AnchorLocation { key, symbol: None, lines: Some((first, last)) })
}

/// Returns the location of the only definition of a name in a file.
fn locate_symbol(
    checker: &mut AnchorChecker<'_>,
    key: SourceKey,
    name: &str,
    dir: &CallerDir,
) -> RpcResult<AnchorLocation> {
    let path = dir.display_path(key.as_str());
    let all = checker.reader.list_definitions(checker.at.worktree, &key)?;
    match find_definitions_named(&all, name).as_slice() {
        [] => Err(prefix_about_param(undefined_name_error(&checker.request.caveats, &path, name, &all))),
        [found] => Ok(AnchorLocation::from_definition(key, found)),
        found => {
            let found: Vec<_> = found.iter().map(|found| (key.clone(), (*found).clone())).collect();
            Err(prefix_about_param(ambiguous_name_error(name, &found, dir))
                .with_hint("add the name of its type or module"))
        }
    }
}

/// Returns the error for a target that the index does not have, with the reason: a directory, ignored, outside, or unknown.
fn missing_target_error(checker: &AnchorChecker<'_>, target: &str, dir: &CallerDir) -> RpcError {
    let layout = &checker.at.layout;
    let specs = parse_target(target);
    let existing = specs.iter().find_map(|(path, _)| {
        let key = parse_source_key_in(path, dir)?;
        Some((memod_scan::lstat(&key.path_in(&layout.root)).ok()?, key))
    });
    if let Some((stat, key)) = existing {
        return match find_enclosing_repository(checker, &key) {
            Some(other) => {
                not_indexed_error(&dir.display_path(other.as_str()), ReadRefusal::NestedRepository)
            }
            None if stat.is_dir() => target_error(
                &format!("{} is a directory", dir.display_path(key.as_str())),
                "name a file in it",
            ),
            None => target_error(
                &format!("{} is ignored, so its changes would go unnoticed", dir.display_path(key.as_str())),
                "`git check-ignore -v` and .memoignore show why; name an indexed file",
            ),
        };
    }
    if let Some((message, hint)) = explain_wrong_lines(target) {
        return target_error(&message, &hint);
    }
    let path = specs.last().map_or(target, |(path, _)| path);
    let Some(key) = parse_source_key_in(path, dir) else {
        return target_error(
            &format!("{path} is not in {}", layout.root.display()),
            "name a file of this worktree",
        );
    };
    if let Some(other) = find_enclosing_repository(checker, &key) {
        return not_indexed_error(&dir.display_path(other.as_str()), ReadRefusal::NestedRepository);
    }
    let sparse = SparsePaths::read(layout);
    if sparse.leaves_out(key.as_str()) {
        return prefix_about_param(sparse.build_error(key.as_str(), dir));
    }
    let index = (&*checker.request.shared, checker.reader);
    let similar = suggest_similar_targets(index, checker.at.worktree, target, dir).ok().flatten();
    let hint = similar.unwrap_or_else(|| {
        "paths start at the current directory; `memo status --files` lists the indexed files".to_owned()
    });
    let mut error = prefix_about_param(unknown_target_error(&checker.request.caveats, target, None));
    if !checker.at.fresh {
        error.message += "; or the file is not indexed yet: `memo sync` waits until it is";
    }
    error.with_hint(hint)
}

/// Returns the nested repository that a path is or lies in.
fn find_enclosing_repository(checker: &AnchorChecker<'_>, key: &SourceKey) -> Option<SourceKey> {
    let path = key.as_str();
    let above = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]);
    above.map(SourceKey::new).find(|dir| {
        let entry = checker.reader.find_entry(checker.at.worktree, dir).ok().flatten();
        entry.is_some_and(|entry| entry.refusal == Some(ReadRefusal::NestedRepository))
    })
}

/// Returns the error for a target in a file that is not indexed, or in a nested repository.
fn not_indexed_error(path: &str, refusal: ReadRefusal) -> RpcError {
    if refusal == ReadRefusal::NestedRepository {
        let message = format!("{path} is another repository, which has its own memories");
        return target_error(&message, "run memo in it, or name a file of this one");
    }
    let message = format!("{path} is not indexed ({}), so its changes would go unnoticed", refusal.as_str());
    target_error(&message, "name a file that is indexed: `memo status --files` lists them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_by_what_was_typed() {
        let (root, state_dir, id) = ("/w".into(), "/w/.memo".into(), String::new());
        let location = paths::RepoLayout { root, git_dir: None, common_dir: None, state_dir, id };
        let anchor = |path: &str, symbol: Option<&str>, lines| Anchor {
            path: path.to_owned(),
            symbol: symbol.map(str::to_owned),
            lines,
            ..Anchor::default()
        };
        let anchors = [
            anchor("src/a.rs", None, None),
            anchor("src/a.rs", None, Some((3, 4))),
            anchor("src/a.rs", Some("A::b"), Some((3, 4))),
        ];
        let check = |target: &str, cwd: &str, expected: Option<usize>| {
            assert_eq!(find_named_anchor(&anchors, target, cwd, &location), expected, "{target}");
        };
        check("src/a.rs", "/w/src", Some(0)); // as it is shown
        check("a.rs", "/w/src", Some(0));
        check("a.rs:3-4", "/w/src", Some(1));
        check("a.rs#L3-L4", "/w/src", Some(1));
        check("file:///w/src/a.rs#L3-L4", "/w", Some(1));
        check("a.rs:3", "/w/src", None);
        check("../src/a.rs#b", "/w/src", Some(2));
        check("src/a.rs#A.b", "/w", Some(2));
        check("src/b.rs", "/w", None);
    }
}
