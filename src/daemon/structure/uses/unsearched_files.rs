//! Names the files in which there may be uses though none was found, because an empty answer is a claim.

use std::collections::BTreeSet;

use memod_base::types::{ReadRefusal, WorktreeId, file_name};
use memod_database::DatabaseError;
use memod_extract::format_name;
use memod_extract::lang::FormatGroup;
use memod_index_db::IndexReader;
use memod_proto::UnsearchedFile;
use memod_structure::resolve::{DefinitionCandidate, StructureStore as _, reads_uses};

use super::worktree_structures::WorktreeStructures;

/// Maximum number of files that an answer names.
const MOST_NAMED: usize = 5;
/// Maximum number of names that are looked up.
const MOST_NAMES: usize = 16;

/// Returns the files that were not searched for uses of definitions, and the number of those that are not named. First come the files
/// that have the name of a definition and whose uses are not read, then code that is not indexed, and other repositories.
pub(super) fn find_unsearched_files(
    (reader, worktree): (&IndexReader, WorktreeId),
    structures: &WorktreeStructures<'_>,
    wanted: &[DefinitionCandidate],
) -> Result<(Vec<UnsearchedFile>, usize), DatabaseError> {
    let mut found = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for own in wanted {
        let structure = structures.structure_of(own.file);
        names.extend(own.declared_in(&structure).own_names().map(str::to_owned));
    }
    let mut with_name = BTreeSet::new();
    for name in names.iter().take(MOST_NAMES) {
        with_name.extend(structures.find_files_with_name(name)?);
    }
    for file in with_name {
        let path = structures.paths.path_of(file);
        if is_code(path) && !reads_uses(path) {
            let ending = file_name(path).rsplit('.').next().unwrap_or_default();
            let why = format!("has the name, but uses in .{ending} files are not read");
            found.push(UnsearchedFile { path: path.to_owned(), why });
        }
    }
    for (path, reason) in reader.list_refused(worktree)? {
        let is_repository = reason == ReadRefusal::NestedRepository.as_str();
        if is_repository || is_code(&path) {
            let why = describe_refusal(&reason).to_owned();
            found.push(UnsearchedFile { path, why });
        }
    }
    let n_more = found.len().saturating_sub(MOST_NAMED);
    found.truncate(MOST_NAMED);
    Ok((found, n_more))
}

fn is_code(path: &str) -> bool {
    FormatGroup::from_format_name(format_name(path, "")) == FormatGroup::Code
}

/// Returns why a path is not indexed, in words.
fn describe_refusal(reason: &str) -> &str {
    match reason {
        "too-big" => "larger than index.max_file_bytes",
        "secret-name" => "its name is that of a file with credentials",
        "nested-repository" => "another repository: ask there with -C",
        "unreadable" => "cannot be read",
        "symlink" => "a symbolic link",
        "binary" => "looks binary",
        "opted-out" => "its text asks not to be indexed",
        "parse-failed" | "parse-aborted" => "could not be parsed",
        other => other,
    }
}
