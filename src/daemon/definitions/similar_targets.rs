//! Finds the names and paths that are nearest to one that does not exist.

use std::collections::{BTreeSet, HashSet};

use memod_base::paths::CallerDir;
use memod_base::types::{
    ChunkId, Definition, SourceKey, WorktreeId, file_name, last_part, parse_target, qualifier, suggest_names,
};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_search::correction::similar_names::{NameComparer, TypedName};
use memod_search::worktree_chunks::WorktreeChunks;

use super::named_definitions::find_definitions;
use crate::daemon::request::path_spec::{find_definitions_named, list_member_names};
use crate::daemon::shared::Shared;

/// Most names that are suggested.
const MOST_NAMES: usize = 3;
/// Most paths that are suggested.
const MOST_PATHS: usize = 5;
/// Most similar names whose definitions are looked up.
const MOST_LOOKED_UP: usize = 50;
/// Most files of a type whose members are compared, because a name such as `Config` may be defined in every second file.
const MOST_FILES: usize = 20;
/// Minimum similarity of a suggested path, 0 to 1. Jaro-Winkler favours a common beginning.
const MIN_PATH_SIMILARITY: f64 = 0.9;
/// Minimum similarity of another member of the type that was typed. It is lower, because a type has few members.
const MIN_MEMBER_SIMILARITY: f64 = 0.7;

/// A similar name, and how far it is from the typed one. Ordered by distance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SimilarName {
    /// Edits that make the typed name equal in lower case and without separators.
    distance: usize,
    /// Edits that make the typed name equal.
    spelling: usize,
    name: String,
}

impl SimilarName {
    fn new(distance: usize, typed: &str, name: &str) -> Self {
        Self { distance, spelling: strsim::osa_distance(typed, name), name: name.to_owned() }
    }
}

/// Returns a hint with the names or paths of a worktree that are nearest to a target that does not exist; `None` if none is near.
///
/// # Errors
/// When the index cannot be read.
pub(in crate::daemon) fn suggest_similar_targets(
    (shared, reader): (&Shared, &IndexReader),
    view: WorktreeId,
    target: &str,
    dir: &CallerDir,
) -> Result<Option<String>, DatabaseError> {
    let names = find_similar_names(shared, reader, view, target)?;
    if !names.is_empty() {
        return Ok(suggest_names(&names));
    }
    if let Some(TypedName { own, owner: Some(owner) }) = TypedName::parse(target) {
        let members = list_members(shared, reader, view, owner)?;
        if !members.is_empty() {
            let defined = list_member_names(&members).unwrap_or_default();
            return Ok(Some(format!("{owner} has no {own}: {defined}")));
        }
    }
    match target.contains(['/', '.']) {
        true => Ok(suggest_names(&find_similar_places((shared, reader), view, target, dir)?)),
        false => Ok(None),
    }
}

/// Returns whether a typed name is the name of a member which its type, a definition of the worktree, does not have.
///
/// # Errors
/// When the index cannot be read.
pub(in crate::daemon) fn is_unknown_member(
    shared: &Shared,
    reader: &IndexReader,
    view: WorktreeId,
    typed: &str,
) -> Result<bool, DatabaseError> {
    let Some(TypedName { own, owner: Some(owner) }) = TypedName::parse(typed) else { return Ok(false) };
    let chunks = shared.chunks.current_chunks(reader, view)?;
    if !is_defined(reader, &chunks, owner)? {
        return Ok(false);
    }
    let found = reader.find_definitions_named(own)?;
    let mut known = found.iter().filter(|(id, _)| chunks.get(*id).is_some());
    Ok(!known.any(|(_, title)| last_owner(first_title(title)) == Some(owner)))
}

/// Returns whether a definition of the worktree has exactly this name.
fn is_defined(reader: &IndexReader, chunks: &WorktreeChunks, name: &str) -> Result<bool, DatabaseError> {
    let found = reader.find_by_symbol(name)?;
    Ok(found.iter().any(|(id, is_same)| *is_same && chunks.get(*id).is_some()))
}

/// Returns the names of definitions in a worktree that are nearest to a typed name, the nearest first. For a member of a known type,
/// these are members of that type, if any is near.
///
/// # Errors
/// When the index cannot be read.
pub(in crate::daemon) fn find_similar_names(
    shared: &Shared,
    reader: &IndexReader,
    view: WorktreeId,
    typed: &str,
) -> Result<Vec<String>, DatabaseError> {
    let Some(wanted) = TypedName::parse(typed) else { return Ok(Vec::new()) };
    let chunks = shared.chunks.current_chunks(reader, view)?;
    let near = list_near_names(reader, wanted.own)?;
    if let Some(owner) = wanted.owner {
        let mut members = list_near_members(reader, &chunks, (owner, typed), &near)?;
        let mut is_known = members.iter().any(|member| last_owner(&member.name) == Some(owner));
        if !is_known {
            let all = list_members(shared, reader, view, owner)?;
            is_known = !all.is_empty();
            members.extend(rank_members(&all, wanted.own));
        }
        if is_known || !members.is_empty() {
            return Ok(keep_nearest(members));
        }
    }
    let mut known = Vec::new();
    for name in near {
        if is_defined(reader, &chunks, &name.name)? {
            known.push(name);
        }
    }
    Ok(keep_nearest(known))
}

