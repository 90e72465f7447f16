//! Computes missing vectors of chunks and paths.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use memod_base::paths::PathError;
use memod_base::threads;
use memod_base::types::{ChunkId, ChunkKind, SourceKey};
use memod_embed::{EmbedError, Embedder, embed_record_fields, quantize};
use memod_index_db::{IndexReader, NewVector, PendingChunk, VectorOwner};
use memod_text::redact::RedactedText;

use super::commits;

/// The vectors of one step.
#[derive(Debug, Default)]
pub struct VectorBatch {
    /// Vectors to store.
    pub vectors: Vec<NewVector>,
    /// The last chunk of the step, after which the next one begins.
    pub last: ChunkId,
    /// Number of texts of the step; 0 when no text is left.
    pub n_seen: usize,
    /// The texts of the step, if computing their vectors failed, so that none got one.
    pub failed: Option<FailedTexts>,
    /// The error of the first file that cannot be read at the moment; its texts got no vector.
    pub unread: Option<PathError>,
}

/// A batch of texts with at least one on which the model, or the preparation of its input, failed.
#[derive(Debug)]
pub struct FailedTexts {
    /// The texts with names for the log.
    pub texts: Vec<(VectorOwner, String)>,
    /// The error.
    pub why: String,
}

/// Computes the vectors of chunks; `after` is the last chunk before them.
///
/// The text of a file is read from the worktree again, and used only if its hash equals the indexed one. A changed file is skipped:
/// it is about to be indexed again.
pub fn embed_chunks(
    reader: &IndexReader,
    embedder: &dyn Embedder,
    after: ChunkId,
    pending: &[PendingChunk],
    max_file_bytes: u64,
) -> VectorBatch {
    let mut unread = None;
    let vectors = catch_panic(|| {
        compute_chunk_vectors(embedder, pending, |chunk| {
            match read_indexed_text(reader, chunk, max_file_bytes) {
                Ok(text) => text,
                Err(error) => {
                    unread.get_or_insert(error);
                    None
                }
            }
        })
    });
    let last = pending.last().map_or(after, |chunk| chunk.id);
    let batch =
        VectorBatch::from_result(pending.len(), vectors, || pending.iter().map(owner_and_log_name).collect());
    VectorBatch { last, unread, ..batch }
}

/// Returns the vector owner of a chunk, and a name of the chunk for the log.
fn owner_and_log_name(chunk: &PendingChunk) -> (VectorOwner, String) {
    let name = format!("{}, bytes {} to {}", chunk.key, chunk.bytes.0, chunk.bytes.1);
    (VectorOwner::Chunk(chunk.id, chunk.text_hash), name)
}

/// Computes the vectors of paths, given with their ids.
pub fn embed_paths(embedder: &dyn Embedder, paths: &[(i64, String)]) -> VectorBatch {
    let vectors = catch_panic(|| {
        let texts: Vec<&str> = paths.iter().map(|(_, path)| path.as_str()).collect();
        let vectors = paths.iter().zip(embedder.embed(&texts)?);
        Ok(vectors.map(|((id, _), vector)| new_vector(VectorOwner::Path(*id), vector.as_deref())).collect())
    });
    VectorBatch::from_result(paths.len(), vectors, || {
        paths.iter().map(|(id, path)| (VectorOwner::Path(*id), path.clone())).collect()
    })
}

impl VectorBatch {
    fn from_result(
        n_seen: usize,
        vectors: Result<Vec<NewVector>, String>,
        texts: impl FnOnce() -> Vec<(VectorOwner, String)>,
    ) -> Self {
        match vectors {
            Ok(vectors) => Self { n_seen, vectors, ..Self::default() },
            Err(why) => Self { n_seen, failed: Some(FailedTexts { texts: texts(), why }), ..Self::default() },
        }
    }
}

/// Runs code on untrusted text, and converts a panic to an error.
fn catch_panic<T>(run: impl FnOnce() -> Result<T, EmbedError>) -> Result<T, String> {
    match threads::catch_panic(run) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(why) => Err(format!("panicked: {why}")),
    }
}

/// Computes the vectors of chunks; `read` returns the text of a chunk's file.
fn compute_chunk_vectors(
    embedder: &dyn Embedder,
    pending: &[PendingChunk],
    mut read: impl FnMut(&PendingChunk) -> Option<RedactedText>,
) -> Result<Vec<NewVector>, EmbedError> {
    let mut texts: HashMap<[u8; 32], Option<RedactedText>> = HashMap::new();
    let mut ready = Vec::new();
    let mut fields = Vec::new();
    for chunk in pending {
        let body = match stored_text(chunk) {
            Some(own) => Some(own.to_owned()),
            None => {
                let text = texts.entry(chunk.hash).or_insert_with(|| read(chunk));
                text.as_mut().and_then(|text| text.span(chunk.bytes.0..chunk.bytes.1)).map(Cow::into_owned)
            }
        };
        if let Some(body) = body {
            fields.push((title_or_symbol(chunk), body));
            ready.push(VectorOwner::Chunk(chunk.id, chunk.text_hash));
        }
    }
    let vectors = ready.into_iter().zip(embed_record_fields(|texts| embedder.embed(texts), &fields)?);
    Ok(vectors.map(|(of, vector)| new_vector(of, vector.as_deref())).collect())
}

fn new_vector(of: VectorOwner, vector: Option<&[f32]>) -> NewVector {
    NewVector { owner: of, vec: vector.map(quantize) }
}

/// Returns the text that was indexed for a chunk's file, from any file that still has it; `None` if no file has.
///
/// # Errors
/// When the file cannot be read at the moment, and no other file has the text.
fn read_indexed_text(
    reader: &IndexReader,
    chunk: &PendingChunk,
    max_file_bytes: u64,
) -> Result<Option<RedactedText>, PathError> {
    let read = |root: &str, key: &SourceKey| {
        memod_scan::read_if_hash_matches(Path::new(root), key, max_file_bytes, &chunk.hash)
    };
    let text = match read(&chunk.root, &chunk.key) {
        Ok(Some(text)) => text,
        without => {
            let files = reader.find_files_with_content(&chunk.hash).unwrap_or_default();
            match files.iter().find_map(|(root, key)| read(root, key).ok().flatten()) {
                Some(text) => text,
                None => return without.map(|_| None),
            }
        }
    };
    let text = memod_extract::readable_text(chunk.key.as_str(), text).into_owned();
    let syntax = memod_extract::bare_word_syntax(chunk.key.as_str(), &text);
    Ok(Some(RedactedText::new(text, syntax)))
}

/// Returns the text to embed of a chunk whose text is stored in the index; `None` if it is a part of a file.
fn stored_text(chunk: &PendingChunk) -> Option<&str> {
    let text = chunk.text.as_deref()?;
    Some(if chunk.kind == ChunkKind::Commit { commits::message_and_paths(text) } else { text })
}

/// Returns the title of a chunk, or else its symbol.
fn title_or_symbol(chunk: &PendingChunk) -> String {
    chunk.title.clone().or_else(|| chunk.symbol.clone()).unwrap_or_default()
}
