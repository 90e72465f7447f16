//! Lists the chunks that pass the filters of a query without words.

use std::cmp::Reverse;

use jiff::Timestamp;
use memod_base::types::WorktreeId;
use memod_database::DatabaseError;
use memod_index_db::IndexReader;

use crate::worktree_chunks::{AdmittedChunks, WorktreeChunk};

/// Returns at most `k` chunks of files, by path and line, followed by at most `k` commits, newest first.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn list_chunks<'a>(
    reader: &IndexReader,
    worktree: WorktreeId,
    members: &'a AdmittedChunks<'_>,
    k: usize,
) -> Result<Vec<&'a WorktreeChunk>, DatabaseError> {
    let mut commits: Vec<(Option<Timestamp>, &WorktreeChunk)> = Vec::new();
    reader.each_commit(worktree, |id, header| {
        let date = header.split(' ').nth(1).and_then(|date| date.parse().ok());
        commits.extend(members.get(id).map(|chunk| (date, chunk)));
    })?;
    commits.sort_by_key(|(date, chunk)| Reverse((*date, chunk.chunk.id)));
    let commits = commits.into_iter().map(|(_, chunk)| chunk);
    Ok(members.file_chunks().take(k).chain(commits.take(k)).collect())
}
