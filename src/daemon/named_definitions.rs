//! Finds the definitions of a name in all files of a worktree, and says so where there is none or several.

use std::collections::BTreeSet;

use super::error::bad_params;
use super::path_spec::{defines, named, own_name};
use super::shared::Shared;
use crate::paths::CallerDir;
use crate::proto::{RpcError, code};
use crate::store::{Reader, StoreError};
use crate::types::{Definition, SourceKey, ViewId};

/// Most definitions that an error lists.
const MOST_LISTED: usize = 10;

/// Returns the definitions of a name in all files of a view, by path.
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
    let found = reader.definitions_named(own_name(name))?.into_iter();
    let contents = found.filter_map(|(id, _)| chunks.get(id)).map(|chunk| chunk.content);
    let contents: BTreeSet<u32> = contents.chain(chunks.cut_contents()).collect();
    let mut paths: Vec<&str> = contents.iter().flat_map(|content| chunks.paths_of(*content)).collect();
    paths.sort_unstable();
    let mut all = Vec::new();
    for path in paths {
        let key = SourceKey::new(path);
        let definitions = reader.definitions(view, &key)?;
        all.extend(named(&definitions, name).into_iter().map(|found| (key.clone(), found.clone())));
    }
    Ok(all)
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
