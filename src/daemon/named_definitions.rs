//! Finds the definitions of a name in all files of a worktree, and says so where there is none or several.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use super::error::bad_params;
use super::path_spec::{defines, named, own_name};
use super::shared::Shared;
use crate::paths::CallerDir;
use crate::proto::{RpcError, code};
use crate::store::{Reader, StoreError};
use crate::types::{Definition, SourceKey, ViewId};

/// Most definitions that an error lists.
const MOST_LISTED: usize = 10;

/// Returns the definitions of a name in all files of a view, by path. A name that no type qualifies may be qualified by its package,
/// directory or file: `gin.New`, `helpers.url_for`.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn definitions_named(
    shared: &Shared,
    reader: &Reader,
    view: ViewId,
    name: &str,
) -> Result<Vec<(SourceKey, Definition)>, StoreError> {
    let chunks = shared.chunks.current(reader, view)?;
    let own = own_name(name);
    let module = own_name(name[..name.len() - own.len()].trim_end_matches([':', '.']));
    let found = reader.definitions_named(own)?.into_iter();
    let contents = found.filter_map(|(id, _)| chunks.get(id)).map(|chunk| chunk.content);
    let contents: BTreeSet<u32> = contents.chain(chunks.cut_contents()).collect();
    let mut paths: Vec<&str> = contents.iter().flat_map(|content| chunks.paths_of(*content)).collect();
    paths.sort_unstable();
    let (mut all, mut of_module) = (Vec::new(), Vec::new());
    for path in paths {
        let key = SourceKey::new(path);
        let definitions = reader.definitions(view, &key)?;
        let with_key = |found: Vec<&Definition>| -> Vec<_> {
            found.into_iter().map(|found| (key.clone(), found.clone())).collect()
        };
        all.extend(with_key(named(&definitions, name)));
        if all.is_empty() && !module.is_empty() && is_in_module(reader, view, &key, module)? {
            of_module.extend(with_key(named(&definitions, own)));
        }
    }
    Ok(if all.is_empty() { of_module } else { all })
}

/// Whether a file is a module of this name, or belongs to the directory or package of this name.
fn is_in_module(reader: &Reader, view: ViewId, key: &SourceKey, module: &str) -> Result<bool, StoreError> {
    let path = Path::new(key.as_str());
    let is_named = |name: Option<&OsStr>| name.is_some_and(|name| name == module);
    if is_named(path.file_stem()) || is_named(path.parent().and_then(Path::file_name)) {
        return Ok(true);
    }
    // The package of Go in the directory at the top.
    Ok(reader.structure(view, key)?.is_some_and(|structure| own_name(&structure.package) == module))
}

/// Returns the error for a target that is neither a path nor a name.
pub(super) fn nothing(target: &str) -> RpcError {
    let message = format!("{target}: no indexed file, and no definition of that name");
    RpcError::new(code::NOT_FOUND, message)
        .with_hint("PATH, PATH:LINE, PATH#SYMBOL, or a name; `memo search` finds what has another one")
}

/// Returns the error for a file that does not define a name.
pub(super) fn undefined(path: &str, name: &str, definitions: &[Definition]) -> RpcError {
    let hint = defines(definitions).unwrap_or_else(|| {
        "no definition is indexed there; name a line (PATH:10) or the whole file".to_owned()
    });
    RpcError::new(code::NOT_FOUND, format!("{path}: defines no {name}")).with_hint(hint)
}

/// Returns the error for a name of which one definition is needed, and which several have.
pub(super) fn several(name: &str, found: &[(SourceKey, Definition)], dir: &CallerDir) -> RpcError {
    let line = |(key, found): &(SourceKey, Definition)| {
        let (path, (first, last)) = (dir.display(key.as_str()), found.lines);
        format!("\n  {path}#{}  lines {first}-{last}", found.title)
    };
    let mut listed: String = found.iter().take(MOST_LISTED).map(line).collect();
    if found.len() > MOST_LISTED {
        listed += &format!("\n  and {} more", found.len() - MOST_LISTED);
    }
    bad_params(format!("{name}: {} definitions have that name:{listed}", found.len()))
        .with_hint("name one of them, as PATH#SYMBOL")
}
