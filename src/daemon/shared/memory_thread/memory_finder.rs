//! Searches memories from their own read connection.
//!
//! The finder has a read-only connection and a copy of the vectors, which are updated after each job and before its answer is sent,
//! so that acknowledged changes are found. Searches do not wait for a long import or a slow disk.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use memod_base::threads::lock;
use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use memod_embed::{BUILTIN_ID, CosineScale, Embedder, TextRole, can_embed, embed_record_fields, quantize};
use memod_engine::model_registry::{ModelRegistry, ModelResult};
use memod_memory_db::{FAST_MODEL_BATCH, MemoryReader, MemoryRows, MemoryStore, VectorChanges, VectorModel};
use memod_vectors::vector_index::MutableVectorIndex;

/// Number of memories that a slow model embeds at a time. A request that writes a memory waits for one step.
const SLOW_STEP: usize = 8;

/// Returns the functions with which the store computes vectors of a model.
pub(in crate::daemon) fn build_vector_model(models: &Arc<ModelRegistry>, id: &str) -> VectorModel {
    let is_slow = models.load_model(id).is_ok_and(|model| model.is_slow());
    let step = if is_slow { SLOW_STEP } else { FAST_MODEL_BATCH };
    let (models_if_ready, models_now) = (Arc::clone(models), Arc::clone(models));
    let (id_if_ready, id_now) = (id.to_owned(), id.to_owned());
    VectorModel {
        id: id.to_owned(),
        embed: Box::new(move |fields: &[RecordText]| embed_if_ready(&models_if_ready, &id_if_ready, fields)),
        embed_if_loaded: Box::new(move |fields: &[RecordText]| embed_now(&models_now, &id_now, fields)),
        batch_size: step,
    }
}

/// Embeds records if the model is ready; otherwise they are tried again later, because the caller's transaction must not wait.
fn embed_if_ready(models: &ModelRegistry, id: &str, fields: &[RecordText]) -> Option<Vec<Option<Vec<i8>>>> {
    let model = models.load_model(id).ok().filter(|model| model.poll_ready())?;
    Some(quantize_all(embed_records(model.as_ref(), fields)?))
}

/// Embeds records, and waits for a slow model.
fn embed_now(models: &ModelRegistry, id: &str, fields: &[RecordText]) -> Option<Vec<Option<Vec<i8>>>> {
    let model = models.load_model(id).ok()?;
    if !model.is_slow() {
        return Some(quantize_all(embed_records(model.as_ref(), fields)?));
    }
    embed_record_fields(|texts| model.embed_if_loaded(texts, TextRole::Document), fields)
        .ok()
        .map(quantize_all)
}

/// Title and content of a record; the title is empty if there is none.
type RecordText = (String, String);

fn quantize_all(vectors: Vec<Option<Vec<f32>>>) -> Vec<Option<Vec<i8>>> {
    vectors.into_iter().map(|vector| vector.as_deref().map(quantize)).collect()
}

/// Returns one vector per record, `None` for a record on which the model fails; `None` if the model can embed no text at all.
fn embed_records(model: &dyn Embedder, fields: &[(String, String)]) -> Option<Vec<Option<Vec<f32>>>> {
    let why = match (embed_record_fields(|texts| model.embed(texts), fields), fields) {
        (Ok(vectors), _) => return Some(vectors),
        (Err(error), [_]) => error,
        (Err(_), _) => {
            let alone = fields.iter().map(|field| embed_records(model, std::slice::from_ref(field))?.pop());
            return alone.collect();
        }
    };
    let is_blamed = can_embed(model);
    tracing::error!(%why, is_blamed, "a memory has no vector, so only words find it");
    is_blamed.then(|| vec![None])
}

/// Reads memories for searches while a database is open.
pub(in crate::daemon) struct MemoryFinder {
    database: RwLock<Option<OpenMemoryDatabase>>,
    models: Arc<ModelRegistry>,
}

/// The open database: a read connection, and the copy of the vectors.
struct OpenMemoryDatabase {
    reader: Mutex<Box<MemoryReader>>,
    vectors: MutableVectorIndex<MemoryRow>,
}