/// Returns the names of all definitions that are similar to a name without qualifiers, the nearest first.
fn list_near_names(reader: &IndexReader, own: &str) -> Result<Vec<SimilarName>, DatabaseError> {
    let mut comparer = NameComparer::new(own);
    let mut found = BTreeSet::new();
    let mut last = String::new();
    reader.each_defined_name(|name| {
        if name == last {
            return;
        }
        name.clone_into(&mut last);
        if let Some(distance) = comparer.measure_distance(name) {
            found.insert(SimilarName::new(distance, own, name));
        }
    })?;
    Ok(found.into_iter().take(MOST_LOOKED_UP).collect())
}

/// Returns the members with similar names whose types are similar, too.
fn list_near_members(
    reader: &IndexReader,
    chunks: &WorktreeChunks,
    (owner, typed): (&str, &str),
    near: &[SimilarName],
) -> Result<Vec<SimilarName>, DatabaseError> {
    let mut owners = NameComparer::new(owner);
    let mut members = BTreeSet::new();
    for name in near {
        let same: HashSet<ChunkId> = reader
            .find_by_symbol(&name.name)?
            .into_iter()
            .filter_map(|(id, is_same)| Some(id).filter(|id| is_same && chunks.get(*id).is_some()))
            .collect();
        let found = reader.find_definitions_named(&name.name)?;
        for (_, title) in found.iter().filter(|(id, _)| same.contains(id)) {
            let first = first_title(title);
            let Some(distance) = last_owner(first).and_then(|other| owners.measure_distance(other)) else {
                continue;
            };
            let title = format!("{}{}", &first[..first.len() - last_part(first).len()], name.name);
            members.insert(SimilarName::new(name.distance + distance, typed, &title));
        }
    }
    Ok(members.into_iter().collect())
}

/// Returns the members of the types with a name, as far as they are in the file of their type; none if the type is not defined.
fn list_members(
    shared: &Shared,
    reader: &IndexReader,
    view: WorktreeId,
    owner: &str,
) -> Result<Vec<Definition>, DatabaseError> {
    let chunks = shared.chunks.current_chunks(reader, view)?;
    let found = reader.find_by_symbol(owner)?;
    let contents = found.iter().filter(|(_, is_same)| *is_same).filter_map(|(id, _)| chunks.get(*id));
    let contents: BTreeSet<u32> = contents.map(|chunk| chunk.content).collect();
    let mut members = Vec::new();
    for path in contents.iter().flat_map(|content| chunks.paths_of(*content)).take(MOST_FILES) {
        members.extend(reader.list_definitions(view, &SourceKey::new(path))?);
    }
    members.retain(|member| last_owner(&member.title) == Some(owner));
    Ok(members)
}

/// Returns the members that are most similar to a typed name, the most similar first. They are less similar than those that
/// [`NameComparer`] finds, and count as equally near.
fn rank_members(members: &[Definition], own: &str) -> Vec<SimilarName> {
    let mut ranked: Vec<(f64, &str)> = members
        .iter()
        .map(|member| (member_similarity(own, last_part(&member.title)), member.title.as_str()))
        .filter(|(similarity, _)| *similarity >= MIN_MEMBER_SIMILARITY)
        .collect();
    ranked.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(right.1)));
    ranked.dedup();
    let ranked = ranked.into_iter().take(MOST_NAMES);
    ranked
        .zip(0..)
        .map(|((_, title), nth)| SimilarName { distance: usize::MAX, spelling: nth, name: title.to_owned() })
        .collect()
}

/// Returns the similarity of two names without qualifiers, 0 to 1: 1 if one of them begins or ends with the other.
fn member_similarity(own: &str, other: &str) -> f64 {
    let [own, other] = [own, other].map(memod_text::words::joined_name);
    let (short, long) = if own.len() <= other.len() { (&own, &other) } else { (&other, &own) };
    let is_part = short.len() > 2 && (long.starts_with(short.as_str()) || long.ends_with(short.as_str()));
    if is_part { 1.0 } else { strsim::jaro_winkler(&own, &other) }
}

/// Returns the first name in the title of a chunk with several short definitions: `Session::open` of `Session::open … close`.
fn first_title(title: &str) -> &str {
    title.split([' ', ',']).next().unwrap_or_default()
}

/// Returns the innermost type of a qualified name.
fn last_owner(title: &str) -> Option<&str> {
    qualifier(title).map(last_part).filter(|owner| !owner.is_empty())
}

/// Returns the nearest names: those at the smallest distance, and those with one edit more.
fn keep_nearest(mut names: Vec<SimilarName>) -> Vec<String> {
    names.sort_unstable();
    let most = names.first().map_or(0, |nearest| nearest.distance.saturating_add(1));
    names.retain(|name| name.distance <= most);
    names.into_iter().take(MOST_NAMES).map(|name| name.name).collect()
}

