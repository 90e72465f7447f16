//! Resolves `PATH`, `PATH:LINES` and `PATH#SYMBOL` to an anchor.

use std::path::Path;

use memod_base::paths::{self, CallerDir};
use memod_base::types::{Definition, Refusal, SourceKey};
use memod_engine::errors::RpcResult;
use memod_memory::anchor::MOST_LINES;
use memod_proto::anchor::Anchor;
use memod_proto::{RpcError, code};

use super::{AnchorChecker, AnchorLocation};
use crate::daemon::definitions::named_definitions::{definitions_named, nothing, several, undefined};
use crate::daemon::request::commit_history::{key_in, key_of};
use crate::daemon::request::error::bad_params;
use crate::daemon::request::path_spec::{Part, named, parse};

/// Number of suggestions for a path or name that does not exist.
const MOST_NEAR: usize = 5;
/// Minimum similarity of a suggestion, 0 to 1. Jaro-Winkler favours a common beginning.
const NEAR: f64 = 0.9;

/// Returns an anchor for the present state of a target.
///
/// # Errors
/// When nothing has that name, or several definitions have it; the hint suggests similar names.
pub(in crate::daemon) fn resolve(
    judge: &mut AnchorChecker<'_>,
    target: &str,
    cwd: &str,
) -> RpcResult<Anchor> {
    let mut found = None;
    for (path, part) in parse(target) {
        if let Some(key) = key_of(path, cwd, &judge.at.layout)
            && judge.entry(&key)?.is_some()
        {
            found = Some((key, part));
            break;
        }
    }
    let dir = &CallerDir::new(&judge.at.layout, Path::new(cwd));
    let Some((key, part)) = found else {
        let location = by_name(judge, target, dir)?;
        return made(judge, &location, dir);
    };
    let entry = judge.entry(&key)?;
    if let Some(refusal) = entry.and_then(|entry| entry.refusal) {
        return Err(not_read(&dir.display(key.as_str()), refusal));
    }
    let location = match part {
        Part::Whole => AnchorLocation { key, symbol: None, lines: None },
        Part::Lines(first, last) => lines(judge, key, (first, last), dir)?,
        Part::Symbol(name) => symbol(judge, key, name, dir)?,
    };
    made(judge, &location, dir)
}

fn made(judge: &mut AnchorChecker<'_>, location: &AnchorLocation, dir: &CallerDir) -> RpcResult<Anchor> {
    let anchor = judge.anchor(location)?;
    anchor.ok_or_else(|| {
        let path = dir.display(location.key.as_str());
        refused(&format!("{path} changes while it is read"), "try again")
    })
}

/// Returns the only definition of a name, in whatever file.
fn by_name(judge: &AnchorChecker<'_>, name: &str, dir: &CallerDir) -> RpcResult<AnchorLocation> {
    match definitions_named(judge.shared, judge.reader, judge.at.view, name)?.as_slice() {
        [] => Err(not_there(judge, name, dir)),
        [(key, found)] => Ok(AnchorLocation::definition(key.clone(), found)),
        found => Err(about(several(name, found, dir))),
    }
}

/// Returns whether an anchor is at a target or below it, by the place that it was made for or by its present one. A target
/// that is only a name means the definitions of that name.
///
/// # Errors
/// When the target is outside the worktree.
pub(in crate::daemon) fn is_about(anchor: &Anchor, target: &str, dir: &CallerDir) -> RpcResult<bool> {
    dir.path(target)?;
    let made_for = match (&anchor.symbol, anchor.lines) {
        (Some(symbol), _) => Part::Symbol(symbol),
        (None, Some((first, last))) => Part::Lines(first, last),
        (None, None) => Part::Whole,
    };
    let now = anchor.now.as_deref().and_then(|now| parse(now).pop());
    let places: Vec<_> = now.into_iter().chain([(anchor.path.as_str(), made_for)]).collect();
    let is_named = |part: Part<'_>, name: &str| match part {
        Part::Symbol(title) => {
            let own = Definition { title: title.to_owned(), ..Definition::default() };
            !named(std::slice::from_ref(&own), name).is_empty()
        }
        _ => false,
    };
    let is_meant = |path: &str, part: Part<'_>| {
        let Ok(wanted) = dir.path(path) else { return false };
        places.iter().any(|(place, own)| {
            let below = if wanted.is_empty() { Some("") } else { place.strip_prefix(wanted.as_str()) };
            let is_below = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let is_overlapping = |(first, last): (u32, u32)| match *own {
                Part::Lines(from, to) => first <= to && from <= last,
                Part::Symbol(_) => anchor.lines.is_some_and(|(from, to)| first <= to && from <= last),
                Part::Whole => false,
            };
            match part {
                Part::Whole => is_below || is_named(*own, target),
                Part::Lines(first, last) => is_below && is_overlapping((first, last)),
                Part::Symbol(name) => is_below && is_named(*own, name),
            }
        })
    };
    Ok(parse(target).into_iter().any(|(path, part)| is_meant(path, part)))
}

