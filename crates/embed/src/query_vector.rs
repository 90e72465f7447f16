//! A vector that others are compared with, and its model.

use super::{EmbedError, Embedder, Role, Scale, quantize, record_vectors};

/// An int8 vector with the identity of its model: vectors of two identities are never compared.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryVector {
    model: String,
    scale: Scale,
    values: Vec<i8>,
}

impl QueryVector {
    /// Embeds a query; nothing if the model knows no word of it.
    ///
    /// # Errors
    /// When the model cannot run, or is being loaded.
    pub fn of_text(embedder: &dyn Embedder, text: &str) -> Result<Option<Self>, EmbedError> {
        let vector = embedder.embed_now(&[text], Role::Query)?.pop().flatten();
        Ok(vector.map(|vector| Self::new(embedder, &vector)))
    }

    /// Embeds a record, which is compared with other records.
    ///
    /// # Errors
    /// As [`Self::of_text`].
    pub fn of_record(embedder: &dyn Embedder, field: (String, String)) -> Result<Option<Self>, EmbedError> {
        let vectors = record_vectors(|texts| embedder.embed_now(texts, Role::Document), &[field]);
        let vector = vectors?.pop().flatten();
        Ok(vector.map(|vector| Self::new(embedder, &vector)))
    }

    fn new(embedder: &dyn Embedder, vector: &[f32]) -> Self {
        Self { model: embedder.id().to_owned(), scale: embedder.scale(), values: quantize(vector) }
    }

    /// Returns a vector that was computed before by this model.
    pub fn from_stored(model: &str, scale: Scale, values: Vec<i8>) -> Self {
        Self { model: model.to_owned(), scale, values }
    }

    /// Returns the vector if it may be compared with vectors of `model`.
    pub fn for_model(&self, model: &str) -> Option<&[i8]> {
        (self.model == model).then_some(&self.values)
    }

    /// Returns the identity of its model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns a cosine with this vector on the scale of the builtin model.
    pub fn scale_cosine(&self, cosine: f64) -> f64 {
        self.scale.apply(cosine)
    }
}
