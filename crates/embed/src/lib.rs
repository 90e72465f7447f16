//! Embeds texts: turns them into vectors, with the builtin model or with ONNX models.

mod builtin;
mod fields;
mod guarded;
pub mod onnx;
mod query_vector;
mod scale;

pub use builtin::{BuiltinModel, DIMS as BUILTIN_DIMS};
pub use fields::{
    combine_vectors, cosine_i8, dot_i8, embed_record_fields, is_quantized_unit, normalize, quantize,
};
pub use guarded::{GuardedModel, can_embed};
pub use memod_tokenizer::BUILTIN_ID;
pub use query_vector::QueryVector;
pub use scale::CosineScale;

/// The reason in errors and warnings while a model is still being loaded.
pub const MODEL_LOADING: &str = "model loading";

/// The role of a text in a search. Some models need different prefixes for queries and documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    /// The text that a user searches for.
    Query,
    /// A text that a search can find.
    Document,
}

/// A model that turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// Returns the identity of the model, one word made of its name, revision, dimensions, pooling and prefixes. Vectors of two
    /// identities are never compared.
    fn id(&self) -> &str;

    /// Returns the length of every vector.
    fn dims(&self) -> usize;

    /// Embeds documents: returns one L2-normalized vector for each text, `[n_texts][dims]`; `None` for a text of which the model
    /// knows no word.
    ///
    /// # Errors
    /// When the model cannot run. No vector of the batch is returned then.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError>;

    /// Like [`Self::embed`], for texts of any role, but never waits until the model is loaded.
    ///
    /// # Errors
    /// When the model cannot run, or is still being loaded ([`MODEL_LOADING`]).
    fn embed_if_loaded(&self, texts: &[&str], role: TextRole) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        let _ = role; // a model without prefixes embeds both roles alike
        self.embed(texts)
    }

    /// Loads the model for [`Self::embed_if_loaded`], and waits until it is loaded.
    ///
    /// # Errors
    /// When the model cannot be loaded.
    fn warm_up(&self) -> Result<(), EmbedError> {
        Ok(())
    }

    /// Returns whether the model for [`Self::embed`] is loaded. If it is not, starts to load it, without waiting.
    fn poll_ready(&self) -> bool {
        true
    }

    /// Returns whether a text takes milliseconds, so that callers should embed small batches.
    fn is_slow(&self) -> bool {
        false
    }

    /// Returns the map from cosines of this model to the scale of the builtin model.
    fn cosine_scale(&self) -> CosineScale {
        CosineScale::default()
    }
}

/// The error of a model that could not be loaded or run.
#[derive(Debug, thiserror::Error)]
#[error("model {model}: {reason}")]
pub struct EmbedError {
    /// Identity of the model, or `not loaded yet`.
    pub model: String,
    /// Why the model could not be loaded or run.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the rules that every model must keep.
    fn check_conformance(model: &dyn Embedder) {
        let texts = ["how is a session refreshed", "", "fn refresh_session(token: &str)", "東京", "a a a a"];
        let batch = model.embed(&texts).unwrap();
        assert_eq!(batch.len(), texts.len());
        assert_eq!(model.embed(&texts).unwrap(), batch, "the same texts give the same vectors");
        for (text, vector) in texts.iter().zip(&batch) {
            assert_eq!(&model.embed(&[text]).unwrap()[0], vector, "alone as in a batch: {text}");
            let Some(vector) = vector else { continue };
            let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            assert!(vector.len() == model.dims() && (norm - 1.0).abs() < 1e-5, "{text}: {norm}");
        }
        assert!(batch[0].is_some() && batch[1].is_none() && batch[2].is_some());
        assert!(model.embed(&[]).unwrap().is_empty());
        assert!(!model.id().is_empty() && !model.id().contains(char::is_whitespace));
    }

    #[test]
    fn the_builtin_model_conforms() {
        let model = BuiltinModel::load().unwrap();
        check_conformance(&model);
        assert_eq!(model.dims(), 256);
        assert_eq!(model.embed_one("東京"), None);
    }

    #[test]
    fn related_texts_are_closer_than_unrelated_ones() {
        let model = BuiltinModel::load().unwrap();
        let vector = |text| quantize(&model.embed_one(text).unwrap());
        let question = vector("how long is a login session valid");
        let related = cosine_i8(&question, &vector("fn session_expiry(login: &Login) -> Duration"));
        let unrelated = cosine_i8(&question, &vector("render the bar chart with blue pixels"));
        assert!(related > 0.25 && related > unrelated + 0.1, "{related} and {unrelated}");
    }
}
