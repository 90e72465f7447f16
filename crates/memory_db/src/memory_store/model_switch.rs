//! Switches the vectors of memories to another model.
//!
//! Vectors of the next model are computed while searches use those of the present model. One transaction makes the switch, so
//! memory.db has all vectors of the model in use, even if the daemon is killed.

use std::sync::Arc;

use memod_database::DatabaseError;

use crate::memory_store::{MODEL, MemoryStore};

/// The result of [`MemoryStore::prepare_model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelPreparation {
    /// The model is in use already, or its vectors cannot be computed now.
    Idle,
    /// Some vectors were computed; there may be more to do.
    InProgress,
    /// Searches use another model now.
    Switched,
}

impl MemoryStore {
    /// Makes searches use the vectors of the chosen model, or of the default model.
    pub(super) fn select_model(&mut self, chosen: Option<&str>) {
        let id = chosen.unwrap_or(&self.default_model);
        if self.model.id != id {
            self.model = Arc::new((self.make_model)(id));
            self.next_model = None;
        }
    }

    /// Returns the identity of the model whose vectors searches use.
    pub fn model_id(&self) -> &str {
        &self.model.id
    }

    /// Computes some vectors of the model `chosen`, and switches to it once no living memory lacks one.
    ///
    /// # Errors
    /// When the vectors cannot be stored; the former model stays in use then.
    pub fn prepare_model(&mut self, now_ms: i64, chosen: &str) -> Result<ModelPreparation, DatabaseError> {
        if self.model.id == chosen {
            self.next_model = None;
            return Ok(ModelPreparation::Idle);
        }
        if self.next_model.as_ref().is_none_or(|next| next.id != chosen) {
            self.next_model = Some(Arc::new((self.make_model)(chosen)));
        }
        let (Some((db, _)), Some(next)) = (self.open_database.as_mut(), self.next_model.clone()) else {
            return Ok(ModelPreparation::Idle);
        };
        let rows =
            db.read(now_ms, |rows| rows.vectors().list_rows_without_vector(&next.id, next.batch_size))?;
        if !rows.is_empty() {
            let is_made = db.write(now_ms, |all| all.vectors().embed_missing(&rows, &next))?;
            return Ok(if is_made { ModelPreparation::InProgress } else { ModelPreparation::Idle });
        }
        let is_default = next.id == self.default_model;
        db.write(now_ms, |rows| {
            if is_default {
                rows.meta().unset_meta(MODEL)?;
            } else {
                rows.meta().set_meta(MODEL, &next.id)?;
            }
            rows.vectors().delete_vectors_of_other_models(&next.id)
        })?;
        (self.model, self.next_model) = (next, None);
        (self.sends_all_vectors, self.lacks_vectors) = (true, true);
        Ok(ModelPreparation::Switched)
    }
}
