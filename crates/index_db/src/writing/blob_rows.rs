//! Inserts contents, chunks and paths into index.db.

use std::collections::HashSet;

use memod_base::types::{BlobId, ChunkId, ChunkKind, Definition, ReadRefusal, SourceKey, Stat, WorktreeId};
use memod_database::vector_from_bytes;
use rusqlite::{OptionalExtension, Transaction, params};

use super::new_rows::{AddedVectors, NewBlob, NewChunk, WorktreeKey};
use super::vector_rows;
use crate::postings::InvertedWords;
use crate::vector_state::{EMBED_FAILED, HAS_VECTOR, VECTOR_PENDING, WITHOUT_VECTOR};

/// The vectors and words that a transaction adds in addition to the rows of contents.
pub(super) struct IndexAdditions<'a> {
    /// The model whose vectors are used.
    pub(super) model_id: &'a str,
    pub(super) vectors: AddedVectors,
    pub(super) words: InvertedWords<'a>,
}

/// Returns an id that no worktree has had, because work in progress for a removed worktree must not affect a new one.
fn allocate_worktree_id(tx: &Transaction<'_>) -> rusqlite::Result<WorktreeId> {
    tx.query_row(
        "INSERT INTO meta(key, value) SELECT 'last_view', coalesce(max(id), 0) + 1 FROM view WHERE true
         ON CONFLICT(key) DO UPDATE SET value = value + 1 RETURNING CAST(value AS INTEGER)",
        [],
        |row| row.get(0),
    )
    .map(WorktreeId)
}

pub(super) fn add_worktree(tx: &Transaction<'_>, key: &WorktreeKey) -> rusqlite::Result<WorktreeId> {
    let id = allocate_worktree_id(tx)?;
    tx.execute(
        "INSERT INTO view(id, git_dir, git_dir_inode, root, epoch, seq, complete)
         VALUES(?1, ?2, ?3, ?4, unixepoch(), 0, 0)",
        params![id.0, key.git_dir, key.inode as i64, key.root],
    )?;
    Ok(id)
}

/// Moves the manifest of a worktree to a new id and another root; returns that id.
pub(super) fn move_worktree(
    tx: &Transaction<'_>,
    from: WorktreeId,
    root: &str,
) -> rusqlite::Result<WorktreeId> {
    let id = allocate_worktree_id(tx)?;
    tx.execute_batch("PRAGMA defer_foreign_keys = ON")?;
    tx.execute("UPDATE view SET id = ?2, root = ?3 WHERE id = ?1", params![from.0, id.0, root])?;
    tx.execute("UPDATE entry SET view_id = ?2 WHERE view_id = ?1", params![from.0, id.0])?;
    Ok(id)
}

/// Deletes the rows of a worktree and its manifest. The time for which its contents are kept starts now.
pub(super) fn delete_worktree(tx: &Transaction<'_>, view: WorktreeId) -> rusqlite::Result<()> {
    tx.execute(
        "UPDATE blob SET last_ref = unixepoch()
         WHERE id IN (SELECT blob_id FROM entry WHERE view_id = ?1)",
        [view.0],
    )?;
    tx.execute("DELETE FROM view WHERE id = ?1", [view.0])?;
    Ok(())
}

