//! Finds the definitions of a name in all files of a worktree, and builds the errors for a name that has none or several.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use memod_base::paths::CallerDir;
use memod_base::types::{
    Definition, ReadRefusal, SourceKey, WorktreeId, explain_wrong_lines, last_part, last_typed_part,
    suggest_names, to_dotted_name, typed_parts,
};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_index_db::{IndexReader, ManifestEntry};
use memod_proto::{RpcError, code};

use super::similar_targets::find_similar_definitions;
use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::request::path_spec::{find_definitions_named, list_defined_names};
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::shared::Shared;

/// Maximum number of definitions that an error lists.
const MOST_LISTED: usize = 10;

/// Returns the definitions of a name in all files of a worktree, ordered by path. If no type qualifies the name, its package,
/// directory or file may: `gin.New`, `helpers.url_for`.
///
/// # Errors
/// When the index cannot be read.
pub(in crate::daemon) fn find_definitions(
    shared: &Shared,
    reader: &IndexReader,
    view: WorktreeId,
    name: &str,
) -> Result<Vec<(SourceKey, Definition)>, DatabaseError> {
    let chunks = shared.chunks.current_chunks(reader, view)?;
    let found = reader.find_definitions_named(last_typed_part(name))?.into_iter();
    let contents = found.filter_map(|(id, _)| chunks.get(id)).map(|chunk| chunk.content);
    let contents: BTreeSet<u32> = contents.chain(chunks.cut_contents()).collect();
    let mut paths: Vec<&str> = contents.iter().flat_map(|content| chunks.paths_of(*content)).collect();
    paths.sort_unstable();
    let keys: Vec<SourceKey> = paths.into_iter().map(SourceKey::new).collect();
    let defined = keys
        .into_iter()
        .map(|key| Ok((reader.list_definitions(view, &key)?, key)))
        .collect::<Result<Vec<_>, DatabaseError>>()?;
    let all: Vec<_> = defined.iter().flat_map(|of_file| filter_by_name(of_file, name)).collect();
    if !all.is_empty() {
        return Ok(order_definitions(all));
    }
    let parts = typed_parts(name);
    let mut of_module = Vec::new();
    // The module may be followed by a type: `ferry.Captain.sail`.
    for (module, rest) in (1..parts.len()).map(|n_module| parts.split_at(n_module)) {
        let title = rest.join(".");
        for of_file in &defined {
            let mut found = filter_by_name(of_file, &title);
            found.retain(|(_, found)| to_dotted_name(&found.title) == title);
            // Checked last, because it may have to read the structure of the file.
            if !found.is_empty() && is_in_module(reader, view, &of_file.1, module)? {
                of_module.extend(found);
            }
        }
    }
    Ok(order_definitions(of_module))
}

/// Returns the definitions without those of a stub of Python (`.pyi`) whose implementation is beside it, and with fields after
/// the functions and types of the same name.
fn order_definitions(mut all: Vec<(SourceKey, Definition)>) -> Vec<(SourceKey, Definition)> {
    let titles: HashSet<(String, String)> =
        all.iter().map(|(key, found)| (key.to_string(), found.title.clone())).collect();
    all.retain(|(key, found)| {
        let source = key.as_str().strip_suffix(".pyi").map(|stem| format!("{stem}.py"));
        source.is_none_or(|source| !titles.contains(&(source, found.title.clone())))
    });
    all.sort_by_key(|(_, found)| found.is_field);
    all
}

/// Returns the definitions of a file that match a name, with the path of the file.
fn filter_by_name(
    (definitions, key): &(Vec<Definition>, SourceKey),
    name: &str,
) -> Vec<(SourceKey, Definition)> {
    find_definitions_named(definitions, name).into_iter().map(|found| (key.clone(), found.clone())).collect()
}

/// Returns whether the path of a file or of its directory ends with these names, or the package of the file has the name, if there
/// is only one.
fn is_in_module(
    reader: &IndexReader,
    view: WorktreeId,
    key: &SourceKey,
    module: &[&str],
) -> Result<bool, DatabaseError> {
    let path = Path::new(key.as_str()).with_extension("");
    let names: Vec<&str> = path.iter().filter_map(OsStr::to_str).collect();
    let of_dir = &names[..names.len().saturating_sub(1)];
    if names.ends_with(module) || of_dir.ends_with(module) {
        return Ok(true);
    }
    // A package of Go may be named differently from its directory; those of other languages have parts.
    let structure = reader.read_structure(view, key)?;
    Ok(structure.is_some_and(|structure| {
        let parts: Vec<&str> = structure.package.split('.').collect();
        parts.ends_with(module) || module == [last_part(&structure.package)]
    }))
}

/// Returns the error for a target that is neither a path nor a name. `similar` is the hint of [`suggest_similar_targets`], if any
/// name or path is similar.
///
/// [`suggest_similar_targets`]: super::similar_targets::suggest_similar_targets
pub(in crate::daemon) fn unknown_target_error(
    caveats: &NotedCaveats,
    target: &str,
    similar: Option<String>,
) -> RpcError {
    if let Some((message, hint)) = explain_wrong_lines(target) {
        return bad_params_error(message).with_hint(hint);
    }
    let message = format!("{target}: no indexed file, and no definition of that name");
    let hint = similar.unwrap_or_else(|| {
        "give PATH, PATH:LINE, PATH#SYMBOL or a name; `memo search` finds code whose name you do not know"
            .to_owned()
    });
    let error = RpcError::new(code::NOT_FOUND, message).with_hint(hint);
    caveats.add_unknown_parts(error)
}

/// Returns the error for a file that does not define a name.
pub(in crate::daemon) fn undefined_name_error(
    caveats: &NotedCaveats,
    path: &str,
    name: &str,
    definitions: &[Definition],
) -> RpcError {
    let similar = find_similar_definitions(definitions, name);
    let similar: Vec<String> = similar.iter().map(|title| format!("{path}#{title}")).collect();
    let hint = suggest_names(&similar).or_else(|| list_defined_names(definitions)).unwrap_or_else(|| {
        "no definition is indexed there; name a line (PATH:10) or the whole file".to_owned()
    });
    let error = RpcError::new(code::NOT_FOUND, format!("{path}: defines no {name}")).with_hint(hint);
    caveats.add_missing_changes(error)
}

/// Returns an error if a file could not be read when it was indexed, so that its definitions are unknown.
pub(in crate::daemon) fn check_readable(path: &str, entry: &ManifestEntry) -> RpcResult<()> {
    if entry.refusal != Some(ReadRefusal::Unreadable) {
        return Ok(());
    }
    let message = format!("{path}: cannot be read, so its content is unknown");
    Err(RpcError::new(code::IO, message)
        .with_hint("check the permissions of the file; `memo daemon logs` has the reason"))
}

/// Returns the error for a name with several definitions where one is needed.
pub(in crate::daemon) fn ambiguous_name_error(
    name: &str,
    found: &[(SourceKey, Definition)],
    dir: &CallerDir,
) -> RpcError {
    let mut listed: String = found
        .iter()
        .take(MOST_LISTED)
        .map(|(key, found)| {
            let (path, (first, last)) = (dir.display_path(key.as_str()), found.lines);
            format!("\n  {path}#{}  lines {first}-{last}", found.title)
        })
        .collect();
    if found.len() > MOST_LISTED {
        listed += &format!("\n  and {} more", found.len() - MOST_LISTED);
    }
    bad_params_error(format!("{name}: {} definitions have that name:{listed}", found.len()))
        .with_hint("name one of them, as PATH#SYMBOL")
}
