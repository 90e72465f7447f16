//! Keeps the vectors in memory equal to those of the database.
//!
//! After a panic, or when they cannot be read, none are in memory: searches say that the vectors are not loaded, and the
//! next update loads them.

use super::shared::Shared;
use crate::embed::BUILTIN_DIMS;
use crate::search::nearest::VectorIndex;
use crate::store::{Reader, Writer};
use crate::unwind::caught;

/// Updates the vectors in memory, or loads them. Call this before reporting a write, because answers at level `full` rely
/// on them.
pub(super) fn copy_vectors(shared: &Shared, writer: &mut Writer) {
    let added = writer.take_added();
    let is_added = caught(|| shared.nearest.add(&added));
    if !is_added.unwrap_or(false) {
        load_vectors(shared);
    }
}

/// Replaces the vectors in memory by those of the database; searches use the old ones until then.
pub(super) fn load_vectors(shared: &Shared) {
    let mut nearest = VectorIndex::new(BUILTIN_DIMS);
    let load = |reader: &Reader| {
        reader.each_vector(|id, bytes| {
            let vector: Vec<i8> = bytes.iter().map(|byte| byte.cast_signed()).collect();
            nearest.add(id, &vector);
        })
    };
    match caught(|| shared.read(load)) {
        Ok(Ok(())) => shared.nearest.replace(nearest),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the vectors cannot be loaded; keyword search goes on");
            shared.nearest.forget();
        }
        Err(_) => shared.nearest.forget(),
    }
}