/// Returns the definitions of a file whose names are nearest to a typed name, the nearest first.
pub(in crate::daemon) fn find_similar_definitions(definitions: &[Definition], typed: &str) -> Vec<String> {
    let (own, owner) = (last_part(typed), last_owner(typed));
    let mut comparer = NameComparer::new(own);
    let mut owners = owner.map(NameComparer::new);
    let near = definitions.iter().filter_map(|found| {
        let distance = comparer.measure_distance(last_part(&found.title))?;
        let of_owner = match &mut owners {
            Some(owners) => owners.measure_distance(last_owner(&found.title)?)?,
            None => 0,
        };
        Some(SimilarName::new(distance + of_owner, typed, &found.title))
    });
    let mut near: Vec<SimilarName> = near.collect();
    if near.is_empty() && owner.is_none() {
        near = rank_members(definitions, own);
    }
    keep_nearest(near)
}

/// Returns the places most similar to a target, as the caller would type them: the definitions of the symbol that the target names, if
/// files with similar paths define it; or else the definitions elsewhere; or else the files with similar paths.
fn find_similar_places(
    (shared, reader): (&Shared, &IndexReader),
    view: WorktreeId,
    target: &str,
    dir: &CallerDir,
) -> Result<Vec<String>, DatabaseError> {
    let path = parse_target(target).last().map_or(target, |(path, _)| *path);
    let Ok(wanted) = dir.resolve_path(path) else { return Ok(Vec::new()) };
    let behind = target.strip_prefix(path).unwrap_or_default();
    let paths = reader.list_paths(view)?;
    let paths = paths.iter().filter(|(_, refusal)| refusal.is_none()).map(|(path, _)| path.as_str());
    let near = rank_similar_paths(wanted.as_str(), paths);
    let display =
        |behind: &str| near.iter().map(|path| format!("{}{behind}", dir.display_path(path))).collect();
    let Some(name) = behind.strip_prefix('#') else { return Ok(display(behind)) };
    let mut defined = Vec::new();
    for path in &near {
        let definitions = reader.list_definitions(view, &SourceKey::new(*path))?;
        if !find_definitions_named(&definitions, name).is_empty() {
            defined.push(format!("{}{behind}", dir.display_path(path)));
        }
    }
    if defined.is_empty() {
        let elsewhere = find_definitions(shared, reader, view, name)?;
        let places = elsewhere.iter().map(|(key, found)| (dir.display_path(key.as_str()), &found.title));
        defined = places.take(MOST_PATHS).map(|(path, title)| format!("{path}#{title}")).collect();
        defined.dedup();
    }
    Ok(if defined.is_empty() { display("") } else { defined })
}

/// Returns similar paths, the most similar first, comparing whole paths and file names.
fn rank_similar_paths<'a>(wanted: &str, paths: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut similar: Vec<(f64, &str)> = paths
        .map(|path| (path_similarity(wanted, path), path))
        .filter(|(similarity, _)| *similarity >= MIN_PATH_SIMILARITY)
        .collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    similar.into_iter().take(MOST_PATHS).map(|(_, path)| path).collect()
}

/// Returns the similarity of two paths or of their file names, whichever is higher, 0 to 1.
fn path_similarity(wanted: &str, path: &str) -> f64 {
    let similarity =
        |left: &str, right: &str| strsim::jaro_winkler(&left.to_lowercase(), &right.to_lowercase());
    similarity(wanted, path).max(similarity(file_name(wanted), file_name(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_paths() {
        let paths = ["src/auth.rs", "src/auth/login.rs", "docs/auth.md", "web/renew.ts"];
        let check = |wanted: &str, expected: &[&str]| {
            assert_eq!(rank_similar_paths(wanted, paths.into_iter()), expected, "{wanted}");
        };
        check("src/auht.rs", &["src/auth.rs", "src/auth/login.rs"]);
        check("auth.rs", &["src/auth.rs"]);
        check("zzz", &[]);
    }

    #[test]
    fn similar_definitions_of_a_file() {
        let definition = |title: &str| Definition { title: title.to_owned(), ..Definition::default() };
        let definitions = ["Session::login", "Session::verify", "Key::verify", "mac"].map(definition);
        let check = |typed: &str, expected: &[&str]| {
            assert_eq!(find_similar_definitions(&definitions, typed), expected, "{typed}");
        };
        check("logn", &["Session::login"]);
        check("verfy", &["Key::verify", "Session::verify"]);
        check("Session::verfy", &["Session::verify"]);
        check("Sesion.verify", &["Session::verify"]);
        check("log", &["Session::login"]);
        check("nothing", &[]);
    }

    #[test]
    fn the_nearest_names_are_kept() {
        let similar =
            |distance, name: &str| SimilarName { distance, spelling: distance, name: name.to_owned() };
        let names = [similar(3, "far"), similar(1, "near"), similar(2, "next")];
        assert_eq!(keep_nearest(names.to_vec()), ["near", "next"]);
        assert!(keep_nearest(Vec::new()).is_empty());
        assert!(member_similarity("pol", "poll") > 0.99 && member_similarity("size", "poll") < 0.7);
    }
}
