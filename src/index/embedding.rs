//! Computes missing vectors of chunks and paths.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use super::commits;
use crate::embed::{EmbedError, Embedder, quantize, record_vectors};
use crate::extract::{self, redact::RedactedText};
use crate::scan;
use crate::store::{Embedded, NewVector, PendingChunk, Reader, StoreError};
use crate::types::{ChunkId, Kind, SourceKey};

/// Vectors of one step, to be written.
#[derive(Debug, Default)]
pub struct Batch {
    /// What to keep.
    pub vectors: Vec<NewVector>,
    /// Where the next step begins.
    pub last: ChunkId,
    /// Chunks looked at; 0 when none is left.
    pub n_seen: usize,
    /// Why some got none, if so: the model failed.
    pub failed: Option<EmbedError>,
}

/// Embeds up to `limit` chunks with an id over `after`.
///
/// Text is read from the worktree again and used only when its hash is the one that was indexed; what changed
/// meanwhile is on its way to being indexed anew.
///
/// # Errors
/// When the database cannot be read.
pub fn embed_chunks(
    reader: &Reader,
    embedder: &dyn Embedder,
    after: ChunkId,
    limit: usize,
    max_file_bytes: u64,
) -> Result<Batch, StoreError> {
    let pending = reader.chunks_to_embed(after, limit)?;
    let mut batch = Batch {
        last: pending.last().map_or(after, |chunk| chunk.id),
        n_seen: pending.len(),
        ..Batch::default()
    };
    let mut texts: HashMap<[u8; 32], Option<RedactedText>> = HashMap::new();
    let mut ready = Vec::new();
    let mut fields = Vec::new();
    for chunk in pending {
        let body = match own_body(&chunk) {
            Some(own) => Some(own.to_owned()),
            None => {
                let text =
                    texts.entry(chunk.hash).or_insert_with(|| read_same(reader, &chunk, max_file_bytes));
                text.as_mut().and_then(|text| text.span(chunk.bytes.0..chunk.bytes.1)).map(Cow::into_owned)
            }
        };
        if let Some(body) = body {
            fields.push((head(&chunk), body));
            ready.push(chunk);
        }
    }
    match record_vectors(embedder, &fields) {
        Ok(vectors) => {
            let pairs = ready.into_iter().zip(vectors);
            batch.vectors.extend(pairs.map(|(chunk, vec)| NewVector {
                of: Embedded::Chunk(chunk.id, chunk.text_hash),
                vec: vec.as_deref().map(quantize),
            }));
        }
        Err(error) => batch.failed = Some(error),
    }
    Ok(batch)
}

/// Embeds up to `limit` paths that have no vector yet.
///
/// # Errors
/// When the database cannot be read.
pub fn embed_paths(reader: &Reader, embedder: &dyn Embedder, limit: usize) -> Result<Batch, StoreError> {
    let paths = reader.paths_to_embed(limit)?;
    let texts: Vec<&str> = paths.iter().map(|(_, path)| path.as_str()).collect();
    let mut batch = Batch { n_seen: paths.len(), ..Batch::default() };
    match embedder.embed(&texts) {
        Ok(vectors) => {
            batch.vectors.extend(paths.iter().zip(vectors).map(|((id, _), vec)| NewVector {
                of: Embedded::Path(*id),
                vec: vec.as_deref().map(quantize),
            }));
        }
        Err(error) => batch.failed = Some(error),
    }
    Ok(batch)
}

/// Returns the text that was indexed, from whichever file still has it.
fn read_same(reader: &Reader, chunk: &PendingChunk, max_file_bytes: u64) -> Option<RedactedText> {
    let read = |root: &str, key: &SourceKey| {
        scan::read_same(Path::new(root), key, max_file_bytes, &chunk.hash).ok().flatten()
    };
    let elsewhere = || {
        let files = reader.files_with(&chunk.hash).unwrap_or_default();
        files.iter().find_map(|(root, key)| read(root, key))
    };
    let text = read(&chunk.root, &chunk.key).or_else(elsewhere)?;
    let syntax = extract::syntax_of(chunk.key.as_str(), &text);
    Some(RedactedText::new(text, syntax))
}

/// Returns what is embedded of a chunk whose text is not a part of a file.
fn own_body(chunk: &PendingChunk) -> Option<&str> {
    let text = chunk.text.as_deref()?;
    Some(if chunk.kind == Kind::Commit { commits::embedded(text) } else { text })
}

fn head(chunk: &PendingChunk) -> String {
    chunk.title.clone().or_else(|| chunk.symbol.clone()).unwrap_or_default()
}
