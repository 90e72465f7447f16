//! The vector of a query, with the identity of its model.

use super::{CosineScale, EmbedError, Embedder, TextRole, embed_record_fields, quantize};

/// An int8 vector to search with, and the identity of its model. Vectors of two identities are never compared.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryVector {
    model: String,
    scale: CosineScale,
    values: Vec<i8>,
}

impl QueryVector {
    /// Embeds the text of a query; returns `None` if the model knows no word of the text. Never waits until the model is loaded.
    ///
    /// # Errors
    /// When the model cannot run, or is still being loaded.
    pub fn embed_query(embedder: &dyn Embedder, text: &str) -> Result<Option<Self>, EmbedError> {
        let vector = embedder.embed_if_loaded(&[text], TextRole::Query)?.pop().flatten();
        Ok(vector.map(|vector| Self::new(embedder, &vector)))
    }

    /// Embeds a record (its head and its body) to search for similar records; returns `None` if the model knows no word of the
    /// record. Never waits until the model is loaded.
    ///
    /// # Errors
    /// When the model cannot run, or is still being loaded.
    pub fn embed_record(
        embedder: &dyn Embedder,
        field: (String, String),
    ) -> Result<Option<Self>, EmbedError> {
        let vectors =
            embed_record_fields(|texts| embedder.embed_if_loaded(texts, TextRole::Document), &[field]);
        let vector = vectors?.pop().flatten();
        Ok(vector.map(|vector| Self::new(embedder, &vector)))
    }

    fn new(embedder: &dyn Embedder, vector: &[f32]) -> Self {
        Self { model: embedder.id().to_owned(), scale: embedder.cosine_scale(), values: quantize(vector) }
    }

    /// Makes a query of a vector that `model` computed earlier.
    pub fn from_stored(model: &str, scale: CosineScale, values: Vec<i8>) -> Self {
        Self { model: model.to_owned(), scale, values }
    }

    /// Returns the int8 values of the vector if it belongs to `model`; otherwise `None`.
    pub fn values_for_model(&self, model: &str) -> Option<&[i8]> {
        (self.model == model).then_some(&self.values)
    }

    /// Returns the identity of the model that made this vector.
    pub fn model_id(&self) -> &str {
        &self.model
    }

    /// Maps a cosine with this vector to the scale of the builtin model.
    pub fn scale_cosine(&self, cosine: f64) -> f64 {
        self.scale.apply(cosine)
    }
}
