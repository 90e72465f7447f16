//! Lists what passes the filters of a query that has no words.

use std::cmp::Reverse;

use jiff::Timestamp;
use memod_base::types::ViewId;
use memod_database::DatabaseError;
use memod_index_db::Reader;

use super::view_chunks::{Members, ViewChunk};

/// Returns up to `k` chunks of files by path and line, then up to `k` commits, the newest first.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn list<'a>(
    reader: &Reader,
    view: ViewId,
    members: &'a Members<'_>,
    k: usize,
) -> Result<Vec<&'a ViewChunk>, DatabaseError> {
    let mut commits: Vec<(Option<Timestamp>, &ViewChunk)> = Vec::new();
    reader.each_commit(view, |id, header| {
        let date = header.split(' ').nth(1).and_then(|date| date.parse().ok());
        commits.extend(members.get(id).map(|chunk| (date, chunk)));
    })?;
    commits.sort_by_key(|(date, chunk)| Reverse((*date, chunk.chunk.id)));
    let commits = commits.into_iter().map(|(_, chunk)| chunk);
    Ok(members.of_files().take(k).chain(commits.take(k)).collect())
}
