//! Names the files in which there may be uses that an answer lacks, because it claims to have looked everywhere.

use std::collections::{BTreeMap, BTreeSet};

use memod_base::paths::CallerDir;
use memod_base::types::{ClassSet, DeclaredRole, FileClass, file_name, parent_dir};
use memod_database::DatabaseError;
use memod_engine::freshness::Freshness;
use memod_extract::format_name;
use memod_index_db::IndexReader;
use memod_proto::UnsearchedFile;
use memod_search::paths::class_rules::classes_by_path;
use memod_structure::resolve::{
    DefinitionCandidate, FileNumber, StructureStore as _, reads_uses, shares_language,
};

use super::worktree_structures::WorktreeStructures;
use crate::daemon::definitions::unindexed_files::{is_code, keep_named, list_unindexed_files};

/// Maximum number of names that are looked up.
const MOST_NAMES: usize = 16;
/// Maximum number of files that were read as text only and that an answer names.
const MOST_TEXT_FILES: usize = 3;

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
        names.extend(list_names(structures, own));
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

/// Returns the files that have the name of a definition in a language that can use it, but that were read as text only, and the number
/// of those that are not named. Vendored and generated files are left out: they do not use what is written here.
pub(super) fn find_files_read_as_text(
    structures: &WorktreeStructures<'_>,
    wanted: &[DefinitionCandidate],
) -> Result<(Vec<UnsearchedFile>, usize), DatabaseError> {
    // Nearly every file has the word `default`.
    let names: BTreeSet<String> =
        wanted.iter().flat_map(|own| list_names(structures, own)).filter(|name| name != "default").collect();
    let owners: BTreeSet<FileNumber> = wanted.iter().map(|own| own.file).collect();
    let foreign = ClassSet::from_classes(&[FileClass::Vendored, FileClass::Generated]);
    let mut found = BTreeMap::new();
    for name in names.iter().take(MOST_NAMES) {
        for (file, why) in structures.find_text_files_with_name(name)? {
            let path = structures.paths.path_of(file);
            let may_use = owners.iter().any(|own| shares_language(structures.paths.path_of(*own), path));
            if may_use && !classes_by_path(path).intersects(foreign) {
                found.insert(file, UnsearchedFile { path: path.to_owned(), why });
            }
        }
    }
    let n_more = found.len().saturating_sub(MOST_TEXT_FILES);
    Ok((found.into_values().take(MOST_TEXT_FILES).collect(), n_more))
}

/// Returns the names under which a definition is used.
fn list_names(structures: &WorktreeStructures<'_>, own: &DefinitionCandidate) -> Vec<String> {
    let structure = structures.structure_of(own.file);
    own.declared_in(&structure).own_names().map(str::to_owned).collect()
}
