//! Names the files in which there may be uses though none was found, because an empty answer is a claim.

use std::collections::BTreeSet;

use memod_base::paths::CallerDir;
use memod_base::types::{DeclaredRole, file_name, parent_dir};
use memod_database::DatabaseError;
use memod_engine::freshness::Freshness;
use memod_extract::format_name;
use memod_index_db::IndexReader;
use memod_proto::UnsearchedFile;
use memod_structure::resolve::{DefinitionCandidate, StructureStore as _, reads_uses};

use super::worktree_structures::WorktreeStructures;
use crate::daemon::definitions::unindexed_files::{is_code, keep_named, list_unindexed_files};

/// Maximum number of names that are looked up.
const MOST_NAMES: usize = 16;

/// Returns the files that were not searched for uses of definitions, and the number of those that are not named. First come the files
/// that have the name of a definition and whose uses are not read, then other repositories, and code that is not indexed.
pub(super) fn find_unsearched_files(
    reader: &IndexReader,
    (at, dir): (&Freshness, &CallerDir),
    structures: &WorktreeStructures<'_>,
    wanted: &[DefinitionCandidate],
) -> Result<(Vec<UnsearchedFile>, usize), DatabaseError> {
    let mut found = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    // Files of data, such as YAML, may only use what such files define.
    let mut formats: BTreeSet<&str> = BTreeSet::new();
    for own in wanted {
        formats.insert(format_name(structures.paths.path_of(own.file), ""));
        let structure = structures.structure_of(own.file);
        names.extend(own.declared_in(&structure).own_names().map(str::to_owned));
    }
    let mut with_name = BTreeSet::new();
    for name in names.iter().take(MOST_NAMES) {
        with_name.extend(structures.find_files_with_name(name)?);
    }
    for file in with_name {
        let path = structures.paths.path_of(file);
        let may_use = is_code(path) || formats.contains(format_name(path, ""));
        if may_use && !reads_uses(path) {
            let ending = file_name(path).rsplit('.').next().unwrap_or_default();
            let why = format!("has the name, but uses in .{ending} files are not read");
            found.push(UnsearchedFile { path: path.to_owned(), why });
        }
    }
    for lazy in structures.find_candidates("__getattr__")?.iter() {
        let path = structures.paths.path_of(lazy.file);
        let is_free = lazy.declared_in(&structures.structure_of(lazy.file)).role == DeclaredRole::Free;
        let is_around = wanted.iter().any(|own| {
            let dir = parent_dir(path);
            own.file != lazy.file
                && (dir.is_empty() || structures.paths.path_of(own.file).starts_with(&format!("{dir}/")))
        });
        if is_free && is_around {
            let why = "has `__getattr__`, which may export the name under another path".to_owned();
            found.push(UnsearchedFile { path: path.to_owned(), why });
        }
    }
    found.extend(list_unindexed_files(reader, (at, dir), is_code)?);
    let n_more = keep_named(&mut found);
    Ok((found, n_more))
}