/// Returns the anchor of a memory that a target refers to, as it is displayed or as it was typed.
pub(in crate::daemon) fn named_by(
    anchors: &[Anchor],
    target: &str,
    cwd: &str,
    location: &paths::RepoLayout,
) -> Option<usize> {
    let exact = anchors.iter().position(|anchor| anchor.to_string() == target);
    let of_symbol = |anchor: &Anchor, name: &str| {
        let title = anchor.symbol.clone().unwrap_or_default();
        let own = Definition { title, ..Definition::default() };
        anchor.symbol.is_some() && !named(std::slice::from_ref(&own), name).is_empty()
    };
    let means = |anchor: &Anchor, path: &str, part: Part<'_>| {
        let is_path = key_of(path, cwd, location).is_some_and(|key| key.as_str() == anchor.path);
        is_path
            && match part {
                Part::Whole => anchor.symbol.is_none() && anchor.lines.is_none(),
                Part::Lines(first, last) => anchor.symbol.is_none() && anchor.lines == Some((first, last)),
                Part::Symbol(name) => of_symbol(anchor, name),
            }
    };
    let read = || {
        parse(target)
            .into_iter()
            .find_map(|(path, part)| anchors.iter().position(|anchor| means(anchor, path, part)))
    };
    exact.or_else(read)
}

fn refused(message: &str, hint: &str) -> RpcError {
    about(bad_params(message)).with_hint(hint)
}

/// Names the param in an error.
fn about(error: RpcError) -> RpcError {
    RpcError { code: code::INVALID_PARAMS, message: format!("about: {}", error.message), ..error }
}

fn lines(
    judge: &mut AnchorChecker<'_>,
    key: SourceKey,
    (first, last): (u32, u32),
    dir: &CallerDir,
) -> RpcResult<AnchorLocation> {
    let path = dir.display(key.as_str());
    let text = judge.text(&key)?.unwrap_or_default();
    let n_lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if last > n_lines {
        let beyond = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
        return Err(refused(&format!("{path} has {n_lines} lines, no {beyond}"), "name existing lines"));
    }
    if last - first >= MOST_LINES {
        let message = format!("{path}: {} lines, over {MOST_LINES}", last - first + 1);
        return Err(refused(&message, "name fewer lines, or the whole file"));
    }
    let mut wanted = text.lines().skip(first as usize - 1).take((last - first + 1) as usize);
    if wanted.all(|line| line.trim().is_empty()) {
        return Err(refused(&format!("{path}: these lines are empty"), "name lines with text"));
    }
    Ok(AnchorLocation { key, symbol: None, lines: Some((first, last)) })
}

fn symbol(
    judge: &mut AnchorChecker<'_>,
    key: SourceKey,
    name: &str,
    dir: &CallerDir,
) -> RpcResult<AnchorLocation> {
    let path = dir.display(key.as_str());
    let all = judge.reader.definitions(judge.at.view, &key)?;
    match named(&all, name).as_slice() {
        [] => {
            let near = near(name, all.iter().map(|found| found.title.as_str()));
            let hint = did_you_mean(&near.iter().map(|title| format!("{path}#{title}")).collect::<Vec<_>>());
            let error = about(undefined(&path, name, &all));
            Err(match hint {
                Some(hint) => error.with_hint(hint),
                None => error,
            })
        }
        [found] => Ok(AnchorLocation::definition(key, found)),
        found => {
            let found: Vec<_> = found.iter().map(|found| (key.clone(), (*found).clone())).collect();
            Err(about(several(name, &found, dir)).with_hint("add the name of its type or module"))
        }
    }
}

