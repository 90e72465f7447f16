//! Finds the chunks that are pieces of one definition.
//!
//! A long definition is cut into several chunks. Between these pieces there may be chunks of inner definitions. Adjacent overloads
//! of one name count as one definition, as they do if they share a chunk.

use memod_base::types::{ChunkId, ChunkKind, is_same_or_inside};
use memod_database::DatabaseError;
use memod_index_db::{ChunkLocation, ChunkSummary, IndexedContent};

use crate::candidates::chunk_candidate::ChunkCandidate;
use crate::candidates::row_cache::CachedReader;
use crate::worktree_chunks::WorktreeChunks;

/// Most adjacent chunks, before and after a piece, among which other pieces are searched.
const MOST_BETWEEN: usize = 16;

/// Sets `definition` of all candidates that are pieces of one definition to the same chunk.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn unify_piece_definitions(
    rows: CachedReader<'_>,
    worktree: &WorktreeChunks,
    candidates: &mut [ChunkCandidate],
) -> Result<(), DatabaseError> {
    for pair in definition_indices_in_order(candidates).windows(2) {
        let (before, after) = (&candidates[pair[0]], &candidates[pair[1]]);
        if definition_key(before) != definition_key(after) {
            continue;
        }
        let chunks = &worktree.content_at(before.content).chunks;
        if are_one_definition(rows, chunks, before, after.key)? {
            candidates[pair[1]].definition = before.definition;
        }
    }
    Ok(())
}

/// Returns the indices of the candidates that are definitions, grouped by content and name, in the order of the text.
fn definition_indices_in_order(candidates: &[ChunkCandidate]) -> Vec<usize> {
    let mut places: Vec<usize> =
        (0..candidates.len()).filter(|nth| definition_key(&candidates[*nth]).is_some()).collect();
    places.sort_by_key(|nth| (definition_key(&candidates[*nth]), candidates[*nth].bytes));
    places
}

/// Returns the content, title and symbol of a definition; `None` for another kind of chunk.
fn definition_key(candidate: &ChunkCandidate) -> Option<(u32, &str, &str)> {
    let (symbol, title) = (candidate.symbol.as_deref()?, candidate.title.as_deref()?);
    (candidate.kind == ChunkKind::Symbol).then_some((candidate.content, title, symbol))
}

/// Returns whether only pieces of one definition, and definitions inside it, are between two pieces.
fn are_one_definition(
    rows: CachedReader<'_>,
    chunks: &[ChunkSummary],
    before: &ChunkCandidate,
    after: ChunkId,
) -> Result<bool, DatabaseError> {
    let (Some(from), Some(to)) = (position_in(chunks, before.key), position_in(chunks, after)) else {
        return Ok(false);
    };
    let between = chunks.get(from + 1..to).unwrap_or_default();
    if between.len() > MOST_BETWEEN {
        return Ok(false);
    }
    for chunk in between {
        let place = rows.chunk_location(chunk.id)?;
        if place.is_none_or(|place| {
            DefinitionPart::classify_chunk(&place, chunk.kind, before) == DefinitionPart::Other
        }) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Extends the lines and bytes of a candidate to all pieces of its definition.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn extend_to_definition(
    rows: CachedReader<'_>,
    content: &IndexedContent,
    candidate: &mut ChunkCandidate,
) -> Result<(), DatabaseError> {
    let Some(at) = position_in(&content.chunks, candidate.key) else { return Ok(()) };
    if candidate.kind != ChunkKind::Symbol {
        return Ok(());
    }
    for chunk in content.chunks[..at].iter().rev().take(MOST_BETWEEN) {
        if !extend_by_chunk(rows, chunk, candidate)? {
            break;
        }
    }
    for chunk in content.chunks[at + 1..].iter().take(MOST_BETWEEN) {
        if !extend_by_chunk(rows, chunk, candidate)? {
            break;
        }
    }
    Ok(())
}

/// Extends a candidate by a chunk if the chunk is a piece of the same definition. Returns whether further chunks may be pieces: the
/// chunk is a piece, or a definition inside.
fn extend_by_chunk(
    rows: CachedReader<'_>,
    chunk: &ChunkSummary,
    candidate: &mut ChunkCandidate,
) -> Result<bool, DatabaseError> {
    let Some(place) = rows.chunk_location(chunk.id)? else { return Ok(false) };
    let part = DefinitionPart::classify_chunk(&place, chunk.kind, candidate);
    if part == DefinitionPart::Piece {
        let ChunkCandidate { lines, bytes, .. } = candidate;
        *lines = (lines.0.min(place.lines.0), lines.1.max(place.lines.1));
        *bytes = (bytes.0.min(place.bytes.0), bytes.1.max(place.bytes.1));
    }
    Ok(part != DefinitionPart::Other)
}

fn position_in(chunks: &[ChunkSummary], id: ChunkId) -> Option<usize> {
    chunks.iter().position(|chunk| chunk.id == id)
}

/// How a chunk relates to a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DefinitionPart {
    /// A piece of the definition.
    Piece,
    /// Another definition, inside the definition.
    Inside,
    /// Neither.
    Other,
}

impl DefinitionPart {
    fn classify_chunk(place: &ChunkLocation, kind: ChunkKind, definition: &ChunkCandidate) -> Self {
        let (Some(title), Some(own)) = (&place.title, &definition.title) else { return Self::Other };
        if kind == ChunkKind::Symbol && title == own && place.symbol == definition.symbol {
            return Self::Piece;
        }
        // In titles of inner definitions a separator follows the name: `Session::login` or `Session.login`.
        if kind != ChunkKind::Map && is_same_or_inside(title, own) { Self::Inside } else { Self::Other }
    }
}
