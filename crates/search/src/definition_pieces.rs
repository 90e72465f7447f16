//! Finds which chunks are pieces of one definition.
//!
//! A long definition is cut into chunks, and definitions inside it are chunks of their own between its pieces. Overloads of
//! one name that stand together count as one definition, as they do where they share a chunk.

use memod_base::types::{ChunkId, Kind, is_inside};
use memod_database::DatabaseError;
use memod_index_db::{Content, ContentChunk, Place, Reader};

use super::kept_rows::KeptRows;
use super::rerank::Candidate;
use super::view_chunks::ViewChunks;

/// Most chunks that are looked at on either side for another piece.
const MOST_BETWEEN: usize = 16;

/// Sets the definition of candidates that are pieces of one.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn mark_pieces(
    rows: (&Reader, &KeptRows),
    view: &ViewChunks,
    candidates: &mut [Candidate],
) -> Result<(), DatabaseError> {
    for pair in by_name(candidates).windows(2) {
        let (before, after) = (&candidates[pair[0]], &candidates[pair[1]]);
        if name(before) != name(after) {
            continue;
        }
        let chunks = &view.content(before.content).chunks;
        if are_joined(rows, chunks, before, after.key)? {
            candidates[pair[1]].definition = before.definition;
        }
    }
    Ok(())
}

/// Returns the places of definitions, those with the same name in the same content side by side, in the order of the text.
fn by_name(candidates: &[Candidate]) -> Vec<usize> {
    let mut places: Vec<usize> =
        (0..candidates.len()).filter(|nth| name(&candidates[*nth]).is_some()).collect();
    places.sort_by_key(|nth| (name(&candidates[*nth]), candidates[*nth].bytes));
    places
}

/// Returns the content and the names of a definition.
fn name(candidate: &Candidate) -> Option<(u32, &str, &str)> {
    let (symbol, title) = (candidate.symbol.as_deref()?, candidate.title.as_deref()?);
    (candidate.kind == Kind::Symbol).then_some((candidate.content, title, symbol))
}

fn are_joined(
    (reader, kept): (&Reader, &KeptRows),
    chunks: &[ContentChunk],
    before: &Candidate,
    after: ChunkId,
) -> Result<bool, DatabaseError> {
    let place = |id: ChunkId| chunks.iter().position(|chunk| chunk.id == id);
    let (Some(from), Some(to)) = (place(before.key), place(after)) else { return Ok(false) };
    let between = chunks.get(from + 1..to).unwrap_or_default();
    if between.len() > MOST_BETWEEN {
        return Ok(false);
    }
    for chunk in between {
        let place = kept.place(reader, chunk.id)?;
        if place.is_none_or(|place| Part::of(&place, chunk.kind, before) == Part::Other) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Extends the lines and bytes of a candidate to all pieces of its definition.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn extend(
    (reader, kept): (&Reader, &KeptRows),
    content: &Content,
    candidate: &mut Candidate,
) -> Result<(), DatabaseError> {
    let Some(at) = content.chunks.iter().position(|chunk| chunk.id == candidate.key) else { return Ok(()) };
    if candidate.kind != Kind::Symbol {
        return Ok(());
    }
    let mut extend_by = |chunk: &ContentChunk| -> Result<bool, DatabaseError> {
        let Some(place) = kept.place(reader, chunk.id)? else { return Ok(false) };
        let part = Part::of(&place, chunk.kind, candidate);
        if part == Part::Piece {
            let Candidate { lines, bytes, .. } = candidate;
            *lines = (lines.0.min(place.lines.0), lines.1.max(place.lines.1));
            *bytes = (bytes.0.min(place.bytes.0), bytes.1.max(place.bytes.1));
        }
        Ok(part != Part::Other)
    };
    for chunk in content.chunks[..at].iter().rev().take(MOST_BETWEEN) {
        if !extend_by(chunk)? {
            break;
        }
    }
    for chunk in content.chunks[at + 1..].iter().take(MOST_BETWEEN) {
        if !extend_by(chunk)? {
            break;
        }
    }
    Ok(())
}

/// What a chunk is to a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Piece,
    /// In it, but of another definition.
    Inside,
    Other,
}

impl Part {
    fn of(place: &Place, kind: Kind, definition: &Candidate) -> Self {
        let (Some(title), Some(own)) = (&place.title, &definition.title) else { return Self::Other };
        if kind == Kind::Symbol && title == own && place.symbol == definition.symbol {
            return Self::Piece;
        }
        // After the name comes what joins it to those inside, as in `Session::login` or `Session.login`.
        if kind != Kind::Map && is_inside(title, own) { Self::Inside } else { Self::Other }
    }
}