/// Explains why the worktree has nothing of a name, from the point of view of git and memo.
fn not_there(judge: &AnchorChecker<'_>, target: &str, dir: &CallerDir) -> RpcError {
    let location = &judge.at.layout;
    let parse = parse(target);
    let there = parse.iter().find_map(|(path, _)| {
        let key = key_in(path, dir)?;
        Some((memod_scan::lstat(&location.root.join(key.as_str())).ok()?, key))
    });
    if let Some((stat, key)) = there {
        return match enclosing_repository(judge, &key) {
            Some(other) => not_read(&dir.display(other.as_str()), Refusal::NestedRepository),
            None if stat.is_dir() => {
                refused(&format!("{} is a directory", dir.display(key.as_str())), "name a file in it")
            }
            None => refused(
                &format!("{} is ignored, so changes of it would go unnoticed", dir.display(key.as_str())),
                "`git check-ignore -v` and .memoignore show why; name an indexed file",
            ),
        };
    }
    let path = parse.last().map_or(target, |(path, _)| path);
    let Some(key) = key_in(path, dir) else {
        return refused(
            &format!("{path} is not in {}", location.root.display()),
            "name a file of this worktree",
        );
    };
    if let Some(other) = enclosing_repository(judge, &key) {
        return not_read(&dir.display(other.as_str()), Refusal::NestedRepository);
    }
    let paths = judge.reader.paths(judge.at.view).unwrap_or_default();
    let paths = paths.iter().filter(|(_, refusal)| refusal.is_none()).map(|(path, _)| path.as_str());
    let behind = target.strip_prefix(path).unwrap_or_default();
    let near = near(key.as_str(), paths);
    let near: Vec<_> = near.iter().map(|path| format!("{}{behind}", dir.display(path))).collect();
    let hint = did_you_mean(&near);
    let hint = hint.unwrap_or_else(|| {
        "paths start at the current directory; `memo status --files` lists the indexed files".to_owned()
    });
    let mut error = about(nothing(target));
    if !judge.at.fresh {
        error.message += "; or it is not indexed yet: `memo sync` waits for that";
    }
    error.with_hint(hint)
}

/// Returns the other repository that a path lies in.
fn enclosing_repository(judge: &AnchorChecker<'_>, key: &SourceKey) -> Option<SourceKey> {
    let path = key.as_str();
    let above = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]);
    above.map(SourceKey::new).find(|dir| {
        let entry = judge.reader.entry(judge.at.view, dir).ok().flatten();
        entry.is_some_and(|entry| entry.refusal == Some(Refusal::NestedRepository))
    })
}

fn not_read(path: &str, refusal: Refusal) -> RpcError {
    if refusal == Refusal::NestedRepository {
        let message = format!("{path} is another repository, with memories of its own");
        return refused(&message, "run memo in it, or name a file of this one");
    }
    let message = format!("{path} is left out ({}), so changes of it would go unnoticed", refusal.as_str());
    refused(&message, "name a file that is indexed: `memo status --files` lists them")
}

/// Returns similar names, the most similar first, comparing whole names and their last parts.
fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let last = |name: &str| name.rsplit(['/', ':', '.', '#']).next().unwrap_or_default().to_lowercase();
    let file = |name: &str| name.rsplit('/').next().unwrap_or_default().to_lowercase();
    let likeness = |name: &str| {
        let whole = strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase());
        let is_path = wanted.contains('/') || name.contains('/') || wanted.contains('.');
        let part = if is_path {
            strsim::jaro_winkler(&file(wanted), &file(name))
        } else {
            strsim::jaro_winkler(&last(wanted), &last(name))
        };
        whole.max(part)
    };
    let mut near: Vec<(f64, &str)> =
        names.map(|name| (likeness(name), name)).filter(|(likeness, _)| *likeness >= NEAR).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.into_iter().take(MOST_NEAR).map(|(_, name)| name).collect()
}

fn did_you_mean(near: &[String]) -> Option<String> {
    match near {
        [] => None,
        [one] => Some(format!("did you mean {one}?")),
        several => Some(format!("did you mean one of {}?", several.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near() {
        let paths = ["src/auth.rs", "src/auth/login.rs", "docs/auth.md", "web/renew.ts"];
        let check = |wanted: &str, names: &[&str], expected: &[&str]| {
            assert_eq!(near(wanted, names.iter().copied()), expected, "{wanted}");
        };
        check("src/auht.rs", &paths, &["src/auth.rs", "src/auth/login.rs"]);
        check("auth.rs", &paths, &["src/auth.rs"]);
        check("zzz", &paths, &[]);
        let names = ["Session::login", "Session::verify", "mac"];
        check("logn", &names, &["Session::login"]);
        check("Session::verfy", &names, &["Session::verify"]);
    }

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
            assert_eq!(named_by(&anchors, target, cwd, &location), expected, "{target}");
        };
        check("src/a.rs", "/w/src", Some(0)); // as it is shown
        check("a.rs", "/w/src", Some(0));
        check("a.rs:3-4", "/w/src", Some(1));
        check("a.rs:3", "/w/src", None);
        check("../src/a.rs#b", "/w/src", Some(2));
        check("src/a.rs#A.b", "/w", Some(2));
        check("src/b.rs", "/w", None);
    }
}
