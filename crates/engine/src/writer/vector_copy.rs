//! Keeps the vectors of chunks where searches find them: in memory up to the budget, otherwise in a table of sqlite-vec.
//!
//! After a panic, or if the vectors cannot be read, none are in memory: searches report that the vectors are not loaded, unless
//! the table has them, and the next update loads them.

use memod_base::threads::catch_panic;
use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use memod_embed::BUILTIN_ID;
use memod_index_db::{IndexReader, IndexWriter, VectorTableState};
use memod_vectors::shared_vectors::{AddedVectors, SharedVectors};
use memod_vectors::vector_index::{IdSet, VectorIndex};

use crate::engine::Engine;

/// Divisor of the budget: one eighth is left free when vectors are loaded, because more vectors will come.
const SPARE_DIVISOR: usize = 8;

/// Number of chunks whose vectors are put into the table between two jobs of the writer, which takes about 60 ms.
const CHUNKS_PER_STEP: usize = 5_000;

/// Updates the vectors in memory, or loads them. Call this before reporting a write, because answers at level `full` rely
/// on them.
pub(super) fn update_vectors_in_memory(engine: &Engine, writer: &mut IndexWriter) {
    let added = writer.take_added_vectors();
    let is_copied = match catch_panic(|| engine.vectors.add_vectors(&added)) {
        Ok(AddedVectors::InTable) => true,
        // While the table is being filled, the copy answers.
        Ok(AddedVectors::InMemory(n)) => {
            let dims = engine.models.vector_dims(writer.model_id());
            dims.is_ok_and(|dims| n <= max_vectors_in_memory(engine, dims)) || is_filling(writer)
        }
        Ok(AddedVectors::NotLoaded) => false,
        Err(_) => {
            engine.vectors.forget_copies(); // the copy may have only some of the new vectors
            false
        }
    };
    if !is_copied {
        load_vectors(engine, writer);
    }
}

/// Makes the vectors in memory equal to those of the database if they fit into the budget; prepares the table otherwise.
pub(super) fn load_vectors(engine: &Engine, writer: &mut IndexWriter) {
    match catch_panic(|| try_load_vectors(engine, writer)) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::warn!(%error, "the vectors cannot be loaded; keyword search still works");
            engine.vectors.forget_copies();
        }
        Err(_) => engine.vectors.forget_copies(),
    }
}

fn try_load_vectors(engine: &Engine, writer: &mut IndexWriter) -> Result<(), DatabaseError> {
    engine.vectors.add_vectors(&writer.take_added_vectors());
    let model = writer.model_id().to_owned();
    let Ok(dims) =
        engine.models.vector_dims(&model).inspect_err(|why| tracing::warn!(why, "cannot load vectors"))
    else {
        engine.vectors.forget_copies(); // searches report the reason
        return Ok(());
    };
    let most = max_vectors_in_memory(engine, dims);
    let most = most - most / SPARE_DIVISOR;
    let ids = engine.with_reader(|reader| reader.ids_with_vector(most + 1))?;
    if ids.len() > most {
        match writer.prepare_vector_table(dims) {
            Err(error) => warn_table_not_filled(&error),
            // The copy in memory answers until the table is filled.
            Ok(()) if engine.vectors.is_in_memory() && is_filling(writer) => {}
            Ok(()) => engine.vectors.use_table(),
        }
        return Ok(());
    }
    let n_ids = ids.len();
    let ids: IdSet = ids.into_iter().collect();
    if !engine.vectors.retain_chunks(&model, &ids) {
        let mut vectors = VectorIndex::new(dims);
        vectors.reserve(n_ids);
        engine.with_reader(|reader: &IndexReader| {
            reader.each_vector(|id, bytes| {
                let vector: Vec<i8> = bytes.iter().map(|byte| byte.cast_signed()).collect();
                vectors.add_vector(id, &vector);
            })
        })?;
        engine.vectors.replace_copies(&model, vectors);
    }
    writer.drop_vector_table()
}

/// Switches the index and the vectors in memory to the next model.
pub(super) fn switch_model(
    engine: &Engine,
    writer: &mut IndexWriter,
    model: &str,
) -> Result<(), DatabaseError> {
    let dims = engine.models.vector_dims(model).unwrap_or_default();
    engine.with_reader(|reader| switch_database_and_copy(&engine.vectors, reader, writer, model, dims))?;
    load_vectors(engine, writer);
    tracing::info!(model, "switched to another embedding model");
    Ok(())
}

/// Switches the model in the database and in memory. Searches that began before the switch, or begin during it, find vectors of
/// their own model: the new copy is in memory before the switch, and the former copy until the switch is done.
fn switch_database_and_copy(
    nearest: &SharedVectors,
    reader: &IndexReader,
    writer: &mut IndexWriter,
    model: &str,
    dims: usize,
) -> Result<(), DatabaseError> {
    nearest.add_vectors(&writer.take_added_vectors()); // these vectors are of the former model, like the copy in memory
    if nearest.is_in_memory() {
        let mut vectors = VectorIndex::new(dims);
        reader.each_vector_of_model(model, |id, bytes| {
            let vector: Vec<i8> = bytes.iter().map(|byte| byte.cast_signed()).collect();
            vectors.add_vector(id, &vector);
        })?;
        nearest.add_next_copy(model, vectors);
    }
    let switched = writer.switch_model(model, model == BUILTIN_ID);
    nearest.remove_other_models(writer.model_id());
    switched
}

/// Copies some vectors into the table if it is still being filled; returns whether more remain.
pub(super) fn fill_table_step(engine: &Engine, writer: &mut IndexWriter) -> bool {
    match catch_panic(|| try_fill_table(engine, writer)) {
        Ok(Ok(is_partial)) => is_partial,
        Ok(Err(error)) => {
            warn_table_not_filled(&error);
            false
        }
        Err(_) => false,
    }
}

fn try_fill_table(engine: &Engine, writer: &mut IndexWriter) -> Result<bool, DatabaseError> {
    if writer.vector_table_state()? != VectorTableState::Partial {
        return Ok(false);
    }
    writer.fill_vector_table(CHUNKS_PER_STEP)?;
    let is_partial = writer.vector_table_state()? == VectorTableState::Partial;
    if !is_partial {
        engine.vectors.use_table();
        tracing::info!("vectors exceed `index.vector_memory_mb`; searches read them from the disk");
    }
    Ok(is_partial)
}

fn warn_table_not_filled(error: &DatabaseError) {
    tracing::warn!(%error, "cannot copy the vectors into their table; the next change tries again");
}

fn is_filling(writer: &IndexWriter) -> bool {
    writer.vector_table_state().is_ok_and(|table| table == VectorTableState::Partial)
}

/// Returns the number of vectors of this length that the memory budget allows.
fn max_vectors_in_memory(engine: &Engine, dims: usize) -> usize {
    let bytes = engine.config.index.vector_memory_mb << 20;
    usize::try_from(bytes).unwrap_or(usize::MAX) / (dims + size_of::<ChunkId>())
}

#[cfg(test)]
mod tests;
