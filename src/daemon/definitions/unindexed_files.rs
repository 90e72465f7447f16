//! Names the files and repositories that are not indexed, because an empty answer claims that there is nothing.

use memod_base::paths::CallerDir;
use memod_base::types::ReadRefusal;
use memod_database::DatabaseError;
use memod_engine::freshness::Freshness;
use memod_extract::format_name;
use memod_extract::lang::FormatGroup;
use memod_index_db::IndexReader;
use memod_proto::{RpcError, UnsearchedFile, describe_unsearched};

use crate::daemon::request::sparse_paths::SparsePaths;

/// Maximum number of files that an answer names.
pub(in crate::daemon) const MOST_NAMED: usize = 5;

/// Returns the other repositories, then what a sparse checkout leaves out and the files that are not indexed, each with the reason; of
/// the files, only those that `admits` admits by their path. Links and binary files are left out: no answer would come from them.
pub(in crate::daemon) fn list_unindexed_files(
    reader: &IndexReader,
    (at, dir): (&Freshness, &CallerDir),
    admits: impl Fn(&str) -> bool,
) -> Result<Vec<UnsearchedFile>, DatabaseError> {
    let is_repository = |reason: &str| reason == ReadRefusal::NestedRepository.as_str();
    let mut refused = reader.list_refused(at.worktree)?;
    refused.retain(|(path, reason)| {
        is_repository(reason) || !matches!(reason.as_str(), "symlink" | "binary") && admits(path)
    });
    let (repositories, files): (Vec<_>, Vec<_>) =
        refused.into_iter().partition(|(_, reason)| is_repository(reason));
    let name_refused =
        |(path, reason): (String, String)| UnsearchedFile { why: describe_refusal(&reason).to_owned(), path };
    let sparse = SparsePaths::read(&at.layout);
    let outside = sparse.list_tops(&admits).into_iter().map(|path| UnsearchedFile {
        why: format!("outside the sparse checkout: {}", sparse.command_for(&path, dir)),
        path,
    });
    let repositories = repositories.into_iter().map(name_refused);
    Ok(repositories.chain(outside).chain(files.into_iter().map(name_refused)).collect())
}

/// Shortens a list of files to those that an answer names. Returns the number of those that are left out.
pub(in crate::daemon) fn keep_named(files: &mut Vec<UnsearchedFile>) -> usize {
    let n_more = files.len().saturating_sub(MOST_NAMED);
    files.truncate(MOST_NAMED);
    n_more
}

/// Returns whether a file is code, by its path.
pub(in crate::daemon) fn is_code(path: &str) -> bool {
    FormatGroup::from_format_name(format_name(path, "")) == FormatGroup::Code
}

/// Adds to the error for an unknown name the files in which it may be defined.
pub(in crate::daemon) fn add_unsearched(mut error: RpcError, mut files: Vec<UnsearchedFile>) -> RpcError {
    let n_more = keep_named(&mut files);
    if let Some(named) = describe_unsearched(&files, n_more) {
        error.message += &format!("; not searched: {named}");
    }
    error
}

/// Returns why a path is not indexed, in words.
fn describe_refusal(reason: &str) -> &str {
    match reason {
        "too-big" => "larger than index.max_file_bytes",
        "secret-name" => "its name is that of a file with credentials",
        "nested-repository" => "another repository: ask there with -C",
        "unreadable" => "cannot be read",
        "opted-out" => "its text asks not to be indexed",
        "parse-failed" | "parse-aborted" => "could not be parsed",
        other => other,
    }
}