/// Returns the blob of a content, identified by its hash, its format, and the part of its path on which extraction depends; inserts
/// `new` if the content is unknown or was extracted by another version. `None` if the content is unknown and `new` is not given.
pub(super) fn find_or_add_blob<'a>(
    tx: &Transaction<'_>,
    (hash, lang, path_part): (&[u8; 32], &str, &str),
    new: Option<&'a NewBlob>,
    now_s: i64,
    adding: &mut IndexAdditions<'a>,
) -> rusqlite::Result<Option<BlobId>> {
    let known: Option<(i64, i64)> = tx
        .prepare_cached(
            "SELECT id, extractor_version FROM blob WHERE hash = ?1 AND lang = ?2 AND path_part = ?3",
        )?
        .query_row(params![hash, lang, path_part], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some(new) = new else { return Ok(known.map(|(id, _)| BlobId(id))) };
    if let Some((id, version)) = known {
        if version == new.extractor_version {
            return Ok(Some(BlobId(id)));
        }
        delete_chunks(tx, BlobId(id))?;
        count_replaced(tx)?;
    }
    let id: i64 = tx
        .prepare_cached(
            "INSERT INTO blob(hash, lang, path_part, size, kind, extractor_version, refs, problems, last_ref, n_secrets, routes)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, nullif(?8, ''), ?9, ?10, nullif(?11, ''))
             ON CONFLICT(hash, lang, path_part) DO UPDATE SET kind = excluded.kind, refs = excluded.refs,
                 problems = excluded.problems, extractor_version = excluded.extractor_version,
                 n_secrets = excluded.n_secrets, routes = excluded.routes
             RETURNING id",
        )?
        .query_row(
            params![
                hash,
                lang,
                path_part,
                new.size as i64,
                new.kind,
                new.extractor_version,
                new.refs,
                new.problems,
                now_s,
                new.n_secrets as i64,
                new.routes,
            ],
            |row| row.get(0),
        )?;
    new.definitions.iter().try_for_each(|definition| add_definition(tx, BlobId(id), definition))?;
    if !new.structure.is_empty() {
        tx.prepare_cached("INSERT INTO structure(blob_id, data) VALUES(?1, ?2)")?
            .execute(params![id, new.structure])?;
    }
    let inner = find_inner_names(new);
    for (ord, chunk) in new.chunks.iter().enumerate() {
        let chunk_id = add_chunk(tx, BlobId(id), ord, chunk, adding)?;
        inner.iter().filter(|(at, _)| *at == ord).try_for_each(|(_, name)| add_symbol(tx, name, chunk_id))?;
    }
    Ok(Some(BlobId(id)))
}

/// Returns the names of definitions that no chunk has as its symbol, such as those inside of a short function, each with the
/// position of the chunk that it is in. Without them, a name that an outline shows could not be asked for.
fn find_inner_names(new: &NewBlob) -> Vec<(usize, &str)> {
    let symbols = new.chunks.iter().filter_map(|chunk| chunk.symbol.as_deref());
    let known: HashSet<&str> = symbols.flat_map(str::split_whitespace).collect();
    let mut inner = Vec::new();
    for definition in &new.definitions {
        let mut names = definition.names.split_whitespace().filter(|name| !known.contains(name)).peekable();
        if names.peek().is_none() {
            continue; // as for almost all definitions
        }
        let line = definition.lines.0;
        let is_around =
            |chunk: &NewChunk| chunk.kind != ChunkKind::Map && chunk.lines.0 <= line && line <= chunk.lines.1;
        // No chunk begins at a line that has only a bracket or marks.
        let is_inside = |chunk: &NewChunk| {
            chunk.kind != ChunkKind::Map && line <= chunk.lines.0 && chunk.lines.0 <= definition.lines.1
        };
        let around = new.chunks.iter().rposition(is_around);
        if let Some(at) = around.or_else(|| new.chunks.iter().position(is_inside)) {
            inner.extend(names.map(|name| (at, name)));
        }
    }
    inner
}

fn add_symbol(tx: &Transaction<'_>, name: &str, chunk: ChunkId) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO symbol(name, chunk_id) VALUES(?1, ?2) ON CONFLICT DO NOTHING")?
        .execute(params![name, chunk.0])
        .map(drop)
}

fn add_definition(tx: &Transaction<'_>, blob: BlobId, definition: &Definition) -> rusqlite::Result<()> {
    let Definition { title, names, lines, text, shape, is_field, n_overloads } = definition;
    tx.prepare_cached(
        "INSERT INTO definition(blob_id, title, names, l0, l1, text, shape, is_field, n_overloads)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT DO NOTHING",
    )?
    .execute(params![blob.0, title, names, lines.0, lines.1, text.0, shape.0, is_field, n_overloads])
    .map(drop)
}

fn add_chunk<'a>(
    tx: &Transaction<'_>,
    blob: BlobId,
    ord: usize,
    chunk: &'a NewChunk,
    adding: &mut IndexAdditions<'a>,
) -> rusqlite::Result<ChunkId> {
    tx.prepare_cached(
        "INSERT INTO chunk(blob_id, ord, kind, b0, b1, l0, l1, symbol, title, text, text_hash, vec_state, n_words)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        blob.0,
        ord as i64,
        chunk.kind.as_str(),
        chunk.bytes.0 as i64,
        chunk.bytes.1 as i64,
        chunk.lines.0,
        chunk.lines.1,
        chunk.symbol,
        chunk.title,
        chunk.text,
        chunk.text_hash,
        if chunk.gets_vector { VECTOR_PENDING } else { WITHOUT_VECTOR },
        chunk.words.iter().map(|words| words.split_ascii_whitespace().count() as i64).sum::<i64>(),
    ])?;
    let id = ChunkId(tx.last_insert_rowid());
    adding.words.add_chunk(id, &chunk.words);
    tx.prepare_cached("INSERT INTO chunk_pieces(chunk_id, pieces) VALUES(?1, ?2)")?
        .execute(params![id.0, chunk.pieces.to_bytes()])?;
    for name in chunk.symbol.iter().flat_map(|names| names.split_whitespace()) {
        add_symbol(tx, name, id)?;
    }
    if chunk.gets_vector {
        let known: Option<Option<Vec<u8>>> = tx
            .prepare_cached("SELECT vec FROM embedding WHERE text_hash = ?1 AND model_id = ?2")?
            .query_row(params![chunk.text_hash, adding.model_id], |row| row.get(0))
            .optional()?;
        if let Some(vec) = known {
            set_vector(tx, id, vec.as_deref(), &mut adding.vectors)?;
        }
    }
    Ok(id)
}