impl MemoryFinder {
    pub(in crate::daemon) fn new(models: Arc<ModelRegistry>) -> Self {
        Self { database: RwLock::default(), models }
    }

    /// Loads and returns the model whose vectors memories have, or returns why it cannot be used.
    pub(in crate::daemon) fn load_model(&self) -> ModelResult {
        self.models.load_model(&self.with_vectors(|vectors| vectors.model_id().to_owned()))
    }

    /// Applies the changes that the last job made in the store.
    pub(in crate::daemon) fn apply_changes(&self, store: &mut MemoryStore) {
        let changes = match store.vector_changes() {
            Ok(None) => return,
            Ok(Some(VectorChanges::Some(vectors))) if vectors.is_empty() => return,
            changes => changes,
        };
        let mut known = self.database.write().unwrap_or_else(PoisonError::into_inner);
        match (changes, known.as_mut()) {
            (Ok(Some(VectorChanges::All(reader, model, all))), _) => {
                let scale = self
                    .models
                    .load_model(&model)
                    .map_or_else(|_| CosineScale::default(), |model| model.cosine_scale());
                let mut vectors = MutableVectorIndex::new(&model, scale);
                all.iter().for_each(|(row, vector)| vectors.set_vector(*row, Some(vector)));
                *known = Some(OpenMemoryDatabase { reader: Mutex::new(reader), vectors });
            }
            (Ok(Some(VectorChanges::Some(changed))), Some(known)) => {
                changed.iter().for_each(|(row, vector)| known.vectors.set_vector(*row, vector.as_deref()));
            }
            (Ok(_), _) => {}
            (Err(error), _) => {
                tracing::warn!(%error, "the vectors of the memories cannot be read");
                *known = None;
            }
        }
    }

    /// Reads rows and vectors as a worktree has them; `None` if no database is open.
    pub(in crate::daemon) fn read_rows<T>(
        &self,
        now_ms: i64,
        worktree: i64,
        read: impl FnOnce(&MemoryRows<'_>, &MutableVectorIndex<MemoryRow>) -> Result<T, DatabaseError>,
    ) -> Option<Result<T, DatabaseError>> {
        let known = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let OpenMemoryDatabase { reader, vectors } = known.as_ref()?;
        let reader = lock(reader);
        Some(reader.read(now_ms, worktree, |rows| read(rows, vectors)))
    }

    /// Calls `see` with the vectors, without reading the database; the index is empty if no database is open.
    pub(in crate::daemon) fn with_vectors<T>(
        &self,
        see: impl FnOnce(&MutableVectorIndex<MemoryRow>) -> T,
    ) -> T {
        let known = self.database.read().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref() {
            Some(known) => see(&known.vectors),
            None => see(&MutableVectorIndex::new(BUILTIN_ID, CosineScale::default())),
        }
    }

    /// Closes the database file.
    pub(in crate::daemon) fn close(&self) {
        *self.database.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use memod_embed::{EmbedError, GuardedModel};

    use super::*;

    /// Panics over texts that contain a word.
    struct Fragile(&'static str);

    impl Embedder for Fragile {
        fn id(&self) -> &str {
            "fragile"
        }

        fn dims(&self) -> usize {
            1
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
            assert!(!texts.iter().any(|text| text.contains(self.0)), "a weak spot");
            Ok(texts.iter().map(|text| (!text.is_empty()).then(|| vec![1.0])).collect())
        }
    }

    #[test]
    fn a_memory_that_the_model_fails_on_costs_the_others_nothing() {
        let fields = ["first", "poison", "third"].map(|text| (String::new(), text.to_owned()));
        let has_vector = |panics_over: &'static str| {
            let load: fn() -> _ = match panics_over {
                "poison" => || Ok(Arc::new(Fragile("poison")) as Arc<dyn Embedder>),
                _ => || Ok(Arc::new(Fragile("")) as Arc<dyn Embedder>),
            };
            let vectors = embed_records(&GuardedModel::load(load).unwrap(), &fields)?;
            Some(vectors.iter().map(Option::is_some).collect::<Vec<_>>())
        };
        assert_eq!(has_vector("poison"), Some(vec![true, false, true]));
        assert_eq!(has_vector(""), None, "where it fails on all they are tried again");
    }
}
