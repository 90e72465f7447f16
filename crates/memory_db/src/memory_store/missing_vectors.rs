//! Computes the vectors that memories lack, and lists changed vectors.

use memod_database::DatabaseError;

use crate::database::vector_changes::{MemoryReader, VectorChanges};
use crate::memory_store::MemoryStore;

impl MemoryStore {
    /// Returns whether some memories may lack a vector.
    pub fn lacks_vectors(&self) -> bool {
        self.lacks_vectors
    }

    /// Computes and stores one batch of missing vectors. Returns whether it did; false if no vector is missing, or the model cannot
    /// be used.
    ///
    /// # Errors
    /// When the vectors cannot be stored.
    pub fn compute_missing_vectors(&mut self, now_ms: i64) -> Result<bool, DatabaseError> {
        let Some((db, _)) = self.open_database.as_mut().filter(|_| self.lacks_vectors) else {
            return Ok(false);
        };
        let rows = db.read(now_ms, |rows| {
            rows.vectors().list_rows_without_vector(&self.model.id, self.model.batch_size)
        })?;
        self.lacks_vectors = !rows.is_empty();
        if rows.is_empty() || !db.write(now_ms, |all| all.vectors().embed_missing(&rows, &self.model))? {
            return Ok(false);
        }
        db.touched.add(&rows);
        Ok(true)
    }

    /// Returns the changes of vectors since the last call; `None` while the database is not open.
    ///
    /// # Errors
    /// When the vectors cannot be read; the next call then returns all vectors.
    pub fn vector_changes(&mut self) -> Result<Option<VectorChanges>, DatabaseError> {
        let Some((db, _)) = &self.open_database else { return Ok(None) };
        if !std::mem::replace(&mut self.sends_all_vectors, true) {
            let changes = db.take_changed_vectors(&self.model)?;
            self.sends_all_vectors = false;
            return Ok(Some(changes));
        }
        db.take_changed_vectors(&self.model)?; // clears the list of changed rows, because all vectors are read next
        let vectors = db.read(0, |rows| rows.vectors().living_vectors(&self.model.id))?;
        let reader = MemoryReader::open(&self.path)?;
        self.sends_all_vectors = false;
        Ok(Some(VectorChanges::All(Box::new(reader), self.model.id.clone(), vectors)))
    }
}