/// Records whether a chunk has a vector, which is added to `added`. `None` means that the model knows no word of the text, an empty
/// vector that the model fails on it. Does nothing if the chunk is gone or does not wait for a vector.
pub(super) fn set_vector(
    tx: &Transaction<'_>,
    chunk: ChunkId,
    vec: Option<&[u8]>,
    added: &mut AddedVectors,
) -> rusqlite::Result<()> {
    let state = match vec {
        Some([]) => EMBED_FAILED,
        Some(_) => HAS_VECTOR,
        None => WITHOUT_VECTOR,
    };
    let n_updated = tx
        .prepare_cached("UPDATE chunk SET vec_state = ?2 WHERE id = ?1 AND vec_state = ?3")?
        .execute(params![chunk.0, state, VECTOR_PENDING])?;
    if let (1, HAS_VECTOR, Some(vec)) = (n_updated, state, vec) {
        added.push((chunk, vector_from_bytes(vec)));
    }
    Ok(())
}

pub(super) fn delete_blob(tx: &Transaction<'_>, blob: BlobId) -> rusqlite::Result<()> {
    delete_chunks(tx, blob)?;
    tx.prepare_cached("DELETE FROM blob WHERE id = ?1")?.execute([blob.0])?;
    Ok(())
}

/// Counts a content whose chunks were replaced, because that changes no sequence number of a worktree.
fn count_replaced(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute(
        "INSERT INTO meta(key, value) VALUES('n_replaced', '1')
         ON CONFLICT(key) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)",
        [],
    )
    .map(drop)
}

