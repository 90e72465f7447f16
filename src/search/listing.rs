//! Lists what passes the filters of a query that has no words.

use std::collections::HashMap;

use jiff::Timestamp;

use super::arms::Ask;
use crate::store::{ChunkRow, Filter, Reader, StoreError};
use crate::types::{ChunkId, Kind};

/// Returns up to `k` chunks of files by path and line, then up to `k` commits, the newest first.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn list(reader: &Reader, ask: &Ask<'_>, k: usize) -> Result<Vec<ChunkRow>, StoreError> {
    let is_wanted = |kind: &Kind| ask.filter.kinds.is_empty() || ask.filter.kinds.contains(kind);
    let kinds: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| *kind != Kind::Commit && is_wanted(kind)).collect();
    let mut rows = match kinds.is_empty() {
        true => Vec::new(),
        false => reader.first_members(ask.view, &Filter { kinds, ..ask.filter.clone() }, k)?,
    };
    if is_wanted(&Kind::Commit) {
        rows.extend(newest_commits(reader, ask, k)?);
    }
    Ok(rows)
}

fn newest_commits(reader: &Reader, ask: &Ask<'_>, k: usize) -> Result<Vec<ChunkRow>, StoreError> {
    let mut dated: Vec<(Option<Timestamp>, ChunkId)> = Vec::new();
    reader.each_commit(ask.view, |id, header| {
        if ask.filter.chunks.as_ref().is_none_or(|chunks| chunks.contains(id)) {
            dated.push((header.split(' ').nth(1).and_then(|date| date.parse().ok()), id));
        }
    })?;
    dated.sort_by(|left, right| right.cmp(left));
    dated.truncate(k);
    let places: HashMap<ChunkId, usize> = dated.iter().enumerate().map(|(nth, (_, id))| (*id, nth)).collect();
    let ids: Vec<ChunkId> = dated.into_iter().map(|(_, id)| id).collect();
    let mut rows = reader.members(ask.view, ask.filter, &ids)?;
    rows.sort_by_key(|row| places.get(&row.id).copied());
    Ok(rows)
}
