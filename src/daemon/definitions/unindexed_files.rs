//! Names the files and repositories that are not indexed, because an empty answer claims that there is nothing.

use memod_base::types::{ReadRefusal, WorktreeId};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_proto::UnsearchedFile;

/// Maximum number of files that an answer names.
pub(in crate::daemon) const MOST_NAMED: usize = 5;

/// Returns the other repositories and then the files that are not indexed, each with the reason; of the files, only those that `admits`
/// admits by their path. Links and binary files are left out: no answer would come from them.
pub(in crate::daemon) fn list_unindexed_files(
    reader: &IndexReader,
    worktree: WorktreeId,
    admits: impl Fn(&str) -> bool,
) -> Result<Vec<UnsearchedFile>, DatabaseError> {
    let is_repository = |reason: &str| reason == ReadRefusal::NestedRepository.as_str();
    let mut refused = reader.list_refused(worktree)?;
    refused.retain(|(path, reason)| {
        is_repository(reason) || !matches!(reason.as_str(), "symlink" | "binary") && admits(path)
    });
    refused.sort_by_key(|(_, reason)| !is_repository(reason));
    let named = refused
        .into_iter()
        .map(|(path, reason)| UnsearchedFile { why: describe_refusal(&reason).to_owned(), path });
    Ok(named.collect())
}

/// Shortens a list of files to those that an answer names. Returns the number of those that are left out.
pub(in crate::daemon) fn keep_named(files: &mut Vec<UnsearchedFile>) -> usize {
    let n_more = files.len().saturating_sub(MOST_NAMED);
    files.truncate(MOST_NAMED);
    n_more
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