fn delete_chunks(tx: &Transaction<'_>, blob: BlobId) -> rusqlite::Result<()> {
    let ids: Vec<i64> = tx
        .prepare_cached("SELECT id FROM chunk WHERE blob_id = ?1")?
        .query_map([blob.0], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    vector_rows::delete_rows(tx, &ids)?;
    tx.prepare_cached("DELETE FROM chunk WHERE blob_id = ?1")?.execute([blob.0])?;
    tx.prepare_cached("DELETE FROM definition WHERE blob_id = ?1")?.execute([blob.0])?;
    tx.prepare_cached("DELETE FROM structure WHERE blob_id = ?1")?.execute([blob.0])?;
    Ok(())
}

pub(super) fn add_path(tx: &Transaction<'_>, key: &SourceKey) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO path(path, vec_state) VALUES(?1, ?2) ON CONFLICT DO NOTHING")?
        .execute(params![key.as_str(), VECTOR_PENDING])
        .map(drop)
}

/// Deletes paths that no worktree has any more.
pub(super) fn delete_unused_paths(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM path WHERE path NOT IN (SELECT path FROM entry)", []).map(drop)
}

/// Deletes the vectors of texts that no chunk has any more.
///
/// Texts are compared by 8 of the 32 bytes of their hashes: as a set in SQLite, the hashes of a million chunks took 70 MB. If
/// two texts agree in these bytes, the vector of an unused one stays.
pub(super) fn delete_unused_vectors(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut used = Vec::new();
    each_text_hash(tx, "chunk", |hash| used.push(hash_prefix(&hash)))?;
    used.sort_unstable();
    let mut unused = Vec::new();
    each_text_hash(tx, "embedding", |hash| {
        if used.binary_search(&hash_prefix(&hash)).is_err() {
            unused.push(hash);
        }
    })?;
    let mut statement = tx.prepare_cached("DELETE FROM embedding WHERE text_hash = ?1")?;
    unused.iter().try_for_each(|hash| statement.execute([hash]).map(drop))
}

fn hash_prefix(hash: &[u8; 32]) -> [u8; 8] {
    hash.as_chunks::<8>().0[0]
}

fn each_text_hash(
    tx: &Transaction<'_>,
    table: &str,
    mut visit: impl FnMut([u8; 32]),
) -> rusqlite::Result<()> {
    let mut statement = tx.prepare(&format!("SELECT text_hash FROM {table}"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        visit(row.get(0)?);
    }
    Ok(())
}

/// Returns the content of a path that is about to get another or none. The time for which that content is kept starts now.
pub(super) fn start_blob_retention(
    tx: &Transaction<'_>,
    view: WorktreeId,
    key: &SourceKey,
    now_s: i64,
) -> rusqlite::Result<Option<BlobId>> {
    tx.prepare_cached(
        "UPDATE blob SET last_ref = ?3
         WHERE id = (SELECT blob_id FROM entry WHERE view_id = ?1 AND path = ?2) RETURNING id",
    )?
    .query_row(params![view.0, key.as_str(), now_s], |row| row.get(0).map(BlobId))
    .optional()
}

/// Writes the manifest row of a path; returns the content that the path had before.
#[expect(clippy::too_many_arguments, reason = "one row, a value a column")]
pub(super) fn put_entry(
    tx: &Transaction<'_>,
    view: WorktreeId,
    key: &SourceKey,
    stat: &Stat,
    racy: bool,
    blob: Option<BlobId>,
    refusal: Option<ReadRefusal>,
    now_s: i64,
) -> rusqlite::Result<Option<BlobId>> {
    let former = start_blob_retention(tx, view, key, now_s)?;
    tx.prepare_cached(
        "INSERT OR REPLACE INTO entry(view_id, path, blob_id, refusal, mode, size, mtime_ns, ctime_ns, inode, dev, racy)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        view.0,
        key.as_str(),
        blob.map(|blob| blob.0),
        refusal.map(ReadRefusal::as_str),
        stat.mode,
        stat.size as i64,
        stat.mtime_ns,
        stat.ctime_ns,
        stat.inode as i64,
        stat.dev as i64,
        racy,
    ])?;
    Ok(former)
}

#[cfg(test)]
mod tests {
    use memod_base::types::TextHash;

    use super::*;
    use crate::test_rows::embeddable_chunk;

    #[test]
    fn names_inside_of_a_chunk_are_symbols_of_the_innermost_chunk() {
        let chunk = |kind, lines, symbol: Option<&str>| NewChunk {
            kind,
            lines,
            symbol: symbol.map(str::to_owned),
            ..embeddable_chunk([0; 32])
        };
        let definition = |names: &str, lines| Definition {
            title: names.to_owned(),
            names: names.to_owned(),
            lines,
            text: TextHash::hash_bytes(b""),
            shape: TextHash::hash_bytes(b""),
            ..Definition::default()
        };
        let new = NewBlob {
            chunks: vec![
                chunk(ChunkKind::Map, (1, 9), None),
                chunk(ChunkKind::Symbol, (1, 4), Some("outer")),
                chunk(ChunkKind::Symbol, (5, 9), Some("a b")),
            ],
            definitions: vec![
                definition("outer", (1, 4)),
                definition("inner", (2, 3)),
                definition("a", (5, 5)),
                definition("c #d", (7, 7)),
                definition("elsewhere", (12, 12)),
            ],
            ..NewBlob::default()
        };
        assert_eq!(find_inner_names(&new), [(1, "inner"), (2, "c"), (2, "#d")]);
    }
}
