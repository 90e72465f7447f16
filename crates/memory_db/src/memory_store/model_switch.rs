//! Switches the vectors of memories to another model.
//!
//! Vectors of the next model are made beside those that answer. One transaction makes the switch, so a memory.db has all
//! vectors of one model whenever the daemon is killed.

use std::sync::Arc;

use memod_database::DatabaseError;

use super::MODEL;
use super::MemoryStore;

/// The result of [`MemoryStore::prepare_model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparing {
    /// Nothing is to be done, or nothing can be done now.
    Idle,
    /// Some vectors were made; there may be more to do.
    Some,
    /// Another model answers now.
    Switched,
}

impl MemoryStore {
    /// Uses the vectors of a model that was chosen, or of the default.
    pub(super) fn use_model(&mut self, chosen: Option<&str>) {
        let id = chosen.unwrap_or(&self.default_model);
        if self.model.id != id {
            self.model = Arc::new((self.make_model)(id));
            self.next_model = None;
        }
    }

    /// Returns the identity of the model whose vectors answer.
    pub fn model(&self) -> &str {
        &self.model.id
    }

    /// Makes some vectors of the model `chosen`, and switches to it once no living memory lacks one.
    ///
    /// # Errors
    /// When they cannot be stored; the former model answers then.
    pub fn prepare_model(&mut self, now_ms: i64, chosen: &str) -> Result<Preparing, DatabaseError> {
        if self.model.id == chosen {
            self.next_model = None;
            return Ok(Preparing::Idle);
        }
        if self.next_model.as_ref().is_none_or(|next| next.id != chosen) {
            self.next_model = Some(Arc::new((self.make_model)(chosen)));
        }
        let (Some((db, _)), Some(next)) = (self.open.as_mut(), self.next_model.clone()) else {
            return Ok(Preparing::Idle);
        };
        let rows = db.read(now_ms, |rows| rows.vectorless(&next.id, next.step))?;
        if !rows.is_empty() {
            let is_made = db.write(now_ms, |all| all.embed_missing(&rows, &next))?;
            return Ok(if is_made { Preparing::Some } else { Preparing::Idle });
        }
        let is_default = next.id == self.default_model;
        db.write(now_ms, |rows| {
            if is_default {
                rows.unset_meta(MODEL)?;
            } else {
                rows.set_meta(MODEL, &next.id)?;
            }
            rows.keep_vectors_of(&next.id)
        })?;
        (self.model, self.next_model) = (next, None);
        (self.is_opened, self.lacks_vectors) = (true, true);
        Ok(Preparing::Switched)
    }
}
